// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the NMIs that nobody wanted, and those of SERR and IOCHK, in place of the kernel's
 * complaint; says in /sys/module how many there were. What is written to "lvtpc" becomes the LVTPC of
 * the CPU that writes it.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define REASON_PORT	0x61
#define CLEAR_SERR	0x04
#define CLEAR_IOCHK	0x08

static unsigned int unknown;
module_param(unknown, uint, 0444);
static unsigned int serr;
module_param(serr, uint, 0444);
static unsigned int iochk;
module_param(iochk, uint, 0444);

static int witness_lvtpc(const char *text, const struct kernel_param *kp)
{
	unsigned int lvtpc;
	int err = kstrtouint(text, 0, &lvtpc);

	if (!err)
		apic->write(APIC_LVTPC, lvtpc);
	return err;
}

static const struct kernel_param_ops witness_lvtpc_ops = { .set = witness_lvtpc };

module_param_cb(lvtpc, &witness_lvtpc_ops, NULL, 0200);

static void witness_clear(u8 bit)
{
	u8 other = inb(REASON_PORT) & 0x3;

	outb(other | bit, REASON_PORT);
	outb(other, REASON_PORT);
}

static int witness_unknown(unsigned int cmd, struct pt_regs *regs)
{
	unknown++;
	return NMI_HANDLED;
}

static int witness_serr(unsigned int cmd, struct pt_regs *regs)
{
	serr++;
	witness_clear(CLEAR_SERR);
	return NMI_HANDLED;
}

static int witness_iochk(unsigned int cmd, struct pt_regs *regs)
{
	iochk++;
	witness_clear(CLEAR_IOCHK);
	return NMI_HANDLED;
}

static int __init witness_init(void)
{
	int err = register_nmi_handler(NMI_UNKNOWN, witness_unknown, 0, "witness");

	if (err)
		return err;
	err = register_nmi_handler(NMI_SERR, witness_serr, 0, "witness");
	if (err)
		goto unknown;
	err = register_nmi_handler(NMI_IO_CHECK, witness_iochk, 0, "witness");
	if (!err)
		return 0;
	unregister_nmi_handler(NMI_SERR, "witness");
unknown:
	unregister_nmi_handler(NMI_UNKNOWN, "witness");
	return err;
}
module_init(witness_init);

static void __exit witness_exit(void)
{
	unregister_nmi_handler(NMI_IO_CHECK, "witness");
	unregister_nmi_handler(NMI_SERR, "witness");
	unregister_nmi_handler(NMI_UNKNOWN, "witness");
}
module_exit(witness_exit);

MODULE_DESCRIPTION("Counts the NMIs that nobody wanted");
MODULE_LICENSE("GPL");
