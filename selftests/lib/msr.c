// SPDX-License-Identifier: GPL-2.0-only
#include "msr.h"

const char *silicon_missing(void)
{
	static const char *why = "?";
	u64 val = 0;
	int fd;

	if (why && *why == '?') {
		fd = open("/dev/cpu/0/msr", O_RDWR);
		if (fd < 0)
			why = "needs the virtual silicon (there is no /dev/cpu/0/msr)";
		else if (pread(fd, &val, 8, SYN_ID) != 8 || val != SYN_MAGIC)
			why = "needs the virtual silicon";
		else
			why = NULL;
		if (fd >= 0)
			close(fd);
	}
	return why;
}

bool silicon_here(void)
{
	return !silicon_missing();
}

/* -1, with errno, while the CPU is offline: then it has no such device. */
static int msr_fd(int cpu)
{
	static int fds[64];
	char path[32];

	if (!silicon_here())
		ktap_skip(silicon_missing());
	if (!fds[cpu]) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		fds[cpu] = open(path, O_RDWR) + 1;
		ktap_require(fds[cpu] || errno == ENOENT || errno == ENXIO, "%s: %s", path,
			     strerror(errno));
	}
	return fds[cpu] - 1;
}

int msr_try_read(int cpu, uint32_t msr, u64 *val)
{
	int fd = msr_fd(cpu);

	return fd >= 0 && pread(fd, val, 8, msr) == 8 ? 0 : -1;
}

int msr_try_write(int cpu, uint32_t msr, u64 val)
{
	int fd = msr_fd(cpu);

	return fd >= 0 && pwrite(fd, &val, 8, msr) == 8 ? 0 : -1;
}

u64 msr_read(int cpu, uint32_t msr)
{
	u64 val = 0;

	ktap_require(!msr_try_read(cpu, msr, &val), "rdmsr %#x on CPU %d: %s", msr, cpu,
		     strerror(errno));
	return val;
}

void msr_write(int cpu, uint32_t msr, u64 val)
{
	ktap_require(!msr_try_write(cpu, msr, val), "wrmsr %#x on CPU %d: %s", msr, cpu,
		     strerror(errno));
}
