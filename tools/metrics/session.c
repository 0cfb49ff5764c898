// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options, and what is done with them. Functions say what is wrong and return a status; what
 * has been begun is ended in one place.
 */
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "map.h"

#ifndef VERSION
#define VERSION "unknown"
#endif

/* A group may be in several files, one for each machine. */
static int ask(struct session *session, const char *name, bool first)
{
	bool found = false, here = false;
	int i;

	for (i = 0; i < session->num_metrics; i++)
		here |= !strcmp(session->metric[i]->group->name, name) &&
			machine_is(session, session->metric[i]->group->machines);
	for (i = 0; i < session->num_metrics; i++) {
		struct metric *metric = session->metric[i];

		if (strcmp(metric->name, name) &&
		    (strcmp(metric->group->name, name) ||
		     (here && !machine_is(session, metric->group->machines))))
			continue;
		metric->asked = true;
		found = true;
	}
	return found ? 0 : unknown(session, name, first);
}

/* What top is of by itself: the metrics of a map, or else what the machine has. */
static int ask_usual(struct session *session)
{
	static const char * const usual[] = { "memory_read_bandwidth", "memory_write_bandwidth",
					      "llc_miss_rate", "qpi_utilization" };
	bool any = false, here = false;
	unsigned int i;
	int m;

	for (m = 0; m < session->num_metrics; m++) {
		struct metric *metric = session->metric[m];

		for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			metric->asked |= !strcmp(metric->name, usual[i]) &&
					 machine_is(session, metric->group->machines);
		any |= metric->asked;
	}
	for (m = 0; m < session->num_metrics && !any; m++) {
		struct metric *metric = session->metric[m];

		metric->asked = machine_is(session, metric->group->machines);
		here |= metric->asked;
	}
	return any || here ? 0 : fail(STATUS_FAILED, "there are no metrics for this machine, which is %s",
				      machine_name(session));
}

static int check_files(struct session *session, char **paths, int num)
{
	int errors = 0, i;

	if (!num)
		return fail(STATUS_USAGE, "check wants files");
	for (i = 0; i < num; i++)
		errors += file_read(session, paths[i]);
	if (!errors)
		printf("%d metrics\n", session->num_metrics);
	return errors ? STATUS_USAGE : 0;
}

static int measure(struct session *session)
{
	const struct options *options = &session->options;
	const char *file = options->output ?: options->openmetrics;
	int status = plan_make(session), written;
	FILE *out = stdout;

	if (!status && !session->plan.num_counters)
		status = machine_check(session);
	if (!status && options->plan_only) {
		output_plan(session);
		return 0;
	}
	if (!status && file)
		status = replace_begin(session, file);
	if (!status && options->top)
		status = top_begin(session);
	if (status)
		return status;
	/* What is typed is for the command if there is one. */
	if (options->map && options->interval && !file && !options->command)
		map_begin(session);
	/* All that is printed, also of several intervals, is one file. */
	if (options->output && !options->map)
		stdout = session->file;
	status = count(session, options->map ? map_output : options->top ? top_output :
		       output_values);
	if (stdout != out) {
		stdout = out;
		written = session->results ? replace_end(session, file) : 0;
		status = status ?: written;
	}
	replace_cancel(session);
	return session->any_value || status ? status : STATUS_NO_VALUE;
}

const char * const modes[] = { "metrics", "list", "map", "top", "check" };

enum mode mode_of(const char *word)
{
	enum mode mode;

	for (mode = CHECK; mode && strcmp(word, modes[mode]); mode--)
		;
	return mode;
}

/* Options by where their value goes. */
static const struct {
	const char *name;
	int letter;
	enum { FLAG, NUMBER, TEXT, WORD } kind;
	size_t at;
	unsigned int modes;	/* that it is for, a bit each */
	const char *help;
} table[] = {
#define AT(field)	offsetof(struct options, field)
#define TABLE		(1 << METRICS)
#define VALUES		(TABLE | 1 << TOP)
#define PICTURE		(1 << MAP)
#define ALL		(VALUES | PICTURE | 1 << LIST | 1 << CHECK)
	{ "interval", 'I', NUMBER, AT(interval), VALUES | PICTURE, "a result each N milliseconds" },
	{ "interval-count", 0, NUMBER, AT(interval_count), VALUES | PICTURE, "N of them" },
	{ "summary", 0, FLAG, AT(summary), TABLE | PICTURE, "and one of the whole time" },
	{ "per-machine", 0, FLAG, AT(per_machine), VALUES, "a value for the machine: the default" },
	{ "per-socket", 0, FLAG, AT(per_socket), VALUES, "a value for each package" },
	{ "per-box", 0, FLAG, AT(per_box), VALUES, "a value for each box, port, core or CPU" },
	{ "all-cpus", 'a', FLAG, AT(all_cpus), VALUES, "all CPUs, also of metrics of cores" },
	{ "csv", 0, FLAG, AT(csv), TABLE, "lines: scope,metric,value,unit,running,note" },
	{ "json", 0, FLAG, AT(json), TABLE | 1 << LIST, "a line of JSON for each result" },
	{ "openmetrics", 0, TEXT, AT(openmetrics), TABLE, "for a textfile collector; - is stdout" },
	{ "no-gate", 0, FLAG, AT(no_gate), VALUES | PICTURE,
	  "do not stop others' counters while events are opened" },
	{ "plan", 0, FLAG, AT(plan_only), VALUES | PICTURE,
	  "do not count, show what would be counted together" },
	{ "output", 'o', TEXT, AT(output), TABLE | PICTURE, "a file in place of stdout; of a map: SVG" },
	{ "sort", 0, WORD, AT(sort), VALUES, "by name, by scope, or the highest value first" },
	{ "units", 0, WORD, AT(units), VALUES, "of rates: base (none, for scripts), k, M, G, T or auto" },
	{ "matrix", 0, FLAG, AT(matrix), PICTURE, "of a map: who talks to whom, too" },
	{ "host", 0, FLAG, AT(host), PICTURE, "of a map: the name of this machine in its title" },
	{ "topology", 0, TEXT, AT(topology), PICTURE, "of a map: where links lead" },
	{ "help", 'h', FLAG, AT(help), ALL, "after one of these words: the options that it has" },
	{ "version", 0, FLAG, AT(version), ALL, "of perf metrics" },
};

#define NUM_OPTIONS	(sizeof(table) / sizeof(table[0]))

static void print_usage(FILE *f, unsigned int modes)
{
	static const char * const values[] = { "", " N", " FILE", " WORD" };
	unsigned int i;

	fputs("usage: perf metrics list [NAME...] [--json]\n"
	      "       perf metrics NAME... [OPTION...] [-- COMMAND...]\n"
	      "       perf metrics top [NAME...] [OPTION...]\n"
	      "       perf metrics map [-I N] [-o FILE.svg] [--matrix] [--topology FILE] [-- COMMAND...]\n"
	      "       perf metrics check FILE...\n\n"
	      "NAME is a group or a metric of \"perf metrics list\". They are computed of all packages\n"
	      "while COMMAND runs, or until Ctrl-C.\n\n", f);
	for (i = 0; i < NUM_OPTIONS; i++) {
		if (table[i].modes & modes)
			fprintf(f, "  %c%c%c --%-18s%s\n", table[i].letter ? '-' : ' ',
				table[i].letter ?: ' ', table[i].letter ? ',' : ' ',
				format("%s%s", table[i].name, values[table[i].kind]), table[i].help);
	}
	fputs("\nStatus: that of COMMAND, 128 more than the signal that ended it, 127 if there is none\n"
	      "of this name; 1 if there is no value at all, 2 wrong usage, an unknown metric or a wrong\n"
	      "file, 3 counting or output is not possible.\n", f);
}

/* Fills in the options. 0, a status, or -1 if that was all. */
static int options_read(struct options *options, int argc, char **argv)
{
	struct option longs[NUM_OPTIONS + 1] = {};
	unsigned int i, given = 0;
	enum mode mode;
	void *field;
	int option;
	char *end;
	long value;

	for (i = 0; i < NUM_OPTIONS; i++)
		longs[i] = (struct option){ table[i].name, table[i].kind != FLAG, NULL,
					    table[i].letter ?: 256 + (int)i };
	optind = 0;
	while ((option = getopt_long(argc, argv, ":I:o:ah", longs, NULL)) >= 0) {
		for (i = 0; i < NUM_OPTIONS && longs[i].val != option; i++)
			;
		if (i == NUM_OPTIONS)
			return fail(STATUS_USAGE, option == ':' ? "%s wants a value" :
				    "there is no option %s, see perf metrics --help",
				    optopt && optopt < 256 ? format("-%c", optopt) : argv[optind - 1]);
		given |= 1 << i;
		field = (char *)options + table[i].at;
		if (table[i].kind == FLAG) {
			*(bool *)field = true;
		} else if (table[i].kind != NUMBER) {
			*(const char **)field = optarg;
			if (table[i].kind == TEXT && !*optarg)
				return fail(STATUS_USAGE, "--%s wants a file", table[i].name);
		} else {
			*(int *)field = value = strtol(optarg, &end, 10);
			if (*end || value < 1 || value > 1000000000)
				return fail(STATUS_USAGE, "--%s wants a number from 1 on, not '%s'",
					    table[i].name, optarg);
		}
	}
	mode = optind < argc ? mode_of(argv[optind]) : METRICS;
	if (options->version || options->help) {
		if (options->version)
			puts("perf metrics " VERSION);
		else
			print_usage(stdout, optind < argc ? 1 << mode : ALL);
		return -1;
	}
	if (optind == argc) {
		print_usage(stderr, ALL);
		return STATUS_USAGE;
	}
	for (i = 0; i < NUM_OPTIONS; i++) {
		if (given >> i & 1 && !(table[i].modes >> mode & 1))
			return fail(STATUS_USAGE, "--%s is not for perf metrics%s%s", table[i].name,
				    mode ? " " : " NAME", mode ? modes[mode] : "");
	}
	options->map = mode == MAP;
	options->top = mode == TOP;
	if (options->top)
		options->interval = options->interval ?: 1000;
	if (!options->per_socket && !options->per_box && !options->per_machine)
		*(options->top ? &options->per_socket : &options->per_machine) = true;
	if ((options->interval_count || options->summary) && !options->interval)
		return fail(STATUS_USAGE, "--interval-count and --summary want -I");
	if (options->plan_only + !!options->openmetrics + options->csv + options->json > 1)
		return fail(STATUS_USAGE,
			    "only one of --csv, --json, --openmetrics and --plan can be had");
	if ((options->units && (options->json || options->openmetrics)) ||
	    (options->sort && options->openmetrics))
		return fail(STATUS_USAGE, "--sort and --units are for tables and CSV%s",
			    options->json ? "; JSON has base units" : "");
	if (options->output && options->openmetrics)
		return fail(STATUS_USAGE, "--openmetrics names its file, so -o is too much");
	if (options->top && options->command)
		return fail(STATUS_USAGE, "top takes no command: it has the whole terminal; "
			    "see perf metrics NAME -I 1000 -- COMMAND");
	if (options->map && optind + 1 < argc)
		return fail(STATUS_USAGE, "a map is always of the same metrics, so '%s' is too much",
			    argv[optind + 1]);
	return sort_check(options);
}

static int run(struct session *session, int argc, char **argv)
{
	int status, machine, args, i;

	/* What follows "--" is none of ours. */
	for (args = 1; args < argc && strcmp(argv[args], "--"); args++)
		;
	if (args < argc) {
		session->options.command = argv + args + 1;
		if (!*session->options.command)
			return fail(STATUS_USAGE, "there is no command after --");
		argv[args] = NULL;
	}
	status = options_read(&session->options, args, argv);
	if (status)
		return status < 0 ? 0 : status;
	if (!strcmp(argv[optind], "check"))
		return check_files(session, argv + optind + 1, args - optind - 1);
	machine = machine_read(session);
	status = files_read(session);
	if (!strcmp(argv[optind], "list"))
		return list(session, argv + optind + 1, args - optind - 1) ?: status;
	status = status ?: machine;
	if (status)
		return status;
	if (session->options.map)
		status = map_ask(session);
	for (i = optind + session->options.top; i < args && !session->options.map && !status; i++)
		status = ask(session, argv[i], i == optind);
	if (session->options.top && args == optind + 1 && !status)
		status = ask_usual(session);
	return status ?: measure(session);
}

int session_run(const struct world *world, int argc, char **argv)
{
	struct session session = { .world = world, .target = { .dir = -1, .fd = -1 } };
	int status, written, fd;

	/* Descriptors 0 to 2 are there for perf's; what is printed to a closed one is an error. */
	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	/* Else the first hash of jansson would wait for the kernel's entropy, just after a boot. */
	json_object_seed(1);
	status = run(&session, argc, argv);
	written = output_end();
	free_from(NULL);
	if (session.signal) {
		signal(session.signal, SIG_DFL);
		raise(session.signal);
	}
	return status ?: written;
}
