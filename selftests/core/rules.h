/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What perf_event_open() answers to offcore and precise requests: without the
 * module, with it, and with enforce. The rules are written down here a second
 * time, from the manual.
 */
#ifndef SELFTESTS_CORE_RULES_H
#define SELFTESTS_CORE_RULES_H

#include "ext.h"

#define BIT(n)		(1ull << (n))
#define BITS(hi, lo)	((BIT((hi) - (lo) + 1) - 1) << (lo))

/* Of the CPU at hand. */
struct rules {
	uint16_t select[2];
	uint64_t request;	/* request bits that are not reserved */
	uint64_t supplier;
	uint64_t snoop;
	bool both;		/* supplier and snoop are needed, not one of them */
	bool outstanding[2];	/* the register has bit 38 */
	uint64_t imprecise;	/* config bits that exclude precise_ip=3 */
};

static const struct rules *rules;

static bool offcore_counts(int reg, uint64_t val)
{
	uint64_t response = rules->supplier | rules->snoop | BIT(16);

	if (!(val & rules->request))
		return false;
	if (val & BIT(38))
		return rules->outstanding[reg] && !(val & response);
	if (val & BIT(16))
		return true;
	if (rules->both)
		return val & rules->supplier && val & rules->snoop;
	return val & (rules->supplier | rules->snoop);
}

/* One of @num offcore selections: each bit alone and with others. */
#define NUM_REQUESTS	20
#define NUM_RESPONSES	(24 + 23 + 4)
#define NUM_OFFCORE	(NUM_REQUESTS * NUM_RESPONSES * 2)

static uint64_t offcore_value(unsigned int n)
{
	unsigned int req = n % NUM_REQUESTS, rsp = n / NUM_REQUESTS % NUM_RESPONSES;
	uint64_t val = n / NUM_REQUESTS / NUM_RESPONSES ? BIT(38) : 0;

	if (req < 16)
		val |= BIT(req);
	else
		val |= (uint64_t[]){ 0, BIT(0) | BIT(1), rules->request, 0xffff }[req - 16];
	if (rsp < 24)
		val |= rsp ? BIT(15 + rsp) : 0;
	else if (rsp < 24 + 23)
		val |= BIT(rsp - 24 + 16) | BIT((rsp - 24) % 2 ? 33 : 18);
	else
		val |= (uint64_t[]){ rules->supplier, rules->snoop,
				     rules->supplier | rules->snoop,
				     BITS(37, 16) }[rsp - 24 - 23];
	return val;
}

static int kernel_says[2][NUM_OFFCORE];

static int offcore_open(int reg, unsigned int n)
{
	return try_open(rules->select[reg], offcore_value(n), 0);
}

static void offcore_ask_kernel(void)
{
	unsigned int n, refused = 0;
	int reg;

	ext_load(NULL);
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < NUM_OFFCORE; n++) {
			kernel_says[reg][n] = offcore_open(reg, n);
			refused += kernel_says[reg][n] < 0;
		}
	}
	ktap_note("the kernel refuses %u of %u", refused, (unsigned int)(2 * NUM_OFFCORE));
	ktap_check(refused && refused < 2 * NUM_OFFCORE);
}

static void offcore_unenforced(void)
{
	unsigned int n;
	int reg;

	ext_load("");
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < NUM_OFFCORE; n++) {
			int says = offcore_open(reg, n);

			ktap_check(says == kernel_says[reg][n], "%#x,%#llx: %d, kernel %d",
				   rules->select[reg], (unsigned long long)offcore_value(n),
				   says, kernel_says[reg][n]);
		}
	}
}

static void offcore_enforced(void)
{
	unsigned int n, refused = 0, taken = 0;
	int reg;

	ext_load("enforce=1");
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < NUM_OFFCORE; n++) {
			uint64_t val = offcore_value(n);
			int want = offcore_counts(reg, val) ? kernel_says[reg][n] : -EINVAL;
			int says = offcore_open(reg, n);

			ktap_check(says == want, "%#x,%#llx: %d", rules->select[reg],
				   (unsigned long long)val, says);
			refused += want && !kernel_says[reg][n];
			taken += !want;
		}
	}
	ktap_note("%u taken, %u more than the kernel's refused", taken, refused);
	ktap_check(refused && taken);
}

/* Everything that is not offcore is let through. */
static void others_enforced(void)
{
	static int says[256][8];
	unsigned int code, i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (code = 0; code < 256; code++) {
			for (i = 0; i < 8; i++) {
				unsigned int config = code | 1 << (8 + i);
				int now;

				if (config == rules->select[0] || config == rules->select[1])
					continue;
				now = try_open(config, 0x12345, 0);
				if (pass)
					ktap_check(now == says[code][i], "%#x: %d, kernel %d",
						   config, now, says[code][i]);
				says[code][i] = now;
			}
		}
	}
}

static void precise_enforced(void)
{
	static int says[32][4];
	int pass, bit, precise;

	for (pass = 0; pass < 3; pass++) {
		ext_load(pass == 0 ? NULL : pass == 1 ? "" : "enforce=1");
		for (bit = 16; bit < 32; bit++) {
			for (precise = 0; precise < 4; precise++) {
				uint64_t config = 0xc0 | BIT(bit);
				bool imprecise = precise == 3 && rules->imprecise & config;
				int now = try_open(config, 0, precise);
				int want = pass == 2 && imprecise ? -EOPNOTSUPP : says[bit][precise];

				if (pass)
					ktap_check(now == want, "%#llx at %d: %d, want %d",
						   (unsigned long long)config, precise, now, want);
				else
					says[bit][precise] = now;
			}
		}
	}
}

/* The generic cache events use the offcore registers, too. */
static void generic_enforced(void)
{
	unsigned int config;
	int pass, says[8][3][2];

	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (config = 0; config < 8 * 3 * 2; config++) {
			unsigned int cache = config / 6, op = config / 2 % 3, result = config % 2;
			struct perf_event_attr attr = core_attr(cache | op << 8 | result << 16, 0, 0);
			int fd;

			attr.type = PERF_TYPE_HW_CACHE;
			fd = open_task(&attr, -1);
			if (fd >= 0)
				close(fd);
			if (fd >= 0)
				fd = 0;
			if (pass)
				ktap_check(fd == says[cache][op][result], "%#x: %d, kernel %d",
					   config, fd, says[cache][op][result]);
			says[cache][op][result] = fd;
		}
	}
}

static void reason_given(void)
{
	ext_load("enforce=1");
	ktap_require(!shell("echo 'module intel_core_ext +p' >/proc/dynamic_debug/control"));
	shell("dmesg -c >/dev/null");
	ktap_check(try_open(rules->select[0], 0, 0) == -EINVAL);
	ktap_check(!shell("dmesg | grep -q 'intel_core_ext:.*offcore: no request type'"));
	ktap_check(try_open(rules->select[0], 1, 0) == -EINVAL);
	ktap_check(!shell("dmesg | grep -q 'intel_core_ext:.*response'"));
}

#define RULES_CASES								\
	{ "offcore: what the kernel takes", offcore_ask_kernel },		\
	{ "offcore: the module alone changes nothing", offcore_unenforced },	\
	{ "offcore: enforce refuses what counts nothing", offcore_enforced },	\
	{ "other events under enforce", others_enforced },			\
	{ "generic cache events under enforce", generic_enforced },		\
	{ "precision under enforce", precise_enforced },			\
	{ "a refusal has a reason", reason_given }

#endif
