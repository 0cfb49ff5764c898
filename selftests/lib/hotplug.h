/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that come and go. Those that went are back when the program is through, however
 * a case ends.
 */
#ifndef SELFTESTS_HOTPLUG_H
#define SELFTESTS_HOTPLUG_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"

#define HOTPLUG_CPUS	1024

extern bool hotplug_away[HOTPLUG_CPUS];

bool write_online(int cpu, bool online);

void set_online(int cpu, bool online);

/* CPU 0 is always there. */
void all_online(int cpus);

/* It comes back with all its events, and the driver has been called. */
void offline_fails(int cpu);

#endif /* SELFTESTS_HOTPLUG_H */
