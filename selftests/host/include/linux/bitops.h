/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_LINUX_BITOPS_H
#define SELFTESTS_LINUX_BITOPS_H

#define BIT(n)	(1UL << (n))

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

#endif
