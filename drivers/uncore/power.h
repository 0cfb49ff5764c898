/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Suspend, shutdown and the last CPU of a package.
 */
#ifndef UNCORE_POWER_H
#define UNCORE_POWER_H

#include "package.h"

void uncore_package_sleep(struct uncore_package *pkg);
void uncore_package_wake(struct uncore_package *pkg);
int uncore_power_init(void);
void uncore_power_exit(void);

#endif /* UNCORE_POWER_H */
