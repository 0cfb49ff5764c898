// SPDX-License-Identifier: GPL-2.0-only
/*
 * Experiments that let overflows interrupt. hwcheck_nmi.ko takes the NMIs and counts them for
 * each CPU while it is armed.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hwcheck.h"

#define NMI_ARMED	"/sys/module/hwcheck_nmi/parameters/armed"
#define NMI_COUNTS	"/sys/module/hwcheck_nmi/parameters/nmis"
#define DEBUGCTL	0x1d9
#define DEBUGCTL_PMI	(1ull << 13)
#define CPUS_MAX	64

const char *nmi_module_missing(void)
{
	return access(NMI_ARMED, W_OK) ? "hwcheck_nmi.ko is not loaded" : NULL;
}

/* ---- the CPUs of this package ---- */

static struct {
	int cpu;
	unsigned int core, apic;
	uint64_t debugctl;
	bool debugctl_there;
} cpus[CPUS_MAX];
static unsigned int num_cpus;

static long topology(int cpu, const char *what)
{
	char path[96];
	long val = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &val) != 1)
		val = -1;
	fclose(f);
	return val;
}

/* The kernel tells the APIC id nowhere but here. */
static long apic_id(int cpu)
{
	long processor = -1, apic = -1;
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %ld", &processor) == 1)
			continue;
		if (processor == cpu && sscanf(line, "apicid : %ld", &apic) == 1)
			break;
	}
	if (f)
		fclose(f);
	return apic;
}

static void find_cpus(void)
{
	long package = topology(package_cpu, "physical_package_id");
	int cpu;

	num_cpus = 0;
	for (cpu = 0; cpu < 4096 && num_cpus < CPUS_MAX; cpu++) {
		if (topology(cpu, "physical_package_id") != package)
			continue;
		cpus[num_cpus].cpu = cpu;
		cpus[num_cpus].core = topology(cpu, "core_id");
		cpus[num_cpus].apic = apic_id(cpu);
		num_cpus++;
	}
}

/* ---- NMIs ---- */

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Bit n: the n-th CPU of the package has had one since the module was armed. */
static uint64_t nmis(void)
{
	char text[4096] = "", *at = text;
	uint64_t set = 0;
	unsigned int i;
	FILE *f = fopen(NMI_COUNTS, "re");
	int cpu;

	if (!f || !fgets(text, sizeof(text), f)) {
		if (f)
			fclose(f);
		undetermined("the module does not tell");
	}
	fclose(f);
	for (cpu = 0; *at && *at != '\n'; cpu++) {
		unsigned long n = strtoul(at, &at, 10);

		for (i = 0; i < num_cpus; i++)
			set |= (uint64_t)(n && cpus[i].cpu == cpu) << i;
		while (isspace((unsigned char)*at) && *at != '\n')
			at++;
	}
	return set;
}

/* Bit 13 on all CPUs of the package; is it on, or off, everywhere? */
static bool listen(bool on)
{
	unsigned int i, as_wanted = 0;
	uint64_t val;

	for (i = 0; i < num_cpus; i++) {
		if (!try_rd(cpus[i].cpu, DEBUGCTL, &val))
			continue;
		val = on ? val | DEBUGCTL_PMI : val & ~DEBUGCTL_PMI;
		try_wr(cpus[i].cpu, DEBUGCTL, val);
		as_wanted += try_rd(cpus[i].cpu, DEBUGCTL, &val) && !!(val & DEBUGCTL_PMI) == on;
	}
	return as_wanted == num_cpus;
}

static void begin(void)
{
	unsigned int i;

	find_cpus();
	for (i = 0; i < num_cpus; i++)
		cpus[i].debugctl_there = try_rd(cpus[i].cpu, DEBUGCTL, &cpus[i].debugctl);
	if (!num_cpus)
		undetermined("the CPUs of the package cannot be found");
}

/* All that has been changed here. Nothing overflows any more. */
void pmi_end(void)
{
	unsigned int i;

	for (i = 0; i < num_cpus; i++) {
		if (cpus[i].debugctl_there)
			try_wr(cpus[i].cpu, DEBUGCTL, cpus[i].debugctl);
	}
	wait_us(1000);
	write_text(NMI_ARMED, "0");
	num_cpus = 0;
}

/* One overflow that interrupts the cores of this mask: which CPUs got an NMI? */
static uint64_t one_pmi(unsigned int mask)
{
	clear_all();
	if (!write_text(NMI_ARMED, "1"))
		undetermined("the module cannot be armed: %s", strerror(errno));
	arm(S0, 2000, PMI_EN);
	if (!overflow(S0, U_CORE_SEL(mask)))
		undetermined("S-Box 0 does not count clocks");
	wait_us(1000);
	wr(U_CTL, 0);
	return nmis();
}

#define ALL_CORES	0xff

static void debugctl_13(void)
{
	uint64_t with, without;
	bool on;

	begin();
	on = listen(true);
	with = one_pmi(ALL_CORES);
	if (on && !with)
		undetermined("bit 13 can be set, but no NMI comes");
	listen(false);
	without = one_pmi(ALL_CORES);
	if (on && !without)
		answer("present", "NMIs come with the bit (CPUs %#llx), and none without",
		       (unsigned long long)with);
	if (on)
		undetermined("bit 13 can be set, and NMIs come without");
	if (with && without)
		answer("needless", "bit 13 cannot be set, and NMIs come (CPUs %#llx)",
		       (unsigned long long)with);
	if (!with && !without)
		answer("stuck", "bit 13 cannot be set, and no NMI comes");
	undetermined("bit 13 cannot be set, and NMIs come sometimes");
}

static void pmi_no_debugctl(void)
{
	const char *bit = found("debugctl_13");
	uint64_t late;

	if (!bit || bit[0] != 'p')
		undetermined("needs bit 13 of IA32_DEBUGCTL");
	begin();
	listen(false);
	if (one_pmi(ALL_CORES))
		undetermined("an NMI has come while the bit was 0");
	listen(true);
	wait_us(1000);
	late = nmis();
	if (late)
		answer("kept", "an NMI comes with the bit (CPUs %#llx)", (unsigned long long)late);
	answer("dropped", "no NMI comes when the bit is set later");
}

static void pmi_core_sel(void)
{
	bool by_core = true, by_apic = true;
	const char *bit = found("debugctl_13");
	uint64_t any = 0, core[8], apic[8];
	char table[128] = "";
	unsigned int i, n;

	if (!bit || bit[0] == 's')
		undetermined("needs PMIs");
	begin();
	listen(true);
	for (n = 0; n < 8; n++) {
		uint64_t got = one_pmi(1u << n);

		core[n] = 0;
		apic[n] = 0;
		for (i = 0; i < num_cpus; i++) {
			core[n] |= (uint64_t)(cpus[i].core == n) << i;
			apic[n] |= (uint64_t)((cpus[i].apic & 7) == n) << i;
		}
		by_core &= got == core[n];
		by_apic &= got == apic[n];
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

const struct experiment pmi_experiments[] = {
	{ "debugctl_13", LEVEL_PMI, true, true, 0, "S-Box 0, IA32_DEBUGCTL of all CPUs", debugctl_13 },
	{ "pmi_no_debugctl", LEVEL_PMI, true, true, 0, "S-Box 0, IA32_DEBUGCTL of all CPUs",
	  pmi_no_debugctl },
	{ "pmi_core_sel", LEVEL_PMI, true, true, 0, "S-Box 0, IA32_DEBUGCTL of all CPUs", pmi_core_sel },
};

const unsigned int num_pmi_experiments = sizeof(pmi_experiments) / sizeof(pmi_experiments[0]);
