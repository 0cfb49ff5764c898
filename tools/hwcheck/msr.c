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
	u32 base;
	unsigned int counters;
	u64 en;
} boxes[] = {
	{ 0xd00, 6, EN }, { 0xd80, 6, EN }, { 0xd40, 6, EN }, { 0xdc0, 6, EN }, { 0xd20, 6, EN },
	{ 0xda0, 6, EN }, { 0xd60, 6, EN }, { 0xde0, 6, EN }, { 0xf40, 6, EN }, { 0xfc0, 6, EN },
	{ 0xc40, 4, EN }, { 0xcc0, 4, EN }, { 0xc80, 4, EN },				/* S, W */
	{ 0xc20, 4, EN_LOW }, { 0xc60, 4, EN_LOW }, { 0xca0, 6, EN_LOW }, { 0xce0, 6, EN_LOW },
	{ 0xe00, 8, EN_LOW }, { 0xe20, 8, EN_LOW },					/* R */
};

/* The Xeon 7500 has eight C-Boxes. */
static bool there(const struct box *b)
{
	return machine_e7 || b->base < 0xf00;
}

/* The other registers, from and to; but for OVF_CTL each one that the manual has. */
static const struct { u32 first, last; } others[] = {
	{ U_CTL, U_STATUS }, { U_SEL, 0xc11 }, { W_FIXED, W_FIXED_CTL },
	{ 0xc43, 0xc43 }, { 0xcc3, 0xcc3 },			/* S SUMMARY */
	{ 0xca4, 0xcab }, { 0xce4, 0xceb },			/* M time stamp, DSP to ZDP */
	{ 0xe04, 0xe0f }, { 0xe24, 0xe2f },			/* R IPERF, QLX */
	{ 0xe45, 0xe46 }, { 0xe4d, 0xe4e },			/* match: B */
	{ 0xe48, 0xe4a }, { 0xe58, 0xe5a },			/* S */
	{ 0xe54, 0xe56 }, { 0xe5c, 0xe5e },			/* M */
	{ 0xe60, 0xe9e },					/* R XBR, but each fourth */
};

/* STATUS, SUMMARY, and the time stamps of the M-Boxes, which run. */
static bool read_only(u32 msr)
{
	if (msr >= 0xe40 && msr < 0xf00)
		return false;
	return (msr & 0x1f) == STATUS || (msr & 0x1f) == 3 || (msr & ~0x40) == 0xca4;
}

/*
 * Every register that an experiment may write, and every bit it may set there. wr() refuses the
 * rest, and --dry-run and the journal print it. Only these are put back, to what was read.
 */
#define BOX(may, base, name, ctl, ovf, first, num, sel)				\
	{ may, base, 1, ctl, name " GLOBAL_CTL" },				\
	{ may, base + OVF, 1, ovf, name " OVF_CTL" },				\
	{ may, base + SEL(first), num, sel, name " select" },			\
	{ may, base + CTR(first), num, M48, name " counter" }
#define SELECT		(THRESH(255) | INVERT | EN | 1ull << 17 | 0xffff)
static const struct may {
	unsigned int may;
	u32 msr;
	unsigned int num;	/* registers, each two after the other */
	u64 bits;
	const char *name;
} may[] = {
	{ ~0u, U_CTL, 1, U_EN_ALL, "U_MSR_PMON_GLOBAL_CTL: en_all" },
	{ ~0u, U_OVF, 1, U_COND | U_PMI | U_OV_ALL, "U_MSR_PMON_GLOBAL_OVF_CTL" },
	{ MAY_RST, U_CTL, 1, U_RST_ALL, "U_MSR_PMON_GLOBAL_CTL: rst_all" },
	{ MAY_PMI_EN, U_CTL, 1, U_FRZ_ALL, "U_MSR_PMON_GLOBAL_CTL: frz_all" },
	{ MAY_PMI, U_CTL, 1, U_CORE_SEL(0xff), "U_MSR_PMON_GLOBAL_CTL: pmi_core_sel" },
	{ MAY_PMI, DEBUGCTL, 1, DEBUGCTL_PMI, "IA32_DEBUGCTL of each CPU, by hwcheck_nmi.ko" },
	{ MAY_PMI, CORE_OVF, 1, CORE_OVF_UNCORE,
	  "IA32_PERF_GLOBAL_OVF_CTRL of each CPU, by hwcheck_nmi.ko" },
	{ MAY_U_SEL, U_SEL, 1, 0x1df, "U_MSR_PMON_EV_SEL" },
	BOX(MAY_S0, S0, "S-Box 0", 7, 0xf, 0, 3, SELECT),
	{ MAY_PMI_EN | MAY_PMI, S0 + SEL(0), 1, PMI_EN, "S-Box 0 select: pmi_en" },
	{ MAY_STATUS, S0 + STATUS, 1, 1, "S-Box 0 STATUS" },
	BOX(MAY_S1, S1, "S-Box 1", 1, 0xf, 0, 1, SELECT | PMI_EN),
	BOX(MAY_W, W, "W-Box", W_FIXED_BIT | 1, W_FIXED_BIT | 0xf, 0, 1, SELECT),
	{ MAY_W, W_FIXED, 1, M48, "W-Box fixed counter" },
	{ MAY_W, W_FIXED_CTL, 1, 1, "W-Box fixed counter's control" },
	{ MAY_PMI_EN, W_FIXED_CTL, 1, 4, "W-Box fixed counter's control: pmi_en" },
	BOX(MAY_C0 | MAY_C_ALL, C0, "C-Box 0", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xd80, "C-Box 1", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xd40, "C-Box 2", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xdc0, "C-Box 3", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xd20, "C-Box 4", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xda0, "C-Box 5", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xd60, "C-Box 6", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xde0, "C-Box 7", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xf40, "C-Box 8", 1, 1, 0, 1, SELECT),
	BOX(MAY_C_ALL, 0xfc0, "C-Box 9", 1, 1, 0, 1, SELECT),
	BOX(MAY_B0, B0, "B-Box 0", 2, 0xf, 1, 1, 1 << 1 | EN_LOW),
	{ MAY_B0, B0_MATCH, 1, (1ull << 60) - 1, "B-Box 0 MATCH" },
	{ MAY_B0, B0_MASK, 1, (1ull << 60) - 1, "B-Box 0 MASK" },
	{ MAY_S0_MATCH, S0_MM_CFG, 1, MM_EN, "S-Box 0 MM_CFG" },
	{ MAY_S0_MATCH, S0_MATCH, 1, ~0ull, "S-Box 0 MATCH" },
	{ MAY_S0_MATCH, S0_MASK, 1, 0x7fffffffffull, "S-Box 0 MASK" },
	BOX(MAY_M0, M0, "M-Box 0", 1, 0x3f, 0, 1, 0x1fff),
	{ MAY_M0, M0_MM_CFG, 1, MM_EN, "M-Box 0 MM_CFG" },
	{ MAY_M0, M0_MATCH, 1, (1ull << 34) - 1, "M-Box 0 MATCH" },
	{ MAY_M0, M0_MASK, 1, (1ull << 28) - 1, "M-Box 0 MASK" },
	BOX(MAY_R0, R0, "R-Box left", 3, 0xff, 0, 2, 3),
	{ MAY_R0, R0_IPERF0, 1, 3ull << 30, "R-Box port 0 IPERF 0" },
	{ MAY_R0, R0_IPERF1, 1, 3ull << 30, "R-Box port 0 IPERF 1" },
};

/* It is for writing. */
static bool is_ovf(u32 msr)
{
	return (msr & 0x1f) == OVF;
}

static bool applies(const struct may *m, const struct experiment *e)
{
	return m->may & (e->may | 1u << 31);
}

/* May it write this register at all, and which bits? */
static bool allowed(const struct experiment *e, u32 msr, u64 *bits)
{
	const struct may *m;
	bool any = false;

	*bits = 0;
	for (m = may; m < may + ARRAY_SIZE(may); m++) {
		if (!applies(m, e) || msr < m->msr || msr >= m->msr + 2 * m->num ||
		    (msr - m->msr) & 1)
			continue;
		any = true;
		*bits |= m->bits;
	}
	return any;
}

void show_writes(FILE *f, const struct experiment *e)
{
	const struct may *m;
	unsigned int n;

	for (m = may; m < may + ARRAY_SIZE(may); m++) {
		for (n = 0; n < m->num && applies(m, e); n++)
			fprintf(f, "#   MSR 0x%03x, bits %#llx: %s\n", m->msr + 2 * n,
				m->bits, m->name);
	}
	if (e->may & MAY_PMI)
		fputs("#   and LVTPC of the local APIC of each CPU, by hwcheck_nmi.ko\n", f);
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

static int access_msr(int cpu, u32 msr, u64 *val, bool write)
{
	int fd = msr_fd(cpu);
	ssize_t n;

	if (fd < 0)
		return errno;
	n = write ? pwrite(fd, val, 8, msr) : pread(fd, val, 8, msr);
	return n == 8 ? 0 : n < 0 ? errno : ENXIO;
}

/* A CPU that has gone offline says anything but what a register or the kernel says. */
static int access_package(const struct package *p, u32 msr, u64 *val, bool write)
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

int read_msr(const struct package *p, u32 msr, u64 *val)
{
	return access_package(p, msr, val, false);
}

static int write_msr(const struct package *p, u32 msr, u64 val)
{
	return access_package(p, msr, &val, true);
}

int read_msr_of(int cpu, u32 msr, u64 *val)
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
	u64 val = 0;
	int err = read_msr(p, U_CTL, &val);

	if (!err)
		err = write_msr(p, U_CTL, val);
	if (err == EPERM)
		return "the kernel allows no MSR to be written: "
		       "echo on >/sys/module/msr/parameters/allow_writes; "
		       "under lockdown (Secure Boot) there is no way but --read";
	return !err ? NULL : because("MSR 0x%x of package %d, written as read: %s", U_CTL, p->id,
				     why_not(err));
}

u64 rd(u32 msr)
{
	u64 val = 0;
	int err;

	if (ended)
		undetermined("interrupted");
	err = read_msr(pkg, msr, &val);
	if (err)
		undetermined("MSR 0x%x cannot be read: %s", msr, why_not(err));
	return val;
}

static const u64 *find_saved(const struct package *p, u32 msr)
{
	unsigned int i;

	for (i = 0; i < p->num_saved; i++) {
		if (p->saved[i].msr == msr)
			return &p->saved[i].val;
	}
	return NULL;
}

bool try_wr(u32 msr, u64 val)
{
	u64 bits;
	int err;

	if (ended)
		undetermined("interrupted");
	if (!allowed(current, msr, &bits) || (val & ~bits))
		undetermined("MSR 0x%x = %#llx is not announced: a fault of hwcheck", msr, val);
	if (!is_ovf(msr) && !find_saved(pkg, msr))
		undetermined("MSR 0x%x cannot be read, so that it could not be put back", msr);
	err = write_msr(pkg, msr, val);
	if (err && err != EIO)
		undetermined("MSR 0x%x cannot be written: %s", msr, why_not(err));
	return !err;
}

void wr(u32 msr, u64 val)
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

static unsigned int save_range(struct package *p, u32 first, u32 last)
{
	unsigned int missing = 0;
	u32 msr;

	for (msr = first; msr <= last; msr++) {
		if (first == 0xe60 && msr % 4 == 3)
			continue;
		if (p->num_saved == REGISTERS_MAX || read_msr(p, msr, &p->saved[p->num_saved].val))
			missing++;
		else
			p->saved[p->num_saved++].msr = msr;
	}
	return missing;
}

unsigned int save(struct package *p)
{
	unsigned int missing = 0;
	const struct box *b;
	size_t i;

	p->num_saved = 0;
	for (b = boxes; b < boxes + ARRAY_SIZE(boxes); b++) {
		if (there(b))
			missing += save_range(p, b->base, b->base + STATUS) +
				   save_range(p, b->base + SEL(0), b->base + CTR(b->counters - 1));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		missing += save_range(p, others[i].first, others[i].last);
	return missing;
}

u64 saved(const struct package *p, u32 msr)
{
	const u64 *val = find_saved(p, msr);

	return val ? *val : 0;
}

const char *other_owner(const struct package *p)
{
	u64 val, ctl, bits = 0;
	const struct box *b;
	unsigned int n;
	u32 msr = 0;

	if (read_msr(p, U_CTL, &val))
		return because("the uncore of package %d cannot be read", p->id);
	/* Saved: it has gone since, and to put it back would let its counters count. */
	if ((val | saved(p, U_CTL)) & (U_EN_ALL | U_RST_ALL))
		msr = U_CTL;
	for (b = boxes; b < boxes + ARRAY_SIZE(boxes); b++) {
		if (!there(b) || read_msr(p, b->base, &ctl))
			continue;
		for (n = 0; n < b->counters; n++) {
			if ((ctl >> n & 1) && !read_msr(p, b->base + SEL(n), &val) && (val & b->en))
				msr = b->base + SEL(n);
		}
		if (b->base == W && (ctl & W_FIXED_BIT) && !read_msr(p, W_FIXED_CTL, &val) &&
		    (val & 1))
			msr = W_FIXED_CTL;
	}
	if (!msr && !read_msr(p, U_STATUS, &val) && (val & (U_PMI | U_OV_ALL))) {
		msr = U_OVF;
		bits = val & (U_COND | U_PMI | U_OV_ALL);
	}
	if (!msr)
		return NULL;
	return because("another program uses the counters of package %d, MSR 0x%x: end it; "
		       "if it has gone without a word: wrmsr -p %d 0x%x %#llx", p->id,
		       msr == U_OVF ? U_STATUS : msr, p->cpu[0], msr, bits);
}

/*
 * Where a counter of the W-Box reads too high (W_EXCESS), so does what is written in its place, and
 * what must be written is less.
 */
static bool put_back_one(const struct package *p, u32 msr, u64 val)
{
	bool w = msr == W_FIXED || (msr >= W + CTR(0) && msr <= W + CTR(3) && (msr & 1));
	u64 now;

	if (read_msr(p, msr, &now))
		return false;
	if (now == val)
		return true;
	if (write_msr(p, msr, val) || read_msr(p, msr, &now))
		return false;
	if (w && now == ((val + W_EXCESS) & M48))
		return !write_msr(p, msr, (val - W_EXCESS) & M48) && !read_msr(p, msr, &now) &&
		       now == val;
	return now == val;
}

void clear_overflows(const struct package *p, const struct experiment *e)
{
	unsigned int pass;
	const struct may *m;
	u64 val;

	/* Twice, because a bit of the U-Box may be held up by a box, and the reverse. */
	for (pass = 0; pass < 2; pass++) {
		for (m = may; m < may + ARRAY_SIZE(may); m++) {
			if (applies(m, e) && is_ovf(m->msr) &&
			    !read_msr(p, m->msr - OVF + STATUS, &val) && (val & m->bits))
				write_msr(p, m->msr, val & m->bits);
		}
	}
}

static bool touches(const struct experiment *e, u32 msr)
{
	u64 bits;

	return !read_only(msr) && (e->may & MAY_RST || allowed(e, msr, &bits));
}

/* In which pass a register is put back. */
static unsigned int turn(u32 msr)
{
	bool mm_cfg = msr == 0xe48 || msr == 0xe58 || msr == 0xe54 || msr == 0xe5c;

	return msr == U_CTL ? 3 : mm_cfg ? 2 : 1;
}

/* What is put back must not count: everything off first. U_CTL is last; before it, what matches. */
const char *restore(const struct package *p, const struct experiment *e)
{
	const char *bad = NULL;
	unsigned int i, pass;

	write_msr(p, U_CTL, 0);
	for (pass = 0; pass < 4; pass++) {
		if (pass == 1)
			clear_overflows(p, e);
		for (i = 0; i < p->num_saved; i++) {
			u64 val = pass ? p->saved[i].val : 0;
			u32 msr = p->saved[i].msr;

			if (touches(e, msr) && turn(msr) == (pass ? pass : 2) &&
			    !put_back_one(p, msr, val) && pass)
				bad = bad ?: because("MSR 0x%x of package %d could not be put "
						     "back to %#llx", msr, p->id, val);
		}
	}
	return bad;
}
