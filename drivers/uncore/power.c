// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend, shutdown and the last CPU of a package: no counter runs and no PMI is armed
 * while nobody is there to take care of them.
 *
 * When the system suspends, the other CPUs have gone by the way of CPU hotplug. Packages
 * that have lost their last CPU have lost their events to perf; the one of the boot CPU
 * keeps them and has to write them anew, since the registers do not keep what they hold.
 * Counts leave out the time in between.
 */
#include <linux/reboot.h>

#include "compat.h"
#include "pmi.h"
#include "power.h"
#include "proof.h"

/**
 * uncore_package_sleep() - stop a package and account for all that has happened
 * @pkg: the package; on the CPU that serves it
 */
void uncore_package_sleep(struct uncore_package *pkg)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->gates.asleep = true;
	uncore_pmi_quiesce(pkg);
	uncore_package_update_all(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/**
 * uncore_package_wake() - undo uncore_package_sleep(), whatever the registers hold now
 * @pkg: the package; on the CPU that serves it
 */
void uncore_package_wake(struct uncore_package *pkg)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	uncore_package_rewrite(pkg);
	pkg->gates.asleep = false;
	uncore_proof_repeat(pkg);
	uncore_pmi_resume(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/* On the last CPU, with interrupts off. */
static int uncore_suspend(void *data)
{
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (pkg && pkg->cpu == cpu)
		uncore_package_sleep(pkg);
	return 0;
}

static void uncore_resume(void *data)
{
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (pkg && pkg->cpu == cpu)
		uncore_package_wake(pkg);
}

static const struct syscore_ops uncore_syscore_ops = {
	.suspend	= uncore_suspend,
	.resume		= uncore_resume,
};

static struct syscore uncore_syscore = {
	.ops		= &uncore_syscore_ops,
};

static void uncore_package_shutdown(void *info)
{
	uncore_package_sleep(info);
}

/* Also before kexec: the next kernel knows nothing of our counters. */
static int uncore_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	struct uncore_package *pkg;

	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg))
		uncore_package_call(pkg, uncore_package_shutdown);
	return NOTIFY_DONE;
}

static struct notifier_block uncore_reboot_nb = {
	.notifier_call	= uncore_reboot,
};

/** uncore_power_init() - listen to suspend and shutdown; after the packages are probed */
int uncore_power_init(void)
{
	int err = register_reboot_notifier(&uncore_reboot_nb);

	if (!err)
		register_syscore(&uncore_syscore);
	return err;
}

/** uncore_power_exit() - undo uncore_power_init() */
void uncore_power_exit(void)
{
	unregister_syscore(&uncore_syscore);
	unregister_reboot_notifier(&uncore_reboot_nb);
}
