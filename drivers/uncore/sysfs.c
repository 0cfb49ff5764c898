// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs shows: formats and named events, from the tables of a box type, made when the
 * PMU is registered; the CPUs to open events on; and in caps/ the state of the driver.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "compat.h"
#include "uncore.h"

/* ---- formats and events ---- */

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

/* ---- CPUs and the state of the driver ---- */

static struct uncore_pmu *uncore_dev_pmu(struct device *dev)
{
	return to_uncore_pmu((struct pmu *)dev_get_drvdata(dev));
}

/* Which CPU to open an event on: one for each package that has one of these boxes. */
static ssize_t uncore_emit_cpus(char *buf, unsigned long boxes)
{
	struct uncore_package *pkg;
	cpumask_var_t mask;
	ssize_t len;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_uncore_package(pkg) {
		int cpu = READ_ONCE(pkg->cpu);

		if (cpu >= 0 && pkg->present & boxes)
			cpumask_set_cpu(cpu, mask);
	}
	len = sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(mask));
	free_cpumask_var(mask);
	return len;
}

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct uncore_pmu *upmu = uncore_dev_pmu(dev);

	return uncore_emit_cpus(buf, BIT(upmu->type->first + upmu->instance));
}
static DEVICE_ATTR_RO(cpumask);

static ssize_t package_cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return uncore_emit_cpus(buf, ~0UL);
}

static struct device_attribute dev_attr_package_cpumask =
	__ATTR(cpumask, 0444, package_cpumask_show, NULL);

/*
 * The events that no page of the manual confirms in all they need. A list in caps/, because
 * an attribute beside the event would be an event to perf, and sysfs allows a file to hold
 * several values of one kind. An empty line says that there are none.
 */
static ssize_t inferred_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct uncore_box_type *type = uncore_dev_pmu(dev)->type;
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
static DEVICE_ATTR_RO(inferred);

static struct attribute *uncore_caps_attrs[] = {
	&dev_attr_inferred.attr,
	NULL
};

static const struct attribute_group uncore_caps_group = {
	.name = "caps",
	.attrs = uncore_caps_attrs,
};

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", uncore_model->identifier);
}
static DEVICE_ATTR_RO(identifier);

static struct attribute *uncore_box_attrs[] = {
	&dev_attr_identifier.attr,
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group uncore_box_group = {
	.attrs = uncore_box_attrs,
};

/* Do overflows interrupt? "untested" until an event needs it. */
static ssize_t pmi_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char * const text[] = {
		[UNCORE_PMI_UNTESTED]	= "untested",
		[UNCORE_PMI_NO]		= "no",
		[UNCORE_PMI_YES]	= "yes",
		[UNCORE_PMI_OFF]	= "off",
	};

	return sysfs_emit(buf, "%s\n", text[uncore_self_test_worst()]);
}
static DEVICE_ATTR_RO(pmi);

/* Totals of all packages, since the module was loaded */
#define UNCORE_TOTAL_ATTR(_name, _total)						\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{										\
	struct uncore_package *pkg;						\
	u64 sum = 0;								\
										\
	for_each_uncore_package(pkg)						\
		sum += atomic64_read(&pkg->totals._total);			\
	return sysfs_emit(buf, "%llu\n", sum);					\
}										\
static DEVICE_ATTR_RO(_name)

/* Spurious NMIs that were claimed */
UNCORE_TOTAL_ATTR(swallowed_nmis, swallowed);
/* Overflows that the watch found, whose NMI was missing */
UNCORE_TOTAL_ATTR(missed_pmis, missed);
/* How often registers were found changed by another program */
UNCORE_TOTAL_ATTR(foreign_writes, conflicts);

static struct attribute *uncore_package_caps[] = {
	&dev_attr_pmi.attr,
	&dev_attr_swallowed_nmis.attr,
	&dev_attr_missed_pmis.attr,
	&dev_attr_foreign_writes.attr,
	NULL
};

static struct attribute *uncore_package_attrs[] = {
	&dev_attr_package_cpumask.attr,
	NULL
};

/* Of xeon7500_package */
const struct attribute_group uncore_package_group = {
	.attrs = uncore_package_attrs,
};

const struct attribute_group uncore_package_caps_group = {
	.name = "caps",
	.attrs = uncore_package_caps,
};

/* ---- all that a PMU shows ---- */

/**
 * uncore_sysfs_create() - make the attributes of the PMU of a box
 * @upmu: the PMU; its type and instance are set
 *
 * Return: groups for struct pmu, NULL-terminated, to be freed by uncore_sysfs_free(), or NULL.
 */
const struct attribute_group **uncore_sysfs_create(const struct uncore_pmu *upmu)
{
	struct uncore_attr_groups *g = kzalloc(sizeof(*g), GFP_KERNEL);

	if (!g)
		return NULL;
	g->list[0] = &g->format.group;
	g->list[1] = &g->events.group;
	g->list[2] = &uncore_box_group;
	g->list[3] = &uncore_caps_group;
	if (uncore_attrs_fill(g, upmu->type, upmu->instance)) {
		uncore_sysfs_free(g->list);
		return NULL;
	}
	return g->list;
}

/** uncore_sysfs_free() - undo uncore_sysfs_create(); the PMU is unregistered */
void uncore_sysfs_free(const struct attribute_group **groups)
{
	struct uncore_attr_groups *g = container_of(groups, struct uncore_attr_groups, list[0]);

	uncore_attr_group_free(&g->format);
	uncore_attr_group_free(&g->events);
	kfree(g);
}
