// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks: our functions around those of the core PMU.
 *
 * Each hook is one pointer in struct pmu, exchanged atomically and given back only while it
 * is still ours. If another module has put its own hook on top of ours, unloading waits until
 * that hook is gone.
 *
 * After the pointers are given back a call may still be in our code. perf calls add and del
 * with interrupts off, so RCU waits for them. event_init sleeps: it is an SRCU section, and
 * RCU-tasks waits for the instructions before and after that section.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/srcu.h>

#include "compat.h"
#include "core_ext.h"

static struct {
	struct pmu *core;
	const struct core_ext_model *model;
	bool enforce;
	bool data_src;
	/* What was there; NULL: we have not hooked it. */
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
} hooks;

DEFINE_STATIC_SRCU(core_ext_srcu);

/**
 * core_ext_orig_add() - the core PMU's own add
 * @event: as given to ours
 * @flags: as given to ours
 *
 * Return: what it returned.
 */
int core_ext_orig_add(struct perf_event *event, int flags)
{
	return hooks.add(event, flags);
}

/**
 * core_ext_orig_del() - the core PMU's own del
 * @event: as given to ours
 * @flags: as given to ours
 */
void core_ext_orig_del(struct perf_event *event, int flags)
{
	hooks.del(event, flags);
}

/* The core PMU's own, and what makes data sources where they are wanted. */
static int core_ext_orig_init(struct perf_event *event)
{
	if (hooks.data_src)
		return core_ext_data_src_init(event, hooks.event_init);
	return hooks.event_init(event);
}

/* Most events meet no rule, and to find that out is all that they pay. */
static int core_ext_checked_init(struct perf_event *event)
{
	int err = 0;

	/*
	 * An inherited event is a copy of one that was accepted, perhaps before the module was
	 * loaded. If it were refused, fork() would fail.
	 */
	if (!hooks.enforce || event->parent)
		return core_ext_orig_init(event);

	if (core_ext_is_offcore(hooks.model, event))
		err = core_ext_check_offcore(hooks.model, event);
	if (!err)
		err = core_ext_orig_init(event);
	if (!err && event->attr.precise_ip)
		err = core_ext_check_precise(hooks.model, event);
	if (!err && event->group_leader != event && core_ext_is_offcore(hooks.model, event))
		err = core_ext_check_latency(hooks.model, event);
	if (!err && hooks.model->pdir)
		err = core_ext_pdir_check_group(event);
	return err;
}

static int core_ext_event_init(struct perf_event *event)
{
	int err, idx = srcu_read_lock(&core_ext_srcu);

	err = core_ext_checked_init(event);
	srcu_read_unlock(&core_ext_srcu, idx);
	return err;
}

/* What was there must be known before ours can be called. */
#define core_ext_hook(_slot, _found, _ours)				\
do {									\
	*(_found) = READ_ONCE(*(_slot));				\
} while (!try_cmpxchg(_slot, _found, _ours))

/* False if someone is on top of us. */
#define core_ext_unhook(_slot, _found, _ours)				\
({									\
	typeof(_found) __was = (_found) ? cmpxchg(_slot, _ours, _found) : NULL; \
									\
	__was == (_found) || __was == (_ours);				\
})

static bool core_ext_unhook_all(void)
{
	struct pmu *core = hooks.core;

	return core_ext_unhook(&core->event_init, hooks.event_init, core_ext_event_init) &&
	       core_ext_unhook(&core->add, hooks.add, core_ext_pdir_add) &&
	       core_ext_unhook(&core->del, hooks.del, core_ext_pdir_del);
}

/**
 * core_ext_hooks_start() - put our functions around those of the core PMU
 * @core: the core PMU
 * @model: the CPU
 * @enforce: refuse what the hardware cannot do
 * @data_src: give samples the data source that their event implies
 *
 * Return: 0, or an errno: nothing is hooked.
 */
int core_ext_hooks_start(struct pmu *core, const struct core_ext_model *model,
			 bool enforce, bool data_src)
{
	int err = 0;

	hooks.core = core;
	hooks.model = model;
	hooks.enforce = enforce;
	hooks.data_src = data_src;
	if (data_src)
		err = core_ext_data_src_start(model);
	if (!err && enforce && model->pdir)
		err = core_ext_pdir_start(core, model);
	if (err)
		return err;

	if (enforce && model->pdir) {
		/* del first: it must see whatever add has noted. */
		core_ext_hook(&core->del, &hooks.del, core_ext_pdir_del);
		core_ext_hook(&core->add, &hooks.add, core_ext_pdir_add);
		core_ext_pdir_catch_up();
	}
	if (enforce || data_src)
		core_ext_hook(&core->event_init, &hooks.event_init, core_ext_event_init);
	return 0;
}

/**
 * core_ext_hooks_stop() - give the pointers back
 *
 * Afterwards no CPU is in a function of ours that perf called through them.
 */
void core_ext_hooks_stop(void)
{
	if (!hooks.event_init)
		return;
	while (!core_ext_unhook_all()) {
		pr_warn_once("another module has hooked the core PMU on top of us, waiting for it\n");
		msleep(100);
	}
	rcu_expedite_gp();
	synchronize_rcu();
	synchronize_rcu_tasks();
	synchronize_srcu(&core_ext_srcu);
	synchronize_rcu_tasks();
	rcu_unexpedite_gp();
	if (hooks.add)
		core_ext_pdir_stop();
}
