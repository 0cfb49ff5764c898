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

bool loaded(const char *module);

/* 0 or errno. */
int unload(const char *module);

/* 0 or errno; dir is below that of the kernel's modules. */
int load(const char *dir, const char *file);

int load_ours(void);

int load_mainline(void);

/* A number that a module shows in /sys/module. */
u64 module_parameter(const char *module, const char *name);

#endif /* SELFTESTS_MODULE_H */
