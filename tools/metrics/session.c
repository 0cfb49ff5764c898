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

static const char usage[] =
"usage: perf metrics list [NAME...] [--json]\n"
"       perf metrics NAME... [OPTION...] [-- COMMAND...]\n"
"       perf metrics map [-I MS] [-o FILE.svg] [--matrix] [--topology FILE] [-- COMMAND...]\n"
"       perf metrics check FILE...\n"
"\n"
"NAME is a group or a metric of \"perf metrics list\". They are computed of all packages\n"
"while COMMAND runs, or until Ctrl-C.\n"
"\n"
"  -I, --interval MS       a result each MS milliseconds\n"
"      --interval-count N  N of them\n"
"      --summary           and one of the whole time\n"
"      --per-machine       a value for the machine: the default\n"
"      --per-socket        a value for each package\n"
"      --per-box           a value for each box, port, core or CPU\n"
"  -a, --all-cpus          all CPUs, also where the metrics are of cores\n"
"      --csv               lines: scope,metric,value,unit,running,note\n"
"      --json              a line of JSON for each result\n"
"      --openmetrics FILE  what a textfile collector reads; - is stdout\n"
"      --no-gate           do not stop others' counters while events are opened\n"
"      --plan              do not count, show what would be counted together\n"
"  -o, --output FILE.svg   of a map: a picture in place of text\n"
"      --matrix            of a map: who talks to whom, too\n"
"      --topology FILE     of a map: where links lead\n"
"  -h, --help\n"
"      --version\n"
"\n"
"Status: that of COMMAND, 128 more than the signal that ended it, 127 if there is none of\n"
"this name; 1 if there is no value at all, 2 wrong usage, an unknown metric or a wrong file,\n"
"3 counting or output is not possible.\n";

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
	const char *file = options->map ? options->map_file : options->openmetrics;
	int status = plan_make(session);

	if (!status && !session->plan.num_counters)
		status = machine_check(session);
	if (!status && options->plan_only) {
		output_plan(session);
		return 0;
	}
	if (!status && file)
		status = replace_begin(session, file);
	if (status)
		return status;
	/* What is typed is for the command if there is one. */
	if (options->map && options->interval && !options->map_file && !options->command &&
	    terminal_begin())
		session->key = map_key;
	status = count(session, options->map ? map_output : output_values);
	replace_cancel(session);
	return session->any_value || status ? status : STATUS_NO_VALUE;
}

const char * const modes[] = { "metrics", "list", "map", "check" };

enum mode mode_of(const char *word)
{
	enum mode mode;

	for (mode = CHECK; mode && strcmp(word, modes[mode]); mode--)
		;
	return mode;
}

/* Options by where their value goes; of a number its first value is 1. */
static const struct {
	const char *name;
	int letter;
	enum { FLAG, NUMBER, TEXT, FORM, HELP } kind;
	size_t at;
	unsigned int modes;	/* that it is for, a bit each */
} table[] = {
#define AT(field)	offsetof(struct options, field)
#define COUNT		(1 << METRICS | 1 << MAP)
	{ "interval", 'I', NUMBER, AT(interval), COUNT },
	{ "interval-count", 0, NUMBER, AT(interval_count), COUNT },
	{ "summary", 0, FLAG, AT(summary), COUNT },
	{ "per-machine", 0, FLAG, AT(per_machine), 1 << METRICS },
	{ "per-socket", 0, FLAG, AT(per_socket), 1 << METRICS },
	{ "per-box", 0, FLAG, AT(per_box), 1 << METRICS },
	{ "all-cpus", 'a', FLAG, AT(all_cpus), 1 << METRICS },
	{ "csv", 0, FORM, FORM_CSV, 1 << METRICS },
	{ "json", 0, FORM, FORM_JSON, 1 << METRICS | 1 << LIST },
	{ "openmetrics", 0, TEXT, AT(openmetrics), 1 << METRICS },
	{ "no-gate", 0, FLAG, AT(no_gate), COUNT },
	{ "plan", 0, FLAG, AT(plan_only), COUNT },
	{ "output", 'o', TEXT, AT(map_file), 1 << MAP },
	{ "matrix", 0, FLAG, AT(matrix), 1 << MAP },
	{ "topology", 0, TEXT, AT(topology), 1 << MAP },
	{ "help", 'h', HELP, 0 },
	{ "version", 0, HELP, 1 },
};

#define NUM_OPTIONS	(sizeof(table) / sizeof(table[0]))

/* One option. 0, a status, or -1 if that was all. */
static int option_set(struct options *options, int i)
{
	void *field = (char *)options + table[i].at;
	char *end;
	long value;

	switch (table[i].kind) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = optarg;
		return *optarg ? 0 : fail(STATUS_USAGE, "--%s wants a file", table[i].name);
	case FORM:
		options->form |= table[i].at;
		return 0;
	case NUMBER:
		value = strtol(optarg, &end, 10);
		*(int *)field = value;
		return !*end && value >= 1 && value <= 1000000000 ? 0 :
		       fail(STATUS_USAGE, "--%s wants a number from 1 on, not '%s'", table[i].name,
			    optarg);
	default:
		fputs(table[i].at ? "perf metrics " VERSION "\n" : usage, stdout);
		return -1;
	}
}

/* Fills in the options. 0, a status, or -1 if that was all. */
static int options_read(struct options *options, int argc, char **argv)
{
	struct option longs[NUM_OPTIONS + 1] = {};
	unsigned int i, given = 0;
	enum mode mode;
	int option, status;

	for (i = 0; i < NUM_OPTIONS; i++)
		longs[i] = (struct option){ table[i].name, table[i].kind == NUMBER ||
					    table[i].kind == TEXT, NULL, table[i].letter ?: 256 + (int)i };
	optind = 0;
	while ((option = getopt_long(argc, argv, ":I:o:ah", longs, NULL)) >= 0) {
		for (i = 0; i < NUM_OPTIONS && longs[i].val != option; i++)
			;
		if (i == NUM_OPTIONS)
			return fail(STATUS_USAGE, option == ':' ? "%s wants a value" :
				    "there is no option %s, see perf metrics --help",
				    optopt && optopt < 256 ? format("-%c", optopt) : argv[optind - 1]);
		given |= 1 << i;
		status = option_set(options, i);
		if (status)
			return status;
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	mode = mode_of(argv[optind]);
	for (i = 0; i < NUM_OPTIONS; i++) {
		if (given >> i & 1 && !(table[i].modes >> mode & 1))
			return fail(STATUS_USAGE, "--%s is not for perf metrics%s%s", table[i].name,
				    mode ? " " : " NAME", mode ? modes[mode] : "");
	}
	options->map = mode == MAP;
	if (!options->per_socket && !options->per_box)
		options->per_machine = true;
	if ((options->interval_count || options->summary) && !options->interval)
		return fail(STATUS_USAGE, "--interval-count and --summary want -I");
	if (options->plan_only + !!options->openmetrics + (options->form == FORM_BOTH ? 2 :
							   !!options->form) > 1)
		return fail(STATUS_USAGE,
			    "only one of --csv, --json, --openmetrics and --plan can be had");
	if (options->map && optind + 1 < argc)
		return fail(STATUS_USAGE, "a map is always of the same metrics, so '%s' is too much",
			    argv[optind + 1]);
	return 0;
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
	for (i = optind; i < args && !session->options.map && !status; i++)
		status = ask(session, argv[i], i == optind);
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
