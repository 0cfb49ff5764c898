// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>

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

/* The number of a hotplug state, -1 if there is none of that name. */
static int hotplug_state(const char *name)
{
	FILE *f = fopen("/sys/devices/system/cpu/hotplug/states", "r");
	char line[128], found[80];
	int state, num = -1;

	ktap_require(f, "hotplug/states: %s", strerror(errno));
	while (num < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d: %79[^\n]", &state, found) == 2 && !strcmp(found, name))
			num = state;
	}
	fclose(f);
	return num;
}

/*
 * Going offline, a CPU leaves the states from the highest to the lowest. The driver's
 * callback has been called when workqueue:online fails, but perf's own has not: the CPU
 * comes back with all its events.
 */
void offline_fails(int cpu)
{
	int ours = hotplug_state("perf/x86/xeon7500:online");
	int fails = hotplug_state("workqueue:online");
	int perfs = hotplug_state("perf:online");
	char path[80], text[16];
	int fd, len, online = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/hotplug/fail", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		ktap_skip("needs cpu/hotplug/fail (CONFIG_HOTPLUG_CPU)");
	ktap_require(perfs > 0 && perfs < fails && fails < ours, "states %d, %d, %d", perfs, fails,
		     ours);
	len = snprintf(text, sizeof(text), "%d", fails);
	ktap_require(write(fd, text, len) == len, "%s: %s", path, strerror(errno));
	close(fd);
	ktap_require(!write_online(cpu, false) && errno == EAGAIN, "CPU %d is offline: %s", cpu,
		     strerror(errno));
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%d", &online) == 1 && online, "CPU %d: %d", cpu, online);
	fclose(f);
}
