// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts events from one cycle to one other, and tells what came of it. For identities.py.
 *
 *	runner FILE
 *
 * Each line of FILE:	package microseconds PMU/EVENT PMU/EVENT...
 * An event is a name, or "event=0x0d,...".
 * The answer has the uncore cycles of the window and the counts, in this order.
 */
#include "silicon.h"

#define MAX_EVENTS	32

static void run_row(int package, unsigned int us, char *rest)
{
	int fd[MAX_EVENTS + 1], num = 0, gate, clock, cpu = package_cpu(package);
	struct perf_event_attr attr;
	char *word, *save;
	struct perf_count cycles;

	gate = event_open("xeon7500_package", "gate", cpu, -1);
	clock = event_open("xeon7500_wbox", "uncore_clock", cpu, -1);
	perf_enable(clock);
	for (word = strtok_r(rest, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		char *event = strchr(word, '/');

		ktap_require(event && num < MAX_EVENTS, "%s", word);
		*event++ = 0;
		attr = event_attr(word, event);
		fd[num] = event_open_attr(&attr, cpu, -1);
		perf_enable(fd[num++]);
	}
	perf_run_us(gate, us);
	cycles = perf_count(clock);
	printf("row %llu", cycles.value);
	for (int i = 0; i < num; i++) {
		struct perf_count count = perf_count(fd[i]);

		/* All run while the gate is open. */
		ktap_require(count.running == cycles.running,
			     "event %d ran for %llu ns, the clock for %llu", i, count.running,
			     cycles.running);
		printf(" %llu", count.value);
	}
	printf("\n");
	event_close_all();
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[2048];

	if (!f || setjmp(ktap_end))
		return 1;
	while (fgets(line, sizeof(line), f)) {
		unsigned int us = 0;
		int package = 0, at = 0;

		ktap_require(sscanf(line, "%d %u %n", &package, &us, &at) == 2, "%s", line);
		run_row(package, us, line + at);
	}
	fclose(f);
	return 0;
}
