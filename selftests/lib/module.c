// SPDX-License-Identifier: GPL-2.0-only
#include "module.h"

bool loaded(const char *module)
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

int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

int load(const char *dir, const char *file)
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

int load_ours(void)
{
	return load("updates", "xeon7500_uncore");
}

int load_mainline(void)
{
	return load("kernel/arch/x86/events/intel", "intel-uncore");
}

u64 module_parameter(const char *module, const char *name)
{
	char path[96];
	u64 val = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, name);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%llu", &val) == 1, "%s: %s", path, strerror(errno));
	fclose(f);
	return val;
}
