/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels we support (6.1 to 7.3), and nothing else.
 *
 * Drivers hold no version test and are written for the newest kernel: what is here for an
 * older one goes with it.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/srcu.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>
#include <asm/msr.h>
#include <asm/processor.h>

/* A fix may bring a new function to an old kernel: where we define it, ours hides that one. */

/* Function and clock in one call came with 6.13. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void compat_hrtimer_setup(struct hrtimer *timer,
					enum hrtimer_restart (*function)(struct hrtimer *),
					clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

#define hrtimer_setup	compat_hrtimer_setup
#endif

/* 64 bits have been called q since 6.16. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#undef rdmsrq
#define rdmsrq		rdmsrl
#define wrmsrq		wrmsrl
#define rdmsrq_safe	rdmsrl_safe
#define wrmsrq_safe	wrmsrl_safe
#endif

/*
 * A syscore was its own list of functions, which got no argument. Fixes have brought the
 * change to old kernels, so Kbuild looks for it. We have one.
 */
#ifndef HAVE_STRUCT_SYSCORE
struct compat_syscore_ops {
	int (*suspend)(void *data);
	void (*resume)(void *data);
};

struct syscore {
	const struct compat_syscore_ops *ops;
	void *data;
};

static struct syscore *compat_syscore;

static inline int compat_syscore_suspend(void)
{
	if (!compat_syscore->ops->suspend)
		return 0;
	return compat_syscore->ops->suspend(compat_syscore->data);
}

static inline void compat_syscore_resume(void)
{
	if (compat_syscore->ops->resume)
		compat_syscore->ops->resume(compat_syscore->data);
}

static struct syscore_ops compat_syscore_listed = {
	.suspend = compat_syscore_suspend,
	.resume = compat_syscore_resume,
};

static inline void register_syscore(struct syscore *syscore)
{
	compat_syscore = syscore;
	register_syscore_ops(&compat_syscore_listed);
}

static inline void unregister_syscore(struct syscore *syscore)
{
	unregister_syscore_ops(&compat_syscore_listed);
}

#define syscore_ops	compat_syscore_ops
#endif

/* The kernel looks the name up before it refuses to probe data. */
static inline void *compat_find_data(const char *name)
{
	struct kprobe probe = { .symbol_name = name };

	return register_kprobe(&probe) ? probe.addr : NULL;
}

/*
 * perf_allow_kernel() and perf_allow_cpu() were inline, and what they read and the question to
 * security modules are not exported: they are not asked. Fixes have changed that in old kernels, so
 * Kbuild looks for it.
 */
#ifdef PERF_ALLOW_CPU_INLINE
static const int *compat_paranoid;

static inline int compat_allow(int paranoid)
{
	if (compat_paranoid && READ_ONCE(*compat_paranoid) <= paranoid)
		return 0;
	return perfmon_capable() ? 0 : -EACCES;
}

/* perf asks itself, only later: without the level that is soon enough. */
#define perf_allow_cpu(attr)	(compat_paranoid ? compat_allow(0) : 0)
#define perf_allow_prepare()	\
	(compat_paranoid = compat_find_data("sysctl_perf_event_paranoid"))
#else
#define perf_allow_cpu(attr)	perf_allow_cpu()
#define perf_allow_prepare()
#endif
#ifdef PERF_ALLOW_KERNEL_INLINE
#define perf_allow_kernel(attr)	compat_allow(1)
#elif !defined(PERF_ALLOW_KERNEL_ATTR)
#define perf_allow_kernel(attr)	perf_allow_kernel()
#endif

/*
 * perf_pmu_unregister() waited for the readers of pmus_srcu with pmus_lock held. A task that
 * opens a software event is such a reader and takes pmus_lock: both waited for ever. So did a
 * reader that opens a tracepoint, CPU hotplug, for which it waits, and we: hotplug takes
 * pmus_lock.
 *
 * Between begin and end CPUs neither go nor come, and perf_event_open() of a software event
 * is restarted. Calls that began earlier may still take pmus_lock, so wait for them without
 * it. An inherited event takes no lock, and the kernel itself opens no software event.
 *
 * pmus_srcu is not exported, but only its grace period tells when these calls are through.
 * Where it cannot be found the module cannot be unloaded.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static struct srcu_struct *compat_pmus_srcu;
static struct pmu *compat_swevent;
static int (*compat_swevent_init)(struct perf_event *event);

static inline int compat_event_init(struct perf_event *event)
{
	if (event->parent || event->attr.type != PERF_TYPE_SOFTWARE)
		return compat_swevent_init(event);
	return restart_syscall();
}

/* Before the first PMU is registered; takes locks that come before that of CPU hotplug. */
static inline void perf_pmu_unregister_prepare(void)
{
	compat_pmus_srcu = compat_find_data("pmus_srcu");
	compat_swevent = compat_find_data("perf_swevent");
	if (compat_pmus_srcu && compat_swevent) {
		compat_swevent_init = compat_swevent->event_init;
		return;
	}
	pr_warn("no pmus_srcu in this kernel: cannot be unloaded\n");
	__module_get(THIS_MODULE);
}

static inline void perf_pmu_unregister_begin(void)
{
	/* Only a load that fails comes here without it. */
	if (!compat_swevent_init)
		return;
	cpu_hotplug_disable();
	WRITE_ONCE(compat_swevent->event_init, compat_event_init);
	synchronize_srcu(compat_pmus_srcu);
}

static inline void perf_pmu_unregister_end(void)
{
	if (!compat_swevent_init)
		return;
	WRITE_ONCE(compat_swevent->event_init, compat_swevent_init);
	/* No reader is left in compat_event_init(). */
	synchronize_srcu(compat_pmus_srcu);
	cpu_hotplug_enable();
}
#else
static inline void perf_pmu_unregister_prepare(void) {}
static inline void perf_pmu_unregister_begin(void) {}
static inline void perf_pmu_unregister_end(void) {}
#endif

/* config3 came with 6.3 and config4 with 6.18. Both are in what user space knows, too. */
static inline u64 perf_attr_config_rest(const struct perf_event_attr *attr)
{
	u64 rest = 0;

#ifdef PERF_ATTR_SIZE_VER8
	rest |= attr->config3;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	rest |= attr->config4;
#endif
	return rest;
}

/* Exported, but declared for the kernel alone. */
void rcu_expedite_gp(void);
void rcu_unexpedite_gp(void);

/* MAX_INTERRUPTS of kernel/events/core.c: in hw.interrupts of an event that is throttled */
#define PERF_MAX_INTERRUPTS	(~0ULL)

/**
 * perf_event_ctx_time() - now, on the clock of an event's times
 * @event: an event whose context is locked, not of a cgroup
 *
 * Return: ns.
 */
static inline u64 perf_event_ctx_time(const struct perf_event *event)
{
#ifdef HAVE_PERF_TIME_CTX
	return event->ctx->time.time;
#else
	return event->ctx->time;
#endif
}

/**
 * perf_event_ctx_stamp() - when perf has last read the clock of an event's context
 * @event: an event whose context is locked
 *
 * Return: ns, local_clock() of then.
 */
static inline u64 perf_event_ctx_stamp(const struct perf_event *event)
{
#ifdef HAVE_PERF_TIME_CTX
	return event->ctx->time.stamp;
#else
	return event->ctx->timestamp;
#endif
}

/** perf_event_has_cgroup() - does an event count for the tasks of a cgroup alone? */
static inline bool perf_event_has_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

/**
 * perf_pmu_users() - how many events are in the context that a PMU has for a CPU
 * @pmu: a PMU for CPU-wide events alone, registered
 * @cpu: the CPU
 *
 * A software event that was in a group with an event of the PMU stays there until it is closed.
 *
 * Return: their number, also of those that are being closed.
 */
static inline int perf_pmu_users(const struct pmu *pmu, int cpu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	const struct perf_event_pmu_context *epc = &(*per_cpu_ptr(pmu->cpu_pmu_context, cpu))->epc;

	/* From the first event on the PMU is one of them. */
	return READ_ONCE(epc->ctx) ? atomic_read(&epc->refcount) - 1 : 0;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	const struct perf_event_pmu_context *epc = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->epc;

	return READ_ONCE(epc->ctx) ? atomic_read(&epc->refcount) : 0;
#else
	/* One is the CPU's. */
	return refcount_read(&per_cpu_ptr(pmu->pmu_cpu_context, cpu)->ctx.refcount) - 1;
#endif
}

/*
 * Software events that groups have left behind are moved, too, and users may have any number. Some
 * cannot be moved: those of a CPU that was the last of its package, until they are closed. On 6.1
 * each call moves all, and waits for RCU in any case.
 */
#define PERF_PMU_MIGRATE_CALLS	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) ? 4 : 1024)
#define PERF_PMU_MIGRATE_IDLE	3

/**
 * perf_pmu_migrate_all() - perf_pmu_migrate_context() for all events of a PMU
 * @pmu: the PMU
 * @from: CPU that goes
 * @to: CPU that takes over
 *
 * From 6.2 on a call moves no more than the first group: the walk over the tree of groups
 * goes on from the node it has just taken out. Each call that finds one waits for RCU. 6.1 and 7.3
 * walk over a list.
 *
 * Return: false if there were too many.
 */
static inline bool perf_pmu_migrate_all(struct pmu *pmu, int from, int to)
{
	int calls = PERF_PMU_MIGRATE_CALLS, idle = 0, users, there;

	while ((users = perf_pmu_users(pmu, from)) && idle < PERF_PMU_MIGRATE_IDLE && calls--) {
		there = perf_pmu_users(pmu, to);
		perf_pmu_migrate_context(pmu, from, to);
		/* Some may be opened or closed meanwhile. */
		idle = perf_pmu_users(pmu, from) < users || perf_pmu_users(pmu, to) > there ?
		       0 : idle + 1;
	}
	return calls >= 0;
}

#endif /* COMPAT_H */
