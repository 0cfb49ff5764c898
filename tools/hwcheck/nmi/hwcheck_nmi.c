// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the NMIs of the uncore while hwcheck looks where they arrive.
 *
 *	echo 1 >/sys/module/hwcheck_nmi/parameters/armed	counts from 0
 *	cat /sys/module/hwcheck_nmi/parameters/nmis		one number for each CPU
 *	echo 0 >/sys/module/hwcheck_nmi/parameters/armed	as it was
 *
 * An NMI is the uncore's if U_MSR_PMON_GLOBAL_STATUS says PMI. It programs no counter: hwcheck
 * does. While it is armed the local APIC lets PMIs through as NMIs, as perf has it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#include "compat.h"

#define U_MSR_PMON_GLOBAL_STATUS	0xc01
#define U_GLOBAL_PMI			BIT(30)

static DEFINE_PER_CPU(unsigned int, hwcheck_nmis);
static DEFINE_PER_CPU(u32, hwcheck_lvtpc);
static bool armed;

static int hwcheck_nmi(unsigned int cmd, struct pt_regs *regs)
{
	u64 status;

	if (!READ_ONCE(armed) || rdmsrq_safe(U_MSR_PMON_GLOBAL_STATUS, &status) ||
	    !(status & U_GLOBAL_PMI))
		return NMI_DONE;
	this_cpu_inc(hwcheck_nmis);
	/* The local APIC has masked the entry with the interrupt. */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	return NMI_HANDLED;
}

static void hwcheck_open(void *info)
{
	this_cpu_write(hwcheck_nmis, 0);
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

static void hwcheck_save(void *info)
{
	this_cpu_write(hwcheck_lvtpc, apic->read(APIC_LVTPC));
}

static void hwcheck_close(void *info)
{
	apic->write(APIC_LVTPC, this_cpu_read(hwcheck_lvtpc));
}

static int hwcheck_set_armed(const char *val, const struct kernel_param *kp)
{
	bool on;
	int err = kstrtobool(val, &on);

	if (err)
		return err;
	cpus_read_lock();
	if (on && !armed)
		on_each_cpu(hwcheck_save, NULL, 1);
	if (on)
		on_each_cpu(hwcheck_open, NULL, 1);
	else if (armed)
		on_each_cpu(hwcheck_close, NULL, 1);
	WRITE_ONCE(armed, on);
	cpus_read_unlock();
	return 0;
}

static const struct kernel_param_ops hwcheck_armed_ops = {
	.set	= hwcheck_set_armed,
	.get	= param_get_bool,
};

module_param_cb(armed, &hwcheck_armed_ops, &armed, 0600);
MODULE_PARM_DESC(armed, "count NMIs of the uncore");

static int hwcheck_get_nmis(char *buffer, const struct kernel_param *kp)
{
	int cpu, len = 0;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		len += scnprintf(buffer + len, PAGE_SIZE - len, "%u ",
				 cpu_possible(cpu) ? per_cpu(hwcheck_nmis, cpu) : 0);
	return len + scnprintf(buffer + len, PAGE_SIZE - len, "\n");
}

static const struct kernel_param_ops hwcheck_nmis_ops = {
	.get	= hwcheck_get_nmis,
};

module_param_cb(nmis, &hwcheck_nmis_ops, NULL, 0400);
MODULE_PARM_DESC(nmis, "how many, by CPU");

static const struct x86_cpu_id hwcheck_ids[] = {
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2e, NULL),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2f, NULL),
	{}
};

static int __init hwcheck_init(void)
{
	if (!x86_match_cpu(hwcheck_ids))
		return -ENODEV;
	return register_nmi_handler(NMI_LOCAL, hwcheck_nmi, 0, KBUILD_MODNAME);
}
module_init(hwcheck_init);

static void __exit hwcheck_exit(void)
{
	if (armed)
		hwcheck_set_armed("0", NULL);
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}
module_exit(hwcheck_exit);

MODULE_DESCRIPTION("NMIs of the Xeon 7500 uncore, for hwcheck");
MODULE_LICENSE("GPL");
