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

/* The other registers, from and to; but for OVF_CTL each one that the manual has. */
static const struct { uint32_t first, last; } others[] = {
	{ U_CTL, U_STATUS }, { U_SEL, 0xc11 }, { W_FIXED, W_FIXED_CTL },
	{ 0xc43, 0xc43 }, { 0xcc3, 0xcc3 },			/* S SUMMARY */
	{ 0xca4, 0xcab }, { 0xce4, 0xceb },			/* M time stamp, DSP to ZDP */
	{ 0xe04, 0xe0f }, { 0xe24, 0xe2f },			/* R IPERF, QLX */
	{ 0xe45, 0xe46 }, { 0xe4d, 0xe4e },			/* match: B */
	{ 0xe48, 0xe4a }, { 0xe58, 0xe5a },			/* S */
	{ 0xe54, 0xe56 }, { 0xe5c, 0xe5e },			/* M */
	{ 0xe60, 0xe62 }, { 0xe64, 0xe66 }, { 0xe68, 0xe6a }, { 0xe6c, 0xe6e },	/* R XBR */
	{ 0xe70, 0xe72 }, { 0xe74, 0xe76 }, { 0xe78, 0xe7a }, { 0xe7c, 0xe7e },
	{ 0xe80, 0xe82 }, { 0xe84, 0xe86 }, { 0xe88, 0xe8a }, { 0xe8c, 0xe8e },
	{ 0xe90, 0xe92 }, { 0xe94, 0xe96 }, { 0xe98, 0xe9a }, { 0xe9c, 0xe9e },
};

/* These switch a match on: off while others are put back, and last but for U_CTL. */
static const uint32_t mm_cfg[] = { 0xe48, 0xe58, 0xe54, 0xe5c };

/* STATUS, SUMMARY, and the time stamps of the M-Boxes, which run. */
static bool read_only(uint32_t msr)
{
	if (msr >= 0xe40 && msr < 0xf00)
		return false;
	return (msr & 0x1f) == STATUS || (msr & 0x1f) == 3 || (msr & ~0x40) == 0xca4;
}

/*
 * Every register that an experiment may write, and every bit it may set there. wr() refuses the
 * rest, and --dry-run and the journal print it. Only these are put back, to what was read.
 */
#define C_BOX(may, base, name)	\
	{ may, base, 1, 1, name " GLOBAL_CTL" }, { may, base + OVF, 1, 1, name " OVF_CTL" },	\
	{ may, base + SEL(0), 1, SELECT, name " select" },				\
	{ may, base + CTR(0), 1, M48, name " counter" }
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
	{ MAY_S0, S0 + OVF, 1, 0xf, "S-Box 0 OVF_CTL" },
	{ MAY_S0, S0 + SEL(0), 3, SELECT, "S-Box 0 selects" },
	{ MAY_PMI_EN | MAY_PMI, S0 + SEL(0), 1, PMI_EN, "S-Box 0 select: pmi_en" },
	{ MAY_S0, S0 + CTR(0), 3, M48, "S-Box 0 counters" },
	{ MAY_STATUS, S0 + STATUS, 1, 1, "S-Box 0 STATUS" },
	{ MAY_S1, S1, 1, 1, "S-Box 1 GLOBAL_CTL" },
	{ MAY_S1, S1 + OVF, 1, 0xf, "S-Box 1 OVF_CTL" },
	{ MAY_S1, S1 + SEL(0), 1, SELECT | PMI_EN, "S-Box 1 select" },
	{ MAY_S1, S1 + CTR(0), 1, M48, "S-Box 1 counter" },
	{ MAY_W, W, 1, W_FIXED_BIT | 1, "W-Box GLOBAL_CTL" },
	{ MAY_W, W + OVF, 1, W_FIXED_BIT | 0xf, "W-Box OVF_CTL" },
	{ MAY_W, W + SEL(0), 1, SELECT, "W-Box select" },
	{ MAY_W, W + CTR(0), 1, M48, "W-Box counter" },
	{ MAY_W, W_FIXED, 1, M48, "W-Box fixed counter" },
	{ MAY_W, W_FIXED_CTL, 1, 1, "W-Box fixed counter's control" },
	{ MAY_PMI_EN, W_FIXED_CTL, 1, 4, "W-Box fixed counter's control: pmi_en" },
	C_BOX(MAY_C0 | MAY_C_ALL, C0, "C-Box 0"), C_BOX(MAY_C_ALL, 0xd80, "C-Box 1"),
	C_BOX(MAY_C_ALL, 0xd40, "C-Box 2"), C_BOX(MAY_C_ALL, 0xdc0, "C-Box 3"),
	C_BOX(MAY_C_ALL, 0xd20, "C-Box 4"), C_BOX(MAY_C_ALL, 0xda0, "C-Box 5"),
	C_BOX(MAY_C_ALL, 0xd60, "C-Box 6"), C_BOX(MAY_C_ALL, 0xde0, "C-Box 7"),
	C_BOX(MAY_C_ALL, 0xf40, "C-Box 8"), C_BOX(MAY_C_ALL, 0xfc0, "C-Box 9"),
	{ MAY_B0, B0, 1, 2, "B-Box 0 GLOBAL_CTL" },
	{ MAY_B0, B0 + OVF, 1, 0xf, "B-Box 0 OVF_CTL" },
	{ MAY_B0, B0 + SEL(1), 1, 1 << 1 | EN_LOW, "B-Box 0 select" },
	{ MAY_B0, B0 + CTR(1), 1, M48, "B-Box 0 counter" },
	{ MAY_B0, B0_MATCH, 1, (1ull << 60) - 1, "B-Box 0 MATCH" },
	{ MAY_B0, B0_MASK, 1, (1ull << 60) - 1, "B-Box 0 MASK" },
	{ MAY_S0_MATCH, S0_MM_CFG, 1, 1ull << 63, "S-Box 0 MM_CFG" },
	{ MAY_S0_MATCH, S0_MATCH, 1, ~0ull, "S-Box 0 MATCH" },
	{ MAY_S0_MATCH, S0_MASK, 1, 0x7fffffffffull, "S-Box 0 MASK" },
	{ MAY_M0, M0, 1, 1, "M-Box 0 GLOBAL_CTL" },
	{ MAY_M0, M0 + OVF, 1, 0x3f, "M-Box 0 OVF_CTL" },
	{ MAY_M0, M0 + SEL(0), 1, 0x1fff, "M-Box 0 select" },
	{ MAY_M0, M0 + CTR(0), 1, M48, "M-Box 0 counter" },
	{ MAY_M0, M0_MM_CFG, 1, 1ull << 63, "M-Box 0 MM_CFG" },
	{ MAY_M0, M0_MATCH, 1, (1ull << 34) - 1, "M-Box 0 MATCH" },
	{ MAY_M0, M0_MASK, 1, (1ull << 28) - 1, "M-Box 0 MASK" },
	{ MAY_R0, R0, 1, 3, "R-Box left GLOBAL_CTL" },
	{ MAY_R0, R0 + OVF, 1, 0xff, "R-Box left OVF_CTL" },
	{ MAY_R0, R0 + SEL(0), 2, 3, "R-Box left selects" },
	{ MAY_R0, R0 + CTR(0), 2, M48, "R-Box left counters" },
	{ MAY_R0, R0_IPERF0, 1, 3ull << 30, "R-Box port 0 IPERF 0" },
	{ MAY_R0, R0_IPERF1, 1, 3ull << 30, "R-Box port 0 IPERF 1" },
};

static bool applies(const struct may *m, const struct experiment *e)
{
	return m->may & (e->may | 1u << 31);
}

/* May it write this register at all, and which bits? */
static bool allowed(const struct experiment *e, uint32_t msr, uint64_t *bits)
{
	const struct may *m;
	bool there = false;

	*bits = 0;
	for (m = may; m < may + ARRAY_SIZE(may); m++) {
		if (!applies(m, e) || msr < m->msr || msr >= m->msr + 2 * m->num ||
		    (msr - m->msr) & 1)
			continue;
		there = true;
		*bits |= m->bits;
	}
	return there;
}

bool may_write(const struct experiment *e, uint32_t msr, uint64_t val)
{
	uint64_t bits;

	return allowed(e, msr, &bits) && !(val & ~bits);
}

void show_writes(FILE *f, const struct experiment *e)
{
	const struct may *m;
	unsigned int n;

	for (m = may; m < may + ARRAY_SIZE(may); m++) {
		for (n = 0; n < m->num && applies(m, e); n++)
			fprintf(f, "#   MSR 0x%03x, bits %#llx: %s\n", m->msr + 2 * n,
				(unsigned long long)m->bits, m->name);
	}
	if (e->may & MAY_RST)
		fputs("#   and puts back each other register that rst_all has changed\n", f);
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

/* Each experiment may write U_CTL, so does this. */
const char *write_refused(const struct package *p)
{
	static char why[160];
	uint64_t val = 0;
	int err = read_msr(p, U_CTL, &val);

	if (!err)
		err = write_msr(p, U_CTL, val);
	if (err == EPERM)
		return "the kernel allows no MSR to be written: "
		       "echo on >/sys/module/msr/parameters/allow_writes; "
		       "under lockdown (Secure Boot) there is no way but --read";
	if (!err)
		return NULL;
	snprintf(why, sizeof(why), "MSR 0x%x of package %d, written as read: %s", U_CTL, p->id,
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
	if (!may_write(current, msr, val))
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

double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
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
	uint32_t msr;
	size_t i;

	p->num_saved = 0;
	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if (boxes[i].e7_only && !machine_e7)
			continue;
		missing += !save_one(p, boxes[i].base) + !save_one(p, boxes[i].base + STATUS);
		for (n = 0; n < boxes[i].counters; n++)
			missing += !save_one(p, boxes[i].base + SEL(n)) +
				   !save_one(p, boxes[i].base + CTR(n));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		for (msr = others[i].first; msr <= others[i].last; msr++)
			missing += !save_one(p, msr);
	}
	return missing;
}

const char *other_owner(const struct package *p)
{
	static char what[200];
	uint64_t val, ctl, bits = 0;
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
	if (!read_msr(p, W, &ctl) && (ctl & W_FIXED_BIT) && !read_msr(p, W_FIXED_CTL, &val) &&
	    (val & 1))
		msr = W_FIXED_CTL;
	if (!msr && !read_msr(p, U_STATUS, &val) && (val & (U_PMI | U_OV_ALL))) {
		msr = U_OVF;
		bits = val & (U_COND | U_PMI | U_OV_ALL);
	}
	if (!msr)
		return NULL;
	snprintf(what, sizeof(what), "another program uses the counters of package %d, MSR 0x%x: "
		 "end it; if it has gone without a word: wrmsr -p %d 0x%x %#llx", p->id,
		 msr == U_OVF ? U_STATUS : msr, p->cpu[0], msr, (unsigned long long)bits);
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

static bool put_back_one(const struct package *p, uint32_t msr, uint64_t val)
{
	uint64_t now;

	if (read_msr(p, msr, &now))
		return false;
	if (now == val)
		return true;
	if (write_msr(p, msr, val) || read_msr(p, msr, &now))
		return false;
	if (now != val && is_w_counter(msr) && now == ((val + W_EXCESS) & M48))
		return !write_msr(p, msr, (val - W_EXCESS) & M48) && !read_msr(p, msr, &now) &&
		       now == val;
	return now == val;
}

/* What can be up: twice, because a bit of the U-Box may be held up by a box, and the reverse. */
static void clear_overflows(const struct package *p, const struct experiment *e)
{
	unsigned int pass;
	const struct may *m;
	uint64_t val;

	for (pass = 0; pass < 2; pass++) {
		for (m = may; m < may + ARRAY_SIZE(may); m++) {
			if (applies(m, e) && (m->msr & 0x1f) == OVF &&
			    !read_msr(p, m->msr - OVF + STATUS, &val) && (val & m->bits))
				write_msr(p, m->msr, val & m->bits);
		}
	}
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

static bool touches(const struct experiment *e, uint32_t msr)
{
	uint64_t bits;

	return !read_only(msr) && (e->may & MAY_RST || allowed(e, msr, &bits));
}

/* Everything off first: what is put back must not count. */
const char *restore(const struct package *p, const struct experiment *e)
{
	static char what[160];
	unsigned int i, pass;
	uint64_t val;
	size_t b;

	*what = 0;
	write_msr(p, U_CTL, 0);
	for (b = 0; b < ARRAY_SIZE(mm_cfg); b++) {
		if (touches(e, mm_cfg[b]) && !read_msr(p, mm_cfg[b], &val) && val)
			write_msr(p, mm_cfg[b], 0);
	}
	clear_overflows(p, e);
	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < p->num_saved; i++) {
			uint32_t msr = p->saved[i].msr;

			val = p->saved[i].val;
			if (touches(e, msr) && turn(msr) == pass && !put_back_one(p, msr, val))
				snprintf(what, sizeof(what),
					 "MSR 0x%x of package %d could not be put back to %#llx",
					 msr, p->id, (unsigned long long)val);
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
	clear_overflows(pkg, current);
}
