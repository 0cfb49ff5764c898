// SPDX-License-Identifier: GPL-2.0-only
/*
 * DS buffer guard: Goldmont sets OvfDSBuffer also when the PEBS index is out of bounds. It then
 * clears the overflow bit of the counter and does not reload it (SDM, section 18.7.1.3); that it
 * writes no record is assumed. The kernel resets the index, or reads past the buffer first, and
 * the counter of a fixed period is silent until it wraps.
 *
 * So the guard looks at the index in the PMU's interrupt, before the kernel does. It puts the
 * index back and reloads the counter, as the hardware would have; one sample is lost. In every
 * other interrupt it compares three words in memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <asm/cpu_entry_area.h>
#include <asm/intel_ds.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "compat.h"
#include "core/goldmont.h"
#include "core_ext.h"

/*
 * Where the kernel reloads the counter itself, the DS area holds 0. The counter then gets this
 * far before its overflow. The kernel counts from what it loaded last, and it never loads less: a
 * counter behind that looks like 2^48 events.
 */
#define DS_GUARD_SHORT_PERIOD	2

static DEFINE_PER_CPU(struct debug_store *, ds_guard_ds);

atomic_long_t core_ext_ds_repairs;

/* Not from the NMI */
static void ds_guard_say(struct irq_work *work)
{
	pr_warn("PEBS index was out of bounds on CPU %d, put right (the count is in ds_repairs)\n",
		smp_processor_id());
}

static DEFINE_IRQ_WORK(ds_guard_report, ds_guard_say);

/* Has the PEBS counter overflowed, and was not reloaded? @val: its value */
static bool ds_guard_stuck(u64 enabled, u64 *val)
{
	u64 select;

	/*
	 * The kernel may have turned PEBS off just before. PEBS events have no interrupt of
	 * their own enabled, which still identifies them.
	 */
	rdmsrq(MSR_ARCH_PERFMON_EVENTSEL0, select);
	if (!(enabled & GLM_PEBS_ENABLE) && select & ARCH_PERFMON_EVENTSEL_INT)
		return false;
	rdmsrq(MSR_ARCH_PERFMON_PERFCTR0, *val);
	return !(*val & GLM_COUNTER_SIGN);
}

/* Where a counter would be if the hardware had reloaded it, short of the next overflow. */
static u64 ds_guard_reload(u64 reset, u64 val)
{
	u64 last = 2 * GLM_COUNTER_SIGN - DS_GUARD_SHORT_PERIOD;

	return reset ? min(reset + val, last) : last;
}

static bool ds_guard_out_of_bounds(const struct debug_store *ds)
{
	u64 base = READ_ONCE(ds->pebs_buffer_base);
	u64 index = READ_ONCE(ds->pebs_index);

	/* No base: no buffer. */
	return base && (index < base || index > READ_ONCE(ds->pebs_absolute_maximum));
}

/* With all counters off */
static void ds_guard_put_right(struct debug_store *ds, u64 enabled)
{
	u64 val;

	WRITE_ONCE(ds->pebs_index, ds->pebs_buffer_base);
	if (ds_guard_stuck(enabled, &val))
		wrmsrq(MSR_IA32_PMC0, ds_guard_reload(ds->pebs_event_reset[0], val));
	/* Log it once; ds_repairs has the count. */
	if (atomic_long_inc_return(&core_ext_ds_repairs) == 1)
		irq_work_queue(&ds_guard_report);
}

/* Apart, so that the check saves no registers for it */
static noinline void ds_guard_repair(struct debug_store *ds)
{
	u64 area, enabled, running;

	/* The kernel is setting the buffer up or releasing it: it is not in use. */
	rdmsrq(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)ds)
		return;

	/*
	 * A PEBS counter is written while PEBS or all counters are off (section 18.7.1.2). With
	 * PEBS alone off, a counter that overflows makes neither a record nor an interrupt.
	 */
	rdmsrq(MSR_IA32_PEBS_ENABLE, enabled);
	rdmsrq(MSR_CORE_PERF_GLOBAL_CTRL, running);
	wrmsrq(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	ds_guard_put_right(ds, enabled);
	wrmsrq(MSR_CORE_PERF_GLOBAL_CTRL, running);
}

static int ds_guard_nmi(unsigned int type, struct pt_regs *regs)
{
	struct debug_store *ds = this_cpu_read(ds_guard_ds);

	if (ds_guard_out_of_bounds(ds))
		ds_guard_repair(ds);
	/* The kernel decides whose interrupt it was. */
	return NMI_DONE;
}

/**
 * core_ext_ds_guard_start() - watch over the PEBS index
 *
 * Return: 0 or an errno.
 */
int core_ext_ds_guard_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(ds_guard_ds, cpu) = &get_cpu_entry_area(cpu)->cpu_debug_store;
	return register_nmi_handler(NMI_LOCAL, ds_guard_nmi, NMI_FLAG_FIRST, KBUILD_MODNAME);
}

/**
 * core_ext_ds_guard_stop() - leave the index to the kernel
 */
void core_ext_ds_guard_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
	irq_work_sync(&ds_guard_report);
}
