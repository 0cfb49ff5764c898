// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the last CPU finds when the system is about to sleep, after all modules that were
 * loaded later have been told. C-Box 1 and M_PLD of M-Box 1 then lose what they hold, as when the
 * power goes.
 *
 *	global_ctl, debugctl	the registers at that moment, in /sys/module
 *	reboot=MODULE		tell that module, and nobody else, that the system restarts
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/reboot.h>

#include "compat.h"
#include "xeon7500/cbox.h"
#include "xeon7500/mbox.h"

#define U_GLOBAL_CTL	0xc00

static unsigned long global_ctl = ~0UL;
module_param(global_ctl, ulong, 0444);
static unsigned long debugctl = ~0UL;
module_param(debugctl, ulong, 0444);

static int witness_suspend(void *data)
{
	u64 val;
	int n;

	rdmsrq(U_GLOBAL_CTL, val);
	global_ctl = val;
	rdmsrq(MSR_IA32_DEBUGCTLMSR, val);
	debugctl = val;
	wrmsrq(C1_MSR_PMON_BASE + C_MSR_PMON_GLOBAL_CTL, 0);
	for (n = 0; n < 6; n++) {
		wrmsrq(C1_MSR_PMON_BASE + C_MSR_PMON_EVT_SEL(n), 0);
		wrmsrq(C1_MSR_PMON_BASE + C_MSR_PMON_CTR(n), 0);
	}
	wrmsrq(M1_MSR_PMU_BASE + M_MSR_PMU_PLD, 0);
	return 0;
}

static const struct syscore_ops witness_syscore_ops = {
	.suspend = witness_suspend,
};

static struct syscore witness_syscore = {
	.ops = &witness_syscore_ops,
};

static int witness_notified(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_DONE;
}

/* The first of the chain, so the others can be found behind it. */
static struct notifier_block witness_nb = {
	.notifier_call = witness_notified,
	.priority = INT_MAX,
};

static int reboot_set(const char *val, const struct kernel_param *kp)
{
	struct notifier_block *nb = &witness_nb;
	int len = strcspn(val, "\n"), found = 0;
	char who[32], name[KSYM_SYMBOL_LEN];

	snprintf(who, sizeof(who), "[%.*s", len, val);
	while ((nb = rcu_dereference_raw(nb->next))) {
		snprintf(name, sizeof(name), "%ps", nb->notifier_call);
		if (!strstr(name, who))
			continue;
		nb->notifier_call(nb, SYS_RESTART, NULL);
		found++;
	}
	return found ? 0 : -ENOENT;
}

static const struct kernel_param_ops reboot_ops = {
	.set = reboot_set,
};
module_param_cb(reboot, &reboot_ops, NULL, 0200);

static int __init witness_init(void)
{
	int err = register_reboot_notifier(&witness_nb);

	if (!err)
		register_syscore(&witness_syscore);
	return err;
}
module_init(witness_init);

static void __exit witness_exit(void)
{
	unregister_syscore(&witness_syscore);
	unregister_reboot_notifier(&witness_nb);
}
module_exit(witness_exit);

MODULE_DESCRIPTION("Looks when all others have gone to sleep");
MODULE_LICENSE("GPL");
