// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: refuse requests that the hardware accepts but counts as zero, or with less
 * precision than promised.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "core_ext.h"

/**
 * core_ext_refuse() - say why an event is refused, and refuse it
 * @event: the event
 * @err: errno
 * @why: the reason
 *
 * The reason is logged if dynamic debug is on, at a limited rate: any user may try often.
 *
 * Return: the errno.
 */
noinline int core_ext_refuse(const struct perf_event *event, int err, const char *why)
{
	pr_debug_ratelimited("config %#llx,%#llx precise_ip %u: %s\n", event->attr.config,
			     event->attr.config1, event->attr.precise_ip, why);
	return err;
}

/* Why a register with this value counts nothing; NULL: it counts. */
static const char *core_ext_offcore_fault(const struct core_ext_offcore *reg, u64 val)
{
	u64 request = core_ext_field_get(CORE_EXT_OCR_REQ, val);
	u64 response = val & (reg->any | reg->supplier | reg->snoop);

	if (request & ~reg->request)
		return "offcore: request type that is not in this register";
	if (!request)
		return "offcore: no request type";
	if (val & reg->outstanding)
		return response ? "offcore: outstanding excludes responses" : NULL;
	if (!response)
		return "offcore: no response";
	if (reg->both && !(val & reg->any) && (!(val & reg->supplier) || !(val & reg->snoop)))
		return "offcore: neither any response nor supplier and snoop";
	return NULL;
}

/**
 * core_ext_check_offcore() - if it is an offcore event, does it count anything?
 * @model: the CPU
 * @event: an event of the core PMU that the kernel has not looked at yet
 *
 * Reserved bits are left to the kernel, which knows them.
 *
 * Return: 0, or -EINVAL for a selection that counts nothing.
 */
int core_ext_check_offcore(const struct core_ext_model *model, const struct perf_event *event)
{
	const struct core_ext_offcore *reg = model->offcore;
	u16 select = event->attr.config;
	const char *why;

	/* perf offers us unknown types, too. Generic events are the kernel's own selections. */
	if (event->attr.type != event->pmu->type || !core_ext_is_offcore(model, event))
		return 0;
	while (reg->select != select) {
		/* The kernel takes it, and leaves config1 out. */
		if (++reg == model->offcore + ARRAY_SIZE(model->offcore))
			return core_ext_refuse(event, -EINVAL, "offcore: umask of no register");
	}
	why = core_ext_offcore_fault(reg, event->attr.config1);
	return why ? core_ext_refuse(event, -EINVAL, why) : 0;
}

/* What an event has in an offcore register, 0 if it uses none. */
static u64 core_ext_offcore_val(const struct core_ext_model *model, const struct perf_event *event,
				const struct pmu *core)
{
	int i;

	/* No generic event has a config like these. */
	if (event->pmu != core)
		return 0;
	for (i = 0; i < ARRAY_SIZE(model->offcore); i++) {
		if ((event->attr.config & CORE_EXT_SELECT_MASK) == model->offcore[i].select)
			return event->attr.config1;
	}
	return 0;
}

/* Is one the sum of latencies, and the other a count of requests of other types? */
static bool core_ext_no_quotient(const struct core_ext_model *model, u64 a, u64 b)
{
	u64 outstanding = model->offcore[0].outstanding;

	return ((a & outstanding && b & model->offcore[0].any) ||
		(b & outstanding && a & model->offcore[0].any)) &&
	       core_ext_field_get(CORE_EXT_OCR_REQ, a ^ b);
}

/**
 * core_ext_check_latency() - is the quotient of the group a latency?
 * @model: the CPU
 * @event: a sibling that the core PMU has just accepted
 *
 * Requests in flight and requests in one group are for the average latency, which is
 * measured with the same request types in both (section 18.6.3).
 *
 * Return: 0, or -EINVAL.
 */
int core_ext_check_latency(const struct core_ext_model *model, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *other;
	u64 val = core_ext_offcore_val(model, event, event->pmu);
	bool wrong;

	/* An event that uses no offcore register has 0, which is no half of a latency. */
	wrong = core_ext_no_quotient(model, val, core_ext_offcore_val(model, leader, event->pmu));
	for_each_sibling_event(other, leader)
		wrong |= core_ext_no_quotient(model, val,
					      core_ext_offcore_val(model, other, event->pmu));
	if (!wrong)
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EINVAL,
		"offcore: requests in flight and requests of other types in one group"));
}

/* Only USR and OS may be set beside event and umask: INV, ANY, EDGE, CMASK disable reduced skid. */
#define SELECT_ALL	(X86_RAW_EVENT_MASK | ARCH_PERFMON_EVENTSEL_ANY)

/**
 * core_ext_check_precise() - does the CPU keep what precise_ip promises for this event?
 * @model: the CPU
 * @event: an event that the core PMU has just accepted
 *
 * The errno is that of a kernel that does not offer this precise_ip at all: perf's :P takes
 * less then.
 *
 * Return: 0, or -EOPNOTSUPP for a precision that cannot be had.
 */
int core_ext_check_precise(const struct core_ext_model *model, struct perf_event *event)
{
	const u16 *precise = model->precise;
	u64 select = event->hw.config & SELECT_ALL;

	if (!model->precise_from || event->attr.precise_ip < model->precise_from ||
	    core_ext_find_event(model, select)->name)
		return 0;
	while (*precise && *precise != select)
		precise++;
	if (*precise)
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EOPNOTSUPP,
		model->precise_from == 3 ? "reduced skid is for the precise events" :
					   "PEBS is for the precise events"));
}
