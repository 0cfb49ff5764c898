// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the nth call of a function of the kernel out of a module return an error in place of being
 * called, or each one from the nth on: as fail_function, but of any function and for one caller.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

static char *out_of = "xeon7500_uncore";
module_param(out_of, charp, 0444);
MODULE_PARM_DESC(out_of, "the module that calls it");

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "its name");

static int nth;
module_param(nth, int, 0444);
MODULE_PARM_DESC(nth, "which call fails, from 1 on; 0: none, -N: each from the Nth on");

static long error;
module_param(error, long, 0444);
MODULE_PARM_DESC(error, "what it returns, 0 for a pointer");

static int calls;
module_param(calls, int, 0444);
MODULE_PARM_DESC(calls, "how many there were");

static struct module *caller;

void fail_call_return(void);
asm(".pushsection .text\n"
	".type fail_call_return, @function\n"
	"fail_call_return:\n"
	ASM_RET
	".size fail_call_return, . - fail_call_return\n"
	".popsection\n");

static int fail_call_before(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long from = *(unsigned long *)regs->sp;

	if (!caller || !within_module(from, caller))
		return 0;
	calls++;
	if (nth < 0 ? calls < -nth : calls != nth)
		return 0;
	regs->ax = error;
	regs->ip = (unsigned long)fail_call_return;
	return 1;
}

/* A probe with this one is not made a jump, which could not return elsewhere. */
static void fail_call_after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe fail_call_probe = {
	.pre_handler	= fail_call_before,
	.post_handler	= fail_call_after,
};

static int fail_call_module(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, out_of))
		return NOTIFY_DONE;
	if (action == MODULE_STATE_COMING)
		caller = mod;
	else if (action == MODULE_STATE_GOING)
		caller = NULL;
	return NOTIFY_DONE;
}

static struct notifier_block fail_call_nb = {
	.notifier_call = fail_call_module,
};

static int __init fail_call_init(void)
{
	int err;

	fail_call_probe.symbol_name = function;
	err = register_module_notifier(&fail_call_nb);
	if (err)
		return err;
	err = register_kprobe(&fail_call_probe);
	if (err)
		unregister_module_notifier(&fail_call_nb);
	return err;
}
module_init(fail_call_init);

static void __exit fail_call_exit(void)
{
	unregister_kprobe(&fail_call_probe);
	unregister_module_notifier(&fail_call_nb);
}
module_exit(fail_call_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Makes calls of a module fail");
