// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the NMIs of one overflow in the uncore and tells where they arrived, see hwcheck_nmi.h.
 *
 * Outside of a run it claims nothing. In a run it claims at most one NMI on each CPU, while
 * U_MSR_PMON_GLOBAL_STATUS says PMI, and none that the chipset reports: dump buttons and
 * watchdogs of others are heard by the kernel. CPUs neither come nor go during a run.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/mach_traps.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/x86_init.h>

#include "compat.h"
#include "hwcheck_nmi.h"

#define U_CTL			0xc00
#define U_STATUS		0xc01
#define U_OVF			0xc02
#define U_EN_OR_RST		(3ULL << 28)
#define U_PMI			BIT_ULL(30)
#define U_CLEAR			0xc000000fULL
#define DEBUGCTL_UNCORE_PMI	BIT_ULL(13)
#define SETTLE_US		200	/* an NMI is there at once, if it comes */

struct hwcheck_state {
	bool armed, drains, as_wanted;
	u32 ours, core, other, lvtpc;
	u64 debugctl;
};

static DEFINE_PER_CPU(struct hwcheck_state, hwcheck_state);
static DEFINE_MUTEX(hwcheck_mutex);

/* First of all handlers: perf's clears the status of the core PMU. */
static int hwcheck_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);
	u64 status;

	if (!s->armed || x86_platform.get_nmi_reason() & NMI_REASON_MASK)
		return NMI_DONE;
	if (!rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &status) && status) {
		s->core++;
		return NMI_DONE;
	}
	if (s->ours || rdmsrq_safe(U_STATUS, &status) || !(s->drains || status & U_PMI)) {
		s->other++;
		return NMI_DONE;
	}
	s->ours++;
	/* The local APIC has masked the entry with the interrupt. */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	return NMI_HANDLED;
}

/* ---- on each CPU of the package ---- */

static void hwcheck_listen(void *on)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);
	u64 want = on ? DEBUGCTL_UNCORE_PMI : 0, now;

	s->as_wanted = !wrmsrq_safe(MSR_IA32_DEBUGCTLMSR,
				    (s->debugctl & ~DEBUGCTL_UNCORE_PMI) | want) &&
		       !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &now) &&
		       (now & DEBUGCTL_UNCORE_PMI) == want;
}

static void hwcheck_arm(void *data)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);
	const struct hwcheck_run *run = data;

	memset(s, 0, sizeof(*s));
	rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &s->debugctl);
	s->lvtpc = apic->read(APIC_LVTPC);
	s->drains = run->flags & HWCHECK_DRAIN;
	s->armed = true;
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	hwcheck_listen(run->flags & HWCHECK_LISTEN ? s : NULL);
}

static void hwcheck_disarm(void *data)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);

	wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, s->debugctl);
	apic->write(APIC_LVTPC, s->lvtpc);
	s->armed = false;
}

/* ---- the registers of the package ---- */

struct hwcheck_access {
	u32 msr;
	u64 val;
	bool write;
	int err;
};

static void hwcheck_access(void *data)
{
	struct hwcheck_access *a = data;

	a->err = a->write ? wrmsrq_safe(a->msr, a->val) : rdmsrq_safe(a->msr, &a->val);
}

static int hwcheck_msr(int cpu, u32 msr, u64 *val, bool write)
{
	struct hwcheck_access a = { .msr = msr, .val = *val, .write = write };

	smp_call_function_single(cpu, hwcheck_access, &a, 1);
	*val = a.val;
	return a.err;
}

static int hwcheck_write(int cpu, u32 msr, u64 val)
{
	return hwcheck_msr(cpu, msr, &val, true);
}

/* ---- a run ---- */

static void hwcheck_counts(struct hwcheck_run *run, bool late)
{
	unsigned int i;

	for (i = 0; i < run->num_cpus; i++) {
		struct hwcheck_cpu *c = &run->cpu[i];
		const struct hwcheck_state *s = per_cpu_ptr(&hwcheck_state, c->cpu);

		c->late = late ? s->ours - c->ours : 0;
		c->ours = s->ours;
		c->core = s->core;
		c->other = s->other;
		run->listened += !late && s->as_wanted;
	}
}

/* Stops with the first write that is refused; what was written is put back all the same. */
static int hwcheck_armed(struct hwcheck_run *run, const struct cpumask *cpus)
{
	u64 old[HWCHECK_WRITES], val = 0;
	int first = run->cpu[0].cpu, err = 0;
	unsigned int done = 0, us;

	while (!err && done < run->num_writes) {
		const struct hwcheck_write *w = &run->write[done];

		old[done] = 0;
		err = hwcheck_msr(first, w->msr, &old[done], false);
		if (!err) {
			err = hwcheck_write(first, w->msr, w->val);
			done++;
		}
	}
	for (us = 0; !err && done && !run->overflowed && us < run->limit_us; us += 50) {
		usleep_range(50, 60);
		err = hwcheck_msr(first, run->box + 0x11, &val, false);
		run->overflowed = !err && !(val >> 47);
	}
	usleep_range(SETTLE_US, 2 * SETTLE_US);
	hwcheck_counts(run, false);
	if (done)
		hwcheck_write(first, U_CTL, 0);
	/* Take what is pending while STATUS still says PMI. */
	on_each_cpu_mask(cpus, hwcheck_listen, run, 1);
	usleep_range(SETTLE_US, 2 * SETTLE_US);
	if (run->flags & HWCHECK_LATE)
		hwcheck_counts(run, true);
	/* A box first: its bit may hold that of the U-Box up. */
	if (done) {
		hwcheck_write(first, run->box + 2, 1);
		hwcheck_write(first, U_OVF, U_CLEAR);
		hwcheck_write(first, run->box + 2, 1);
	}
	while (done--)
		hwcheck_write(first, run->write[done].msr, old[done]);
	return err;
}

static bool hwcheck_sane(const struct hwcheck_run *run, struct cpumask *cpus)
{
	unsigned int i, cpu;
	int package;

	if (!run->num_cpus || run->num_cpus > HWCHECK_CPUS || run->num_writes > HWCHECK_WRITES ||
	    run->limit_us > HWCHECK_LIMIT_US || run->flags & ~7U || run->pad ||
	    (run->num_writes && run->box != 0xc40))
		return false;
	for (i = 0; i < run->num_writes; i++) {
		if (run->write[i].pad || (run->write[i].msr & ~0x3ffU) != 0xc00)
			return false;
	}
	for (i = 0; i < run->num_cpus; i++) {
		if (run->cpu[i].cpu >= nr_cpu_ids)
			return false;
		cpumask_set_cpu(run->cpu[i].cpu, cpus);
	}
	/* All CPUs of one package that are online, and no other. */
	package = topology_physical_package_id(run->cpu[0].cpu);
	for_each_possible_cpu(cpu) {
		if (cpumask_test_cpu(cpu, cpus) !=
		    (cpu_online(cpu) && topology_physical_package_id(cpu) == package))
			return false;
	}
	return true;
}

static long hwcheck_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hwcheck_run *run;
	cpumask_var_t cpus;
	u64 ctl = 0;
	long err;

	if (cmd != HWCHECK_RUN)
		return -ENOTTY;
	if (!capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	run = memdup_user((void __user *)arg, sizeof(*run));
	if (IS_ERR(run)) {
		free_cpumask_var(cpus);
		return PTR_ERR(run);
	}
	mutex_lock(&hwcheck_mutex);
	cpus_read_lock();
	run->overflowed = 0;
	run->listened = 0;
	if (!hwcheck_sane(run, cpus)) {
		err = -EINVAL;
	} else if (hwcheck_msr(run->cpu[0].cpu, U_CTL, &ctl, false) || ctl & U_EN_OR_RST) {
		err = -EBUSY;
	} else {
		on_each_cpu_mask(cpus, hwcheck_arm, run, 1);
		err = hwcheck_armed(run, cpus);
		on_each_cpu_mask(cpus, hwcheck_disarm, NULL, 1);
	}
	cpus_read_unlock();
	mutex_unlock(&hwcheck_mutex);
	if (!err && copy_to_user((void __user *)arg, run, sizeof(*run)))
		err = -EFAULT;
	kfree(run);
	free_cpumask_var(cpus);
	return err;
}

static const struct file_operations hwcheck_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= hwcheck_ioctl,
};

static struct miscdevice hwcheck_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= KBUILD_MODNAME,
	.fops	= &hwcheck_fops,
	.mode	= 0600,
};

static const struct x86_cpu_id hwcheck_ids[] = {
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2e, NULL),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2f, NULL),
	{}
};

static int __init hwcheck_init(void)
{
	int err;

	if (!x86_match_cpu(hwcheck_ids))
		return -ENODEV;
	err = register_nmi_handler(NMI_LOCAL, hwcheck_nmi, NMI_FLAG_FIRST, KBUILD_MODNAME);
	if (err)
		return err;
	err = misc_register(&hwcheck_device);
	if (err)
		unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
	return err;
}
module_init(hwcheck_init);

static void __exit hwcheck_exit(void)
{
	misc_deregister(&hwcheck_device);
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}
module_exit(hwcheck_exit);

MODULE_DESCRIPTION("NMIs of the Xeon 7500 uncore, for hwcheck");
MODULE_LICENSE("GPL");
