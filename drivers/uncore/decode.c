// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a user's event to the registers it needs, see types.h.
 *
 * Refuse what has no meaning in the manual: unknown codes and sub-events, values without a
 * meaning, and fields that the event does not use. The count would not be the requested one.
 */
#include <linux/bitops.h>

#include "compat.h"
#include "uncore.h"

/* Every box has these. */
static const struct uncore_field uncore_common_fields[] = {
	{ "freeze",	0, 62, 62 },
	{}
};

/**
 * uncore_field_list() - one of the lists of fields of a box
 * @type: kind of box
 * @instance: number within its kind
 * @n: which list, less than UNCORE_FIELD_LISTS
 *
 * Return: the fields, ended by one without name.
 */
const struct uncore_field *uncore_field_list(const struct uncore_box_type *type,
					     unsigned int instance, unsigned int n)
{
	static const struct uncore_field none[] = { {} };

	switch (n) {
	case 0:
		return type->fields;
	case 1:
		return type->instance_fields ? type->instance_fields[instance] : none;
	default:
		return uncore_common_fields;
	}
}

/**
 * uncore_field_get() - the user's value of one field
 * @field: the field
 * @attr: the user's words
 *
 * Return: the value, shifted down to bit 0.
 */
u64 uncore_field_get(const struct uncore_field *field, const struct perf_event_attr *attr)
{
	const u64 words[] = { attr->config, attr->config1, attr->config2 };

	return (words[field->word] & GENMASK_ULL(field->hi, field->lo)) >> field->lo;
}

/* Is every set bit of the user's words part of a field? */
static bool uncore_fields_known(const struct uncore_box_type *type, unsigned int instance,
				const struct perf_event_attr *attr)
{
	u64 rest[] = { attr->config, attr->config1, attr->config2 };
	const struct uncore_field *f;
	unsigned int i;

	for (i = 0; i < UNCORE_FIELD_LISTS; i++) {
		for (f = uncore_field_list(type, instance, i); f->name; f++) {
			if (uncore_for_this(f->models))
				rest[f->word] &= ~GENMASK_ULL(f->hi, f->lo);
		}
	}
	return !(rest[0] | rest[1] | rest[2] | perf_attr_config_rest(attr));
}

/* The counters that the user allows, also such as the box does not have. */
static u32 uncore_counters_asked(const struct uncore_box_type *type,
				 const struct perf_event_attr *attr)
{
	const struct uncore_field *f;

	for (f = type->fields; f->name; f++) {
		if (f->to == UNCORE_TO_COUNTER)
			return BIT(uncore_field_get(f, attr));
	}
	return ~0U;
}

/* The event of this code that one of the counters has, or NULL. */
static const struct uncore_event_desc *
uncore_find_event(const struct uncore_box_type *type, unsigned int code, u32 counters)
{
	const struct uncore_event_desc *desc;

	for (desc = type->events; desc->name; desc++) {
		if (desc->code == code && (!desc->counters || desc->counters & counters) &&
		    uncore_for_this(desc->models))
			return desc;
	}
	return NULL;
}

/*
 * Any OR of sub-events has a meaning. An event that has some with none chosen would count
 * nothing.
 */
static int uncore_check_umask(const struct perf_event *event, const struct uncore_event_desc *desc,
			      unsigned int umask)
{
	const struct uncore_umask *u;
	unsigned int known = 0;

	for (u = desc->umasks; u && u->name; u++)
		known |= uncore_for_this(u->models) ? u->umask : 0;
	if (umask & ~known)
		return uncore_refuse(event, -EINVAL, "%s has no umask %#x", desc->name, umask);
	if (known && !umask)
		return uncore_refuse(event, -EINVAL, "%s needs a umask", desc->name);
	if (desc->one_umask && hweight32(umask) > 1)
		return uncore_refuse(event, -EINVAL, "%s needs one bit of umask", desc->name);
	return 0;
}

static bool uncore_value_in(u64 values, u64 val)
{
	return !values || values & BIT_ULL(min_t(u64, val, 63));
}

/* Does the event use this field, given the others? */
static bool uncore_field_taken(const struct uncore_box_type *type,
			       const struct uncore_event_desc *desc,
			       const struct uncore_field *f, const struct perf_event_attr *attr)
{
	if (!((type->common | desc->filters) & BIT_ULL(f - type->fields)))
		return false;
	return uncore_value_in(f->if_values, uncore_field_get(&type->fields[f->if_field], attr));
}

/* Can the event add more than 1 in a clock? */
static bool uncore_adds_more(const struct uncore_box_type *type,
			     const struct uncore_event_desc *desc,
			     const struct perf_event_attr *attr)
{
	const struct uncore_field *f;
	u64 umask = 0;

	for (f = type->fields; f->name; f++) {
		if (f->to == UNCORE_TO_UMASK)
			umask = uncore_field_get(f, attr);
	}
	return desc->adds == UNCORE_ADDS_MANY ||
	       (desc->adds == UNCORE_ADDS_UMASK && hweight64(umask) > 1);
}

/* Has the value of a field that the event takes a meaning? */
static int uncore_check_value(const struct perf_event *event, const struct uncore_box_type *type,
			      const struct uncore_event_desc *desc, const struct uncore_field *f)
{
	const struct uncore_field *mask = &type->fields[f->within];
	u64 val = uncore_field_get(f, &event->attr);

	if (!uncore_value_in(f->valid, val))
		return uncore_refuse(event, -EINVAL, "%s has no %s %#llx", desc->name, f->name,
				     val);
	if (val && f->if_adds && uncore_adds_more(type, desc, &event->attr) &&
	    !uncore_field_get(&type->fields[f->if_adds], &event->attr))
		return uncore_refuse(event, -EINVAL, "%s can add more than 1, %s needs %s",
				     desc->name, f->name, type->fields[f->if_adds].name);
	if (f->within && val & ~uncore_field_get(mask, &event->attr))
		return uncore_refuse(event, -EINVAL, "%s has bits that are not in %s", f->name,
				     mask->name);
	if (f->to == UNCORE_TO_UMASK)
		return uncore_check_umask(event, desc, val);
	return 0;
}

/**
 * uncore_config_req() - the value that the config needs in a slot
 * @cfg: the config
 * @type: kind of box
 * @slot: the slot, or the first of those that are alike
 *
 * Return: the request, added to the claim if it was not there.
 */
struct uncore_req *uncore_config_req(struct uncore_config *cfg, const struct uncore_box_type *type,
				     unsigned int slot)
{
	struct uncore_claim *claim = &cfg->claim;
	unsigned int i;

	for (i = 0; i < claim->num_reqs; i++) {
		if (claim->req[i].first == slot)
			return &claim->req[i];
	}
	/* No event of the tables needs so many. */
	if (WARN_ON_ONCE(i == UNCORE_MAX_REQS))
		return &claim->req[0];
	claim->req[i].first = slot;
	claim->req[i].num = max_t(u8, type->subregs->slots[slot].alike, 1);
	claim->num_reqs++;
	return &claim->req[i];
}

/**
 * uncore_config_ctl() - contents of the control register, once the claim is taken
 * @cfg: the config
 * @type: kind of box
 *
 * Return: the contents, less the enable bits.
 */
u64 uncore_config_ctl(const struct uncore_config *cfg, const struct uncore_box_type *type)
{
	u64 ctl = cfg->ctl;
	unsigned int i;

	for (i = 0; i < cfg->claim.num_reqs; i++) {
		const struct uncore_req *req = &cfg->claim.req[i];

		ctl |= type->subregs->slots[req->first + req->chosen].ctl;
	}
	return ctl;
}

/* Put the value of a field where it goes. */
static void uncore_field_put(const struct uncore_field *f, const struct perf_event_attr *attr,
			     const struct uncore_box_type *type, struct uncore_config *cfg)
{
	u64 val = uncore_field_get(f, attr);

	if (f->invert)
		val = ~val;
	if (f->bits)
		val = (val << __ffs64(f->bits)) & f->bits;
	if (f->to == UNCORE_TO_CTL || f->to == UNCORE_TO_UMASK)
		cfg->ctl |= val;
	else if (f->to == UNCORE_TO_SLOT)
		uncore_config_req(cfg, type, f->slot)->val[f->reg] |= val;
}

static int uncore_decode_fields(const struct perf_event *event, const struct uncore_box_type *type,
				const struct uncore_event_desc *desc, struct uncore_config *cfg)
{
	const struct uncore_field *f;
	int err;

	for (f = type->fields; f->name; f++) {
		if (!uncore_for_this(f->models))
			continue;
		if (uncore_field_taken(type, desc, f, &event->attr)) {
			err = uncore_check_value(event, type, desc, f);
			if (err)
				return err;
			uncore_field_put(f, &event->attr, type, cfg);
		} else if (f != type->fields && uncore_field_get(f, &event->attr)) {
			return uncore_refuse(event, -EINVAL, "%s takes no %s%s%s", desc->name,
					     f->name, f->if_values ? " with this " : "",
					     f->if_values ? type->fields[f->if_field].name : "");
		}
	}
	return 0;
}

/**
 * uncore_decode() - find the registers and values that an event needs
 * @event: the user's event
 * @type: kind of box
 * @instance: number within its kind
 * @cfg: filled in
 *
 * Return: 0, or -EINVAL for what the manual does not have.
 */
int uncore_decode(const struct perf_event *event, const struct uncore_box_type *type,
		  unsigned int instance, struct uncore_config *cfg)
{
	const struct perf_event_attr *attr = &event->attr;
	unsigned int code = uncore_field_get(&type->fields[0], attr);
	u32 counters = uncore_counters_asked(type, attr);
	const struct uncore_event_desc *desc = uncore_find_event(type, code, counters);
	unsigned long slots;
	unsigned int slot;
	int err;

	if (!uncore_fields_known(type, instance, attr))
		return uncore_refuse(event, -EINVAL, "bits outside the format");
	if (!desc)
		return uncore_refuse(event, -EINVAL, "no event %#x", code);

	*cfg = (struct uncore_config){
		.claim.idx	= -1,
		.claim.counters	= desc->counters ? desc->counters & counters : counters,
		.ctl		= desc->ctl,
		.freeze		= uncore_field_get(&uncore_common_fields[0], attr),
	};
	slots = desc->slots;
	for_each_set_bit(slot, &slots, UNCORE_MAX_SLOTS)
		uncore_config_req(cfg, type, slot)->val[0] = desc->val;
	err = uncore_decode_fields(event, type, desc, cfg);
	if (!err && type->finish)
		err = type->finish(event, desc, cfg);
	return err;
}

/**
 * uncore_event_inferred() - does an event depend on something that no second source confirms?
 * @type: kind of box
 * @desc: the event, by any of its names
 */
bool uncore_event_inferred(const struct uncore_box_type *type,
			   const struct uncore_event_desc *desc)
{
	const struct uncore_field *f;

	if (desc->inferred & uncore_model->bit)
		return true;
	for (f = type->fields; f->name; f++) {
		if (f->to == UNCORE_TO_SLOT && desc->filters & BIT_ULL(f - type->fields) &&
		    type->subregs->slots[f->slot].inferred)
			return true;
	}
	return false;
}
