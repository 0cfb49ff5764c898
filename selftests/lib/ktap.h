/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP for C tests. A case is a function; main() hands a table of them to
 * ktap_run(), which prints the plan, one line for each and the exit status.
 *
 * Each case has a process of its own, so that no case leaves variables, open files or
 * an affinity to the next one, and a crash is one failed case. A test that wants the same
 * before each case defines ktap_begin(). A case that reads variables of the one before it
 * says KTAP_SAME_PROCESS. What the kernel and the machine keep is for the cases to put back.
 *
 *	static void counts_match(void)
 *	{
 *		ktap_check(a == b, "a %d, b %d", a, b);
 *	}
 *	KTAP_MAIN({ "counts match", counts_match })
 */
#ifndef SELFTESTS_KTAP_H
#define SELFTESTS_KTAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long u64;	/* as in the kernel, so that %llu fits */

/* As kselftest.h has it. */
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(arr)	(sizeof(arr) / sizeof((arr)[0]))
#endif

#define KSFT_SKIP	4	/* the exit status when no case could run, as in all kselftests */

struct ktap_case {
	const char *name;
	void (*run)(void);
	bool same_process;	/* as the case before it */
};

#define KTAP_SAME_PROCESS	true
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"	/* few cases say so */

/* The case that runs. All processes of the test share it, those that a case starts as well. */
struct ktap_state {
	int at;
	bool done;		/* the last case of its process has returned */
	bool failed;
	char skipped[128];	/* the reason why, or "" */
	u64 violations;	/* of the rules of the silicon, before silicon_clear() */
	int failures, skips;	/* cases so far */
};

extern struct ktap_state *ktap;
extern jmp_buf ktap_end;

/* If there is one: runs at the beginning of each case, in its process. */
void ktap_begin(void) __attribute__((weak));

/* Is this "make soak", where a proof may take as long as it wants? */
bool soak(void);

/* With lockdep and KASAN a handler takes longer than some periods, and a program gets no time. */
bool debug_kernel(void);

/* A diagnostic line. */
#define ktap_note(...) (printf("# " __VA_ARGS__), printf("\n"))

/* The case fails, but goes on. Evaluates to the condition. */
#define ktap_check(cond, ...)						\
({									\
	int __ok = !!(cond);						\
									\
	if (!__ok) {							\
		ktap->failed = true;					\
		printf("# %s:%d: %s:", __FILE__, __LINE__, #cond);	\
		printf(" " __VA_ARGS__);					\
		printf("\n");						\
	}								\
	__ok;								\
})

/* The case fails and ends. */
#define ktap_require(cond, ...)						\
	do {								\
		if (!ktap_check(cond, __VA_ARGS__))			\
			longjmp(ktap_end, 1);				\
	} while (0)

/* The case cannot run here. */
#define ktap_skip(reason)						\
	do {								\
		snprintf(ktap->skipped, sizeof(ktap->skipped), "%s", (reason)); \
		longjmp(ktap_end, 1);					\
	} while (0)

#define ktap_skip_on_debug_kernel()					\
	do {								\
		if (debug_kernel())					\
			ktap_skip("the handler of a debug kernel takes longer"); \
	} while (0)

/*
 * @why_not: the reason why no case can run here, or NULL
 * @check: lets a case fail when it has ended, or NULL
 */
int ktap_run(const char *why_not, void (*check)(void), const struct ktap_case *cases, int num);

/* A function that is one call, as is a case that shares its body with others. */
#define KTAP_CALL(name, call)	static void name(void) { call; }

/* @why_not is looked at once, before the first case. */
#define KTAP_MAIN_CHECKED(why_not, check, ...)				\
int main(void)								\
{									\
	static const struct ktap_case cases[] = { __VA_ARGS__ };	\
									\
	return ktap_run(why_not, check, cases, ARRAY_SIZE(cases)); \
}

#define KTAP_MAIN_UNLESS(why_not, ...)	KTAP_MAIN_CHECKED(why_not, NULL, __VA_ARGS__)
#define KTAP_MAIN(...)			KTAP_MAIN_UNLESS(NULL, __VA_ARGS__)

#endif /* SELFTESTS_KTAP_H */
