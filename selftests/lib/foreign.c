// SPDX-License-Identifier: GPL-2.0-only
#include "foreign.h"

unsigned int box_ctl(const char *pmu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];

	box_counters(pmu, ctr);
	return box_is(pmu, "ubox") ? 0 : ctr[0] - 0x11;
}

u64 counter_bit(const char *pmu, unsigned int ctr)
{
	uint16_t list[SILICON_MAX_COUNTERS];

	box_counters(pmu, list);
	return ctr == W_FIXED_CTR ? 1u << 31 : 1u << (ctr - list[0]) / 2;
}

/*
 * How many registers are not zero that are zero in an idle package. Says which were the
 * first. @controls: those of the counters, too
 */
static int foreign_leftovers(int cpu, bool controls)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int i, n, num, left = 0;

#define LEFT(msr, what, pmu)							\
	do {									\
		u64 __val = msr_read(cpu, msr);				\
										\
		left += !!__val;						\
		if (__val && left <= 4)						\
			ktap_note("%s %s (MSR %#x): %#llx", pmu, what, msr,	\
				  __val);			\
	} while (0)
	LEFT(U_GLOBAL_CTL, "GLOBAL_CTL", "U");
	LEFT(U_GLOBAL_STATUS, "GLOBAL_STATUS", "U");
	for (i = 0; i < BOXES; i++) {
		unsigned int ctl = box_ctl(boxes[i]);

		if (ctl) {
			LEFT(ctl, "GLOBAL_CTL", boxes[i]);
			LEFT(ctl + 1, "STATUS", boxes[i]);
		}
		num = controls ? box_counters(boxes[i], ctr) : 0;
		for (n = 0; n < num; n++)
			LEFT(counter_ctl(ctr[n]), "control register", boxes[i]);
	}
#undef LEFT
	return left;
}

void check_clean(int cpu, const char *when)
{
	int left = foreign_leftovers(cpu, true);

	ktap_check(!left, "%s: CPU %d: %d registers are not as in an idle package", when, cpu,
		   left);
}

void check_stopped(int cpu, const char *when)
{
	int left = foreign_leftovers(cpu, false);

	ktap_check(!left, "%s: CPU %d: %d enables or overflow bits are left", when, cpu, left);
}

void foreign_clean(int cpu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int i, n, num;

	msr_write(cpu, U_GLOBAL_CTL, 0);
	for (i = 0; i < BOXES; i++) {
		unsigned int ctl = box_ctl(boxes[i]);
		u64 bits = 0;

		num = box_counters(boxes[i], ctr);
		for (n = 0; n < num; n++) {
			msr_write(cpu, counter_ctl(ctr[n]), 0);
			bits |= counter_bit(boxes[i], ctr[n]);
		}
		if (ctl) {
			msr_write(cpu, ctl, 0);
			msr_write(cpu, ctl + 2, bits);
		}
	}
	msr_write(cpu, U_GLOBAL_OVF_CTL, 0xc000000f);
}

void foreign_overflow(int cpu, const char *pmu, unsigned int ctr, u64 event)
{
	/* The U-Box has its enable and overflow bit in the registers of the package. */
	unsigned int ctl = box_ctl(pmu), status = ctl ? ctl + 1 : U_GLOBAL_STATUS;

	msr_write(cpu, ctr, (1ull << 48) - 100);
	msr_write(cpu, counter_ctl(ctr), event);
	if (ctl)
		msr_write(cpu, ctl, counter_bit(pmu, ctr));
	msr_write(cpu, U_GLOBAL_CTL, ctl ? U_EN_ALL : U_EN_ALL | U_EN);
	sleep_us(2000);
	msr_write(cpu, U_GLOBAL_CTL, 0);
	if (ctl)
		msr_write(cpu, ctl, 0);
	msr_write(cpu, counter_ctl(ctr), 0);
	ktap_require(msr_read(cpu, status) & counter_bit(pmu, ctr), "%s: STATUS %#llx", pmu,
		     msr_read(cpu, status));
}

long long package_caps(const char *name)
{
	char path[100];
	long long val = -1;
	FILE *f;

	snprintf(path, sizeof(path), SYSFS_PMU "/" PACKAGE "/caps/%s", name);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lld", &val) != 1)
			val = -1;
		fclose(f);
	}
	return val;
}

long long foreign_writes(void)
{
	return package_caps("foreign_writes");
}

void check_caps_pmi(const char *when, const char *want)
{
	char text[32] = "(no such file)";
	FILE *f = fopen(SYSFS_PMU "/" PACKAGE "/caps/pmi", "r");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	text[strcspn(text, "\n")] = 0;
	ktap_check(!strcmp(text, want), "%s: caps/pmi says %s, not %s", when, text, want);
}

void module_unload(void)
{
	event_close_all();
	ktap_require(!system("modprobe -r " OURS), "in use");
}

void module_load(const char *parameters)
{
	char command[100];

	snprintf(command, sizeof(command), "modprobe " OURS " %s", parameters);
	ktap_require(!system(command), "cannot be loaded");
}
