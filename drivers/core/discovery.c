// SPDX-License-Identifier: GPL-2.0-only
/*
 * Discovery: format and events attributes merged into the device of the core PMU,
 * so that perf finds them where it looks for the kernel's own.
 *
 * Where the kernel already has a name, the kernel's stays. If that is a field of
 * config1, the events that use it are left out, too: the kernel's field may have
 * other bits.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/kernfs.h>
#include <linux/string.h>

#include "core_ext.h"

/* More than any model has */
#define MAX_EVENTS	256

struct core_ext_attr {
	struct device_attribute attr;
	char name[96];
	char text[96];
};

struct core_ext_group {
	struct attribute_group group;
	struct kernfs_node *dir;	/* where the kernel's names are */
	struct core_ext_attr *attrs;
	unsigned int num;
};

static struct core_ext_attr core_ext_format_attrs[CORE_EXT_NUM_FIELDS];
static struct core_ext_attr core_ext_events_attrs[MAX_EVENTS];
static struct attribute *core_ext_format_list[CORE_EXT_NUM_FIELDS + 1];
static struct attribute *core_ext_events_list[MAX_EVENTS + 1];

static struct core_ext_group core_ext_format = {
	.group = { .name = "format", .attrs = core_ext_format_list },
	.attrs = core_ext_format_attrs,
};

static struct core_ext_group core_ext_events = {
	.group = { .name = "events", .attrs = core_ext_events_list },
	.attrs = core_ext_events_attrs,
};

/* Fields whose names are ours. */
static unsigned int core_ext_usable;

static ssize_t core_ext_attr_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", container_of(attr, struct core_ext_attr, attr)->text);
}

static bool core_ext_kernel_has(const struct core_ext_group *g, const char *name)
{
	struct kernfs_node *kn = g->dir ? kernfs_find_and_get(g->dir, name) : NULL;

	kernfs_put(kn);
	return kn;
}

/* A name of the kernel's is left alone. */
static void core_ext_attr_add(struct core_ext_group *g, const char *name, const char *text)
{
	struct core_ext_attr *a = &g->attrs[g->num];

	if (core_ext_kernel_has(g, name)) {
		pr_debug("%s/%s is the kernel's own\n", g->group.name, name);
		return;
	}
	strscpy(a->name, name, sizeof(a->name));
	strscpy(a->text, text, sizeof(a->text));
	sysfs_attr_init(&a->attr.attr);
	a->attr.attr.name = a->name;
	a->attr.attr.mode = 0444;
	a->attr.show = core_ext_attr_show;
	g->group.attrs[g->num++] = &a->attr.attr;
}

static void core_ext_add_field(const struct core_ext_field *f)
{
	char text[24];

	if (f->lo == f->hi)
		snprintf(text, sizeof(text), "config1:%u", f->lo);
	else
		snprintf(text, sizeof(text), "config1:%u-%u", f->lo, f->hi);
	core_ext_attr_add(&core_ext_format, f->name, text);
}

/* The name is made as by printf(). */
static __printf(3, 4) void core_ext_add_event(u16 select, u64 config1, const char *format, ...)
{
	unsigned int used = 0;
	char name[96], text[96];
	va_list args;
	int i, len;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	len = scnprintf(text, sizeof(text), "event=%#x,umask=%#x", select & 0xff, select >> 8);
	for (i = CORE_EXT_OCR_REQ; i < ARRAY_SIZE(core_ext_fields); i++) {
		u64 val = core_ext_field_get(i, config1);

		if (!val)
			continue;
		used |= BIT(i);
		len += scnprintf(text + len, sizeof(text) - len, ",%s=%#llx",
				 core_ext_fields[i].name, val);
	}
	if (!(used & ~core_ext_usable) && !WARN_ON_ONCE(core_ext_events.num == MAX_EVENTS))
		core_ext_attr_add(&core_ext_events, name, text);
}

/*
 * Cycles times requests in flight, and requests: their quotient is the latency. Of each register
 * one: both fit in a group. The kernel may move the second to the first's register if that is
 * added first.
 */
static void core_ext_add_latency(const struct core_ext_model *model,
				 const struct core_ext_request *req)
{
	const struct core_ext_offcore *cycles = &model->offcore[0];
	const struct core_ext_offcore *count = &model->offcore[1];

	core_ext_add_event(cycles->select, req->bits | cycles->outstanding,
			   "offcore_outstanding.%s", req->name);
	core_ext_add_event(count->select, req->bits | count->any,
			   "offcore_requests.%s", req->name);
}

static void core_ext_add_request(const struct core_ext_model *model,
				 const struct core_ext_request *req)
{
	unsigned long responses = (req->responses | model->always) & model->available;
	unsigned int i;

	for_each_set_bit(i, &responses, BITS_PER_LONG) {
		const struct core_ext_bits *rsp = &model->responses[i];

		core_ext_add_event(model->offcore[0].select, req->bits | rsp->bits,
				   "offcore_response.%s.%s", req->name, rsp->name);
	}
	if (req->latency)
		core_ext_add_latency(model, req);
}

static void core_ext_fill(const struct core_ext_model *model)
{
	const struct core_ext_bits *selection;
	const struct core_ext_request *req;
	const struct core_ext_event *event;
	int i;

	for (i = 0; i < ARRAY_SIZE(core_ext_fields); i++) {
		if (!(model->fields & BIT(i)))
			continue;
		if (!core_ext_kernel_has(&core_ext_format, core_ext_fields[i].name))
			core_ext_usable |= BIT(i);
		core_ext_add_field(&core_ext_fields[i]);
	}
	for (event = model->events; event->name; event++)
		core_ext_add_event(event->select, 0, "%s", event->name);
	for (req = model->requests; req->name; req++)
		core_ext_add_request(model, req);
	for (selection = model->selections; selection && selection->name; selection++)
		core_ext_add_event(model->offcore[0].select, selection->bits,
				   "offcore_response.%s", selection->name);
}

/**
 * core_ext_discovery_start() - put the names of a model into sysfs
 * @dev: device of the core PMU
 * @model: the model
 *
 * Return: 0 or an errno, after which nothing is left there.
 */
int core_ext_discovery_start(struct device *dev, const struct core_ext_model *model)
{
	int err;

	core_ext_format.dir = kernfs_find_and_get(dev->kobj.sd, core_ext_format.group.name);
	core_ext_events.dir = kernfs_find_and_get(dev->kobj.sd, core_ext_events.group.name);
	core_ext_fill(model);
	kernfs_put(core_ext_events.dir);
	kernfs_put(core_ext_format.dir);
	err = sysfs_merge_group(&dev->kobj, &core_ext_format.group);
	if (err)
		return err;
	err = sysfs_merge_group(&dev->kobj, &core_ext_events.group);
	if (err)
		sysfs_unmerge_group(&dev->kobj, &core_ext_format.group);
	return err;
}

/**
 * core_ext_discovery_stop() - take our names out again
 * @dev: device of the core PMU
 */
void core_ext_discovery_stop(struct device *dev)
{
	sysfs_unmerge_group(&dev->kobj, &core_ext_events.group);
	sysfs_unmerge_group(&dev->kobj, &core_ext_format.group);
}
