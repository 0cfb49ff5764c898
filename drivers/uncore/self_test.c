// SPDX-License-Identifier: GPL-2.0-only
/*
 * The self-test of PMIs. The guide does not state that an overflow interrupts a CPU. So the driver
 * tests it when the first event is opened that needs it, and again after another CPU has taken
 * over the package.
 *
 *	cat /sys/bus/event_source/devices/xeon7500_package/caps/pmi
 *
 * A free counter overflows many times with its PMI enabled, and each overflow must cause an NMI
 * soon. Without a free one, an event that only counts lends its own; no event counts meanwhile.
 * An NMI proves nothing if the core PMU has overflowed as well, as with "perf record -F max"; then
 * the overflow is repeated. The rounds differ in length, so that NMIs of others, if they are
 * periodic, cannot match all overflows.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <asm/msr.h>

#include "compat.h"
#include "evsel.h"
#include "uncore.h"
#include "xeon7500/ubox.h"

#define UNCORE_TEST_ROUNDS	16
/* Rounds that may prove nothing */
#define UNCORE_TEST_TRIES	16
/* Clocks before the end of the counter; each round has more of them. */
#define UNCORE_TEST_CLOCKS(round)	(20 + 3500 * (round))
/* us to wait for the overflow, and then for the NMI */
#define UNCORE_TEST_OVERFLOW_US	200
#define UNCORE_TEST_NMI_US	10
/*
 * Without CAP_PERFMON, not again so soon if it proved nothing: it keeps interrupts off, and may
 * stop counts.
 */
#define UNCORE_TEST_AGAIN_NS	(100 * NSEC_PER_MSEC)

static bool pmi = true;
module_param(pmi, bool, 0444);
MODULE_PARM_DESC(pmi, "sampling by interrupts, if a self-test finds them: on (default) or off");

/**
 * struct uncore_test - what a self-test works with: a counter that can count clocks
 * @pkg: the package, locked, of this CPU
 * @box: its box
 * @c: the counter
 * @clock: the control bits with which it counts clocks
 * @enabled: what GLOBAL_CTL of the box holds
 */
struct uncore_test {
	struct uncore_package *pkg;
	struct uncore_box *box;
	struct uncore_counter *c;
	u64 clock;
	u64 enabled;
};

/*
 * Returns a time before it began to count. en_all may still be 1 from the last time, so select the
 * cores each time, also without PMI.
 */
static u64 uncore_test_run(const struct uncore_test *t, u64 start, u64 pmi_en)
{
	const struct uncore_counter_row *row = uncore_counter_row(t->box, t->c);
	u64 begun;

	wrmsr(uncore_ctr_msr(t->box, t->c), lower_32_bits(start), upper_32_bits(start));
	wrmsrq(uncore_ctl_msr(t->box, t->c), t->clock | row->enable | pmi_en);
	begun = local_clock();
	wrmsrq(uncore_box_ctl_msr(t->box), t->enabled | row->bit);
	wrmsrq(U_MSR_PMON_GLOBAL_CTL, t->pkg->global_ctl | U_GLOBAL_CTL_EN_ALL |
	       U_GLOBAL_CTL_PMI_CORE_SEL);
	return begun;
}

static void uncore_test_stop(const struct uncore_test *t)
{
	wrmsrq(uncore_box_ctl_msr(t->box), t->enabled);
	wrmsrq(uncore_ctl_msr(t->box, t->c), 0);
}

/*
 * Finds the control bits that count clocks, if any. A W-Box counter that holds 2 reads as 2, a box
 * that has gone as 0.
 */
static bool uncore_test_counts(struct uncore_test *t)
{
	const struct uncore_counter_row *row = uncore_counter_row(t->box, t->c);
	unsigned int i;
	u64 count = 2;

	rdmsrq(uncore_box_ctl_msr(t->box), t->enabled);
	for (i = 0; i < 2 && count <= 2; i++) {
		t->clock = row->clock | (i ? 0 : C_EVT_SEL_INVERT);
		uncore_test_run(t, 2, 0);
		udelay(1);
		uncore_test_stop(t);
		rdmsrq(uncore_ctr_msr(t->box, t->c), count);
	}
	return count > 2;
}

/* A counter of @box that may count clocks and is free, or else is not; or NULL */
static struct uncore_counter *uncore_test_counter(struct uncore_box *box, bool free)
{
	unsigned int idx;

	for (idx = 0; idx < box->type->num_counters && !box->gone; idx++) {
		if (!box->counter[idx].event == free && box->type->counters[idx].clock &&
		    box->usable & BIT(idx))
			return &box->counter[idx];
	}
	return NULL;
}

static void uncore_test_clear(const struct uncore_test *t)
{
	uncore_box_clear_status(t->box, uncore_counter_row(t->box, t->c)->bit);
	uncore_clear_global_status(uncore_global_status());
}

static void uncore_test_give_back(const struct uncore_test *t)
{
	if (t->c->event)
		uncore_box_program(t->box, t->c);
}

static bool uncore_test_find_among(struct uncore_test *t, bool free)
{
	unsigned int id;

	for_each_set_bit(id, &t->pkg->present, UNCORE_NUM_BOXES) {
		t->box = &t->pkg->box[id];
		t->c = uncore_test_counter(t->box, free);
		if (!t->c)
			continue;
		if (!free) {
			uncore_event_update(t->c->event);
			uncore_event_no_start(t->c->event);
		}
		if (uncore_test_counts(t))
			return true;
		uncore_test_give_back(t);
	}
	return false;
}

/* Finds a counter that counts clocks. */
static bool uncore_test_find(struct uncore_test *t)
{
	if (uncore_test_find_among(t, true))
		return true;
	t->pkg->hold.testing = true;
	uncore_package_apply(t->pkg, t->pkg->used);
	return uncore_test_find_among(t, false);
}

/* Let the counter overflow once. Does the NMI come in time, and would the handler find it? */
static bool uncore_test_round(const struct uncore_test *t, int round)
{
	const struct uncore_counter_row *row = uncore_counter_row(t->box, t->c);
	u64 start = -UNCORE_TEST_CLOCKS(round) & UNCORE_COUNTER_MASK;
	struct uncore_pmi *p = &t->pkg->pmi;
	u64 overflown = 0, since;
	u64 proof;
	int us;

	uncore_test_clear(t);
	WRITE_ONCE(p->pending, false);
	WRITE_ONCE(p->proof_ns, 0);
	since = uncore_test_run(t, start, row->pmi_en);
	for (us = 0; us < UNCORE_TEST_OVERFLOW_US && !overflown; us++) {
		udelay(1);
		overflown = uncore_box_status(t->box) & row->bit;
	}
	for (us = 0; us < UNCORE_TEST_NMI_US && !READ_ONCE(p->proof_ns); us++)
		udelay(1);
	proof = READ_ONCE(p->proof_ns);
	uncore_test_stop(t);
	/*
	 * The handler clears the summary before it reads the boxes. If that also clears the
	 * boxes, the handler would find nothing, and an NMI is of no use.
	 */
	uncore_clear_global_status(uncore_global_status());
	overflown &= uncore_box_status(t->box);
	/* From here on an NMI finds nothing below it. */
	uncore_test_clear(t);
	if (proof)
		p->latency_ns = min(p->latency_ns, proof - since);
	return overflown && proof;
}

/*
 * Returns 0, -EIO if NMIs are missing or of no use, -EBUSY if those of the core PMU hide whether
 * they are.
 */
static int uncore_test_rounds(const struct uncore_test *t)
{
	struct uncore_pmi *p = &t->pkg->pmi;
	int round = 0, failed = 0, hidden = 0;

	while (round < UNCORE_TEST_ROUNDS && failed < UNCORE_TEST_TRIES) {
		if (uncore_test_round(t, round)) {
			round++;
			continue;
		}
		failed++;
		if (READ_ONCE(p->pending) && !READ_ONCE(p->proof_ns))
			hidden++;
		else
			round = 0;
	}
	if (round == UNCORE_TEST_ROUNDS)
		return 0;
	return hidden == failed ? -EBUSY : -EIO;
}

/*
 * Select all cores: the manual's core numbers need not be the kernel's. Only this CPU has
 * IA32_DEBUGCTL bit 13 set, and gets the PMI.
 */
static void uncore_self_test(struct uncore_package *pkg)
{
	struct uncore_test t = { .pkg = pkg };
	int err = -EIO;

	/* If the test has to set en_all, no other counter may be enabled. */
	pkg->hold.testing = !uncore_package_runs(pkg);
	uncore_package_apply(pkg, pkg->used);
	pkg->pmi.latency_ns = U64_MAX;
	if (uncore_test_find(&t)) {
		uncore_watch_arm(pkg);
		if (uncore_pmi_listen(pkg, true))
			err = uncore_test_rounds(&t);
		uncore_pmi_listen(pkg, false);
		uncore_test_give_back(&t);
	}
	uncore_package_write_ctl(pkg);
	pkg->hold.testing = false;
	uncore_package_apply(pkg, pkg->used);
	if (err == -EBUSY) {
		pkg->pmi.hidden_ns = local_clock();
		return;
	}
	if (err)
		pr_info("CPU %u: overflows do not interrupt\n", smp_processor_id());
	pkg->pmi.state = err ? UNCORE_PMI_NO : UNCORE_PMI_YES;
}

/* Not while events interrupt: the test would clear their overflow bits. */
static void uncore_self_test_now(void *info)
{
	struct uncore_package *pkg = info;

	uncore_lock(pkg);
	if (pkg->pmi.state == UNCORE_PMI_UNTESTED && !pkg->pmi.events &&
	    pkg->cpu == smp_processor_id())
		uncore_self_test(pkg);
	uncore_unlock(pkg);
}

static void uncore_self_test_seldom(void *info)
{
	const struct uncore_package *pkg = info;

	if (local_clock() - READ_ONCE(pkg->pmi.hidden_ns) > UNCORE_TEST_AGAIN_NS)
		uncore_self_test_now(info);
}

/**
 * uncore_self_test_require() - can overflows of this package interrupt?
 * @pkg: the package
 * @sampling: and can perf get samples?
 *
 * The first call runs the self-test. Its result is kept until another CPU takes over the package or
 * the system sleeps. While events that interrupt exist there, no new test is needed.
 *
 * Return: 0; -EOPNOTSUPP if not, -EBUSY if it cannot be tested now, -ENODEV without CPU.
 */
int uncore_self_test_require(struct uncore_package *pkg, bool sampling)
{
	enum uncore_pmi_state state;
	int err;

	if (!pmi || (sampling && !uncore_pmi_samples()))
		return -EOPNOTSUPP;
	if (READ_ONCE(pkg->pmi.state) == UNCORE_PMI_UNTESTED) {
		/* Who may hold back others need not wait, so others cannot keep them waiting. */
		err = uncore_package_call(pkg, perfmon_capable() ? uncore_self_test_now :
					  uncore_self_test_seldom, pkg);
		if (err)
			return err;
	}
	state = READ_ONCE(pkg->pmi.state);
	if (state == UNCORE_PMI_UNTESTED)
		return READ_ONCE(pkg->pmi.events) ? 0 : -EBUSY;
	return state == UNCORE_PMI_YES ? 0 : -EOPNOTSUPP;
}

/** uncore_self_test_worst() - the worst that is known of any package */
enum uncore_pmi_state uncore_self_test_worst(void)
{
	enum uncore_pmi_state state = UNCORE_PMI_UNTESTED;
	struct uncore_package *pkg;

	if (!pmi)
		return UNCORE_PMI_OFF;
	for_each_uncore_package(pkg) {
		if (pkg->pmi.state == UNCORE_PMI_NO)
			return UNCORE_PMI_NO;
		state = max(state, pkg->pmi.state);
	}
	return state;
}
