// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of PMIs, and the proof of it, see delivery.h.
 *
 * The proof lets a free C-Box counter overflow many times with its PMI enabled, which has
 * to bring an NMI each time, and as often without, which must not bring as many: NMIs of
 * others come at any time, but not just when they are waited for.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/msr.h>

#include "compat.h"
#include "delivery.h"
#include "xeon7500/cbox.h"
#include "xeon7500/ubox.h"

/* Lets uncore PMIs through to this CPU (SDM volume 3B, IA32_DEBUGCTL of the family). */
#define DEBUGCTL_UNCORE_PMI_EN	BIT_ULL(13)

#define U_GLOBAL_OV_ALL		(U_GLOBAL_OV_U | U_GLOBAL_OV_W | U_GLOBAL_OV_S0 | U_GLOBAL_OV_S1)

#define UNCORE_PROOF_ROUNDS	16	/* with and without PMI each */
#define UNCORE_PROOF_FOREIGN	4	/* NMIs to let pass in those without */
#define UNCORE_PROOF_START	(UNCORE_COUNTER_MASK - 199)	/* so many clocks before the end */
#define UNCORE_PROOF_OVERFLOW	1000	/* us to wait for it, */
#define UNCORE_PROOF_NMI	50	/* and for the NMI */

/* Counts every clock: no event adds as much as 255 in one. */
#define UNCORE_PROOF_EVT_SEL						\
	(FIELD_PREP(C_EVT_SEL_EV_SEL, 0x14) | FIELD_PREP(C_EVT_SEL_UMASK, 0x7) |	\
	 FIELD_PREP(C_EVT_SEL_THRESHOLD, 0xff) | C_EVT_SEL_INVERT | C_EVT_SEL_EN)

/* NMIs seen with an overflow, while a proof runs on this CPU. */
static DEFINE_PER_CPU(unsigned int *, uncore_proof_nmis);

/**
 * uncore_global_status() - what has overflowed on the package of this CPU
 *
 * Return: bits of U_GLOBAL_STATUS, or 0 if nothing has.
 */
u32 uncore_global_status(void)
{
	u64 status;

	rdmsrq(U_MSR_PMON_GLOBAL_STATUS, status);
	return status & (U_GLOBAL_PMI | U_GLOBAL_OV_ALL) ? status : 0;
}

/**
 * uncore_clear_global_status() - clear what is above the boxes
 * @status: as uncore_global_status() has told. The U-Box counter's own bit stays
 */
void uncore_clear_global_status(u32 status)
{
	wrmsrq(U_MSR_PMON_GLOBAL_OVF_CTL, status & ~U_GLOBAL_OV_U);
}

/** uncore_delivery_unmask() - the local APIC has masked the entry with the interrupt */
void uncore_delivery_unmask(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/** uncore_delivery_listening() - are PMIs let through to this CPU? */
bool uncore_delivery_listening(void)
{
	u64 debugctl;

	return !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &debugctl) &&
	       debugctl & DEBUGCTL_UNCORE_PMI_EN;
}

/**
 * uncore_delivery_listen() - let PMIs through to this CPU, or not
 * @on: which
 *
 * To be repeated: KVM restores an older value after each exit of a guest.
 *
 * Return: whether they are let through.
 */
bool uncore_delivery_listen(bool on)
{
	u64 debugctl, val;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &debugctl))
		return false;
	val = on ? debugctl | DEBUGCTL_UNCORE_PMI_EN : debugctl & ~DEBUGCTL_UNCORE_PMI_EN;
	if (val == debugctl)
		return on;
	if (wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, val))
		return false;
	if (on)
		uncore_delivery_unmask();
	return on && uncore_delivery_listening();
}

/**
 * uncore_delivery_nmi() - an NMI has come; is it one of a proof on this CPU?
 *
 * Return: whether it is.
 */
bool uncore_delivery_nmi(void)
{
	unsigned int *nmis = this_cpu_read(uncore_proof_nmis);

	if (!nmis || !uncore_global_status())
		return false;
	WRITE_ONCE(*nmis, *nmis + 1);
	uncore_delivery_unmask();
	return true;
}

/* What a proof works with: a free counter of a C-Box. */
struct uncore_proof {
	struct uncore_box *box;
	unsigned int base;
	int idx;
	u32 core_sel;
	u32 global_ctl;
};

static bool uncore_proof_find(struct uncore_package *pkg, struct uncore_proof *proof)
{
	int id;

	for_each_set_bit(id, &pkg->present, UNCORE_NUM_BOXES) {
		struct uncore_box *box = &pkg->box[id];
		unsigned int idx = ffz(box->claims.counters);

		if (box->type->first != UNCORE_CBOX || idx >= box->type->num_counters)
			continue;
		proof->box = box;
		proof->base = box->type->base[box->instance];
		proof->idx = idx;
		return true;
	}
	return false;
}

static void uncore_proof_clear(const struct uncore_proof *proof)
{
	uncore_box_clear_ov(proof->box, BIT(proof->idx));
	uncore_clear_global_status(uncore_global_status());
}

/*
 * Let the counter overflow once, and wait for an NMI. Returns how long it took, us; -EAGAIN
 * if none has come in time, -EIO if there was no overflow that can be found.
 */
static int uncore_proof_overflow(const struct uncore_proof *proof, u64 pmi_en, int wait)
{
	unsigned int ctl = proof->base + C_MSR_PMON_EVT_SEL(proof->idx), nmis = 0;
	u64 enabled = proof->box->enabled, overflown = 0;
	int us;

	uncore_proof_clear(proof);
	wrmsr(proof->base + C_MSR_PMON_CTR(proof->idx), lower_32_bits(UNCORE_PROOF_START),
	      upper_32_bits(UNCORE_PROOF_START));
	wrmsrq(ctl, UNCORE_PROOF_EVT_SEL | pmi_en);
	this_cpu_write(uncore_proof_nmis, &nmis);
	wrmsrq(proof->base + C_MSR_PMON_GLOBAL_CTL, enabled | BIT(proof->idx));
	uncore_package_override_ctl(proof->global_ctl | proof->core_sel);
	for (us = 0; us < UNCORE_PROOF_OVERFLOW && !overflown; us++) {
		udelay(1);
		overflown = uncore_box_status(proof->box) & BIT(proof->idx);
	}
	for (us = 0; us < wait && !READ_ONCE(nmis); us++)
		udelay(1);
	wrmsrq(proof->base + C_MSR_PMON_GLOBAL_CTL, enabled);
	wrmsrq(ctl, 0);
	/*
	 * The handler clears what is above the boxes before it looks at them. If that clears
	 * them too, it would find nothing: there is no use in an NMI then.
	 */
	uncore_clear_global_status(uncore_global_status());
	overflown &= uncore_box_status(proof->box);
	/* From here on an NMI finds nothing below it. */
	uncore_proof_clear(proof);
	this_cpu_write(uncore_proof_nmis, NULL);
	if (!overflown)
		return -EIO;
	return nmis ? us : -EAGAIN;
}

/* One after the other, for NMIs that come in step with the first would miss the second. */
static bool uncore_proof_rounds(const struct uncore_proof *proof)
{
	int i, us, longest = 0, foreign = 0;

	for (i = 0; i < UNCORE_PROOF_ROUNDS; i++) {
		us = uncore_proof_overflow(proof, C_EVT_SEL_PMI_EN, UNCORE_PROOF_NMI);
		if (us < 0)
			return false;
		longest = max(longest, us);
	}
	for (i = 0; i < UNCORE_PROOF_ROUNDS; i++) {
		us = uncore_proof_overflow(proof, 0, longest + 1);
		if (us == -EIO)
			return false;
		foreign += us >= 0;
	}
	return foreign <= UNCORE_PROOF_FOREIGN;
}

static bool uncore_proof_run(struct uncore_package *pkg, struct uncore_proof *proof)
{
	int try;

	for (try = 0; try < UNCORE_PROOF_TRIES; try++) {
		if (uncore_proof_rounds(proof)) {
			pkg->pmi_core_sel = proof->core_sel;
			return true;
		}
	}
	return false;
}

/*
 * Behind a closed gate en_all has to go on for the proof, so that nothing else may be
 * enabled.
 */
static void uncore_proof_hold(struct uncore_package *pkg, bool hold)
{
	int id;

	for_each_set_bit(id, &pkg->used, UNCORE_NUM_BOXES) {
		pkg->box[id].held = hold ? GENMASK(UNCORE_MAX_COUNTERS - 1, 0) : 0;
		uncore_box_write_enable(&pkg->box[id]);
	}
}

/**
 * uncore_delivery_prove() - find out whether overflows interrupt this CPU
 * @pkg: its package, locked; nothing that counts has its PMI enabled
 *
 * First with the one core that the manual's number stands for, then with all of them: the
 * manual's core numbers need not be the kernel's. IA32_DEBUGCTL keeps the PMI from all
 * CPUs but this one.
 *
 * Return: 0; -EOPNOTSUPP if no NMI comes, -EBUSY if there is no counter to try it with.
 */
int uncore_delivery_prove(struct uncore_package *pkg)
{
	unsigned int core = topology_core_id(smp_processor_id());
	struct uncore_proof proof;
	bool held, proved = false;

	if (!uncore_proof_find(pkg, &proof))
		return -EBUSY;
	if (!uncore_delivery_listen(true))
		return -EOPNOTSUPP;
	held = !uncore_package_runs(pkg);
	if (held)
		uncore_proof_hold(pkg, true);
	proof.global_ctl = (pkg->global_ctl & ~U_GLOBAL_CTL_FRZ_ALL) | U_GLOBAL_CTL_EN_ALL;
	if (core < hweight32(U_GLOBAL_CTL_PMI_CORE_SEL)) {
		proof.core_sel = FIELD_PREP(U_GLOBAL_CTL_PMI_CORE_SEL, BIT(core));
		proved = uncore_proof_run(pkg, &proof);
	}
	if (!proved) {
		proof.core_sel = U_GLOBAL_CTL_PMI_CORE_SEL;
		proved = uncore_proof_run(pkg, &proof);
	}
	uncore_package_write_ctl(pkg);
	if (held)
		uncore_proof_hold(pkg, false);
	wrmsrq(proof.base + C_MSR_PMON_CTR(proof.idx), 0);
	uncore_delivery_listen(false);
	return proved ? 0 : -EOPNOTSUPP;
}
