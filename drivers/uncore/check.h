/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event is refused for, beyond what its config says. The reason goes to dev_dbg().
 */
#ifndef UNCORE_CHECK_H
#define UNCORE_CHECK_H

#include "package.h"

int uncore_check_attr(struct perf_event *event);
int uncore_check_registers(struct perf_event *event, struct uncore_package *pkg);
int uncore_check_interrupts(struct perf_event *event, struct uncore_package *pkg);
int uncore_check_group(struct perf_event *event);

#endif /* UNCORE_CHECK_H */
