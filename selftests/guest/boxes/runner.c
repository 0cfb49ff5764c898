// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what a driver reads and writes for sets of events. For boxes.py.
 *
 *	runner FILE
 *
 * Each line of FILE:	row|pmu|terms
 * The events of a row come in a row. They are opened disabled, enabled one by one, read
 * once each, disabled and closed. A row whose name ends in "again" opens and disables
 * its events before, so that what is counted is their coming back.
 */
#include "silicon.h"

#define MAX_EVENTS	128

struct event {
	char pmu[32], terms[200];
};

static int cpu;

static void accesses(u64 acc[2])
{
	acc[0] = msr_read(cpu, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0));
	acc[1] = msr_read(cpu, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

static void run_row(const char *name, const struct event *events, int num)
{
	u64 add[2], read[2], all[2], sum = 0, busy = 0;
	int fd[MAX_EVENTS], i;

	for (i = 0; i < num; i++) {
		struct perf_event_attr attr = event_attr(events[i].pmu, events[i].terms);

		fd[i] = perf_open(&attr, cpu, -1);
		ktap_require(fd[i] >= 0, "%s/%s/: %s", events[i].pmu, events[i].terms,
			     strerror(-fd[i]));
	}
	if (strstr(name, "again")) {
		for (i = 0; i < num; i++)
			perf_enable(fd[i]);
		for (i = 0; i < num; i++)
			perf_disable(fd[i]);
	}
	msr_write(cpu, SYN_CLEAR, 1);
	for (i = 0; i < num; i++)
		perf_enable(fd[i]);
	accesses(add);
	sleep_us(1000);
	for (i = 0; i < num; i++) {
		struct perf_count count = perf_count(fd[i]);

		sum += count.value;
		busy += count.running == count.enabled;
	}
	accesses(read);
	for (i = 0; i < num; i++)
		perf_disable(fd[i]);
	for (i = 0; i < num; i++)
		close(fd[i]);
	accesses(all);
	printf("row\t%s\t%d\t%llu\t%llu\t%llu\t%llu\t%llu\n", name, num, busy, add[0], add[1],
	       all[0], all[1]);
	ktap_require(sum, "%s: nothing was counted", name);
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	static struct event events[MAX_EVENTS];
	char line[400], last[100] = "";
	int num = 0;

	if (!f || setjmp(ktap_end))
		return 1;
	while (fgets(line, sizeof(line), f)) {
		char *s = line, *row = strsep(&s, "|"), *pmu = strsep(&s, "|");

		if (!s || num == MAX_EVENTS)
			return 1;
		if (num && strcmp(row, last)) {
			run_row(last, events, num);
			num = 0;
		}
		snprintf(last, sizeof(last), "%s", row);
		snprintf(events[num].pmu, sizeof(events[num].pmu), "%s", pmu);
		snprintf(events[num].terms, sizeof(events[num].terms), "%.*s",
			 (int)strcspn(s, "\n"), s);
		num++;
	}
	run_row(last, events, num);
	fclose(f);
	return 0;
}
