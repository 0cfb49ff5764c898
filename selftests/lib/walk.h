/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program of which everything is known: which instruction does what, how many there
 * are, and the address of each access.
 */
#ifndef SELFTESTS_CORE_WALK_H
#define SELFTESTS_CORE_WALK_H

#include "ktap.h"

#define WALK_INSNS	9	/* per round: one load, one store, one branch */

/*
 * @num times load 8 bytes and store them, each time @step words further, starting over
 * after @words.
 */
void walk(u64 *store, const u64 *load, u64 words, u64 step, u64 num);

/* Instructions; the load is from %rsi + 8 * %rcx, the store to %rdi + 8 * %rcx. */
extern const char walk_load[], walk_after_load[], walk_store[], walk_after_store[],
		  walk_jump[], walk_end[];

asm("	.text\n"
    "walk:	mov %rdx, %r9\n"
    "	mov %rcx, %r10\n"
    "	xor %ecx, %ecx\n"
    "walk_load: mov (%rsi,%rcx,8), %rax\n"
    "walk_after_load: add $1, %rax\n"
    "walk_store: mov %rax, (%rdi,%rcx,8)\n"
    "walk_after_store: add %r10, %rcx\n"
    "	xor %eax, %eax\n"
    "	cmp %r9, %rcx\n"
    "	cmovae %rax, %rcx\n"
    "	sub $1, %r8\n"
    "walk_jump: jnz walk_load\n"
    "walk_end: ret\n");

static int __attribute__((noinline)) stir_one(int i)
{
	asm volatile("");
	return i + 1;
}

static int __attribute__((noinline)) stir_two(int i)
{
	asm volatile("");
	return i + 2;
}

/* Deeper than the stack of return addresses. */
static int __attribute__((noinline)) stir_deep(int i)
{
	int n;

	if (!i)
		return 0;
	n = stir_deep(i - 1);
	asm volatile("");
	return n + 1;
}

/* Something of everything that precise events count. @near: 4 KB, aligned to a line */
static void __attribute__((unused)) stir(void *near, unsigned int rounds)
{
	static char far[1024 * 4096 + 4096] __attribute__((aligned(4096)));
	static int (*const volatile calls[])(int) = { stir_one, stir_two };
	volatile unsigned int divisor = 3;
	volatile double x = 1.5, y = 1.1;
	unsigned int i, n = 0;

	for (i = 0; i < rounds; i++) {
		char *line = (char *)near + 64 * (i & 31);
		/* More pages than there are entries in the TLB. */
		char *page = far + 4096 * (i * 7 % 1023);
		char *stored = far + 4096 * ((i + 512) * 7 % 1023);

		asm volatile("mov 60(%0), %%rax\n\t"		/* across a line */
			     "mov %%rax, 60(%0)\n\t"
			     "mov 4092(%1), %%rax\n\t"		/* across a page */
			     "mov %%rax, 4092(%1)\n\t"
			     "mov %%rax, 16(%1)\n\t"		/* wait for the store */
			     "mov 16(%1), %%rax\n\t"
			     "movb $1, 17(%1)\n\t"		/* blocked by a narrow one */
			     "mov 16(%1), %%rax\n\t"
			     "mov %%rax, 24(%1)\n\t"		/* a false alias */
			     "mov 4120(%1), %%rax\n\t"
			     "lock incq (%0)\n\t"
			     "mov $8, %%ecx\n\t"
			     "mov %0, %%rsi\n\t"
			     "mov %1, %%rdi\n\t"
			     "rep movsb\n\t"			/* microcode */
			     "movb $1, 64(%2)"			/* first use of a page is a store */
			     : : "r"(line), "r"(page), "r"(stored) : "rax", "rcx", "rsi", "rdi", "memory");
		x /= y;
		n = n * 1103515245 + 12345 + i / divisor;
		n = calls[n >> 16 & 1](n);			/* hard to predict */
		if (n >> 17 & 1)
			n = stir_one(n);
		if (i % 16 == 0)
			n += stir_deep(64);
		asm volatile("syscall" : : "a"(110) : "rcx", "r11", "memory");	/* far */
	}
}

#endif
