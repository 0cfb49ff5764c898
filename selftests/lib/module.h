/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading and unloading the drivers of the uncore.
 */
#ifndef SELFTESTS_MODULE_H
#define SELFTESTS_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ktap.h"

#define OURS		"xeon7500_uncore"
#define MAINLINE	"intel_uncore"

static inline bool loaded(const char *module)
{
	char line[256];
	bool found = false;
	FILE *f = fopen("/proc/modules", "r");

	ktap_require(f, "/proc/modules: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, module, strlen(module)) && line[strlen(module)] == ' ')
			found = true;
	}
	fclose(f);
	return found;
}

/* 0 or errno. */
static inline int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

/* 0 or errno; dir is below that of the kernel's modules. */
static inline int load(const char *dir, const char *file)
{
	struct utsname uts;
	char path[256];
	int fd, err;

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/%s/%s.ko", uts.release, dir, file);
	fd = open(path, O_RDONLY);
	ktap_require(fd >= 0, "%s: %s", path, strerror(errno));
	err = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	return err;
}

static inline int load_ours(void)
{
	return load("updates", "xeon7500_uncore");
}

static inline int load_mainline(void)
{
	return load("kernel/arch/x86/events/intel", "intel-uncore");
}

#endif /* SELFTESTS_MODULE_H */
