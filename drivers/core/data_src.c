// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data source: the PEBS record of an Atom has none, but the event that was sampled says something
 * about the access: a load from the L2, for example. A sample with PERF_SAMPLE_DATA_SRC gets just
 * that; all other parts of the source stay N/A.
 *
 * The record has no latency and no transaction either. The kernel takes weight and transaction
 * of a sample from the field where other CPUs have them, so both are cleared. Silvermont's
 * record does not even have the address of the access, and it is cleared as well.
 *
 * Nothing is allocated or looked up per sample. The handler only needs to know where the
 * sample goes next, which is one of two functions of perf: events that have another handler
 * are left alone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core_ext.h"

/* Bits of the event select by which it no longer counts single accesses. */
#define NOT_PER_ACCESS	(ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_INV | \
			 ARCH_PERFMON_EVENTSEL_CMASK)

/* Sample fields that come from the address of the access. */
#define ADDR_TYPE	(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE)

static const struct core_ext_model *data_src_model;

/* perf's own handlers: forward, backward */
static perf_overflow_handler_t data_src_output[2];

/**
 * struct data_src_event - what is saved for an event
 * @source: of its samples, 0 if the event says nothing
 * @destroy: the core PMU's own destroy
 */
struct data_src_event {
	u64 source;
	void (*destroy)(struct perf_event *event);
};

/* Every group of bits that the event says nothing about is N/A. */
static u64 data_src_complete(u64 source)
{
	union perf_mem_data_src src = { .val = source };

	if (!src.mem_lvl)
		src.val |= PERF_MEM_S(LVL, NA);
	if (!src.mem_lvl_num)
		src.val |= PERF_MEM_S(LVLNUM, NA);
	if (!src.mem_snoop)
		src.val |= PERF_MEM_S(SNOOP, NA);
	if (!src.mem_lock)
		src.val |= PERF_MEM_S(LOCK, NA);
	if (!src.mem_dtlb)
		src.val |= PERF_MEM_S(TLB, NA);
	return src.val;
}

static u64 data_src_of(const struct perf_event *event)
{
	u64 config = event->attr.config;
	u64 source;

	/* No generic event that the kernel accepts has a config like those with a source. */
	if (config & NOT_PER_ACCESS)
		return 0;
	source = core_ext_find_event(data_src_model, config & CORE_EXT_SELECT_MASK)->source;
	return source ? data_src_complete(source) : 0;
}

static void data_src_overflow(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	/* An inherited event has its parent's handler, and nothing else of it. */
	const struct data_src_event *own = (event->parent ?: event)->pmu_private;

	/* In a precise sample the kernel has set its own source, if it was asked for. */
	if (own->source)
		data->data_src.val = own->source;
	data->weight.full = 0;
	data->txn = 0;
	/* Where a BPF program has seen the sample, the rest was made from the address before. */
	if (data_src_model->no_address) {
		data->addr = 0;
		data->phys_addr = 0;
		data->data_page_size = 0;
	}
	data_src_output[is_write_backward(event)](event, data, regs);
}

static void data_src_destroy(struct perf_event *event)
{
	struct data_src_event *own = event->pmu_private;

	own->destroy(event);
	kfree(own);
	module_put(THIS_MODULE);
}

/*
 * An inherited event takes over the handler of its parent, which outlives it while
 * it can be scheduled, and needs nothing of its own. Perhaps that is perf's handler, and the
 * parent older than the module.
 */
static int data_src_attach(struct perf_event *event)
{
	struct data_src_event *own;

	if (event->parent || event->overflow_handler != data_src_output[is_write_backward(event)])
		return 0;
	own = kmalloc(sizeof(*own), GFP_KERNEL);
	if (!own)
		return -ENOMEM;
	/* The module is about to be unloaded: the event gets no source. */
	if (!try_module_get(THIS_MODULE)) {
		kfree(own);
		return 0;
	}
	own->source = data_src_of(event);
	own->destroy = event->destroy;
	event->pmu_private = own;
	event->destroy = data_src_destroy;
	event->overflow_handler = data_src_overflow;
	return 0;
}

/* Do the samples show a field of the record that is reserved here? */
static bool data_src_wanted(const struct perf_event *event)
{
	u64 type = event->attr.sample_type;

	return type & (PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_TRANSACTION) ||
	       (data_src_model->no_address && type & ADDR_TYPE) ||
	       (type & PERF_SAMPLE_DATA_SRC && data_src_of(event));
}

/**
 * core_ext_data_src_init() - event_init, and the data source if it is wanted
 * @event: a new event with precise_ip
 * @event_init: the core PMU's own event_init
 *
 * Return: 0 or an errno.
 */
int core_ext_data_src_init(struct perf_event *event, int (*event_init)(struct perf_event *event))
{
	u32 wakeup = event->attr.wakeup_events;
	u32 watermark = event->attr.watermark;
	int err;

	if (!data_src_wanted(event))
		return event_init(event);
	/*
	 * Records that pile up in the DS buffer are written out behind the
	 * handler's back. The kernel takes one at a time for events that wake up
	 * the reader with each sample, so this one claims to.
	 */
	event->attr.wakeup_events = 1;
	event->attr.watermark = 0;
	err = event_init(event);
	event->attr.wakeup_events = wakeup;
	event->attr.watermark = watermark;
	if (err)
		return err;

	err = data_src_attach(event);
	return err ? core_ext_undo_init(event, err) : 0;
}

/**
 * core_ext_data_src_start() - find out where perf's samples go
 * @model: the CPU
 *
 * Return: 0 or an errno.
 */
int core_ext_data_src_start(const struct core_ext_model *model)
{
	int i;

	data_src_model = model;
	for (i = 0; i < ARRAY_SIZE(data_src_output); i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.size = sizeof(attr),
			.write_backward = i,
		};
		struct perf_event *event;

		/* An event whose creator brings no handler gets perf's own. */
		event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
		if (IS_ERR(event))
			return PTR_ERR(event);
		data_src_output[i] = event->overflow_handler;
		perf_event_release_kernel(event);
	}
	return 0;
}
