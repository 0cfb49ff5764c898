// SPDX-License-Identifier: GPL-2.0-only
/*
 * For guest.c, what a program cannot do to the CPU that it runs on: read and write the LVTPC of the
 * local APIC, and hold interrupts off.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <asm/apic.h>

static int lvtpc_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", apic->read(APIC_LVTPC));
}

static int lvtpc_set(const char *text, const struct kernel_param *kp)
{
	u32 val;
	int err = kstrtou32(text, 0, &val);

	if (!err)
		apic->write(APIC_LVTPC, val);
	return err;
}

static const struct kernel_param_ops lvtpc_ops = { .get = lvtpc_get, .set = lvtpc_set };

module_param_cb(lvtpc, &lvtpc_ops, NULL, 0600);

static int hold_ms_set(const char *text, const struct kernel_param *kp)
{
	unsigned int ms;
	int err = kstrtouint(text, 0, &ms);

	if (err)
		return err;
	local_irq_disable();
	mdelay(ms);
	local_irq_enable();
	return 0;
}

static const struct kernel_param_ops hold_ms_ops = { .set = hold_ms_set };

module_param_cb(hold_ms, &hold_ms_ops, NULL, 0200);

MODULE_DESCRIPTION("What a program cannot do to its CPU");
MODULE_LICENSE("GPL");
