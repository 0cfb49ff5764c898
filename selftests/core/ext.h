/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of intel_core_ext share: loading it, and asking the core PMU.
 */
#ifndef SELFTESTS_CORE_EXT_H
#define SELFTESTS_CORE_EXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "perf.h"

/* What the module adds to the core PMU besides names */
#define EXT_FILES	"/sys/bus/event_source/devices/cpu/intel_core_ext"

/* The exit status of a shell command. */
static inline int shell(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool ext_loaded(void)
{
	return !access(EXT_FILES, F_OK);
}

/* A kernel with our changes (Documentation/upstream) does by itself what the module is for. */
static inline bool ext_needless(void)
{
	return getenv("PATCHED");
}

/* For a case about the module itself. */
static inline void ext_needed(void)
{
	if (ext_needless())
		ktap_skip("about the module, which this kernel does without");
}

static inline void ext_unload(void)
{
	shell("rmmod intel_core_ext 2>/dev/null");
	ktap_require(!ext_loaded(), "cannot unload");
}

/* Loaded anew; NULL: not at all. */
static inline void ext_load(const char *parameters)
{
	char command[128];

	if (ext_needless()) {
		/*
		 * A module that is loaded anew knows of no event before. The kernel keeps for 40 ms that
		 * CPU-wide events have left, and lets tasks wait.
		 */
		usleep(100000);
		return;
	}
	ext_unload();
	if (!parameters)
		return;
	snprintf(command, sizeof(command), "modprobe intel_core_ext %s", parameters);
	ktap_require(!shell(command) && ext_loaded(), "cannot load with '%s'", parameters);
}

/* Models of family 6 */
#define GOLDMONT	"5c 5f"
#define GOLDMONT_PLUS	"7a"
#define NEHALEM_EX	"2e"
#define SANDYBRIDGE	"2a 2d"
#define SILVERMONT	"37 4a 4c 4d 5a"

/* Is it an Intel CPU of family 6 with one of these models? */
static inline bool cpu_is(const char *models)
{
	unsigned int eax = 0, ebx, ecx = 0, edx;
	char model[8];

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	if (ebx != 0x756e6547)	/* Genu */
		return false;
	eax = 1;
	ecx = 0;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	snprintf(model, sizeof(model), "%02x", (eax >> 4 & 0xf) | (eax >> 12 & 0xf0));
	return (eax >> 8 & 0xf) == 6 && strstr(models, model);
}

/* The reason why there is no core PMU to test, or NULL. */
static inline const char *core_missing(const char *models)
{
	static char why[64];

	if (!cpu_is(models)) {
		snprintf(why, sizeof(why), "needs a CPU of family 6, model %s", models);
		return why;
	}
	return pmu_type("cpu") < 0 ? "needs the kernel's core PMU" : NULL;
}

/* Likewise no module: neither loaded nor installed. */
static inline const char *ext_missing(void)
{
	if (ext_needless() || ext_loaded() || !shell("modprobe intel_core_ext 2>/dev/null"))
		return NULL;
	return "needs the module intel_core_ext";
}

/* An event of the core PMU, counting this task; precise ones sample. */
static inline struct perf_event_attr core_attr(u64 config, u64 config1, int precise)
{
	struct perf_event_attr attr = perf_attr("cpu", config);

	attr.config1 = config1;
	attr.precise_ip = precise;
	if (precise) {
		attr.sample_period = 1000003;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	}
	return attr;
}

/* A file descriptor, or -errno. */
static inline int open_task(struct perf_event_attr *attr, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, 0, -1, group, 0);

	return fd < 0 ? -errno : fd;
}

/* 0, or -errno. */
static inline int try_open(u64 config, u64 config1, int precise)
{
	struct perf_event_attr attr = core_attr(config, config1, precise);
	int fd = open_task(&attr, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A number among the module's files, -1 if there is no such file: none that cannot be read. */
static inline long ext_number(const char *name)
{
	char path[96];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), EXT_FILES "/%s", name);
	f = fopen(path, "r");
	if (f) {
		ktap_require(fscanf(f, "%ld", &n) == 1 && n >= 0, "%s", path);
		fclose(f);
	} else {
		ktap_require(access(path, F_OK), "%s is there: %s", path, strerror(errno));
	}
	return n;
}

/* Is a parameter of the module in effect? */
static inline bool ext_effect(const char *name)
{
	char path[96], value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/intel_core_ext/parameters/%s", name);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%c", &value) == 1 && strchr("YN", value), "%s", path);
	fclose(f);
	return value == 'Y';
}

/* How often the guard has put a PEBS index right. */
static inline unsigned long repairs(void)
{
	long n = ext_number("ds_repairs");

	ktap_require(n >= 0, "no guard");
	return n;
}

#endif
