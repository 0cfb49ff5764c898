/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that it does not export.
 */
#ifndef KERNEL_FUNCTION_H
#define KERNEL_FUNCTION_H

#include <linux/kprobes.h>

/* ENDBR64, four bytes */
#define KERNEL_FUNCTION_ENDBR	0xfa1e0ff3

/**
 * kernel_function() - find a function that the kernel does not export
 * @name: its name
 *
 * A kprobe on a name is placed behind the ENDBR with which the function may begin. A call must
 * go to the ENDBR: in front of it is what kCFI checks.
 *
 * Return: its address; NULL if there is none, or no kprobes.
 */
static inline void *kernel_function(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	u32 *addr;

	if (register_kprobe(&probe))
		return NULL;
	addr = (u32 *)probe.addr;
	unregister_kprobe(&probe);
	return addr[-1] == KERNEL_FUNCTION_ENDBR ? addr - 1 : addr;
}

#endif /* KERNEL_FUNCTION_H */
