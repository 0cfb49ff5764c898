/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For hwcheck.py: hwcheck is built with -include of this, and runs against files below FAKE in
 * place of MSRs, /sys and /proc. One CPU is one package.
 *
 * A register of CPU N is 8 bytes of FAKE/cpuN. OVF_CTL clears STATUS, and rst_all all counters.
 * FAKE/trace has each write. If there is a script FAKE/at-N-MSR, the first write of that MSR there
 * runs it first; FAKE/read-N-MSR: the first read. While FAKE/full exists nothing reaches the disk.
 * While FAKE/gp-N-MSR exists that MSR cannot be read.
 * With FAKE/e7 it is an E7, with FAKE/other another CPU. With FAKE/nmi there is hwcheck_nmi.ko,
 * which cannot drain while FAKE/busy exists. What --load starts outlives it.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static inline const char *fake(const char *path, char *to)
{
	if (!strncmp(path, "/dev/cpu/", 9))
		sprintf(to, FAKE "/cpu%d", atoi(path + 9));
	else if (!strcmp(path, "/dev/hwcheck_nmi"))
		strcpy(to, FAKE "/nmi");
	else if (!strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/", 6))
		sprintf(to, FAKE "%s", path);
	else
		return path;
	return to;
}

static inline int fake_cpuid(unsigned int leaf, unsigned int *a, unsigned int *b, unsigned int *c)
{
	*a = !leaf ? 1 : !access(FAKE "/other", F_OK) ? 0x206c2 :
	     access(FAKE "/e7", F_OK) ? 0x206e6 : 0x206f2;
	*b = signature_INTEL_ebx;
	*c = 0;
	return 1;
}

static inline int fake_open(const char *path, int flags, ...)
{
	char to[300];

	return open(fake(path, to), flags, 0644);
}

static inline FILE *fake_fopen(const char *path, const char *mode)
{
	char to[300];

	return fopen(fake(path, to), mode);
}

static inline int fake_access(const char *path, int mode)
{
	char to[300];

	return access(fake(path, to), mode);
}

static inline int fake_fsync(int fd)
{
	errno = ENOSPC;
	return access(FAKE "/full", F_OK) ? fsync(fd) : -1;
}

/* HWCHECK_RUN, see hwcheck_nmi.h: flags, cores, any_cpu, overflowed, listened, num_cpus, a CPU. */
static inline int fake_ioctl(uint32_t *run)
{
	errno = EBUSY;
	run[5] = 1;
	run[6] = run[2];
	return (*run & 4) && !access(FAKE "/busy", F_OK) ? -1 : 0;
}

static inline int fake_nice(int inc)
{
	prctl(PR_SET_PDEATHSIG, 0);
	usleep(500000);
	return nice(inc);
}

/* Runs the script of an access, if there is one. Returns N, or 0. */
static inline int fake_script(int fd, const char *what, off_t msr)
{
	char name[300] = "", text[300], script[340];

	sprintf(text, "/proc/self/fd/%d", fd);
	if (readlink(text, name, sizeof(name) - 1) < 0)
		return 0;
	snprintf(text, sizeof(text), FAKE "/%s-%c-%lx", what, name[strlen(name) - 1], (long)msr);
	snprintf(script, sizeof(script), "%s.run", text);
	if (!rename(text, script)) {
		snprintf(text, sizeof(text), "exec sh %.280s", script);
		if (system(text) < 0)
			return 0;
	}
	return name[strlen(name) - 1];
}

static inline ssize_t fake_pread(int fd, void *buf, size_t size, off_t msr)
{
	int cpu = fake_script(fd, "read", msr);
	char gp[300];

	snprintf(gp, sizeof(gp), FAKE "/gp-%c-%lx", cpu, (long)msr);
	errno = EIO;
	return cpu && access(gp, F_OK) ? pread(fd, buf, size, msr * 8) : -1;
}

static inline ssize_t fake_pwrite(int fd, const void *buf, size_t size, off_t msr)
{
	uint64_t val, zero = 0, status = 0;
	int cpu = fake_script(fd, "at", msr);
	FILE *trace;
	off_t at;

	if (!cpu)
		return -1;
	memcpy(&val, buf, 8);
	trace = fopen(FAKE "/trace", "a");
	fprintf(trace, "%c %lx %llx\n", cpu, (long)msr, (unsigned long long)val);
	fclose(trace);
	if (msr > 0x400 && (msr < 0xe40 || msr > 0xf00) && (msr & 0x1f) == 2) {
		pread(fd, &status, 8, (msr - 1) * 8);
		status &= ~val;
		return pwrite(fd, &status, 8, (msr - 1) * 8);
	}
	for (at = 0xc11; msr == 0xc00 && val >> 29 & 1 && at < 0x1000; at += 2) {
		if ((at < 0xe40 || at > 0xf00) && (at & 0x10))
			pwrite(fd, &zero, 8, at * 8);
	}
	return pwrite(fd, buf, size, msr * 8);
}

#define __get_cpuid(leaf, a, b, c, d)	((void)(d), fake_cpuid(leaf, a, b, c))
#define open(...)			fake_open(__VA_ARGS__)
#define fopen(path, mode)		fake_fopen(path, mode)
#define access(path, mode)		fake_access(path, mode)
#define fsync(fd)			fake_fsync(fd)
#define nice(inc)			fake_nice(inc)
#define ioctl(fd, op, run)		fake_ioctl((uint32_t *)(run))
#define pread(fd, buf, size, msr)	fake_pread(fd, buf, size, msr)
#define pwrite(fd, buf, size, msr)	fake_pwrite(fd, buf, size, msr)
