/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the user's config words to what the event asks of the hardware, by the tables of
 * a box type.
 */
#ifndef UNCORE_DECODE_H
#define UNCORE_DECODE_H

#include <linux/device.h>
#include <linux/perf_event.h>

#include "types.h"

/* Say why an event is refused (dynamic debug), and refuse it. */
#define uncore_refuse(event, err, fmt, ...)					\
({										\
	const struct perf_event *__event = (event);				\
										\
	dev_dbg(__event->pmu->dev, "config %#llx,%#llx,%#llx: " fmt "\n",	\
		__event->attr.config, __event->attr.config1,			\
		__event->attr.config2, ##__VA_ARGS__);				\
	(err);									\
})

/* The fields of a box: of its kind, of this instance, of all boxes. */
#define UNCORE_FIELD_LISTS	3

const struct uncore_field *uncore_field_list(const struct uncore_box_type *type,
					     unsigned int instance, unsigned int n);
u64 uncore_field_get(const struct uncore_field *field, const struct perf_event_attr *attr);
struct uncore_req *uncore_config_req(struct uncore_config *cfg, const struct uncore_box_type *type,
				     unsigned int slot);
u64 uncore_config_ctl(const struct uncore_config *cfg, const struct uncore_box_type *type);
bool uncore_event_inferred(const struct uncore_box_type *type,
			   const struct uncore_event_desc *desc);
int uncore_decode(const struct perf_event *event, const struct uncore_box_type *type,
		  unsigned int instance, struct uncore_config *cfg);

#endif /* UNCORE_DECODE_H */
