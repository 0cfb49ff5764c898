/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs shows of a box type.
 */
#ifndef UNCORE_ATTRS_H
#define UNCORE_ATTRS_H

#include <linux/sysfs.h>

#include "types.h"

const struct attribute_group **
uncore_attr_groups_create(const struct uncore_box_type *type, unsigned int instance,
			  const struct attribute_group * const *more);
void uncore_attr_groups_free(const struct attribute_group **groups);
ssize_t uncore_emit_inferred(const struct uncore_box_type *type, char *buf);

#endif /* UNCORE_ATTRS_H */
