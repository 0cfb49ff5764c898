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
#include <string.h>
#include <unistd.h>

#define KSFT_SKIP	4	/* the exit status when no case could run, as in all kselftests */

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

/* Files that a test needs are beside it. */
static inline void ktap_chdir(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = 0;
		*strrchr(path, '/') = 0;
		if (chdir(path))
			perror(path);
	}
}

/* @why_not: the reason why no case can run here, or NULL. */
static int ktap_run(const char *why_not, const struct ktap_case *cases,
		    int num) __attribute__((unused));
static int ktap_run(const char *why_not, const struct ktap_case *cases, int num)
{
	volatile int failed = 0, skipped = 0;	/* longjmp() comes back here */
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	ktap_chdir();
	printf("KTAP version 1\n1..%d\n", num);
	for (i = 0; i < num; i++) {
		ktap_failed = 0;
		ktap_skipped = why_not;
		if (!why_not && !setjmp(ktap_end))
			cases[i].run();
		/* What has failed before it came to that has failed. */
		skipped += ktap_skipped && !ktap_failed;
		if (ktap_skipped && !ktap_failed)
			printf("ok %d %s # SKIP %s\n", i + 1, cases[i].name, ktap_skipped);
		else
			printf("%sok %d %s\n", ktap_failed ? "not " : "", i + 1, cases[i].name);
		failed |= ktap_failed;
	}
	return failed ? 1 : skipped == num ? KSFT_SKIP : 0;
}

/* @why_not is looked at once, before the first case. */
#define KTAP_MAIN_UNLESS(why_not, ...)					\
int main(void)								\
{									\
	static const struct ktap_case cases[] = { __VA_ARGS__ };	\
									\
	return ktap_run(why_not, cases, sizeof(cases) / sizeof(cases[0])); \
}

#define KTAP_MAIN(...)	KTAP_MAIN_UNLESS(NULL, __VA_ARGS__)

#endif /* SELFTESTS_KTAP_H */
