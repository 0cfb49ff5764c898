/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that it does not export.
 */
#ifndef KERNEL_FUNCTION_H
#define KERNEL_FUNCTION_H

#include <linux/kallsyms.h>
#include <linux/kprobes.h>

/**
 * kernel_function() - find a function that the kernel does not export
 * @name: its name
 *
 * A kprobe on a name is placed behind the ENDBR with which the function may begin, or behind what
 * the kernel has put there since. A call must go to the beginning: in front of it is what kCFI
 * checks. Our CPUs have no IBT, which would want the ENDBR itself.
 *
 * Return: its address; NULL if there is none, or no kprobes.
 */
static inline void *kernel_function(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long offset = 0;

	if (register_kprobe(&probe))
		return NULL;
	unregister_kprobe(&probe);
	/* name+0x4/0x1a0 */
	sprint_symbol(symbol, (unsigned long)probe.addr);
	if (sscanf(symbol + strlen(name), "+%lx", &offset) != 1)
		return NULL;
	return probe.addr - offset;
}

#endif /* KERNEL_FUNCTION_H */
