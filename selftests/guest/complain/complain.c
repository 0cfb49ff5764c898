// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the kernel complain, to see whether tools/vm/run notices: a module
 * parameter says about what.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *about = "nothing";
module_param(about, charp, 0444);
MODULE_PARM_DESC(about, "nothing, warn, bug, gp, after_free, lock_order, leak or sleep");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static void take(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void after_free(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 1);
}

static void leak(void)
{
	void *p;

	/* More than one, for a stale pointer may stay in some register. */
	for (int i = 0; i < 16; i++) {
		p = kmalloc(1000, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(p);
	}
}

static int __init complain_init(void)
{
	pr_info("about %s\n", about);
	if (!strcmp(about, "warn")) {
		WARN(1, "as it was asked to\n");
	} else if (!strcmp(about, "bug")) {
		BUG();
	} else if (!strcmp(about, "gp")) {
		*(volatile int *)0x8000000000000000UL = 0;
	} else if (!strcmp(about, "after_free")) {
		after_free();
	} else if (!strcmp(about, "lock_order")) {
		take(&first, &second);
		take(&second, &first);
	} else if (!strcmp(about, "leak")) {
		leak();
	} else if (!strcmp(about, "sleep")) {
		spin_lock(&spin);
		msleep(1);
		spin_unlock(&spin);
	} else if (strcmp(about, "nothing")) {
		return -EINVAL;
	}
	return 0;
}
module_init(complain_init);

static void __exit complain_exit(void)
{
}
module_exit(complain_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Makes the kernel complain");
