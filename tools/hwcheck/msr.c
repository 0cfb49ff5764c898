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

/* The others that experiments write, without those that switch a match on. */
static const uint32_t others[] = {
	U_SEL, 0xc11, 0x395, 0x394, 0xe49, 0xe4a, 0xe59, 0xe5a, 0xe45, 0xe46, 0xe4d, 0xe4e,
	0xe55, 0xe56, 0xe5d, 0xe5e, 0xe04, 0xe24,
};

static const uint32_t mm_cfg[] = { 0xe48, 0xe58, 0xe54, 0xe5c };

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define W_BOX		0xc80
#define W_EXCESS	(1ull << 24)	/* of the erratum */

static int msr_fd(int cpu)
{
	static int fds[4096];
	char path[32];

	if (cpu < 0 || (size_t)cpu >= ARRAY_SIZE(fds))
		return -1;
	if (!fds[cpu]) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		fds[cpu] = open(path, O_RDWR | O_CLOEXEC) + 1;
	}
	return fds[cpu] - 1;
}

bool try_rd(int cpu, uint32_t msr, uint64_t *val)
{
	return pread(msr_fd(cpu), val, 8, msr) == 8;
}

bool try_wr(int cpu, uint32_t msr, uint64_t val)
{
	return pwrite(msr_fd(cpu), &val, 8, msr) == 8;
}

uint64_t rd(uint32_t msr)
{
	uint64_t val = 0;

	if (!try_rd(package_cpu, msr, &val))
		undetermined("MSR 0x%x cannot be read", msr);
	return val;
}

void wr(uint32_t msr, uint64_t val)
{
	if (!try_wr(package_cpu, msr, val))
		undetermined("MSR 0x%x cannot be written", msr);
}

void wait_us(unsigned int us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/* ---- all of them ---- */

#define SAVED_MAX	400

static struct {
	uint32_t msr;
	uint64_t val;
} saved[SAVED_MAX];
static unsigned int num_saved;
static uint64_t saved_ctl;	/* U_CTL, which enables nothing: see other_owner() */

static void each_register(void (*visit)(uint32_t msr))
{
	size_t i;
	unsigned int n;

	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if (boxes[i].e7_only && !machine_e7)
			continue;
		visit(boxes[i].base);
		for (n = 0; n < boxes[i].counters; n++) {
			visit(boxes[i].base + SEL(n));
			visit(boxes[i].base + CTR(n));
		}
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		visit(others[i]);
	for (i = 0; i < ARRAY_SIZE(mm_cfg); i++)
		visit(mm_cfg[i]);
}

static unsigned int seen, readable;

static void look(uint32_t msr)
{
	uint64_t val;

	seen++;
	readable += try_rd(package_cpu, msr, &val);
}

unsigned int registers_readable(unsigned int *all)
{
	seen = 0;
	readable = 0;
	each_register(look);
	*all = seen;
	return readable;
}

const char *other_owner(void)
{
	static char what[64];
	uint64_t val, ctl;
	unsigned int n;
	size_t i;

	if (!try_rd(package_cpu, U_CTL, &val))
		return "the uncore cannot be reached";
	if (val & (U_EN_ALL | U_RST_ALL))
		return "U_MSR_PMON_GLOBAL_CTL is in use";
	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if ((boxes[i].e7_only && !machine_e7) || !try_rd(package_cpu, boxes[i].base, &ctl))
			continue;
		for (n = 0; n < boxes[i].counters; n++) {
			if (!(ctl >> n & 1) || !try_rd(package_cpu, boxes[i].base + SEL(n), &val) ||
			    !(val & boxes[i].en))
				continue;
			snprintf(what, sizeof(what), "a counter is enabled, MSR 0x%x",
				 boxes[i].base + SEL(n));
			return what;
		}
	}
	if (try_rd(package_cpu, W, &ctl) && (ctl & W_FIXED_BIT) &&
	    try_rd(package_cpu, W_FIXED_CTL, &val) && (val & 1))
		return "the fixed counter of the W-Box is enabled, MSR 0x395";
	return NULL;
}

static void save_one(uint32_t msr)
{
	if (num_saved < SAVED_MAX && try_rd(package_cpu, msr, &saved[num_saved].val))
		saved[num_saved++].msr = msr;
}

void save(void)
{
	num_saved = 0;
	each_register(save_one);
	try_rd(package_cpu, U_CTL, &saved_ctl);
}

static bool is_mm_cfg(uint32_t msr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mm_cfg); i++) {
		if (mm_cfg[i] == msr)
			return true;
	}
	return false;
}

static bool is_w_counter(uint32_t msr)
{
	return msr == W_FIXED || (msr >= W_BOX + CTR(0) && msr <= W_BOX + CTR(3) && (msr & 1));
}

/*
 * A counter of the W-Box whose low 24 bits are 0 or 1 may read too high. Then so does what
 * is written in its place, and what must be written is less.
 */
static bool put_back(uint32_t msr, uint64_t val)
{
	uint64_t now;

	if (!try_rd(package_cpu, msr, &now))
		return false;
	if (now == val)
		return true;
	if (!try_wr(package_cpu, msr, val) || !try_rd(package_cpu, msr, &now))
		return false;
	if (now != val && is_w_counter(msr) && now == ((val + W_EXCESS) & M48))
		return try_wr(package_cpu, msr, (val - W_EXCESS) & M48) &&
		       try_rd(package_cpu, msr, &now) && now == val;
	return now == val;
}

static void clear_overflows(void)
{
	uint64_t val;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		if (boxes[i].e7_only && !machine_e7)
			continue;
		if (try_rd(package_cpu, boxes[i].base + STATUS, &val) && val)
			try_wr(package_cpu, boxes[i].base + OVF, val);
	}
	if (try_rd(package_cpu, U_STATUS, &val) && val)
		try_wr(package_cpu, U_OVF, val & (U_COND | U_PMI | U_OV_ALL));
}

/* Everything off first: what is put back must not count. */
const char *restore(void)
{
	static char what[64];
	const char *bad = NULL;
	unsigned int i, pass;
	size_t b;

	try_wr(package_cpu, U_CTL, 0);
	for (b = 0; b < ARRAY_SIZE(mm_cfg); b++)
		try_wr(package_cpu, mm_cfg[b], 0);
	clear_overflows();
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < num_saved; i++) {
			if (is_mm_cfg(saved[i].msr) != (pass == 1) ||
			    put_back(saved[i].msr, saved[i].val))
				continue;
			snprintf(what, sizeof(what), "MSR 0x%x could not be put back", saved[i].msr);
			bad = what;
		}
	}
	return put_back(U_CTL, saved_ctl) ? bad : "U_MSR_PMON_GLOBAL_CTL could not be put back";
}

/* ---- what most experiments do ---- */

/* PKTS_SENT_SNP, with a threshold that no increment reaches. */
#define S_NEVER		(0x62ull | THRESH(255))

/* Text and table of the manual disagree about invert: one of the two counts every clock. */
static uint64_t s_clock(void)
{
	static uint64_t clock;
	static int cpu = -1;
	unsigned int i;

	for (i = 0; cpu != package_cpu && i < 2; i++) {
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
			cpu = package_cpu;
	}
	if (cpu != package_cpu)
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
	/* What follows it: a freeze, an interrupt. */
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
