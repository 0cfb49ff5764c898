/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs through the stock msr driver, also the synthetic ones of the virtual
 * silicon (tools/silicon/model/synthetic.h). Ends the test case on failure.
 *
 * On any other machine no MSR is read or written from here: a case that comes to it is
 * skipped, unless it has seen by silicon_here() what it can do without.
 */
#ifndef SELFTESTS_MSR_H
#define SELFTESTS_MSR_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "synthetic.h"

/* The reason why not, or NULL if this is the virtual silicon. */
static inline const char *silicon_missing(void)
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

static inline bool silicon_here(void)
{
	return !silicon_missing();
}

static int msr_fd(int cpu)
{
	static int fds[64];
	char path[32];

	if (!silicon_here())
		ktap_skip(silicon_missing());
	if (!fds[cpu]) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		fds[cpu] = open(path, O_RDWR) + 1;
		ktap_require(fds[cpu], "%s: %s", path, strerror(errno));
	}
	return fds[cpu] - 1;
}

/* 0, or -1 if the CPU answered with #GP. */
static inline int msr_try_read(int cpu, uint32_t msr, u64 *val)
{
	return pread(msr_fd(cpu), val, 8, msr) == 8 ? 0 : -1;
}

static inline int msr_try_write(int cpu, uint32_t msr, u64 val)
{
	return pwrite(msr_fd(cpu), &val, 8, msr) == 8 ? 0 : -1;
}

static inline u64 msr_read(int cpu, uint32_t msr)
{
	u64 val = 0;

	ktap_require(!msr_try_read(cpu, msr, &val), "rdmsr %#x on CPU %d", msr, cpu);
	return val;
}

static inline void msr_write(int cpu, uint32_t msr, u64 val)
{
	ktap_require(!msr_try_write(cpu, msr, val), "wrmsr %#x on CPU %d", msr, cpu);
}

#endif /* SELFTESTS_MSR_H */
