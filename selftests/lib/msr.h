/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs through the stock msr driver, also the synthetic ones of the virtual
 * silicon (tools/silicon/model/synthetic.h). Ends the test case on failure.
 */
#ifndef SELFTESTS_MSR_H
#define SELFTESTS_MSR_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"

static int msr_fd(int cpu)
{
	static int fds[64];
	char path[32];

	if (!fds[cpu]) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		fds[cpu] = open(path, O_RDWR) + 1;
		ktap_require(fds[cpu], "%s: %s", path, strerror(errno));
	}
	return fds[cpu] - 1;
}

/* 0, or -1 if the CPU answered with #GP. */
static inline int msr_try_read(int cpu, uint32_t msr, uint64_t *val)
{
	return pread(msr_fd(cpu), val, 8, msr) == 8 ? 0 : -1;
}

static inline int msr_try_write(int cpu, uint32_t msr, uint64_t val)
{
	return pwrite(msr_fd(cpu), &val, 8, msr) == 8 ? 0 : -1;
}

static inline uint64_t msr_read(int cpu, uint32_t msr)
{
	uint64_t val = 0;

	ktap_require(!msr_try_read(cpu, msr, &val), "rdmsr %#x on CPU %d", msr, cpu);
	return val;
}

static inline void msr_write(int cpu, uint32_t msr, uint64_t val)
{
	ktap_require(!msr_try_write(cpu, msr, val), "wrmsr %#x on CPU %d", msr, cpu);
}

#endif /* SELFTESTS_MSR_H */
