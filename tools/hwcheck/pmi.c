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
	const char *undo = NULL;
	char text[32], preop[32];

	read_line("/proc/sys/kernel/unknown_nmi_panic", text, sizeof(text));
	if (atoi(text))
		undo = "sysctl kernel.unknown_nmi_panic=0";
	read_line("/proc/sys/kernel/panic_on_unrecovered_nmi", text, sizeof(text));
	if (atoi(text))
		undo = "sysctl kernel.panic_on_unrecovered_nmi=0";
	if (!access("/sys/module/hpwdt", F_OK))
		undo = "rmmod hpwdt";
	read_line("/sys/module/ipmi_watchdog/parameters/preaction", text, sizeof(text));
	read_line("/sys/module/ipmi_watchdog/parameters/preop", preop, sizeof(preop));
	if (!strcmp(text, "pre_nmi") && !strcmp(preop, "preop_panic"))
		undo = "echo preop_none >/sys/module/ipmi_watchdog/parameters/preop";
	return !undo ? NULL : because("an unclaimed NMI panics this machine: %s first "
				      "(--despite-panic runs it nevertheless)", undo);
}

/* One run of the module. Returns 0 or an errno. */
static int run_module(struct hwcheck_run *run, const struct package *p, unsigned int flags,
		      unsigned int mask)
{
	static int fd = -1;
	unsigned int i;
	int err = 0;

	if (fd < 0)
		fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	*run = (struct hwcheck_run){ .flags = flags, .cores = mask, .any_cpu = p->cpu[0] };
	if (ioctl(fd, HWCHECK_RUN, run))
		return errno;
	for (i = 0; i < p->num_cpus && !err; i++)
		err = run->cpu[i].cpu == (unsigned int)p->cpu[i] ? 0 : EINVAL;
	return run->num_cpus == p->num_cpus ? err : EINVAL;
}

static const char *why_no_run(int err)
{
	return err == EINVAL ? "hwcheck_nmi.ko: a CPU of the package has come or gone" :
	       err == EBUSY ? "hwcheck_nmi.ko: another program uses the counters" :
	       err == ETIME ? "hwcheck_nmi.ko: a run took more than 10 ms" : strerror(err);
}

const char *drain(const struct package *p)
{
	struct hwcheck_run run;
	int err;

	if (level < LEVEL_PMI || nmi_module_missing())
		return NULL;
	err = run_module(&run, p, HWCHECK_LISTEN | HWCHECK_DRAIN, 0);
	return !err ? NULL :
	       because("a PMI of package %d may be pending: %s", p->id, why_no_run(err));
}

/* What overflows have shown of each CPU, bit n for the n-th of the package. */
struct seen {
	u64 got, late;	/* an NMI; one after bit 13 was set late */
	u64 ovf_uncore;	/* one with bit 61 of IA32_PERF_GLOBAL_STATUS */
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
	u64 unsure = ~0ull;
	struct hwcheck_run run;
	unsigned int i, tries;
	int err;

	if (s_clock() & INVERT)
		flags |= HWCHECK_INVERT;
	clear_all();
	for (tries = 0; unsure && tries < 50; tries++) {
		rd(U_CTL);	/* ends here if a signal has come */
		err = run_module(&run, pkg, flags, mask);
		if (err == ETIME)
			continue;
		if (err)
			undetermined("%s", why_no_run(err));
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
				seen.ovf_uncore |= (u64)!!run.cpu[i].ovf_uncore << i;
			}
			unsure |= (u64)(clean[i] < 3) << i;
		}
	}
	for (i = 0; i < pkg->num_cpus; i++) {
		seen.got |= (u64)(got[i] == 3) << i;
		seen.late |= (u64)(late[i] == 3) << i;
		unsure |= (u64)(got[i] % 3 || late[i] % 3) << i;
	}
	if (unsure)
		undetermined("three overflows do not agree, or other NMIs hide them, CPUs %#llx: "
			     "end perf, sysctl kernel.nmi_watchdog=0; left to the kernel: %u",
			     unsure, seen.unclaimed);
	return seen;
}

#define ALL_CORES	0xff

void debugctl_13(void)
{
	struct seen with = overflows(HWCHECK_LISTEN, ALL_CORES), without = overflows(0, ALL_CORES);
	bool on = with.got, off = without.got;

	if (!without.listened)
		undetermined("bit 13 cannot be cleared");
	answer(with.listened ? on && !off ? "present" : NULL :
	       on && off ? "needless" : !on && !off ? "stuck" : NULL,
	       "bit 13 %s be set; NMIs with it: CPUs %#llx, without: %#llx",
	       with.listened ? "can" : "cannot", with.got, without.got);
}

/* Whether PMIs come at all, by another experiment. */
static void needs_pmis(bool with_bit)
{
	const char *bit = found("debugctl_13");

	if (!bit || !strcmp(bit, "stuck") || (with_bit && strcmp(bit, "present")))
		undetermined("needs PMIs%s", with_bit ? " that IA32_DEBUGCTL holds back" : "");
}

void pmi_mask_0(void)
{
	u64 got;

	needs_pmis(false);
	got = overflows(HWCHECK_LISTEN, 0).got;
	answer(got ? "ignored" : "none", "with no core selected NMIs come on CPUs %#llx", got);
}

void pmi_no_debugctl(void)
{
	struct seen seen;

	needs_pmis(true);
	seen = overflows(HWCHECK_LATE, ALL_CORES);
	answer(seen.got ? NULL : seen.late ? "kept" : "dropped",
	       "NMIs on CPUs %#llx while the bit is 0, on %#llx when it is set later", seen.got,
	       seen.late);
}

void ovf_uncore(void)
{
	struct seen seen;

	needs_pmis(false);
	seen = overflows(HWCHECK_LISTEN, ALL_CORES);
	answer(!seen.got ? NULL : seen.ovf_uncore == seen.got ? "set" : !seen.ovf_uncore ? "none" : NULL,
	       "NMIs on CPUs %#llx, with bit 61 on %#llx", seen.got, seen.ovf_uncore);
}

void pmi_core_sel(void)
{
	bool by_core = true, by_apic = true;
	char table[256] = "";
	unsigned int i, n;
	u64 any = 0;

	needs_pmis(false);
	for (n = 0; n < 8; n++) {
		u64 got = overflows(HWCHECK_LISTEN, 1u << n).got, core = 0, apic = 0;

		for (i = 0; i < pkg->num_cpus; i++) {
			core |= (u64)(pkg->core[i] == (int)n) << i;
			apic |= (u64)((pkg->apic[i] & 7) == (int)n) << i;
		}
		by_core &= got == core;
		by_apic &= got == apic;
		any |= got;
		snprintf(table + strlen(table), sizeof(table) - strlen(table), " %llx", got);
	}
	answer(!any || by_core == by_apic ? NULL : by_core ? "core_id" : "apic_id",
	       "CPUs by bit:%s", table);
}
