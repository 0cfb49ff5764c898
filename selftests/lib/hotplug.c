// SPDX-License-Identifier: GPL-2.0-only
#include "hotplug.h"

bool hotplug_away[HOTPLUG_CPUS];

static pid_t hotplug_pid;

bool write_online(int cpu, bool online)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	f = fopen(path, "w");
	return f && fputs(online ? "1" : "0", f) >= 0 && !fclose(f);
}

static void hotplug_end(void)
{
	int cpu;

	for (cpu = 0; getpid() == hotplug_pid && cpu < HOTPLUG_CPUS; cpu++) {
		if (hotplug_away[cpu])
			write_online(cpu, true);
	}
}

void set_online(int cpu, bool online)
{
	if (!hotplug_pid) {
		hotplug_pid = getpid();
		atexit(hotplug_end);
	}
	hotplug_away[cpu] = !online;
	ktap_require(write_online(cpu, online), "CPU %d cannot be switched: %s", cpu,
		     strerror(errno));
}

void all_online(int cpus)
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
