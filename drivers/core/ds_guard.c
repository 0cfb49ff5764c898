// SPDX-License-Identifier: GPL-2.0-only
/*
 * DS buffer guard: Goldmont sets OvfDSBuffer also when the PEBS index is out of
 * bounds. It then writes no record, clears the overflow bit of the counter and does
 * not reload it (SDM, section 18.7.1.3). The kernel resets the index, or reads past
 * the buffer first, and never hears of the counter again.
 *
 * So the guard looks at the index before the kernel does: first in the interrupt, and
 * whenever the kernel stops the PMU or reads an event, because it may empty the buffer
 * then. It puts the index back and reloads the counter, as the hardware would have; one
 * sample is lost. When all is well, which is always, it compares three words in memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <asm/cpu_entry_area.h>
#include <asm/intel_ds.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "compat.h"
#include "core_ext.h"

/*
 * The kernel reloads the counters of some events itself: the DS area then holds 0,
 * from which a counter would overflow next year. It gets this far instead, and the kernel
 * takes it from there. No more than this, the least that the kernel itself loads: it
 * counts from what it loaded last, and behind that it sees 2^48 events too many.
 */
#define DS_GUARD_SHORT_PERIOD	2

/* IA32_PERF_CAPABILITIES: all bits of a counter can be written, at MSR_IA32_PMC0. */
#define PERF_CAP_FULL_WIDTH_WRITE	BIT_ULL(13)

static struct {
	bool active;
	unsigned long counters;	/* which may make PEBS records */
	u64 sign;		/* of a counter: set until it overflows */
	u64 mask;		/* of its bits */
	u32 counter_msr;	/* that takes all of them */
} ds_guard;

static DEFINE_PER_CPU(struct debug_store *, ds_guard_ds);
static DEFINE_PER_CPU(unsigned long, ds_guard_count);

static atomic_t ds_guard_said;

/* The scheduler, from which we may be called, must not print. */
static void ds_guard_say(struct irq_work *work)
{
	pr_warn("PEBS index was out of bounds on CPU %d, put right (the count is in ds_repairs)\n",
		smp_processor_id());
}

static DEFINE_IRQ_WORK(ds_guard_report, ds_guard_say);

/* A counter of a PEBS event that has overflowed and been left so; @val: how far it is. */
static bool ds_guard_stuck(int idx, u64 enabled, u64 *val)
{
	u64 select;

	rdmsrq(MSR_ARCH_PERFMON_EVENTSEL0 + idx, select);
	if (!(select & ARCH_PERFMON_EVENTSEL_ENABLE))
		return false;
	/*
	 * The kernel may have turned PEBS off just before we came. It gives PEBS
	 * events no interrupt of their own, by which they are still known.
	 */
	if (!(enabled & BIT_ULL(idx)) && select & ARCH_PERFMON_EVENTSEL_INT)
		return false;
	rdmsrq(MSR_ARCH_PERFMON_PERFCTR0 + idx, *val);
	return !(*val & ds_guard.sign);
}

/* Where a counter would be if the hardware had reloaded it, short of the next overflow. */
static u64 ds_guard_reload(u64 reset, u64 val)
{
	u64 last = -(u64)DS_GUARD_SHORT_PERIOD & ds_guard.mask;

	return reset ? min(reset + val, last) : last;
}

static bool ds_guard_out_of_bounds(const struct debug_store *ds)
{
	u64 base = READ_ONCE(ds->pebs_buffer_base);
	u64 index = READ_ONCE(ds->pebs_index);

	/* No base: no buffer. */
	return base && (index < base || index > READ_ONCE(ds->pebs_absolute_maximum));
}

/* With all counters off. */
static void ds_guard_put_right(struct debug_store *ds, u64 enabled)
{
	int idx;

	WRITE_ONCE(ds->pebs_index, ds->pebs_buffer_base);
	for_each_set_bit(idx, &ds_guard.counters, BITS_PER_LONG) {
		u64 val;

		if (ds_guard_stuck(idx, enabled, &val))
			wrmsrq(ds_guard.counter_msr + idx,
			       ds_guard_reload(ds->pebs_event_reset[idx], val));
	}
	this_cpu_inc(ds_guard_count);
	/* Once will do: the count says how often. */
	if (!atomic_xchg(&ds_guard_said, 1))
		irq_work_queue(&ds_guard_report);
}

/* Apart: the check, which finds nothing, saves no registers for this. */
static noinline void ds_guard_repair(struct debug_store *ds)
{
	u64 area, enabled, running;

	/* While the kernel sets the buffer up or takes it down it is not in use. */
	rdmsrq(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)ds)
		return;

	/*
	 * PEBS counters are written while PEBS or all counters are off (section 18.7.1.2). Not
	 * PEBS: a counter that overflows without it makes neither a record nor an interrupt.
	 * In the interrupt they still run.
	 */
	rdmsrq(MSR_IA32_PEBS_ENABLE, enabled);
	rdmsrq(MSR_CORE_PERF_GLOBAL_CTRL, running);
	wrmsrq(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	/* An overflow until now has brought the interrupt, in which all was put right. */
	if (ds_guard_out_of_bounds(ds))
		ds_guard_put_right(ds, enabled);
	wrmsrq(MSR_CORE_PERF_GLOBAL_CTRL, running);
}

/**
 * core_ext_ds_guard_due() - is there something to put right on this CPU?
 *
 * Return: true if core_ext_ds_guard_check() is to be called, with the PMU stopped.
 */
bool core_ext_ds_guard_due(void)
{
	return ds_guard_out_of_bounds(this_cpu_read(ds_guard_ds));
}

/**
 * core_ext_ds_guard_check() - look at the index of this CPU, put it right
 *
 * Runs where the CPU cannot change and no interrupt can start the counters: in the
 * PMU's interrupt or with the PMU stopped.
 */
void core_ext_ds_guard_check(void)
{
	struct debug_store *ds = this_cpu_read(ds_guard_ds);

	if (ds_guard_out_of_bounds(ds))
		ds_guard_repair(ds);
}

static int ds_guard_nmi(unsigned int type, struct pt_regs *regs)
{
	core_ext_ds_guard_check();
	/* Whose interrupt it was is for the kernel to say. */
	return NMI_DONE;
}

/**
 * core_ext_ds_guard_repairs() - how often the guard had work to do
 *
 * Return: the sum over all CPUs.
 */
unsigned long core_ext_ds_guard_repairs(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(ds_guard_count, cpu));
	return sum;
}

/**
 * core_ext_ds_guard_useful() - does the CPU report an index out of bounds?
 * @model: the CPU
 *
 * Return: false if there is nothing to guard.
 */
bool core_ext_ds_guard_useful(const struct core_ext_model *model)
{
	return model->guarded && boot_cpu_has(X86_FEATURE_DS);
}

/**
 * core_ext_ds_guard_start() - watch over the PEBS index
 * @model: the CPU
 *
 * Return: 0 or an errno.
 */
int core_ext_ds_guard_start(const struct core_ext_model *model)
{
	union cpuid10_eax eax = { .full = cpuid_eax(10) };
	unsigned int width = eax.split.bit_width;
	u64 caps = 0;
	int cpu, err;

	if (boot_cpu_has(X86_FEATURE_PDCM))
		rdmsrq(MSR_IA32_PERF_CAPABILITIES, caps);
	ds_guard.counters = model->guarded;
	ds_guard.sign = BIT_ULL(width - 1);
	ds_guard.mask = GENMASK_ULL(width - 1, 0);
	ds_guard.counter_msr = MSR_ARCH_PERFMON_PERFCTR0;
	if (caps & PERF_CAP_FULL_WIDTH_WRITE)
		ds_guard.counter_msr = MSR_IA32_PMC0;
	for_each_possible_cpu(cpu)
		per_cpu(ds_guard_ds, cpu) = &get_cpu_entry_area(cpu)->cpu_debug_store;

	err = register_nmi_handler(NMI_LOCAL, ds_guard_nmi, NMI_FLAG_FIRST, KBUILD_MODNAME);
	ds_guard.active = !err;
	return err;
}

/**
 * core_ext_ds_guard_active() - is there anything to guard?
 *
 * Return: true if core_ext_ds_guard_check() may be called.
 */
bool core_ext_ds_guard_active(void)
{
	return ds_guard.active;
}

/**
 * core_ext_ds_guard_stop() - leave the kernel alone with it
 */
void core_ext_ds_guard_stop(void)
{
	if (!ds_guard.active)
		return;
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
	irq_work_sync(&ds_guard_report);
	ds_guard.active = false;
}
