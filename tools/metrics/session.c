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
"      --per-machine       a value for the machine; so it is without any of these\n"
"      --per-socket        a value for each package\n"
"      --per-box           a value for each box, port, core or CPU\n"
"  -a, --all-cpus          all CPUs, also where the metrics are of cores\n"
"      --csv               lines: scope,metric,value,unit,running%,note\n"
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
"Status: that of COMMAND, 128 more than the signal that ended it, 127 if there is none of\n"
"this name; 1 if there is no value at all, 2 wrong usage, an unknown metric or a wrong file,\n"
"3 counting or output is not possible.\n";

/* 0 if it is none. */
static int whole_number(const char *option, const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (!*end && value >= 1 && value <= 1000000000)
		return value;
	warn("%s wants a number from 1 on, not '%s'", option, text);
	return 0;
}

/* A group may be in several files, one for each machine. */
static int ask(struct session *session, const char *name)
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
	return found ? 0 : unknown(session, name);
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
	terminal_end();
	replace_cancel(session);
	return session->any_value || status ? status : STATUS_NO_VALUE;
}

/* Fills in the options. 0, a status, or -1 if that was all. */
static int options_read(struct options *options, int argc, char **argv)
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
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "I:o:ah", longs, NULL)) >= 0) {
		switch (option) {
		case 'I':
			options->interval = whole_number("-I", optarg);
			if (!options->interval)
				return STATUS_USAGE;
			break;
		case COUNT:
			options->interval_count = whole_number("--interval-count", optarg);
			if (!options->interval_count)
				return STATUS_USAGE;
			break;
		case SUMMARY:
			options->summary = true;
			break;
		case PER_MACHINE:
			options->per_machine = true;
			break;
		case PER_SOCKET:
			options->per_socket = true;
			break;
		case PER_BOX:
			options->per_box = true;
			break;
		case 'a':
			options->all_cpus = true;
			break;
		case CSV:
			options->form |= FORM_CSV;
			break;
		case JSON:
			options->form |= FORM_JSON;
			break;
		case OPENMETRICS:
			options->openmetrics = optarg;
			break;
		case NO_GATE:
			options->no_gate = true;
			break;
		case PLAN:
			options->plan_only = true;
			break;
		case 'o':
			options->map_file = optarg;
			break;
		case MATRIX:
			options->matrix = true;
			break;
		case TOPOLOGY:
			options->topology = optarg;
			break;
		case VERSION_OPT:
			puts("perf metrics " VERSION);
			return -1;
		case 'h':
			fputs(usage, stdout);
			return -1;
		default:
			return STATUS_USAGE;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	if (!options->per_socket && !options->per_box)
		options->per_machine = true;
	if ((options->interval_count || options->summary) && !options->interval)
		return fail(STATUS_USAGE, "--interval-count and --summary want -I");
	if (options->form == FORM_BOTH || (options->form && options->openmetrics))
		return fail(STATUS_USAGE, "only one of --csv, --json and --openmetrics can be had");
	options->map = !strcmp(argv[optind], "map");
	if (options->map && optind + 1 < argc)
		return fail(STATUS_USAGE, "a map is always of the same metrics, so '%s' is too much",
			    argv[optind + 1]);
	if (options->map && (options->form || options->openmetrics))
		return fail(STATUS_USAGE, "a map is no table: no --csv, --json, --openmetrics");
	if (!options->map && (options->map_file || options->matrix || options->topology))
		return fail(STATUS_USAGE, "-o, --matrix and --topology are for perf metrics map");
	return 0;
}

static int run(struct session *session, int argc, char **argv)
{
	int status, args, i;

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
	machine_read(session);
	status = files_read(session);
	if (status)
		return status;
	if (!strcmp(argv[optind], "list"))
		return list(session, argv + optind + 1, args - optind - 1);
	if (session->options.map)
		status = map_ask(session);
	for (i = optind; i < args && !session->options.map && !status; i++)
		status = ask(session, argv[i]);
	return status ?: measure(session);
}

int session_run(const struct world *world, int argc, char **argv)
{
	struct session session = { .world = world };
	int status, written, fd;

	/* Descriptors 0 to 2 are there for perf's. */
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	/* Else the first hash of jansson would wait for the kernel's entropy, just after a boot. */
	json_object_seed(1);
	status = run(&session, argc, argv);
	written = output_end();
	if (session.signal) {
		signal(session.signal, SIG_DFL);
		raise(session.signal);
	}
	return status ?: written;
}
