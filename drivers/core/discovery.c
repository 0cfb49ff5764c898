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
#include <linux/slab.h>

#include "core_ext.h"

/* More than any model has */
#define MAX_EVENTS	512

struct core_ext_attr {
	struct device_attribute attr;
	char *text;
};

struct core_ext_group {
	struct attribute_group group;
	struct kernfs_node *dir;	/* where the kernel's names are */
	struct core_ext_attr *attrs;
	unsigned int num;
	unsigned int max;
	bool merged;
};

static struct core_ext_group core_ext_format, core_ext_events;

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

/* Takes over both strings. A name of the kernel's is left alone. */
static int core_ext_attr_add(struct core_ext_group *g, char *name, char *text)
{
	struct core_ext_attr *a = &g->attrs[g->num];
	int err = -ENOMEM;

	if (!name || !text)
		goto drop;
	err = 0;
	if (core_ext_kernel_has(g, name)) {
		pr_debug("%s/%s is the kernel's own\n", g->group.name, name);
		goto drop;
	}
	err = -ENOSPC;
	if (WARN_ON_ONCE(g->num == g->max))
		goto drop;
	sysfs_attr_init(&a->attr.attr);
	a->attr.attr.name = name;
	a->attr.attr.mode = 0444;
	a->attr.show = core_ext_attr_show;
	a->text = text;
	g->group.attrs[g->num++] = &a->attr.attr;
	return 0;
drop:
	kfree(name);
	kfree(text);
	return err;
}

static int core_ext_group_alloc(struct core_ext_group *g, struct device *dev, const char *name,
				unsigned int max)
{
	g->group.name = name;
	g->dir = kernfs_find_and_get(dev->kobj.sd, name);
	g->max = max;
	g->attrs = kcalloc(max, sizeof(*g->attrs), GFP_KERNEL);
	g->group.attrs = kcalloc(max + 1, sizeof(*g->group.attrs), GFP_KERNEL);
	return g->attrs && g->group.attrs ? 0 : -ENOMEM;
}

static void core_ext_group_free(struct core_ext_group *g, struct device *dev)
{
	if (g->merged)
		sysfs_unmerge_group(&dev->kobj, &g->group);
	while (g->num) {
		g->num--;
		kfree(g->attrs[g->num].attr.attr.name);
		kfree(g->attrs[g->num].text);
	}
	kfree(g->group.attrs);
	kfree(g->attrs);
	kernfs_put(g->dir);
}

static int core_ext_group_merge(struct core_ext_group *g, struct device *dev)
{
	int err = g->dir && g->num ? sysfs_merge_group(&dev->kobj, &g->group) : 0;

	g->merged = !err;
	return err;
}

static int core_ext_add_field(const struct core_ext_field *f)
{
	char *text;

	if (f->lo == f->hi)
		text = kasprintf(GFP_KERNEL, "config1:%u", f->lo);
	else
		text = kasprintf(GFP_KERNEL, "config1:%u-%u", f->lo, f->hi);
	return core_ext_attr_add(&core_ext_format, kstrdup(f->name, GFP_KERNEL), text);
}

/* Takes over @name. */
static int core_ext_add_event(char *name, u16 select, u64 config1)
{
	unsigned int used = 0;
	char text[96];
	int i, len;

	len = scnprintf(text, sizeof(text), "event=%#x,umask=%#x", select & 0xff, select >> 8);
	for (i = CORE_EXT_OCR_REQ; i < ARRAY_SIZE(core_ext_fields); i++) {
		u64 val = core_ext_field_get(i, config1);

		if (!val)
			continue;
		used |= BIT(i);
		len += scnprintf(text + len, sizeof(text) - len, ",%s=%#llx",
				 core_ext_fields[i].name, val);
	}
	if (used & ~core_ext_usable) {
		kfree(name);
		return 0;
	}
	return core_ext_attr_add(&core_ext_events, name, kstrdup(text, GFP_KERNEL));
}

/* Cycles times requests in flight, and requests: their quotient is the latency. */
static int core_ext_add_latency(const struct core_ext_model *model,
				const struct core_ext_request *req)
{
	const struct core_ext_offcore *cycles = &model->offcore[0];
	const struct core_ext_offcore *count = &model->offcore[1];
	int err;

	/*
	 * Of each register one: both fit in a group. The kernel may move the second to the first's
	 * register if that is added first.
	 */
	err = core_ext_add_event(kasprintf(GFP_KERNEL, "offcore_outstanding.%s", req->name),
				 cycles->select, req->bits | cycles->outstanding);
	if (err)
		return err;
	return core_ext_add_event(kasprintf(GFP_KERNEL, "offcore_requests.%s", req->name),
				  count->select, req->bits | count->any);
}

static int core_ext_add_request(const struct core_ext_model *model,
				const struct core_ext_request *req)
{
	unsigned long responses = (req->responses | model->always) & model->available;
	unsigned int i;
	int err;

	for_each_set_bit(i, &responses, BITS_PER_LONG) {
		const struct core_ext_bits *rsp = &model->responses[i];

		err = core_ext_add_event(kasprintf(GFP_KERNEL, "offcore_response.%s.%s",
						   req->name, rsp->name),
					 model->offcore[0].select, req->bits | rsp->bits);
		if (err)
			return err;
	}
	return req->latency ? core_ext_add_latency(model, req) : 0;
}

static int core_ext_fill(struct device *dev, const struct core_ext_model *model)
{
	const struct core_ext_bits *selection;
	const struct core_ext_request *req;
	const struct core_ext_event *event;
	int err, i;

	err = core_ext_group_alloc(&core_ext_format, dev, "format", ARRAY_SIZE(core_ext_fields));
	for (i = 0; i < ARRAY_SIZE(core_ext_fields) && !err; i++) {
		if (!(model->fields & BIT(i)))
			continue;
		if (!core_ext_kernel_has(&core_ext_format, core_ext_fields[i].name))
			core_ext_usable |= BIT(i);
		err = core_ext_add_field(&core_ext_fields[i]);
	}
	if (err)
		return err;

	err = core_ext_group_alloc(&core_ext_events, dev, "events", MAX_EVENTS);
	for (event = model->events; event->name && !err; event++)
		err = core_ext_add_event(kstrdup(event->name, GFP_KERNEL), event->select, 0);
	for (req = model->requests; req->name && !err; req++)
		err = core_ext_add_request(model, req);
	for (selection = model->selections; selection && selection->name && !err; selection++)
		err = core_ext_add_event(kasprintf(GFP_KERNEL, "offcore_response.%s",
						   selection->name),
					 model->offcore[0].select, selection->bits);
	return err;
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

	err = core_ext_fill(dev, model);
	if (!err)
		err = core_ext_group_merge(&core_ext_format, dev);
	if (!err)
		err = core_ext_group_merge(&core_ext_events, dev);
	if (err)
		core_ext_discovery_stop(dev);
	return err;
}

/**
 * core_ext_discovery_stop() - take our names out again
 * @dev: device of the core PMU
 */
void core_ext_discovery_stop(struct device *dev)
{
	core_ext_group_free(&core_ext_events, dev);
	core_ext_group_free(&core_ext_format, dev);
}
