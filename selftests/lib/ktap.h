/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP for C tests. A test is a function; main() hands a table of them to
 * ktap_run(), which prints the plan, one line for each and the exit status.
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
#include <stdio.h>
#include <stdlib.h>

struct ktap_case {
	const char *name;
	void (*run)(void);
};

static int ktap_failed;
static const char *ktap_skipped;
static jmp_buf ktap_end __attribute__((unused));

/* Is this "make soak", where a proof may take as long as it wants? */
static inline bool soak(void)
{
	const char *s = getenv("SOAK");

	return s && *s;
}

/* A diagnostic line. */
#define ktap_note(...) (printf("# " __VA_ARGS__), printf("\n"))

/* The case fails, but goes on. Evaluates to the condition. */
#define ktap_check(cond, ...)						\
({									\
	int __ok = !!(cond);						\
									\
	if (!__ok) {							\
		ktap_failed = 1;					\
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
		ktap_skipped = (reason);				\
		longjmp(ktap_end, 1);					\
	} while (0)

static int ktap_run(const struct ktap_case *cases, int num) __attribute__((unused));
static int ktap_run(const struct ktap_case *cases, int num)
{
	volatile int failed = 0;	/* longjmp() comes back here */
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n", num);
	for (i = 0; i < num; i++) {
		ktap_failed = 0;
		ktap_skipped = NULL;
		if (!setjmp(ktap_end))
			cases[i].run();
		if (ktap_skipped)
			printf("ok %d %s # SKIP %s\n", i + 1, cases[i].name, ktap_skipped);
		else
			printf("%sok %d %s\n", ktap_failed ? "not " : "", i + 1, cases[i].name);
		failed |= ktap_failed;
	}
	return failed;
}

#define KTAP_MAIN(...)							\
int main(void)								\
{									\
	static const struct ktap_case cases[] = { __VA_ARGS__ };	\
									\
	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));	\
}

#endif /* SELFTESTS_KTAP_H */
