// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the NMIs of one overflow in the uncore and tells where they arrived, see hwcheck_nmi.h.
 *
 * Outside of a run it claims nothing. In a run it claims at most one NMI on each CPU, while
 * U_MSR_PMON_GLOBAL_STATUS says PMI, for HWCHECK_LIMIT_US, and none that the chipset reports: the
 * kernel gets those of dump buttons and watchdogs. CPUs neither come nor go during a run, and the
 * task that waits for the overflow is not preempted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
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
#define U_EN_ALL		BIT_ULL(28)
#define U_EN_OR_RST		(3ULL << 28)
#define U_PMI			BIT_ULL(30)
#define U_CLEAR			0xc000000fULL
#define S_CTL			0xc40
#define S_OVF			0xc42
#define S_SEL			0xc50
#define S_CTR			0xc51
/* PKTS_SENT_SNP, which is never 255 in a clock; en, pmi_en */
#define S_CLOCKS		(0x62 | 255ULL << 24 | BIT_ULL(22) | BIT_ULL(20))
#define S_INVERT		BIT_ULL(23)
#define DEBUGCTL_UNCORE_PMI	BIT_ULL(13)
#define POLL_US			20
#define SETTLE_US		200

struct hwcheck_state {
	bool armed, drains, as_wanted;
	u32 ours, core, other, ovf_uncore, lvtpc;
	u64 bit_13;	/* of DEBUGCTL, as it was */
	u64 stale;	/* core PMU status bits that were up before, and still are */
	u64 deadline;
};

static DEFINE_PER_CPU(struct hwcheck_state, hwcheck_state);
static DEFINE_MUTEX(hwcheck_mutex);

/* First of all handlers: perf's clears the status of the core PMU. */
static int hwcheck_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);
	bool ovf_uncore = false;
	u64 status;

	if (!s->armed || x86_platform.get_nmi_reason() & NMI_REASON_MASK)
		return NMI_DONE;
	if (!rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &status)) {
		/* COND_CHG tells of any change, also of that of UNC_OVF. */
		bool new = status & ~s->stale & ~(GLOBAL_STATUS_UNC_OVF | GLOBAL_STATUS_COND_CHG);

		ovf_uncore = status & ~s->stale & GLOBAL_STATUS_UNC_OVF;
		s->stale &= status;
		if (new) {
			s->core++;
			return NMI_DONE;
		}
	}
	if (ktime_get_mono_fast_ns() > s->deadline) {
		s->other++;
		return NMI_DONE;
	}
	if (s->ours || rdmsrq_safe(U_STATUS, &status) || !(s->drains || status & U_PMI)) {
		s->other++;
		return NMI_DONE;
	}
	s->ours++;
	s->ovf_uncore += ovf_uncore;
	/* The local APIC has masked the entry with the interrupt. */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	return NMI_HANDLED;
}

/* ---- on each CPU of the package ---- */

/* The other bits are perf's and KVM's, which change them at any time. Returns whether it took. */
static bool hwcheck_bit_13(u64 want)
{
	u64 now;

	return !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &now) &&
	       !wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, (now & ~DEBUGCTL_UNCORE_PMI) | want) &&
	       !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &now) && (now & DEBUGCTL_UNCORE_PMI) == want;
}

static void hwcheck_listen(void *on)
{
	this_cpu_ptr(&hwcheck_state)->as_wanted = hwcheck_bit_13(on ? DEBUGCTL_UNCORE_PMI : 0);
}

/* So that the next NMI tells whether it has been set since. */
static void hwcheck_clear_ovf_uncore(void)
{
	u64 status;

	if (!rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &status) && status & GLOBAL_STATUS_UNC_OVF)
		wrmsrq_safe(MSR_CORE_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_UNC_OVF);
}

static void hwcheck_arm(void *data)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);
	const struct hwcheck_run *run = data;

	memset(s, 0, sizeof(*s));
	rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &s->bit_13);
	s->bit_13 &= DEBUGCTL_UNCORE_PMI;
	hwcheck_clear_ovf_uncore();
	rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &s->stale);
	s->deadline = ktime_get_mono_fast_ns() + HWCHECK_LIMIT_US * NSEC_PER_USEC;
	s->lvtpc = apic->read(APIC_LVTPC);
	s->drains = run->flags & HWCHECK_DRAIN;
	s->armed = true;
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	hwcheck_listen(run->flags & HWCHECK_LISTEN ? s : NULL);
}

static void hwcheck_disarm(void *data)
{
	struct hwcheck_state *s = this_cpu_ptr(&hwcheck_state);

	hwcheck_bit_13(s->bit_13);
	hwcheck_clear_ovf_uncore();
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

static void hwcheck_nothing(void *data)
{
}

/* An NMI is there at once, if it comes, and a CPU takes it before it answers the interrupt. */
static void hwcheck_settle(const struct cpumask *cpus)
{
	udelay(SETTLE_US);
	on_each_cpu_mask(cpus, hwcheck_nothing, NULL, 1);
}

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
		c->ovf_uncore = s->ovf_uncore;
		run->listened += !late && s->as_wanted;
	}
}

/* What it writes, in the order in which they are put back. */
static const u32 hwcheck_regs[] = { S_CTR, S_SEL, S_CTL, U_CTL };

/* Not preempted, so that only interrupts can make it late. */
static int hwcheck_armed(struct hwcheck_run *run, const struct cpumask *cpus)
{
	u64 begin = ktime_get_mono_fast_ns(), select = S_CLOCKS, val = 0;
	u64 old[ARRAY_SIZE(hwcheck_regs)];
	bool writes = !(run->flags & HWCHECK_DRAIN);
	int first = run->any_cpu, err = 0;
	unsigned int i;

	if (run->flags & HWCHECK_INVERT)
		select |= S_INVERT;
	for (i = 0; writes && i < ARRAY_SIZE(hwcheck_regs); i++) {
		err = hwcheck_msr(first, hwcheck_regs[i], &old[i], false);
		if (err)
			return err;
	}
	if (writes) {
		err = hwcheck_write(first, S_SEL, 0) ?:
		      hwcheck_write(first, S_CTR, BIT_ULL(48) - HWCHECK_CLOCKS) ?:
		      hwcheck_write(first, S_SEL, select) ?:
		      hwcheck_write(first, S_CTL, 1) ?:
		      hwcheck_write(first, U_CTL, U_EN_ALL | run->cores << 1);
	}
	while (writes && !err && !run->overflowed &&
	       ktime_get_mono_fast_ns() - begin < HWCHECK_WAIT_US * NSEC_PER_USEC) {
		udelay(POLL_US);
		err = hwcheck_msr(first, S_CTR, &val, false);
		run->overflowed = !err && !(val >> 47);
	}
	hwcheck_settle(cpus);
	hwcheck_counts(run, false);
	if (writes)
		hwcheck_write(first, U_CTL, 0);
	/* Take what is pending while STATUS still says PMI. */
	on_each_cpu_mask(cpus, hwcheck_listen, run, 1);
	hwcheck_settle(cpus);
	if (run->flags & HWCHECK_LATE)
		hwcheck_counts(run, true);
	if (!writes)
		return 0;
	/* A box first: its bit may hold that of the U-Box up. */
	hwcheck_write(first, S_OVF, 1);
	hwcheck_write(first, U_OVF, U_CLEAR);
	hwcheck_write(first, S_OVF, 1);
	hwcheck_write(first, S_SEL, 0);
	for (i = 0; i < ARRAY_SIZE(hwcheck_regs); i++)
		hwcheck_write(first, hwcheck_regs[i], old[i]);
	if (ktime_get_mono_fast_ns() - begin > HWCHECK_LIMIT_US * NSEC_PER_USEC)
		err = -ETIME;
	return err;
}

/* All CPUs of the package that are online. */
static bool hwcheck_sane(struct hwcheck_run *run, struct cpumask *cpus)
{
	unsigned int cpu;

	if (run->flags & ~15U || run->cores & ~0xffU || run->any_cpu >= nr_cpu_ids ||
	    !cpu_online(run->any_cpu))
		return false;
	cpumask_and(cpus, topology_core_cpumask(run->any_cpu), cpu_online_mask);
	run->num_cpus = 0;
	for_each_cpu(cpu, cpus) {
		if (run->num_cpus == HWCHECK_CPUS)
			return false;
		run->cpu[run->num_cpus++].cpu = cpu;
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
	} else if (hwcheck_msr(run->any_cpu, U_CTL, &ctl, false) || ctl & U_EN_OR_RST) {
		err = -EBUSY;
	} else {
		preempt_disable();
		on_each_cpu_mask(cpus, hwcheck_arm, run, 1);
		err = hwcheck_armed(run, cpus);
		on_each_cpu_mask(cpus, hwcheck_disarm, NULL, 1);
		preempt_enable();
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
