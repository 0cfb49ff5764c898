// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: requests that the hardware takes and answers with zeros, or with less
 * than was promised.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "core_ext.h"

static int core_ext_check_offcore(const struct core_ext_offcore *reg,
				  const struct perf_event *event)
{
	u64 val = event->attr.config1;
	u64 request = core_ext_field_get(CORE_EXT_OCR_REQ, val);

	if (request & ~reg->request)
		return core_ext_refuse(event, -EINVAL,
				       "offcore: request type %#llx is not in this register",
				       request & ~reg->request);
	if (!request)
		return core_ext_refuse(event, -EINVAL, "offcore: no request type");
	if (val & reg->outstanding) {
		if (val & (reg->any | reg->supplier | reg->snoop))
			return core_ext_refuse(event, -EINVAL,
					       "offcore: outstanding excludes responses");
		return 0;
	}
	if (val & reg->any)
		return 0;
	if (reg->both && (!(val & reg->supplier) || !(val & reg->snoop)))
		return core_ext_refuse(event, -EINVAL,
				       "offcore: neither any response nor supplier and snoop");
	if (!(val & (reg->supplier | reg->snoop)))
		return core_ext_refuse(event, -EINVAL, "offcore: no response");
	return 0;
}

/**
 * core_ext_check_event() - can the hardware do what the event asks for?
 * @model: the CPU
 * @event: an event of the core PMU that the kernel has not looked at yet
 *
 * Reserved bits are left to the kernel, which knows them.
 *
 * Return: 0, or -EINVAL for a selection that counts nothing.
 */
int core_ext_check_event(const struct core_ext_model *model, const struct perf_event *event)
{
	const struct core_ext_offcore *reg = NULL;
	u64 config = event->attr.config;
	bool offcore = false;
	int i;

	/* The generic events are the kernel's own selections. */
	if (event->attr.type != event->pmu->type)
		return 0;
	for (i = 0; i < ARRAY_SIZE(model->offcore); i++) {
		u64 differs = (config ^ model->offcore[i].select) & CORE_EXT_SELECT_MASK;

		if (!differs)
			reg = &model->offcore[i];
		if (!(differs & ARCH_PERFMON_EVENTSEL_EVENT))
			offcore = true;
	}
	if (reg) {
		int err = core_ext_check_offcore(reg, event);

		if (err)
			return err;
	} else if (offcore) {
		/* The kernel takes it, and leaves config1 out. */
		return core_ext_refuse(event, -EINVAL, "offcore: umask of no register");
	}
	return 0;
}

/* What an event has in an offcore register, 0 if it uses none. */
static u64 core_ext_offcore_val(const struct core_ext_model *model, const struct perf_event *event,
				const struct pmu *core)
{
	int i;

	if (event->pmu != core || event->attr.type != core->type)
		return 0;
	for (i = 0; i < ARRAY_SIZE(model->offcore); i++) {
		if ((event->attr.config & CORE_EXT_SELECT_MASK) == model->offcore[i].select)
			return event->attr.config1;
	}
	return 0;
}

/* One is the time that requests take, the other how many there were: of other types? */
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
 * @event: an event that the core PMU has just accepted
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

	if (leader == event || !val)
		return 0;
	wrong = core_ext_no_quotient(model, val, core_ext_offcore_val(model, leader, event->pmu));
	for_each_sibling_event(other, leader)
		wrong |= core_ext_no_quotient(model, val,
					      core_ext_offcore_val(model, other, event->pmu));
	if (!wrong)
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EINVAL,
		"offcore: requests in flight and requests of other types in one group"));
}

/* With nothing but rings in the select: INV, ANY, EDGE and CMASK turn reduced skid off. */
#define SELECT_ALL	(X86_RAW_EVENT_MASK | ARCH_PERFMON_EVENTSEL_ANY)

/**
 * core_ext_check_precise() - can the hardware be as precise as the event asks for?
 * @model: the CPU
 * @event: an event that the core PMU has just accepted
 *
 * The errno is that of a kernel that does not offer precise_ip=3 at all: perf's :P takes
 * less then.
 *
 * Return: 0, or -EOPNOTSUPP for a precision that cannot be had.
 */
int core_ext_check_precise(const struct core_ext_model *model, struct perf_event *event)
{
	if (event->attr.precise_ip < 3 || !model->precise ||
	    core_ext_find_precise(model, event->hw.config & SELECT_ALL))
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EOPNOTSUPP,
		"reduced skid is for the precise events"));
}
