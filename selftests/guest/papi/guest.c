// SPDX-License-Identifier: GPL-2.0-only
/*
 * What PAPI's own library counts, against the silicon's truth. In the guest;
 * selftests/strangers/papi.py starts it.
 *
 *	guest presets
 *	guest natives NAME...
 *
 * Each preset that PAPI has here, or each native event, counts a piece of work, and then twice
 * as much of it. By how much the second number is more has to be what PAPI's formula makes of
 * the truth of the counters that have run meanwhile; which of them has which event is PAPI's and
 * Linux's affair. The difference, because PAPI reads counters before it stops them: they go on
 * for some hundred instructions of its own. One line for each:
 *
 *	@ pass|fail|skip NAME
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <papi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "synthetic.h"

#define COUNTERS	35	/* SYN_CORE_FIXED(2) is the last */
#define TERMS		8
#define PASSING		6

static int msr;

static uint64_t truth(unsigned int what, unsigned int counter)
{
	uint64_t v = 0;

	if (pread(msr, &v, 8, SYN_CORE_TRUTH(what, counter)) != 8)
		perror("/dev/cpu/0/msr");
	return v;
}

/* ---- something of everything ---- */

static volatile uint64_t cells[1 << 16];
static volatile double product;

static void work(int times)
{
	uint64_t x = 88172645463325252ull;
	int i;

	for (i = 0; i < 20000 * times; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Nobody predicts these. */
		if (x & 1)
			cells[x >> 48] += i;
		if (x & 2)
			product = product * 1.0001 + 1;
		if (!(i % 64))
			product /= 3;
	}
}

/* ---- PAPI's formula ---- */

static long long formula(const PAPI_event_info_t *info, const long long *n, int num)
{
	long long stack[2 * TERMS] = { 0 }, a, b;
	char text[sizeof(info->postfix)], *s, *save;
	int i, top = 0;

	if (!strcmp(info->derived, "DERIVED_ADD") || !strcmp(info->derived, "DERIVED_SUB")) {
		for (a = n[0], i = 1; i < num; i++)
			a += strcmp(info->derived, "DERIVED_SUB") ? n[i] : -n[i];
		return a;
	}
	if (strcmp(info->derived, "DERIVED_POSTFIX"))
		return n[0];
	strcpy(text, info->postfix);
	for (s = strtok_r(text, "|", &save); s; s = strtok_r(NULL, "|", &save)) {
		if (strchr("+-*/", *s) && top > 1) {
			b = stack[--top];
			a = stack[--top];
			stack[top++] = *s == '+' ? a + b : *s == '-' ? a - b :
				       *s == '*' ? a * b : b ? a / b : 0;
		} else if (top < 2 * TERMS) {
			stack[top++] = *s == 'N' && atoi(s + 1) < num ? n[atoi(s + 1)] : atoll(s);
		}
	}
	return stack[0];
}

/* Is it what comes out but for @slack, with the truths in some order from @k on? */
static bool explains(const PAPI_event_info_t *info, long long *n, int num, int k, long long value,
		     long long slack)
{
	bool found = k == num && llabs(formula(info, n, num) - value) <= slack;
	int i;

	for (i = k; i < num && !found; i++) {
		long long t = n[k];

		n[k] = n[i], n[i] = t;
		found = explains(info, n, num, k + 1, value, slack);
		n[i] = n[k], n[k] = t;
	}
	return found;
}

/* Counts what @codes say. False if PAPI cannot. */
static bool count(const int *codes, int num, int times, long long *values)
{
	int set = PAPI_NULL, ret;

	ret = PAPI_create_eventset(&set);
	for (int i = 0; i < num && ret == PAPI_OK; i++)
		ret = PAPI_add_event(set, codes[i]);
	if (ret == PAPI_OK)
		ret = PAPI_start(set);
	if (ret == PAPI_OK) {
		work(times);
		ret = PAPI_stop(set, values);
	}
	if (ret != PAPI_OK)
		printf("%s\n", PAPI_strerror(ret));
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
	return ret == PAPI_OK;
}

/* These are the same in the last instructions of any run; a miss or a cycle is not. */
static bool exact(const char *name)
{
	static const char *const of[] = { "TOT_INS", "LD_INS", "SR_INS", "BR_INS", "BR_CN", "BR_NTK" };

	for (unsigned int i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (strstr(name, of[i]))
			return true;
	}
	return false;
}

/*
 * On Nehalem Linux lets all counters run for an instant before it enables those it wants
 * (erratum AAK100). Takes the counter away that has counted least, if that is so few.
 */
static bool passing(long long *n, int *num)
{
	int i, least = 0;

	for (i = 1; i < *num; i++) {
		if (llabs(n[i]) < llabs(n[least]))
			least = i;
	}
	if (llabs(n[least]) > PASSING)
		return false;
	n[least] = n[--*num];
	return true;
}

static void one(int code, const PAPI_event_info_t *info)
{
	const bool nehalem = __builtin_cpu_is("nehalem");
	uint64_t events[3][COUNTERS], seen = 0;
	long long value[2], n[TERMS], slack;
	int num = 0, i, t;
	bool right;

	for (t = 0; t < 3; t++) {
		for (i = 0; i < COUNTERS; i++)
			events[t][i] = truth(SYN_CORE_EVENTS, i);
		if (t < 2 && !count(&code, 1, t + 1, &value[t])) {
			printf("@ skip %s\n", info->symbol);
			return;
		}
		if (t)
			continue;
		for (i = 0; i < COUNTERS; i++)
			seen |= (uint64_t)!!(truth(SYN_CORE_EVENTS, i) - events[0][i]) << i;
	}
	for (i = 0; i < COUNTERS && num < TERMS; i++) {
		if (seen >> i & 1 || events[2][i] != events[1][i])
			n[num++] = events[2][i] - events[1][i] - (events[1][i] - events[0][i]);
	}
	/* A counter that has counted nothing is not seen. */
	while (num < (int)info->count && num < TERMS)
		n[num++] = 0;
	while (nehalem && num > (int)info->count && passing(n, &num))
		;
	slack = !exact(info->symbol) ? 64 + llabs(value[1] - value[0]) / 100 : nehalem ? PASSING : 0;
	right = num == (int)info->count && explains(info, n, num, 0, value[1] - value[0], slack);
	printf("@ %s %s\n", right ? "pass" : "fail", info->symbol);
	if (right)
		return;
	printf("%s %s: %lld, %lld of %u", info->symbol, info->derived, value[0], value[1],
	       info->count);
	for (i = 0; i < num; i++)
		printf(" %lld", n[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int code = PAPI_PRESET_MASK, branches[2] = { PAPI_BR_INS, PAPI_BR_MSP };
	PAPI_event_info_t info;
	long long values[2];
	cpu_set_t cpu;
	bool sane;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	msr = open("/dev/cpu/0/msr", O_RDONLY);
	if (argc < 2 || msr < 0 || sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
		fprintf(stderr, "no machine, or no PAPI\n");
		return 1;
	}
	if (!strcmp(argv[1], "natives")) {
		for (int i = 2; i < argc; i++) {
			memset(&info, 0, sizeof(info));
			snprintf(info.symbol, sizeof(info.symbol), "%s", argv[i]);
			info.count = 1;
			if (PAPI_event_name_to_code(argv[i], &code) == PAPI_OK)
				one(code, &info);
			else
				printf("@ skip %s\n", argv[i]);
		}
		return 0;
	}
	if (PAPI_enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
		return 1;
	do {
		if (PAPI_get_event_info(code, &info) == PAPI_OK && info.count)
			one(code, &info);
	} while (PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
	if (count(branches, 2, 1, values)) {
		sane = values[1] > 0 && values[1] < values[0];
		printf("@ %s mispredictions\n", sane ? "pass" : "fail");
		if (!sane)
			printf("%lld of %lld branches\n", values[1], values[0]);
	}
	return 0;
}
