// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: what the counters say, as numbers a person asked for. perf runs this for
 * "perf metrics". See perf-metrics(1).
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
"      --per-machine       a value for the machine; so it is without any of these\n"
"      --per-socket        a value for each package\n"
"      --per-box           a value for each box, port, core or CPU\n"
"  -a, --all-cpus          all CPUs, also where the metrics are of cores\n"
"      --csv               lines: scope,metric,value,unit,running%\n"
"      --json              a line of JSON for each result\n"
"      --openmetrics FILE  what a textfile collector reads; replaced at once\n"
"      --no-gate           do not hold back others that count on a package\n"
"      --plan              do not count, show what would be counted together\n"
"  -o, --output FILE.svg   of a map: a picture in place of text\n"
"      --matrix            of a map: who talks to whom, too\n"
"      --topology FILE     of a map: where links lead\n"
"  -h, --help\n"
"      --version\n"
"\n"
"Status: that of COMMAND; 1 if there is no value at all, 2 wrong usage, an unknown\n"
"metric or a wrong file, 3 counting is not possible.\n";

static void complain(const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "perf metrics: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
}

void die(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	exit(status);
}

char *format(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die(STATUS_FAILED, "no memory");
	va_end(args);
	return text;
}

void *allocate(size_t size)
{
	void *memory = calloc(1, size ?: 1);

	if (!memory)
		die(STATUS_FAILED, "no memory");
	return memory;
}

void *grow(void *array, size_t num, size_t size)
{
	/* Twice as much whenever it is full: at each power of two. */
	if (num & (num - 1))
		return array;
	array = realloc(array, (num ? 2 * num : 1) * size);
	if (!array)
		die(STATUS_FAILED, "no memory");
	return array;
}

static int whole_number(const char *option, const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > 1000000000)
		die(STATUS_USAGE, "%s wants a number from 1 on, not '%s'", option, text);
	return value;
}

/* A group may be in several files, one for each machine. */
static void ask(const char *name)
{
	bool found = false, here = false;
	int i;

	for (i = 0; i < num_metrics; i++)
		here |= !strcmp(metrics[i]->group->name, name) &&
			machine_is(metrics[i]->group->machines);
	for (i = 0; i < num_metrics; i++) {
		const struct group *group = metrics[i]->group;

		if (strcmp(metrics[i]->name, name) &&
		    (strcmp(group->name, name) || (here && !machine_is(group->machines))))
			continue;
		metrics[i]->asked = true;
		found = true;
	}
	if (!found)
		die(STATUS_USAGE, "there is no metric or group '%s': perf metrics list", name);
}

static int check_files(char **paths, int num)
{
	int errors = 0, i;

	for (i = 0; i < num; i++)
		errors += file_read(paths[i]);
	if (!errors)
		printf("%d metrics\n", num_metrics);
	return errors ? STATUS_USAGE : 0;
}

static int measure(struct options *options)
{
	void (*output)(struct plan *plan, const struct options *options, double time) =
		options->map ? map_output : output_values;
	struct plan plan = {};
	int status;

	plan_make(&plan, options);
	if (options->plan_only) {
		plan_show(&plan);
		return 0;
	}
	if (!plan.num_counters) {
		/* All is n/a, and the values say why. */
		output(&plan, options, 0);
		return STATUS_NO_VALUE;
	}
	/* What is typed is for the command if there is one. */
	if (options->map && options->interval && !options->map_file && !options->command &&
	    terminal_begin())
		options->key = map_key;
	status = count(&plan, options, output);
	terminal_end();
	fflush(stdout);
	if (count_signal) {
		signal(count_signal, SIG_DFL);
		raise(count_signal);
	}
	return output_any || status ? status : STATUS_NO_VALUE;
}

int main(int argc, char **argv)
{
	enum { CSV = 256, JSON, OPENMETRICS, PER_MACHINE, PER_SOCKET, PER_BOX, COUNT, SUMMARY, NO_GATE,
	       PLAN, MATRIX, TOPOLOGY, VERSION_OPT };
	static const struct option longs[] = {
		{ "interval", required_argument, NULL, 'I' },
		{ "interval-count", required_argument, NULL, COUNT },
		{ "summary", no_argument, NULL, SUMMARY },
		{ "per-machine", no_argument, NULL, PER_MACHINE },
		{ "per-socket", no_argument, NULL, PER_SOCKET },
		{ "per-box", no_argument, NULL, PER_BOX },
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "csv", no_argument, NULL, CSV },
		{ "json", no_argument, NULL, JSON },
		{ "openmetrics", required_argument, NULL, OPENMETRICS },
		{ "no-gate", no_argument, NULL, NO_GATE },
		{ "plan", no_argument, NULL, PLAN },
		{ "output", required_argument, NULL, 'o' },
		{ "matrix", no_argument, NULL, MATRIX },
		{ "topology", required_argument, NULL, TOPOLOGY },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, VERSION_OPT },
		{}
	};
	struct options options = {};
	int args, option, i;

	/* Else the first hash of jansson would wait for the kernel's entropy, just after a boot. */
	json_object_seed(1);
	/* What follows "--" is none of ours. */
	for (args = 1; args < argc && strcmp(argv[args], "--"); args++)
		;
	if (args < argc) {
		options.command = argv + args + 1;
		if (!*options.command)
			die(STATUS_USAGE, "there is no command after --");
		argv[args] = NULL;
	}
	while ((option = getopt_long(args, argv, "I:o:ah", longs, NULL)) >= 0) {
		switch (option) {
		case 'I':
			options.interval = whole_number("-I", optarg);
			break;
		case COUNT:
			options.interval_count = whole_number("--interval-count", optarg);
			break;
		case SUMMARY:
			options.summary = true;
			break;
		case PER_MACHINE:
			options.per_machine = true;
			break;
		case PER_SOCKET:
			options.per_socket = true;
			break;
		case PER_BOX:
			options.per_box = true;
			break;
		case 'a':
			options.all_cpus = true;
			break;
		case CSV:
			options.form = FORM_CSV;
			break;
		case JSON:
			options.form = FORM_JSON;
			break;
		case OPENMETRICS:
			options.openmetrics = optarg;
			break;
		case NO_GATE:
			options.no_gate = true;
			break;
		case PLAN:
			options.plan_only = true;
			break;
		case 'o':
			options.map_file = optarg;
			break;
		case MATRIX:
			options.matrix = true;
			break;
		case TOPOLOGY:
			options.topology = optarg;
			break;
		case VERSION_OPT:
			puts("perf metrics " VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return STATUS_USAGE;
		}
	}
	if (optind == args) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	if (!options.per_socket && !options.per_box)
		options.per_machine = true;
	if ((options.interval_count || options.summary) && !options.interval)
		die(STATUS_USAGE, "--interval-count and --summary want -I");
	if (!strcmp(argv[optind], "check"))
		return check_files(argv + optind + 1, args - optind - 1);
	options.map = !strcmp(argv[optind], "map");
	if (options.map && optind + 1 < args)
		die(STATUS_USAGE, "a map is always of the same metrics, so '%s' is too much",
		    argv[optind + 1]);
	if (options.map && (options.form || options.openmetrics))
		die(STATUS_USAGE, "a map is no table: no --csv, --json, --openmetrics");
	if (!options.map && (options.map_file || options.matrix || options.topology))
		die(STATUS_USAGE, "-o, --matrix and --topology are for perf metrics map");
	machine_read();
	files_read();
	if (!strcmp(argv[optind], "list")) {
		list(argv + optind + 1, args - optind - 1, options.form == FORM_JSON);
		return 0;
	}
	if (options.map)
		map_ask(&options);
	for (i = optind; i < args && !options.map; i++)
		ask(argv[i]);
	return measure(&options);
}
