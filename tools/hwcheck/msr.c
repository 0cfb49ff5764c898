// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers through /dev/cpu/N/msr. That driver survives #GP and says EIO.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hwcheck.h"

static const struct box {
	uint32_t base;
	unsigned int counters;
	bool e7_only;
	uint64_t en;
} boxes[] = {
	{ 0xd00, 6, false, EN }, { 0xd80, 6, false, EN }, { 0xd40, 6, false, EN },
	{ 0xdc0, 6, false, EN }, { 0xd20, 6, false, EN }, { 0xda0, 6, false, EN },
	{ 0xd60, 6, false, EN }, { 0xde0, 6, false, EN }, { 0xf40, 6, true, EN },
	{ 0xfc0, 6, true, EN },
	{ 0xc40, 4, false, EN }, { 0xcc0, 4, false, EN },			/* S */
	{ 0xc20, 4, false, EN_LOW }, { 0xc60, 4, false, EN_LOW },		/* B */
	{ 0xca0, 6, false, EN_LOW }, { 0xce0, 6, false, EN_LOW },		/* M */
	{ 0xe00, 8, false, EN_LOW }, { 0xe20, 8, false, EN_LOW },		/* R */
	{ 0xc80, 4, false, EN },						/* W */
};

/* The others that experiments write. */
static const uint32_t others[] = {
	U_CTL, U_SEL, 0xc11, 0x395, 0x394, 0xe49, 0xe4a, 0xe59, 0xe5a, 0xe45, 0xe46, 0xe4d, 0xe4e,
	0xe55, 0xe56, 0xe5d, 0xe5e, 0xe04, 0xe24, 0xe48, 0xe58, 0xe54, 0xe5c,
};

/* These switch a match on: off while others are put back, and last but for U_CTL. */
static const uint32_t mm_cfg[] = { 0xe48, 0xe58, 0xe54, 0xe5c };

/*
 * Every register that an experiment may write, and every bit it may set there. wr() refuses the
 * rest, and --dry-run and the journal print it. Putting back writes what was read, and 1 to the
 * overflow bits that are up.
 */
#define SELECT		(THRESH(255) | INVERT | EN | 1ull << 17 | 0xffff)
static const struct may {
	unsigned int may;
	uint32_t msr;
	unsigned int num;	/* registers, each two after the other */
	uint64_t bits;
	const char *name;
} may[] = {
	{ ~0u, U_CTL, 1, U_EN_ALL, "U_MSR_PMON_GLOBAL_CTL: en_all" },
	{ ~0u, U_OVF, 1, U_COND | U_PMI | U_OV_ALL, "U_MSR_PMON_GLOBAL_OVF_CTL" },
	{ MAY_RST, U_CTL, 1, U_RST_ALL, "U_MSR_PMON_GLOBAL_CTL: rst_all" },
	{ MAY_PMI_EN, U_CTL, 1, U_FRZ_ALL, "U_MSR_PMON_GLOBAL_CTL: frz_all" },
	{ MAY_PMI, U_CTL, 1, U_CORE_SEL(0xff), "U_MSR_PMON_GLOBAL_CTL: pmi_core_sel" },
	{ MAY_PMI, DEBUGCTL, 1, DEBUGCTL_PMI, "IA32_DEBUGCTL of each CPU, by hwcheck_nmi.ko" },
	{ MAY_U_SEL, U_SEL, 1, 0x1df, "U_MSR_PMON_EV_SEL" },
	{ MAY_S0, S0, 1, 7, "S-Box 0 GLOBAL_CTL" },
	{ ~0u, S0 + OVF, 1, 1, "S-Box 0 OVF_CTL" },
	{ MAY_S0, S0 + SEL(0), 3, SELECT, "S-Box 0 selects" },
	{ MAY_PMI_EN | MAY_PMI, S0 + SEL(0), 1, PMI_EN, "S-Box 0 select: pmi_en" },
	{ MAY_S0, S0 + CTR(0), 3, M48, "S-Box 0 counters" },
	{ MAY_STATUS, S0 + STATUS, 1, 1, "S-Box 0 STATUS" },
	{ MAY_S1, S1, 1, 1, "S-Box 1 GLOBAL_CTL" },
	{ ~0u, S1 + OVF, 1, 1, "S-Box 1 OVF_CTL" },
	{ MAY_S1, S1 + SEL(0), 1, SELECT | PMI_EN, "S-Box 1 select" },
	{ MAY_S1, S1 + CTR(0), 1, M48, "S-Box 1 counter" },
	{ MAY_W, W, 1, W_FIXED_BIT | 1, "W-Box GLOBAL_CTL" },
	{ MAY_W, W + SEL(0), 1, SELECT, "W-Box select" },
	{ MAY_W, W + CTR(0), 1, M48, "W-Box counter" },
	{ MAY_W, W_FIXED, 1, M48, "W-Box fixed counter" },
	{ MAY_W, W_FIXED_CTL, 1, 1, "W-Box fixed counter's control" },
	{ MAY_PMI_EN, W_FIXED_CTL, 1, 4, "W-Box fixed counter's control: pmi_en" },
	{ MAY_C0, C0, 1, 1, "C-Box 0 GLOBAL_CTL" },
	{ MAY_C0, C0 + SEL(0), 1, SELECT, "C-Box 0 select" },
	{ MAY_C0, C0 + CTR(0), 1, M48, "C-Box 0 counter" },
	{ MAY_B0, B0, 1, 2, "B-Box 0 GLOBAL_CTL" },
	{ MAY_B0, B0 + SEL(1), 1, 1 << 1 | EN_LOW, "B-Box 0 select" },
	{ MAY_B0, B0 + CTR(1), 1, M48, "B-Box 0 counter" },
	{ MAY_B0, B0_MATCH, 1, (1ull << 60) - 1, "B-Box 0 MATCH" },
	{ MAY_B0, B0_MASK, 1, (1ull << 60) - 1, "B-Box 0 MASK" },
	{ MAY_S0_MATCH, S0_MM_CFG, 1, 1ull << 63, "S-Box 0 MM_CFG" },
	{ MAY_S0_MATCH, S0_MATCH, 1, ~0ull, "S-Box 0 MATCH" },
	{ MAY_S0_MATCH, S0_MASK, 1, 0x7fffffffffull, "S-Box 0 MASK" },
	{ MAY_M0, M0, 1, 1, "M-Box 0 GLOBAL_CTL" },
	{ MAY_M0, M0 + SEL(0), 1, 0x1fff, "M-Box 0 select" },
	{ MAY_M0, M0 + CTR(0), 1, M48, "M-Box 0 counter" },
	{ MAY_M0, M0_MM_CFG, 1, 1ull << 63, "M-Box 0 MM_CFG" },
	{ MAY_M0, M0_MATCH, 1, (1ull << 34) - 1, "M-Box 0 MATCH" },
	{ MAY_M0, M0_MASK, 1, (1ull << 28) - 1, "M-Box 0 MASK" },
	{ MAY_R0, R0, 1, 3, "R-Box left GLOBAL_CTL" },
	{ MAY_R0, R0 + SEL(0), 2, 3, "R-Box left selects" },
	{ MAY_R0, R0 + CTR(0), 2, M48, "R-Box left counters" },
	{ MAY_R0, R0_IPERF0, 1, 3ull << 30, "R-Box port 0 IPERF 0" },
	{ MAY_R0, R0_IPERF1, 1, 3ull << 30, "R-Box port 0 IPERF 1" },
};

/* The first ten boxes are C-Boxes. */
static bool c_box_may(uint32_t msr, uint64_t val)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		uint32_t at = msr - boxes[i].base;

		if (at == 0 || at == OVF)
			return !(val & ~1ull);
		if (at == SEL(0) || at == CTR(0))
			return !(val & ~(at == SEL(0) ? SELECT : M48));
	}
	return false;
}

bool may_write(const struct experiment *e, uint32_t msr, uint64_t val)
{
	uint64_t bits = 0;
	bool there = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(may); i++) {
		if (!(may[i].may & (e->may | (1u << 31))) || msr < may[i].msr ||
		    msr >= may[i].msr + 2 * may[i].num || (msr - may[i].msr) & 1)
			continue;
		there = true;
		bits |= may[i].bits;
	}
	return (there && !(val & ~bits)) || ((e->may & MAY_C_ALL) && c_box_may(msr, val));
}

void show_writes(FILE *f, const struct experiment *e)
{
	size_t i;
	unsigned int n;

	for (i = 0; i < ARRAY_SIZE(may); i++) {
		for (n = 0; n < may[i].num && may[i].may & (e->may | (1u << 31)); n++)
			fprintf(f, "#   MSR 0x%03x, bits %#llx: %s\n", may[i].msr + 2 * n,
				(unsigned long long)may[i].bits, may[i].name);
	}
	for (i = 0; i < 10 && e->may & MAY_C_ALL; i++)
		fprintf(f, "#   MSR 0x%03x, 0x%03x: 1, 0x%03x: %#llx, 0x%03x: %#llx: C-Box %zu\n",
			boxes[i].base, boxes[i].base + OVF, boxes[i].base + SEL(0), SELECT,
			boxes[i].base + CTR(0), M48, i);
}

/* ---- access ---- */

static int msr_fd(int cpu)
{
	static int fds[4096];
	char path[32];

	if (fds[cpu] <= 0) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		fds[cpu] = open(path, (level == LEVEL_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	}
	return fds[cpu];
}

static int access_msr(int cpu, uint32_t msr, uint64_t *val, bool write)
{
	int fd = msr_fd(cpu);
	ssize_t n;

	if (fd < 0)
		return errno;
	n = write ? pwrite(fd, val, 8, msr) : pread(fd, val, 8, msr);
	return n == 8 ? 0 : n < 0 ? errno : ENXIO;
}

/* A CPU that has gone offline says anything but what a register or the kernel says. */
static int access_package(const struct package *p, uint32_t msr, uint64_t *val, bool write)
{
	int err = ENXIO;
	unsigned int i;

	for (i = 0; i < p->num_cpus; i++) {
		err = access_msr(p->cpu[i], msr, val, write);
		if (!err || err == EIO || err == EPERM)
			break;
	}
	return err;
}

int read_msr(const struct package *p, uint32_t msr, uint64_t *val)
{
	return access_package(p, msr, val, false);
}

int write_msr(const struct package *p, uint32_t msr, uint64_t val)
{
	return access_package(p, msr, &val, true);
}

int read_msr_of(int cpu, uint32_t msr, uint64_t *val)
{
	return access_msr(cpu, msr, val, false);
}

static const char *why_not(int err)
{
	return err == EIO ? "#GP" : err == EPERM ? "the kernel forbids it" : strerror(err);
}

const char *write_refused(const struct package *p)
{
	static char why[160];
	uint64_t val = 0;
	int err = read_msr(p, S0 + SEL(0), &val);

	if (!err)
		err = write_msr(p, S0 + SEL(0), val);
	if (err == EPERM)
		return "the kernel allows no MSR to be written: modprobe -r msr; modprobe msr allow_writes=on; "
		       "under lockdown (Secure Boot) there is no way but --read";
	if (!err)
		return NULL;
	snprintf(why, sizeof(why), "MSR 0x%x of package %d, written as read: %s", S0 + SEL(0), p->id,
		 why_not(err));
	return why;
}

static void end_if_told(void)
{
	if (ended)
		undetermined("interrupted");
}

uint64_t rd(uint32_t msr)
{
	uint64_t val = 0;
	int err;

	end_if_told();
	err = read_msr(pkg, msr, &val);
	if (err)
		undetermined("MSR 0x%x cannot be read: %s", msr, why_not(err));
	return val;
}

bool try_wr(uint32_t msr, uint64_t val)
{
	int err;

	end_if_told();
	if (!experiment_may(msr, val))
		undetermined("MSR 0x%x = %#llx is not announced: a fault of hwcheck", msr,
			     (unsigned long long)val);
	err = write_msr(pkg, msr, val);
	if (err && err != EIO)
		undetermined("MSR 0x%x cannot be written: %s", msr, why_not(err));
	return !err;
}

void wr(uint32_t msr, uint64_t val)
{
	if (!try_wr(msr, val))
		undetermined("MSR 0x%x cannot be written: #GP", msr);
}

void wait_us(unsigned int us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/* ---- all of them ---- */

static bool save_one(struct package *p, uint32_t msr)
{
	if (p->num_saved == REGISTERS_MAX || read_msr(p, msr, &p->saved[p->num_saved].val))
		return false;
	p->saved[p->num_saved++].msr = msr;
	return true;
}

unsigned int save(struct package *p)
{
	unsigned int n, missing = 0;
	size_t i;

	p->num_saved = 0;
	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if (boxes[i].e7_only && !machine_e7)
			continue;
		missing += !save_one(p, boxes[i].base);
		for (n = 0; n < boxes[i].counters; n++)
			missing += !save_one(p, boxes[i].base + SEL(n)) +
				   !save_one(p, boxes[i].base + CTR(n));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		missing += !save_one(p, others[i]);
	return missing;
}

const char *other_owner(const struct package *p)
{
	static char what[160];
	uint64_t val, ctl;
	unsigned int n;
	uint32_t msr = 0;
	size_t i;

	if (read_msr(p, U_CTL, &val)) {
		snprintf(what, sizeof(what), "the uncore of package %d cannot be read", p->id);
		return what;
	}
	if (val & (U_EN_ALL | U_RST_ALL))
		msr = U_CTL;
	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if ((boxes[i].e7_only && !machine_e7) || read_msr(p, boxes[i].base, &ctl))
			continue;
		for (n = 0; n < boxes[i].counters; n++) {
			if ((ctl >> n & 1) && !read_msr(p, boxes[i].base + SEL(n), &val) &&
			    (val & boxes[i].en))
				msr = boxes[i].base + SEL(n);
		}
	}
	if (!read_msr(p, W, &ctl) && (ctl & W_FIXED_BIT) && !read_msr(p, W_FIXED_CTL, &val) && (val & 1))
		msr = W_FIXED_CTL;
	if (!msr && !read_msr(p, U_STATUS, &val) && (val & (U_PMI | U_OV_ALL)))
		msr = U_STATUS;
	if (!msr)
		return NULL;
	snprintf(what, sizeof(what), "another program uses the counters of package %d, MSR 0x%x: end it first",
		 p->id, msr);
	return what;
}

static bool is_w_counter(uint32_t msr)
{
	return msr == W_FIXED || (msr >= W + CTR(0) && msr <= W + CTR(3) && (msr & 1));
}

/*
 * A counter of the W-Box whose low 24 bits are 0 or 1 may read too high. Then so does what
 * is written in its place, and what must be written is less.
 */
#define W_EXCESS	(1ull << 24)

static bool put_back(const struct package *p, uint32_t msr, uint64_t val)
{
	uint64_t now;

	if (read_msr(p, msr, &now))
		return false;
	if (now == val)
		return true;
	if (write_msr(p, msr, val) || read_msr(p, msr, &now))
		return false;
	if (now != val && is_w_counter(msr) && now == ((val + W_EXCESS) & M48))
		return !write_msr(p, msr, (val - W_EXCESS) & M48) && !read_msr(p, msr, &now) && now == val;
	return now == val;
}

static void clear_overflows(const struct package *p)
{
	uint64_t val;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if (boxes[i].e7_only && !machine_e7)
			continue;
		if (!read_msr(p, boxes[i].base + STATUS, &val) && val)
			write_msr(p, boxes[i].base + OVF, val);
	}
	if (!read_msr(p, U_STATUS, &val) && val)
		write_msr(p, U_OVF, val & (U_COND | U_PMI | U_OV_ALL));
}

/* When a register is put back: 2, U_CTL, last. */
static unsigned int turn(uint32_t msr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mm_cfg); i++) {
		if (mm_cfg[i] == msr)
			return 1;
	}
	return msr == U_CTL ? 2 : 0;
}

/* Everything off first: what is put back must not count. */
const char *restore(const struct package *p)
{
	static char what[160];
	unsigned int i, pass;
	uint64_t val;
	size_t b;

	*what = 0;
	write_msr(p, U_CTL, 0);
	for (b = 0; b < ARRAY_SIZE(mm_cfg); b++) {
		if (!read_msr(p, mm_cfg[b], &val) && val)
			write_msr(p, mm_cfg[b], 0);
	}
	clear_overflows(p);
	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < p->num_saved; i++) {
			if (turn(p->saved[i].msr) == pass && !put_back(p, p->saved[i].msr, p->saved[i].val))
				snprintf(what, sizeof(what), "MSR 0x%x of package %d could not be put back to %#llx",
					 p->saved[i].msr, p->id, (unsigned long long)p->saved[i].val);
		}
	}
	return *what ? what : NULL;
}

/* ---- what most experiments do ---- */

/* PKTS_SENT_SNP, with a threshold that no increment reaches. */
#define S_NEVER		(0x62ull | THRESH(255))

/* Text and table of the manual disagree about invert: one of the two counts every clock. */
uint64_t s_clock(void)
{
	static const struct package *of;
	static uint64_t clock;
	unsigned int i;

	for (i = 0; of != pkg && i < 2; i++) {
		clock = S_NEVER | (i ? 0 : INVERT);
		wr(U_CTL, 0);
		wr(S0 + SEL(0), 0);
		wr(S0 + CTR(0), 0);
		wr(S0 + SEL(0), clock | EN);
		wr(S0, 1);
		wr(U_CTL, U_EN_ALL);
		wait_us(20);
		wr(U_CTL, 0);
		if (rd(S0 + CTR(0)))
			of = pkg;
	}
	if (of != pkg)
		undetermined("no clock: S-Box 0 counts none, with or without invert");
	return clock;
}

void arm(uint32_t box, unsigned int n, uint64_t pmi_en)
{
	uint64_t clock = s_clock();

	wr(box + SEL(0), 0);
	wr(box + CTR(0), (M48 + 1 - n) & M48);
	wr(box + SEL(0), clock | EN | pmi_en);
	wr(box, 1);
}

uint64_t count_for(unsigned int us, uint64_t w_counters)
{
	uint64_t clocks;

	/* A counter of the W-Box that holds 2 reads as 2. */
	wr(W_FIXED_CTL, 0);
	wr(W_FIXED, 2);
	wr(W_FIXED_CTL, 1);
	wr(W, W_FIXED_BIT | w_counters);
	wr(U_CTL, U_EN_ALL);
	wait_us(us);
	wr(U_CTL, 0);
	clocks = rd(W_FIXED) - 2;
	if (!clocks)
		undetermined("no clock: the fixed counter of the W-Box counts none");
	return clocks;
}

bool overflow(uint32_t box, uint64_t u_ctl)
{
	bool done = false;
	int i;

	wr(U_CTL, u_ctl | U_EN_ALL);
	for (i = 0; i < 100 && !done; i++) {
		wait_us(50);
		done = rd(box + CTR(0)) < 1ull << 47;
	}
	/* What follows it: a freeze. */
	wait_us(50);
	return done;
}

void clear_all(void)
{
	wr(U_CTL, 0);
	wr(S0 + OVF, 1);
	wr(S1 + OVF, 1);
	wr(U_OVF, U_COND | U_PMI | U_OV_ALL);
	wr(S0 + OVF, 1);
	wr(S1 + OVF, 1);
}
