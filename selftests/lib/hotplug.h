/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that come and go.
 */
#ifndef SELFTESTS_HOTPLUG_H
#define SELFTESTS_HOTPLUG_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ktap.h"

static inline void set_online(int cpu, bool online)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	f = fopen(path, "w");
	ktap_require(f && fputs(online ? "1" : "0", f) >= 0 && !fclose(f), "%s: %s", path,
		     strerror(errno));
}

/* CPU 0 is always there. */
static inline void all_online(int cpus)
{
	int cpu, val;
	char path[64];
	FILE *f;

	for (cpu = 1; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		f = fopen(path, "r");
		ktap_require(f && fscanf(f, "%d", &val) == 1, "%s", path);
		fclose(f);
		if (!val)
			set_online(cpu, true);
	}
}

#endif /* SELFTESTS_HOTPLUG_H */
