// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks: our functions around those of the core PMU.
 *
 * Each hook is one pointer in struct pmu, exchanged atomically and given back only
 * while it is still ours. Another module may put its own hook on top of ours; from
 * then on our code must stay, so we hold a reference on ourselves until the
 * other has gone.
 *
 * Whoever called through a pointer before it was given back is waited for when our
 * own PMU is unregistered: perf calls event_init under the SRCU lock that this
 * synchronizes, and the others with preemption off.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>

#include "compat.h"
#include "core_ext.h"

/**
 * struct core_ext_hook - one function pointer that we have replaced
 * @slot: where it is
 * @ours: what we put there
 * @found: where to keep what was there
 */
struct core_ext_hook {
	void **slot;
	void *ours;
	void **found;
};

static struct {
	struct core_ext_hook list[5];
	unsigned int num;
	const struct core_ext_model *model;
	bool enforce;
	bool data_src;
	bool pdir;
	/* what we found */
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
	void (*read)(struct perf_event *event);
	void (*pmu_disable)(struct pmu *pmu);
	/* of the list and of pinned: the notifier uses both */
	struct mutex lock;
	/* a reference on ourselves */
	bool pinned;
} hooks = {
	.lock = __MUTEX_INITIALIZER(hooks.lock),
};

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
static int core_ext_event_init(struct perf_event *event)
{
	int err = 0;

	/*
	 * An inherited event is a copy of one that was taken, perhaps before we came. To
	 * refuse it would make fork() fail.
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
	if (!err && hooks.pdir)
		err = core_ext_pdir_check_group(event);
	return err;
}

/*
 * Besides in the interrupt the kernel empties the PEBS buffer when a task leaves the CPU
 * and when an event stops, both after perf has stopped the PMU through here, and when an
 * event is read, for which it may stop the PMU by itself.
 */
static void core_ext_pmu_disable(struct pmu *pmu)
{
	hooks.pmu_disable(pmu);
	core_ext_ds_guard_check();
}

/*
 * What is out of bounds is put right with the PMU stopped as perf stops it: an interrupt that
 * comes late finds the counters running if it looks at the registers alone, and lets them run
 * when it is done. Who reads in an interrupt has stopped it.
 */
static void core_ext_read(struct perf_event *event)
{
	struct pmu *pmu = event->pmu;
	int *stopped;

	if (core_ext_ds_guard_due()) {
		stopped = perf_pmu_disable_depth(pmu);
		if (in_nmi() || *stopped) {
			core_ext_ds_guard_check();
		} else {
			(*stopped)++;
			core_ext_pmu_disable(pmu);
			(*stopped)--;
			pmu->pmu_enable(pmu);
		}
	}
	hooks.read(event);
}

static void core_ext_hook_slot(void **slot, void *ours, void **found)
{
	/* A module that comes at this moment makes the notifier read the list. */
	mutex_lock(&hooks.lock);
	hooks.list[hooks.num++] = (struct core_ext_hook){ slot, ours, found };
	/* What was there must be known before ours can be called. */
	do {
		*found = READ_ONCE(*slot);
	} while (cmpxchg(slot, *found, ours) != *found);
	mutex_unlock(&hooks.lock);
}

/* All three are of one type. */
#define core_ext_hook(_slot, _ours, _found)				\
do {									\
	typeof(_slot) __slot = (_slot), __found = (_found);		\
	typeof(*__slot) __ours = (_ours);				\
									\
	core_ext_hook_slot((void **)__slot, __ours, (void **)__found);	\
} while (0)

/* Neither ours nor what we found: somebody is on top of us. */
static bool core_ext_buried(void)
{
	unsigned int i;

	for (i = 0; i < hooks.num; i++) {
		const struct core_ext_hook *h = &hooks.list[i];
		void *now = READ_ONCE(*h->slot);

		if (now != h->ours && now != *h->found)
			return true;
	}
	return false;
}

static bool core_ext_unhook(void)
{
	while (hooks.num) {
		const struct core_ext_hook *h = &hooks.list[hooks.num - 1];
		void *was = cmpxchg(h->slot, h->ours, *h->found);

		if (was != h->ours && was != *h->found)
			return false;
		hooks.num--;
	}
	return true;
}

/* Modules hook when they come and unhook when they go. */
static int core_ext_module_event(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *mod = data;
	bool buried;

	if (mod == THIS_MODULE)
		return NOTIFY_DONE;
	mutex_lock(&hooks.lock);
	buried = core_ext_buried();
	if (buried && !hooks.pinned && try_module_get(THIS_MODULE)) {
		hooks.pinned = true;
		/* Known is only who came or went when it was seen. */
		pr_info("the core PMU is hooked on top of us, perhaps by %s; that must go first\n",
			mod->name);
	} else if (!buried && hooks.pinned) {
		hooks.pinned = false;
		module_put(THIS_MODULE);
	}
	mutex_unlock(&hooks.lock);
	return NOTIFY_DONE;
}

static struct notifier_block core_ext_module_nb = {
	.notifier_call = core_ext_module_event,
};

/**
 * core_ext_hooks_start() - put our functions around those of the core PMU
 * @core: the core PMU
 * @model: the CPU
 * @enforce: refuse what the hardware cannot do
 * @data_src: give samples the data source that their event implies
 *
 * Return: 0 or an errno.
 */
int core_ext_hooks_start(struct pmu *core, const struct core_ext_model *model,
			 bool enforce, bool data_src)
{
	int err;

	if (!enforce && !data_src && !core_ext_ds_guard_active())
		return 0;
	if (data_src) {
		err = core_ext_data_src_start(model);
		if (err)
			return err;
	}
	hooks.model = model;
	hooks.enforce = enforce;
	hooks.data_src = data_src;
	hooks.pdir = enforce && model->pdir;
	if (hooks.pdir) {
		err = core_ext_pdir_start(core, model);
		if (err)
			return err;
	}
	err = register_module_notifier(&core_ext_module_nb);
	if (err)
		return err;

	if (hooks.pdir) {
		/* del first: it must see whatever add has noted. */
		core_ext_hook(&core->del, core_ext_pdir_del, &hooks.del);
		core_ext_hook(&core->add, core_ext_pdir_add, &hooks.add);
		core_ext_pdir_catch_up();
	}
	if (core_ext_ds_guard_active()) {
		core_ext_hook(&core->read, core_ext_read, &hooks.read);
		core_ext_hook(&core->pmu_disable, core_ext_pmu_disable, &hooks.pmu_disable);
	}
	if (enforce || data_src)
		core_ext_hook(&core->event_init, core_ext_event_init, &hooks.event_init);
	return 0;
}

/**
 * core_ext_hooks_stop() - give the pointers back
 *
 * The caller then unregisters our own PMU, which waits for those who are still in
 * our functions.
 */
void core_ext_hooks_stop(void)
{
	if (!hooks.num)
		return;
	unregister_module_notifier(&core_ext_module_nb);
	/*
	 * A module that hooked after its init was not seen by the notifier. Its
	 * pointer leads here: all we can do is wait.
	 */
	while (!core_ext_unhook()) {
		pr_warn_once("the core PMU is still hooked on top of us, waiting\n");
		msleep(100);
	}
}
