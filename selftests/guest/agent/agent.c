// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens events, lets them count, and tells what came of it, whoever drives the PMUs. The tests in
 * Python write its script: agent() in selftests/lib/vm.py.
 *
 *	agent SCRIPT
 *
 * A line of SCRIPT is a command. Tabs separate its words.
 *
 *	row KEY			what follows is about this; all events are closed
 *	open PACKAGE PMU TERMS	an event, disabled; TERMS in perf's syntax, "config=" is a raw word
 *	enable FIRST		all events from this one on, one by one; the first that is open is 0
 *	disable FIRST		likewise
 *	run NUMBER US		this event is enabled for so long
 *	close			all events
 *	sleep US
 *	clear			the statistics of the silicon
 *	mix 0|1			without or with mixed traffic
 *	packet HEADER ADDR NUM	so many are sent
 *	read MSR
 *	place CTR NUM		which of these counters is enabled: its index and its control register
 *	truth			the silicon's of that counter: events, cycles, and rules broken by kind
 *	count			of each event: value, ns enabled, ns running
 *	accesses NAME		of registers of the uncore since "clear": reads, writes
 *
 * The answer to a row is a line "row KEY NAME=VALUE...", with tabs as well. If an event cannot be
 * opened, or no counter is enabled, it ends with errno=N or place=none: the rest is left out.
 */
#include "silicon.h"

#define MAX_EVENTS	128

static int fd[MAX_EVENTS], num, cpu;
static unsigned int counter;
static bool ended;

static unsigned long long value(const char *word)
{
	return strtoull(word, NULL, 0);
}

static void close_all(char *w[])
{
	(void)w;
	while (num)
		close(fd[--num]);
}

static void row(char *w[])
{
	static bool first = true;

	close_all(w);
	printf("%srow\t%s", first ? "" : "\n", w[1]);
	first = ended = false;
}

static void open_one(char *w[])
{
	struct perf_event_attr attr = event_attr(w[2], w[3]);
	int package = value(w[1]);

	/* Mainline's driver does not tell which CPU is in charge, but it is this one. */
	cpu = package ? package_cpu(package) : 0;
	ktap_require(num < MAX_EVENTS, "more events");
	fd[num] = perf_open(&attr, cpu, -1);
	ended = fd[num] < 0;
	if (ended)
		printf("\terrno=%d", -fd[num]);
	else
		num++;
}

static void enable(char *w[])
{
	for (int i = value(w[1]); i < num; i++)
		perf_enable(fd[i]);
}

static void disable(char *w[])
{
	for (int i = value(w[1]); i < num; i++)
		perf_disable(fd[i]);
}

static void run(char *w[])
{
	perf_run_us(fd[value(w[1])], value(w[2]));
}

static void sleep_for(char *w[])
{
	sleep_us(value(w[1]));
}

static void clear(char *w[])
{
	(void)w;
	msr_write(cpu, SYN_CLEAR, 1);
}

static void mix(char *w[])
{
	msr_write(cpu, SYN_TRAFFIC_MIX, value(w[1]));
}

static void packet(char *w[])
{
	msr_write(cpu, SYN_PKT_HEADER, value(w[1]));
	msr_write(cpu, SYN_PKT_ADDR, value(w[2]));
	msr_write(cpu, SYN_PKT_SEND, value(w[3]));
}

static void read_msr(char *w[])
{
	printf("\t%s=%#llx", w[1], msr_read(cpu, value(w[1])));
}

static void place(char *w[])
{
	int i, all = value(w[2]);

	for (i = 0; i < all; i++) {
		counter = value(w[1]) + 2 * i;
		if (silicon_truth(cpu, SYN_WINDOWS, counter))
			break;
	}
	ended = i == all;
	if (ended)
		printf("\tplace=none");
	else
		printf("\tplace=%d\tctl=%#llx", i, msr_read(cpu, counter_ctl(counter)));
}

static void truth(char *w[])
{
	unsigned int kind;

	(void)w;
	printf("\ttruth=%llu\tcycles=%llu", silicon_truth(cpu, SYN_EVENTS, counter),
	       silicon_truth(cpu, SYN_ENABLED, counter));
	for (kind = 0; kind < SYN_V_KINDS; kind++) {
		u64 broken = msr_read(cpu, SYN_VIOLATION(kind));

		if (broken)
			printf("\tv%u=%llu", kind, broken);
	}
}

static void count(char *w[])
{
	(void)w;
	for (int i = 0; i < num; i++) {
		struct perf_count c = perf_count(fd[i]);

		printf("\tcount%d=%llu,%llu,%llu", i, c.value, c.enabled, c.running);
	}
}

static void accesses(char *w[])
{
	printf("\t%s=%llu,%llu", w[1], msr_read(cpu, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0)),
	       msr_read(cpu, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1)));
}

static const struct {
	const char *name;
	int words;
	void (*run)(char *w[]);
} commands[] = {
	{ "row", 2, row }, { "open", 4, open_one }, { "enable", 2, enable },
	{ "disable", 2, disable }, { "run", 3, run }, { "close", 1, close_all },
	{ "sleep", 2, sleep_for }, { "clear", 1, clear }, { "mix", 2, mix },
	{ "packet", 4, packet }, { "read", 2, read_msr }, { "place", 3, place },
	{ "truth", 1, truth }, { "count", 1, count }, { "accesses", 2, accesses },
};

static void command(char *line)
{
	char *w[5];
	unsigned int c;
	int words = 0;

	while (words < 5 && (w[words] = strsep(&line, "\t\n")) && *w[words])
		words++;
	for (c = 0; c < ARRAY_SIZE(commands) && words; c++) {
		if (strcmp(w[0], commands[c].name) || words != commands[c].words)
			continue;
		if (!ended || commands[c].run == row)
			commands[c].run(w);
		return;
	}
	ktap_require(false, "%s, %d words", words ? w[0] : "no command", words);
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[400];

	if (!f || setjmp(ktap_end))
		return 1;
	while (fgets(line, sizeof(line), f))
		command(line);
	printf("\n");
	return 0;
}
