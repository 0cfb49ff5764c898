// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs: formats and named events, from the tables of a box type.
 *
 * Every attribute keeps its own text, made when the module is loaded; the instances of
 * a box share them.
 */
#include <linux/device.h>
#include <linux/slab.h>

#include "uncore.h"

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
	const struct attribute_group *list[8];
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
		if (!uncore_for_this(desc->models))
			continue;
		if (!desc->umasks)
			err = uncore_event_add(g, desc, NULL);
		for (u = desc->umasks; u && u->name && !err; u++) {
			if (uncore_for_this(u->models))
				err = uncore_event_add(g, desc, u);
		}
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
		for (f = uncore_field_list(type, instance, i); f->name && !err; f++) {
			if (uncore_for_this(f->models))
				err = uncore_format_add(&g->format, f);
		}
	}
	if (err)
		return err;

	/* Each event can bring a .scale and a .unit. */
	err = uncore_attr_group_alloc(&g->events, "events", 3 * uncore_count_events(type->events));
	if (!err)
		err = uncore_events_add(&g->events, type->events);
	return err;
}

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", uncore_model->identifier);
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
 * uncore_emit_inferred() - the events that rest on what nobody confirms
 * @type: kind of box
 * @buf: for a sysfs attribute: their names, less the sub-event, in one line
 *
 * Return: the length.
 */
ssize_t uncore_emit_inferred(const struct uncore_box_type *type, char *buf)
{
	const struct uncore_event_desc *desc;
	const char *space = "";
	int len = 0;

	for (desc = type->events; desc->name; desc++) {
		if (uncore_for_this(desc->models) && uncore_event_inferred(type, desc)) {
			len += sysfs_emit_at(buf, len, "%s%s", space, desc->name);
			space = " ";
		}
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

/**
 * uncore_attr_groups_create() - make the sysfs attributes of a kind of box
 * @type: kind of box
 * @instance: which of them; those without fields of their own can share
 * @more: groups that do not depend on the type, NULL-terminated
 *
 * Return: groups for struct pmu, to be freed by uncore_attr_groups_free() after
 * the last PMU that uses them, or NULL.
 */
const struct attribute_group **
uncore_attr_groups_create(const struct uncore_box_type *type, unsigned int instance,
			  const struct attribute_group * const *more)
{
	struct uncore_attr_groups *g = kzalloc(sizeof(*g), GFP_KERNEL);
	unsigned int n = 0;

	if (!g)
		return NULL;
	g->list[n++] = &g->format.group;
	g->list[n++] = &g->events.group;
	g->list[n++] = &uncore_identifier_group;
	while (*more && n < ARRAY_SIZE(g->list) - 1)
		g->list[n++] = *more++;
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
