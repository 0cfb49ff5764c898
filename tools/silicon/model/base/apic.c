// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PMIs on their way to the cores: through the local APIC's LVTPC entry, which
 * the delivery masks. An uncore PMI needs IA32_DEBUGCTL bit 13 besides [debugctl_13],
 * is lost without it [pmi_no_debugctl], and goes to every thread of the cores chosen
 * [pmi_core_sel], to none if none is [pmi_mask_0]. It shows in the core PMU [ovf_uncore]. Faults
 * can be injected on the way.
 */
#include "silicon.h"
#include "qemu/timer.h"
#include "system/cpu-timers.h"
#include "hw/i386/apic.h"
#include "hw/i386/apic_internal.h"
#include "hw/i386/apic-msidef.h"
#include "hw/pci/msi.h"

#define DOUBLE_AFTER_NS	10000

static uint64_t package_stats[SILICON_PACKAGES][SYN_PMI_NO_EDGE + 1];
static uint64_t cpu_stats[SILICON_CPUS][SYN_PMI_NMIS + 1];
static bool enabled[SILICON_CPUS];	/* IA32_DEBUGCTL bit 13 */
static bool kept[SILICON_CPUS];		/* PMIs that wait for it */
static bool ovf_uncore[SILICON_CPUS];	/* bit 61 of IA32_PERF_GLOBAL_STATUS */
static uint64_t faults[SYN_FAULT_LAST - SYN_FAULT_LOSE + 1];

#define FAULT(name)	faults[SYN_FAULT_##name - SYN_FAULT_LOSE]

static const char * const package_names[] = {
	"requested", "skipped", "no_core", "lost", "doubled", "delayed", "misrouted", "refreeze",
	"no_edge",
};

static const char * const cpu_names[] = {
	"sent", "masked", "no_debugctl", "core_sent", "core_masked", "nmi_accesses", "nmi_insns",
	"nmis",
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(package_names) != ARRAY_SIZE(package_stats[0]));
QEMU_BUILD_BUG_ON(ARRAY_SIZE(cpu_names) != ARRAY_SIZE(cpu_stats[0]));

/* True if it got through. */
static bool deliver(CPUState *cs)
{
	APICCommonState *apic;
	uint32_t lvt;

	if (!X86_CPU(cs)->apic_state)
		return false;
	apic = APIC_COMMON(X86_CPU(cs)->apic_state);
	lvt = apic->lvt[APIC_LVT_PERFORM];
	if ((lvt & APIC_LVT_MASKED) || !(apic->spurious_vec & APIC_SV_ENABLE))
		return false;
	apic->lvt[APIC_LVT_PERFORM] |= APIC_LVT_MASKED;
	switch (lvt >> 8 & 7) {
	case APIC_DM_NMI:
		cpu_interrupt(cs, CPU_INTERRUPT_NMI);
		break;
	case APIC_DM_FIXED: {
		MSIMessage msg = {
			.address = APIC_DEFAULT_ADDRESS | apic->id << MSI_ADDR_DEST_ID_SHIFT,
			.data = lvt & 0xff,
		};

		APIC_COMMON_GET_CLASS(apic)->send_msi(&msg);
		break;
	}
	}
	return true;
}

void silicon_pmi(CPUState *cs)
{
	cpu_stats[cs->cpu_index][deliver(cs) ? SYN_PMI_CORE_SENT : SYN_PMI_CORE_MASKED]++;
}

static void deliver_uncore(CPUState *cs)
{
	unsigned int what;

	if (!enabled[cs->cpu_index] &&
	    reading(RD_DEBUGCTL_13) != RD_DEBUGCTL_13_NEEDLESS) {
		what = SYN_PMI_NO_DEBUGCTL;
		kept[cs->cpu_index] = reading(RD_PMI_NO_DEBUGCTL) == RD_PMI_NO_DEBUGCTL_KEPT;
	} else {
		what = deliver(cs) ? SYN_PMI_SENT : SYN_PMI_MASKED;
		ovf_uncore[cs->cpu_index] = reading(RD_OVF_UNCORE) == RD_OVF_UNCORE_SET;
	}
	cpu_stats[cs->cpu_index][what]++;
}

void apic_debugctl_written(CPUState *cs, bool bit_13)
{
	enabled[cs->cpu_index] = bit_13;
	if (!kept[cs->cpu_index] || !bit_13)
		return;
	kept[cs->cpu_index] = false;
	deliver_uncore(cs);
}

bool apic_ovf_uncore(CPUState *cs)
{
	return ovf_uncore[cs->cpu_index];
}

void apic_ovf_uncore_clear(CPUState *cs)
{
	ovf_uncore[cs->cpu_index] = false;
}

/* Does pmi_core_sel mean this CPU of the package? */
static bool chosen_by(unsigned int core_mask, const X86CPU *x)
{
	if (!core_mask && reading(RD_PMI_MASK_0) == RD_PMI_MASK_0_IGNORED)
		return true;
	if (reading(RD_PMI_CORE_SEL) == RD_PMI_CORE_SEL_APIC_ID)
		return core_mask >> (x->apic_id & 7) & 1;
	return x->core_id < 8 && (core_mask >> x->core_id & 1);
}

struct flight {
	QEMUTimer timer;
	unsigned int package;
	unsigned int resets;	/* of the package, when it took off */
	unsigned int core_mask;
	bool misroute;
};

static unsigned int resets[SILICON_PACKAGES];

void apic_reset(unsigned int package)
{
	resets[package]++;
}

static void land(const struct flight *f)
{
	bool somebody = false;
	CPUState *cs;

	if (f->resets != resets[f->package])
		return;

	CPU_FOREACH(cs) {
		X86CPU *x = X86_CPU(cs);
		unsigned int core = x->core_id, thread = x->thread_id;
		bool chosen;

		if (silicon_package(cs) != f->package)
			continue;
		chosen = chosen_by(f->core_mask, x);
		/*
		 * To the wrong place: not to the first thread of the cores
		 * chosen, but to their others, or to the next core.
		 */
		if (f->misroute)
			chosen = (chosen && thread) ||
				 (core && core <= 8 && !thread && (f->core_mask >> (core - 1) & 1));
		if (!chosen)
			continue;
		somebody = true;
		deliver_uncore(cs);
	}
	if (!somebody)
		apic_count(f->package, SYN_PMI_NO_CORE);
}

static void flight_timer(void *opaque)
{
	struct flight *f = opaque;

	land(f);
	timer_del(&f->timer);
	g_free(f);
}

static void take_off(struct flight f, uint64_t delay_ns)
{
	struct flight *late;

	if (!delay_ns) {
		land(&f);
		return;
	}
	late = g_memdup2(&f, sizeof(f));
	timer_init_ns(&late->timer, QEMU_CLOCK_VIRTUAL, flight_timer, late);
	timer_mod(&late->timer, silicon_now_ns() + delay_ns);
}

void apic_uncore_pmi(unsigned int package, unsigned int core_mask)
{
	struct flight f = {
		.package = package, .core_mask = core_mask, .resets = resets[package],
	};
	uint64_t delay = FAULT(DELAY_NS);

	if (FAULT(LOSE)) {
		FAULT(LOSE)--;
		apic_count(package, SYN_PMI_LOST);
		return;
	}
	if (FAULT(SIBLING)) {
		FAULT(SIBLING)--;
		f.misroute = true;
		apic_count(package, SYN_PMI_MISROUTED);
	}
	if (delay)
		apic_count(package, SYN_PMI_DELAYED);
	take_off(f, delay);
	if (FAULT(DOUBLE)) {
		FAULT(DOUBLE)--;
		apic_count(package, SYN_PMI_DOUBLED);
		take_off(f, delay + DOUBLE_AFTER_NS);
	}
}

/* ---- how long an NMI takes ---- */

/* Of the NMI that a CPU handles, HF2_NMI_MASK is set until its IRET. */
static struct {
	uint64_t accesses, since;
} nmi[SILICON_CPUS];

static uint64_t insns(void)
{
	return icount_enabled() ? icount_get_raw() : 0;
}

void apic_nmi_begin(CPUState *cs)
{
	nmi[cs->cpu_index].accesses = 0;
	nmi[cs->cpu_index].since = insns();
}

static void longest(CPUState *cs, unsigned int what, uint64_t val)
{
	uint64_t *stat = &cpu_stats[cs->cpu_index][what];

	*stat = MAX(*stat, val);
}

void apic_nmi_access(CPUState *cs)
{
	if (cpu_env(cs)->hflags2 & HF2_NMI_MASK)
		longest(cs, SYN_PMI_NMI_ACCESSES, ++nmi[cs->cpu_index].accesses);
}

void apic_nmi_end(CPUState *cs)
{
	longest(cs, SYN_PMI_NMI_INSNS, insns() - nmi[cs->cpu_index].since);
	cpu_stats[cs->cpu_index][SYN_PMI_NMIS]++;
}

/* ---- statistics and faults ---- */

void apic_count(unsigned int package, unsigned int what)
{
	package_stats[package][what]++;
}

static void clear(CPUState *cs)
{
	memset(package_stats, 0, sizeof(package_stats));
	memset(cpu_stats, 0, sizeof(cpu_stats));
}

static void power_on(CPUState *cs)
{
	memset(faults, 0, sizeof(faults));
	memset(kept, 0, sizeof(kept));
	memset(ovf_uncore, 0, sizeof(ovf_uncore));
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	if (msr - SYN_PMI_CPU(0) < ARRAY_SIZE(cpu_stats[0]))
		*val = cpu_stats[cs->cpu_index][msr - SYN_PMI_CPU(0)];
	else if (msr - SYN_PMI(0) < ARRAY_SIZE(package_stats[0]))
		*val = package_stats[silicon_package(cs)][msr - SYN_PMI(0)];
	else if (msr - SYN_FAULT_LOSE < ARRAY_SIZE(faults))
		*val = faults[msr - SYN_FAULT_LOSE];
	else
		return false;
	return true;
}

static bool synth_wr(CPUState *cs, uint32_t msr, uint64_t val)
{
	if (msr - SYN_FAULT_LOSE >= ARRAY_SIZE(faults))
		return false;
	faults[msr - SYN_FAULT_LOSE] = val;
	return true;
}

/* By a reading, or by the kind of firmware that locks the uncore PMI out. */
bool apic_debugctl_stuck(void)
{
	return FAULT(DEBUGCTL) || reading(RD_DEBUGCTL_13) != RD_DEBUGCTL_13_PRESENT;
}

bool apic_debugctl_refused(void)
{
	return FAULT(DEBUGCTL_GP) && !--FAULT(DEBUGCTL_GP);
}

static void row_json(JSONWriter *w, unsigned int id, const char * const *names,
		     const uint64_t *row, unsigned int n)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", id);
	json_writer_start_object(w, name);
	for (unsigned int i = 0; i < n; i++)
		json_writer_uint64(w, names[i], row[i]);
	json_writer_end_object(w);
}

static void json(JSONWriter *w)
{
	unsigned int packages = 0;
	CPUState *cs;

	CPU_FOREACH(cs)
		packages = MAX(packages, silicon_package(cs) + 1);
	json_writer_start_object(w, "pmi");
	json_writer_start_object(w, "packages");
	for (unsigned int i = 0; i < packages; i++)
		row_json(w, i, package_names, package_stats[i], ARRAY_SIZE(package_names));
	json_writer_end_object(w);
	json_writer_start_object(w, "cpus");
	CPU_FOREACH(cs)
		row_json(w, cs->cpu_index, cpu_names, cpu_stats[cs->cpu_index],
			 ARRAY_SIZE(cpu_names));
	json_writer_end_object(w);
	json_writer_end_object(w);
}

PART(PART_APIC, .synth_rd = synth_rd, .synth_wr = synth_wr, .clear = clear, .power_on = power_on,
     .json = json);
