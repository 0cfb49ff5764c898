// SPDX-License-Identifier: GPL-2.0-only
/*
 * Experiments that let overflows interrupt. hwcheck_nmi.ko does each overflow as a whole: what
 * it arms it has disarmed when the call returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hwcheck.h"
#include "nmi/hwcheck_nmi.h"

#define DEVICE	"/dev/hwcheck_nmi"

const char *nmi_module_missing(void)
{
	return access(DEVICE, R_OK) ? "hwcheck_nmi.ko is not loaded" : NULL;
}

const char *nmi_not_safe(void)
{
	static const char * const panics[] = { "unknown_nmi_panic", "panic_on_unrecovered_nmi" };
	static char why[160];
	char path[64], text[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(panics); i++) {
		snprintf(path, sizeof(path), "/proc/sys/kernel/%s", panics[i]);
		read_line(path, text, sizeof(text));
		if (!atoi(text))
			continue;
		snprintf(why, sizeof(why),
			 "an unclaimed NMI panics this machine: sysctl kernel.%s=0 "
			 "first (--despite-panic runs it nevertheless)", panics[i]);
		return why;
	}
	if (!access("/sys/module/hpwdt", F_OK))
		return "an unclaimed NMI panics this machine: rmmod hpwdt first "
		       "(--despite-panic runs it nevertheless)";
	read_line("/sys/module/ipmi_watchdog/parameters/preaction", text, sizeof(text));
	read_line("/sys/module/ipmi_watchdog/parameters/preop", path, sizeof(path));
	if (!strcmp(text, "pre_nmi") && !strcmp(path, "preop_panic"))
		return "an unclaimed NMI panics this machine: "
		       "echo preop_none >/sys/module/ipmi_watchdog/parameters/preop first "
		       "(--despite-panic runs it nevertheless)";
	return NULL;
}

static int nmi_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	return fd;
}

static void fill(struct hwcheck_run *run, const struct package *p, unsigned int flags)
{
	unsigned int i;

	memset(run, 0, sizeof(*run));
	run->flags = flags;
	run->num_cpus = p->num_cpus;
	for (i = 0; i < p->num_cpus; i++)
		run->cpu[i].cpu = p->cpu[i];
}

static const char *why_no_run(void)
{
	return errno == EINVAL ? "hwcheck_nmi.ko: a CPU of the package has come or gone" :
	       errno == EBUSY ? "hwcheck_nmi.ko: another program uses the counters" :
	       errno == ETIME ? "hwcheck_nmi.ko: a run took more than 10 ms" : strerror(errno);
}

const char *drain(const struct package *p)
{
	static char why[128];
	struct hwcheck_run run;

	fill(&run, p, HWCHECK_LISTEN | HWCHECK_DRAIN);
	if (level < LEVEL_PMI || nmi_module_missing() || !ioctl(nmi_fd(), HWCHECK_RUN, &run))
		return NULL;
	snprintf(why, sizeof(why), "a PMI of package %d may be pending: %s", p->id, why_no_run());
	return why;
}

/* What overflows have shown of each CPU, bit n for the n-th of the package. */
struct seen {
	uint64_t got, late;	/* an NMI; one after bit 13 was set late */
	unsigned int unclaimed;	/* NMIs left to the kernel */
	bool listened;		/* bit 13 was as wanted on all of them */
};

/*
 * An overflow that interrupts the cores of this mask, until each CPU has been seen in three where
 * the core PMU did not interrupt as well, which perf or the NMI watchdog lets it do.
 */
static struct seen overflows(unsigned int flags, unsigned int mask)
{
	unsigned int clean[PACKAGE_CPUS] = { 0 };
	unsigned int got[PACKAGE_CPUS] = { 0 }, late[PACKAGE_CPUS] = { 0 };
	struct seen seen = { .listened = true };
	uint64_t unsure = ~0ull;
	struct hwcheck_run run;
	unsigned int i, tries;

	if (!may_write(current, U_CTL, U_EN_ALL | U_CORE_SEL(mask)))
		undetermined("pmi_core_sel is not announced: a fault of hwcheck");
	if (s_clock() & INVERT)
		flags |= HWCHECK_INVERT;
	clear_all();
	for (tries = 0; unsure && tries < 50; tries++) {
		fill(&run, pkg, flags);
		run.cores = mask;
		rd(U_CTL);	/* ends here if a signal has come */
		if (ioctl(nmi_fd(), HWCHECK_RUN, &run)) {
			if (errno == ETIME)
				continue;
			undetermined("%s", why_no_run());
		}
		if (!run.overflowed)
			undetermined("S-Box 0 does not count clocks");
		seen.listened &= run.listened == run.num_cpus;
		unsure = 0;
		for (i = 0; i < run.num_cpus; i++) {
			seen.unclaimed += run.cpu[i].other;
			if (!run.cpu[i].core && clean[i] < 3) {
				clean[i]++;
				got[i] += run.cpu[i].ours > run.cpu[i].late;
				late[i] += run.cpu[i].late;
			}
			unsure |= (uint64_t)(clean[i] < 3) << i;
		}
	}
	for (i = 0; i < pkg->num_cpus; i++) {
		seen.got |= (uint64_t)(got[i] == 3) << i;
		seen.late |= (uint64_t)(late[i] == 3) << i;
		unsure |= (uint64_t)(got[i] % 3 || late[i] % 3) << i;
	}
	if (unsure)
		undetermined("three overflows do not agree, or other NMIs hide them, CPUs %#llx: "
			     "end perf, sysctl kernel.nmi_watchdog=0; left to the kernel: %u",
			     (unsigned long long)unsure, seen.unclaimed);
	return seen;
}

#define ALL_CORES	0xff

void debugctl_13(void)
{
	struct seen with = overflows(HWCHECK_LISTEN, ALL_CORES), without = overflows(0, ALL_CORES);
	unsigned long long cpus = with.got;

	if (!without.listened)
		undetermined("bit 13 cannot be cleared");
	if (with.listened && with.got && !without.got)
		answer("present", "NMIs come with the bit (CPUs %#llx), and none without", cpus);
	if (with.listened)
		undetermined("bit 13 can be set, NMIs with it: CPUs %#llx, without: %#llx", cpus,
			     (unsigned long long)without.got);
	if (with.got && without.got)
		answer("needless", "bit 13 cannot be set, and NMIs come (CPUs %#llx)", cpus);
	if (!with.got && !without.got)
		answer("stuck", "bit 13 cannot be set, and no NMI comes");
	undetermined("bit 13 cannot be set, and NMIs come sometimes");
}

void pmi_mask_0(void)
{
	const char *bit = found("debugctl_13");
	unsigned long long cpus;

	if (!bit || bit[0] == 's')
		undetermined("needs PMIs");
	cpus = overflows(HWCHECK_LISTEN, 0).got;
	if (cpus)
		answer("ignored", "with no core selected NMIs come (CPUs %#llx)", cpus);
	answer("none", "with no core selected no NMI comes");
}

void pmi_no_debugctl(void)
{
	const char *bit = found("debugctl_13");
	struct seen seen;

	if (!bit || bit[0] != 'p')
		undetermined("needs bit 13 of IA32_DEBUGCTL");
	seen = overflows(HWCHECK_LATE, ALL_CORES);
	if (seen.got)
		undetermined("an NMI has come while the bit was 0");
	if (seen.late)
		answer("kept", "an NMI comes with the bit (CPUs %#llx)",
		       (unsigned long long)seen.late);
	answer("dropped", "no NMI comes when the bit is set later");
}

void pmi_core_sel(void)
{
	bool by_core = true, by_apic = true;
	const char *bit = found("debugctl_13");
	char table[256] = "";
	uint64_t any = 0;
	unsigned int i, n;

	if (!bit || bit[0] == 's')
		undetermined("needs PMIs");
	for (n = 0; n < 8; n++) {
		uint64_t got = overflows(HWCHECK_LISTEN, 1u << n).got, core = 0, apic = 0;

		for (i = 0; i < pkg->num_cpus; i++) {
			core |= (uint64_t)(pkg->core[i] == (int)n) << i;
			apic |= (uint64_t)((pkg->apic[i] & 7) == (int)n) << i;
		}
		by_core &= got == core;
		by_apic &= got == apic;
		any |= got;
		snprintf(table + strlen(table), sizeof(table) - strlen(table), " %llx",
			 (unsigned long long)got);
	}
	if (!any)
		undetermined("no NMI comes");
	if (by_core == by_apic)
		undetermined("CPUs by bit:%s, which is %s", table,
			     by_core ? "either answer" : "neither answer");
	answer(by_core ? "core_id" : "apic_id", "CPUs by bit:%s", table);
}
