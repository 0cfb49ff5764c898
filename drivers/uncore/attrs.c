// SPDX-License-Identifier: GPL-2.0-only
/*
 * Config fields and named events: from the tables of a box to sysfs and back.
 */
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "compat.h"
#include "uncore.h"

/* Every box has these, above what selects its event. */
const struct uncore_field uncore_common_fields[] = {
	[UNCORE_FREEZE]	= { "freeze",	0, 62, 63 },
	{}
};

static u64 uncore_config_word(const struct perf_event_attr *attr, unsigned int word)
{
	switch (word) {
	case 0:
		return attr->config;
	case 1:
		return attr->config1;
	default:
		return attr->config2;
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
	u64 mask = GENMASK_ULL(field->hi, field->lo);

	return (uncore_config_word(attr, field->word) & mask) >> field->lo;
}

/* The fields of a box: of its kind, of this instance, of all boxes. */
#define UNCORE_FIELD_LISTS	3

static const struct uncore_field *
uncore_field_list(const struct uncore_box_type *type, unsigned int instance, unsigned int n)
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
 * uncore_fields_known() - is every set bit of the user's words part of a field?
 * @upmu: the box
 * @attr: the user's words
 */
bool uncore_fields_known(const struct uncore_pmu *upmu, const struct perf_event_attr *attr)
{
	unsigned int instance = upmu->id - upmu->type->first;
	const struct uncore_field *f;
	u64 known[3] = {};
	unsigned int i;

	for (i = 0; i < UNCORE_FIELD_LISTS; i++) {
		for (f = uncore_field_list(upmu->type, instance, i); f->name; f++)
			known[f->word] |= GENMASK_ULL(f->hi, f->lo);
	}
	for (i = 0; i < 3; i++) {
		if (uncore_config_word(attr, i) & ~known[i])
			return false;
	}
	return !perf_attr_config3(attr);
}

/**
 * uncore_find_event() - look up an event by its code
 * @events: the table of the box
 * @code: the code
 *
 * Return: the event, or NULL if the manual has none with this code.
 */
const struct uncore_event_desc *
uncore_find_event(const struct uncore_event_desc *events, unsigned int code)
{
	for (; events->name; events++) {
		if (events->code == code)
			return events;
	}
	return NULL;
}

/**
 * uncore_check_umask() - does the manual give these umask bits a meaning?
 * @event: for the reason, if they are refused
 * @desc: the event
 * @umask: any OR of the sub-events; 0 exactly if there are none
 *
 * Return: 0 or -EINVAL. An event with sub-events and none chosen would count
 * nothing, which is why it is refused too.
 */
int uncore_check_umask(const struct perf_event *event, const struct uncore_event_desc *desc,
		       unsigned int umask)
{
	const struct uncore_umask *u;
	unsigned int known = 0;

	for (u = desc->umasks; u && u->name; u++)
		known |= u->umask;
	if (umask & ~known)
		return uncore_refuse(event, -EINVAL, "%s has no umask %#x", desc->name, umask);
	if (known && !umask)
		return uncore_refuse(event, -EINVAL, "%s needs a umask", desc->name);
	if (desc->one_umask && hweight32(umask) > 1)
		return uncore_refuse(event, -EINVAL, "%s wants one bit of umask", desc->name);
	return 0;
}

/**
 * uncore_check_filters() - does the event take every field the user has set?
 * @event: for the fields, and for the reason, if it is refused
 * @desc: the event
 * @first: the fields before this one are common to all events of the box
 *
 * Return: 0 or -EINVAL. A filter without effect is refused: the count would not be
 * what was asked for.
 */
int uncore_check_filters(const struct perf_event *event, const struct uncore_event_desc *desc,
			 unsigned int first)
{
	const struct uncore_field *fields = to_uncore_pmu(event->pmu)->type->fields;
	unsigned int i;

	for (i = first; fields[i].name; i++) {
		if (!(desc->filters & BIT(i)) && uncore_field_get(&fields[i], &event->attr))
			return uncore_refuse(event, -EINVAL, "%s takes no %s", desc->name,
					     fields[i].name);
	}
	return 0;
}

/*
 * sysfs: every attribute keeps its own text, made from the tables when the module
 * is loaded; the instances of a box share them.
 */
struct uncore_attr {
	struct device_attribute attr;
	char *text;
};

struct uncore_attr_group {
	struct attribute_group group;
	struct uncore_attr *attrs;
	unsigned int num;
};

struct uncore_attr_groups {
	const struct attribute_group *list[5];
	struct uncore_attr_group format;
	struct uncore_attr_group events;
};

static ssize_t uncore_attr_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", container_of(attr, struct uncore_attr, attr)->text);
}

static int uncore_attr_set(struct uncore_attr_group *g, char *name, char *text)
{
	struct uncore_attr *a = &g->attrs[g->num];

	sysfs_attr_init(&a->attr.attr);
	a->attr.attr.name = name;
	a->attr.attr.mode = 0444;
	a->attr.show = uncore_attr_show;
	a->text = text;
	g->group.attrs[g->num++] = &a->attr.attr;
	return name && text ? 0 : -ENOMEM;
}

static int uncore_attr_group_alloc(struct uncore_attr_group *g, const char *name, unsigned int max)
{
	g->group.name = name;
	g->attrs = kcalloc(max, sizeof(*g->attrs), GFP_KERNEL);
	g->group.attrs = kcalloc(max + 1, sizeof(*g->group.attrs), GFP_KERNEL);
	return g->attrs && g->group.attrs ? 0 : -ENOMEM;
}

static void uncore_attr_group_free(struct uncore_attr_group *g)
{
	while (g->num--) {
		kfree(g->attrs[g->num].attr.attr.name);
		kfree(g->attrs[g->num].text);
	}
	kfree(g->group.attrs);
	kfree(g->attrs);
}

static int uncore_format_add(struct uncore_attr_group *g, const struct uncore_field *f)
{
	static const char * const word[] = { "config", "config1", "config2" };
	char *text;

	if (f->lo == f->hi)
		text = kasprintf(GFP_KERNEL, "%s:%u", word[f->word], f->lo);
	else
		text = kasprintf(GFP_KERNEL, "%s:%u-%u", word[f->word], f->lo, f->hi);
	return uncore_attr_set(g, kstrdup(f->name, GFP_KERNEL), text);
}

/* <event>.<sub-event>, and .scale and .unit beside it. */
static int uncore_event_add(struct uncore_attr_group *g, const struct uncore_event_desc *desc,
			    const struct uncore_umask *umask)
{
	char name[64], text[128];
	int err, len;

	scnprintf(name, sizeof(name), "%s%s%s", desc->name, umask ? "." : "",
		  umask ? umask->name : "");
	len = scnprintf(text, sizeof(text), "event=%#x", desc->code);
	if (umask && umask->umask)
		len += scnprintf(text + len, sizeof(text) - len, ",umask=%#x", umask->umask);
	if (desc->terms)
		len += scnprintf(text + len, sizeof(text) - len, ",%s", desc->terms);
	if (umask && umask->terms)
		len += scnprintf(text + len, sizeof(text) - len, ",%s", umask->terms);

	err = uncore_attr_set(g, kstrdup(name, GFP_KERNEL), kstrdup(text, GFP_KERNEL));
	if (!err && desc->scale)
		err = uncore_attr_set(g, kasprintf(GFP_KERNEL, "%s.scale", name),
				      kstrdup(desc->scale, GFP_KERNEL));
	if (!err && desc->unit)
		err = uncore_attr_set(g, kasprintf(GFP_KERNEL, "%s.unit", name),
				      kstrdup(desc->unit, GFP_KERNEL));
	return err;
}

static unsigned int uncore_count_events(const struct uncore_event_desc *events)
{
	const struct uncore_umask *u;
	unsigned int num = 0;

	for (; events->name; events++) {
		num += !events->umasks;
		for (u = events->umasks; u && u->name; u++)
			num++;
	}
	return num;
}

static int uncore_events_add(struct uncore_attr_group *g, const struct uncore_event_desc *events)
{
	const struct uncore_event_desc *desc;
	const struct uncore_umask *u;
	int err = 0;

	for (desc = events; desc->name && !err; desc++) {
		if (!desc->umasks)
			err = uncore_event_add(g, desc, NULL);
		for (u = desc->umasks; u && u->name && !err; u++)
			err = uncore_event_add(g, desc, u);
	}
	return err;
}

static int uncore_attrs_fill(struct uncore_attr_groups *g, const struct uncore_box_type *type,
			     unsigned int instance)
{
	const struct uncore_field *f;
	unsigned int num = 0, i;
	int err;

	for (i = 0; i < UNCORE_FIELD_LISTS; i++) {
		for (f = uncore_field_list(type, instance, i); f->name; f++)
			num++;
	}
	err = uncore_attr_group_alloc(&g->format, "format", num);
	for (i = 0; i < UNCORE_FIELD_LISTS; i++) {
		for (f = uncore_field_list(type, instance, i); f->name && !err; f++)
			err = uncore_format_add(&g->format, f);
	}
	if (err)
		return err;

	/* Each event can bring a .scale and a .unit. */
	err = uncore_attr_group_alloc(&g->events, "events", 3 * uncore_count_events(type->events));
	if (!err)
		err = uncore_events_add(&g->events, type->events);
	return err;
}

/* Which CPU to open an event on: one for each package that has this box. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct uncore_pmu *upmu = to_uncore_pmu((struct pmu *)dev_get_drvdata(dev));
	cpumask_var_t mask;
	ssize_t len;
	int cpu;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		struct uncore_pkg *pkg = uncore_pkg_of(cpu);

		if (pkg && READ_ONCE(pkg->cpu) == cpu && test_bit(upmu->id, &pkg->present))
			cpumask_set_cpu(cpu, mask);
	}
	len = cpumap_print_to_pagebuf(true, buf, mask);
	free_cpumask_var(mask);
	return len;
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *uncore_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group uncore_cpumask_group = {
	.attrs = uncore_cpumask_attrs,
};

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "nehalem-ex\n");
}
static DEVICE_ATTR_RO(identifier);

static struct attribute *uncore_identifier_attrs[] = {
	&dev_attr_identifier.attr,
	NULL
};

static const struct attribute_group uncore_identifier_group = {
	.attrs = uncore_identifier_attrs,
};

/**
 * uncore_attr_groups_create() - make the sysfs attributes of a kind of box
 * @type: kind of box
 * @instance: which of them; those without fields of their own can share
 *
 * Return: groups for struct pmu, to be freed by uncore_attr_groups_free() after
 * the last PMU that uses them, or NULL.
 */
const struct attribute_group **uncore_attr_groups_create(const struct uncore_box_type *type,
							 unsigned int instance)
{
	struct uncore_attr_groups *g = kzalloc(sizeof(*g), GFP_KERNEL);

	if (!g)
		return NULL;
	g->list[0] = &g->format.group;
	g->list[1] = &g->events.group;
	g->list[2] = &uncore_cpumask_group;
	g->list[3] = &uncore_identifier_group;
	if (uncore_attrs_fill(g, type, instance)) {
		uncore_attr_groups_free(g->list);
		return NULL;
	}
	return g->list;
}

void uncore_attr_groups_free(const struct attribute_group **groups)
{
	struct uncore_attr_groups *g;

	if (!groups)
		return;
	g = container_of(groups, struct uncore_attr_groups, list[0]);
	uncore_attr_group_free(&g->format);
	uncore_attr_group_free(&g->events);
	kfree(g);
}
