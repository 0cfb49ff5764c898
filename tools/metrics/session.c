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

#include "rule.h"

/* A group may be in several files, one for each machine. */
int session_ask(struct session *session, const char *name, bool first)
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

/* What top is of by itself. */
static int top_ask(struct session *session)
{
	return machine_is(session, "06_2e 06_2f") ?
	       session_ask(session, "memory_bandwidth", false) ?:
	       session_ask(session, "llc_miss_rate", false) ?:
	       session_ask(session, "qpi_utilization", false) : why_ask(session, NULL, 0);
}

static int check_files(struct session *session, char **paths, int num)
{
	struct session installed = { .world = session->world };
	int errors = 0, i;

	if (!num)
		return fail(STATUS_USAGE, "check needs files");
	for (i = 0; i < num; i++)
		errors += file_read(session, &(struct text){ paths[i] });
	/* Rules may be of metrics that are elsewhere. */
	if (!errors && !rules_complete(session))
		errors = files_read(&installed) ? 1 : 0;
	if (!errors)
		errors = rules_resolve(session, &installed);
	if (!errors)
		printf("%d metrics%s\n", session->num_metrics, session->num_rules ?
		       format(", %d rules", session->num_rules) : "");
	return errors ? STATUS_USAGE : 0;
}

output_fn *output_of(const struct options *options)
{
	return options->show == MAP ? map_output : options->show == WHY ? why_output :
	       options->show == TOP ? top_output : options->show == RECORD ? record_output :
	       output_values;
}

int output_begin(struct session *session)
{
	const struct options *options = &session->options;
	const char *file = options->output ?: options->openmetrics;
	int status = file ? replace_begin(session, file) : 0;

	/* All that is printed, also of several intervals, is one file. */
	if (!status && options->output && options->show != MAP && options->show != RECORD) {
		session->out = stdout;
		stdout = session->file;
	}
	return status;
}

int output_finish(struct session *session, int status)
{
	int written = 0;

	if (session->out) {
		stdout = session->out;
		session->out = NULL;
		if (session->results)
			written = replace_end(session, session->options.output);
	}
	replace_cancel(session);
	return status ?: written;
}

static int measure(struct session *session)
{
	const struct options *options = &session->options;
	int status = plan_make(session);

	if (!status && !session->plan.num_counters)
		status = machine_check(session);
	if (!status && options->plan_only) {
		output_plan(session);
		return 0;
	}
	status = status ?: output_begin(session);
	hold_signals();
	if (!status && options->show == TOP)
		status = top_begin(session);
	if (status)
		return output_finish(session, status);
	/* What is typed is for the command if there is one. */
	if (options->show == MAP && options->interval && !options->output && !options->command)
		map_begin(session);
	status = output_finish(session, count(session, output_of(options)));
	if (options->show == WHY)
		status = why_status(session, status);
	return session->any_value || status ? status : STATUS_NO_VALUE;
}

const char * const modes[] = {
	"metrics", "list", "map", "top", "check", "why", "status", "record", "report", "diff"
};

bool runs_command(enum mode mode)
{
	return mode == METRICS || mode == MAP || mode == WHY || mode == RECORD;
}

enum mode mode_of(const char *word)
{
	enum mode mode;

	for (mode = NUM_MODES - 1; mode && strcmp(word, modes[mode]); mode--)
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
#define VERDICT		(1 << WHY)
#define RECORDS		(1 << RECORD)
#define REPORTS		(1 << REPORT)
#define COUNTS		(VALUES | PICTURE | VERDICT | RECORDS)
#define SCOPES		(VALUES | REPORTS | 1 << DIFF)
#define ALL		((1 << NUM_MODES) - 1)
	{ "interval", 'I', NUMBER, AT(interval), COUNTS | REPORTS, "a result each N milliseconds" },
	{ "interval-count", 0, NUMBER, AT(interval_count), COUNTS, "N of them" },
	{ "summary", 0, FLAG, AT(summary), TABLE | PICTURE | VERDICT | REPORTS,
	  "and one of the whole time" },
	{ "per-machine", 0, FLAG, AT(per_machine), SCOPES, "a value for the machine: the default" },
	{ "per-socket", 0, FLAG, AT(per_socket), SCOPES, "a value for each package" },
	{ "per-box", 0, FLAG, AT(per_box), SCOPES, "a value for each box, port, core or CPU" },
	{ "all-cpus", 'a', FLAG, AT(all_cpus), VALUES | VERDICT | RECORDS,
	  "all CPUs, also of metrics of cores" },
	{ "csv", 0, FLAG, AT(csv), TABLE | REPORTS, "lines: scope,metric,value,unit,running,note" },
	{ "json", 0, FLAG, AT(json), TABLE | REPORTS | 1 << DIFF | 1 << LIST | VERDICT | 1 << STATUS,
	  "a line of JSON for each result" },
	{ "openmetrics", 0, TEXT, AT(openmetrics), TABLE | REPORTS,
	  "for a textfile collector; - is stdout" },
	{ "html", 0, TEXT, AT(html), REPORTS, "a page: verdicts, lines over time, the map, a table" },
	{ "no-gate", 0, FLAG, AT(no_gate), COUNTS,
	  "do not stop others' counters while events are opened" },
	{ "plan", 0, FLAG, AT(plan_only), COUNTS,
	  "do not count, show what would be counted together" },
	{ "output", 'o', TEXT, AT(output), TABLE | PICTURE | VERDICT | RECORDS | REPORTS,
	  "in place of stdout; of a map: SVG; of record: the recording" },
	{ "sort", 0, WORD, AT(sort), VALUES | REPORTS,
	  "by name, by scope, or the highest value first" },
	{ "units", 0, WORD, AT(units), VALUES | REPORTS,
	  "prefixes of rates: auto, or base (none, for scripts)" },
	{ "matrix", 0, FLAG, AT(matrix), PICTURE | RECORDS | REPORTS,
	  "of a map: who talks to whom, too" },
	{ "host", 0, FLAG, AT(host), PICTURE | REPORTS,
	  "of a map: the name of the machine in its title" },
	{ "topology", 0, TEXT, AT(topology), COUNTS | REPORTS | 1 << STATUS,
	  "where links lead, and limits; status prints one to be filled in" },
	{ "fail-on", 0, WORD, AT(fail_on), VERDICT | REPORTS,
	  "status 4 if one of these rules holds, or any" },
	{ "rules", 0, FLAG, AT(rules), 1 << LIST, "the rules of perf metrics why" },
	{ "help", 'h', FLAG, AT(help), ALL, "after one of these words: the options that it has" },
	{ "version", 0, FLAG, AT(version), ALL, "of perf metrics" },
};

#define NUM_OPTIONS	(sizeof(table) / sizeof(table[0]))

static void print_usage(FILE *f, unsigned int modes)
{
	static const char * const values[] = { "", " N", " FILE", " WORD" };
	unsigned int i;

	fputs("usage: perf metrics status [--topology]\n"
	      "       perf metrics why [RULE...] [--fail-on RULE] [OPTION...] [-- COMMAND...]\n"
	      "       perf metrics list [NAME...] [--rules] [--json]\n"
	      "       perf metrics NAME... [OPTION...] [-- COMMAND...]\n"
	      "       perf metrics top [NAME...] [OPTION...]\n"
	      "       perf metrics map [-I N] [-o FILE.svg] [--matrix] [--topology FILE] [-- COMMAND...]\n"
	      "       perf metrics record -o FILE [-I N] [NAME...] [-- COMMAND...]\n"
	      "       perf metrics report FILE [NAME... | map | why [RULE...]] [OPTION...]\n"
	      "       perf metrics diff FILE FILE [NAME...] [OPTION...]\n"
	      "       perf metrics check FILE...\n\n"
	      "NAME is a group or a metric of \"perf metrics list\". Values are of all packages\n"
	      "while COMMAND runs, or until Ctrl-C.\n\n", f);
	for (i = 0; i < NUM_OPTIONS; i++) {
		if (table[i].modes & modes)
			fprintf(f, "  %c%c%c --%-18s%s\n", table[i].letter ? '-' : ' ',
				table[i].letter ?: ' ', table[i].letter ? ',' : ' ',
				format("%s%s", table[i].name, values[modes == 1 << STATUS ? FLAG :
								     table[i].kind]), table[i].help);
	}
	fputs("\nStatus: that of COMMAND, 128 more than the signal that ended it, 127 if there is none\n"
	      "of this name; 1 if there is no value at all, 2 wrong usage, an unknown metric or a wrong\n"
	      "file, 3 counting or output is not possible, 4 a rule of --fail-on holds.\n", f);
}

static bool is_table(const struct options *options)
{
	return (options->show == METRICS || options->show == TOP) && !options->openmetrics &&
	       !options->html;
}

/* Fills in the options. 0, a status, or -1 if that was all. */
static int options_read(struct options *options, int argc, char **argv)
{
	struct option longs[NUM_OPTIONS + 1] = {};
	unsigned int i, given = 0;
	enum mode mode;
	void *field;
	int option, rest;
	char *end;
	long value;

	/* Status prints a topology file and takes none. */
	for (rest = 1; rest < argc && *argv[rest] == '-'; rest++)
		;
	mode = rest < argc ? mode_of(argv[rest]) : METRICS;
	for (i = 0; i < NUM_OPTIONS; i++)
		longs[i] = (struct option){ table[i].name, table[i].kind != FLAG &&
					    (mode != STATUS || table[i].at != AT(topology)), NULL,
					    table[i].letter ?: 256 + (int)i };
	optind = 0;
	while ((option = getopt_long(argc, argv, ":I:o:ah", longs, NULL)) >= 0) {
		for (i = 0; i < NUM_OPTIONS && longs[i].val != option; i++)
			;
		if (i == NUM_OPTIONS) {
			for (i = 0; i < NUM_OPTIONS && longs[i].val != optopt; i++)
				;
			return fail(STATUS_USAGE, option == ':' ? "%s needs a value, see perf metrics --help" :
				    i < NUM_OPTIONS ? "%s takes no value" :
				    "there is no option %s, see perf metrics --help",
				    i < NUM_OPTIONS && (option != ':' || optopt >= 256) ?
				    format("--%s", table[i].name) :
				    optopt ? format("-%c", optopt) : argv[optind - 1]);
		}
		given |= 1 << i;
		field = (char *)options + table[i].at;
		if (table[i].kind == FLAG) {
			*(bool *)field = true;
		} else if (table[i].kind != NUMBER) {
			*(const char **)field = optarg ?: table[i].name;
			if (table[i].kind == TEXT && optarg && !*optarg)
				return fail(STATUS_USAGE, "--%s needs a file", table[i].name);
		} else {
			*(int *)field = value = strtol(optarg, &end, 10);
			if (*end || value < 1 || value > MAX_NUMBER)
				return fail(STATUS_USAGE, "--%s needs a number from 1 on, not '%s'",
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
	options->mode = options->show = mode;
	rest = optind + 1;
	if (mode == REPORT) {
		options->show = optind + 2 < argc ? mode_of(argv[optind + 2]) : METRICS;
		if (options->show != MAP && options->show != WHY)
			options->show = METRICS;
		rest += options->show ? 2 : 1;
	}
	if (mode == RECORD && !options->output)
		return fail(STATUS_USAGE, "record needs -o FILE, as in perf metrics record -o FILE -- COMMAND");
	if (mode == RECORD || mode == TOP)
		options->interval = options->interval ?: 1000;
	options->summary |= mode == RECORD;
	if (!options->per_socket && !options->per_box && !options->per_machine)
		*(mode == TOP ? &options->per_socket : &options->per_machine) = true;
	if (options->interval && options->interval < 10 && mode != REPORT)
		return fail(STATUS_USAGE, "-I %d is too little: reading all counters takes milliseconds; "
			    "10 is the least", options->interval);
	if ((options->interval_count || options->summary) && !options->interval)
		return fail(STATUS_USAGE, "--interval-count and --summary need -I");
	if (options->plan_only + !!options->openmetrics + options->csv + !!options->html +
	    (mode == REPORT && options->show) +
	    (options->json && (mode != REPORT || options->show != WHY)) > 1)
		return fail(STATUS_USAGE, mode == REPORT ?
			    "only one of --csv, --json, --openmetrics, --html, map and why can be had" :
			    "only one of --csv, --json, --openmetrics and --plan can be had");
	if (options->html && options->interval)
		return fail(STATUS_USAGE, "a page has all intervals, so -I is too much");
	if ((options->units && (options->json || !is_table(options))) ||
	    (options->sort && !is_table(options)))
		return fail(STATUS_USAGE, "--sort and --units are for tables and CSV%s",
			    options->json ? "; JSON has base units" : "");
	if (options->output && (options->openmetrics || options->html))
		return fail(STATUS_USAGE, "--%s names its file, so -o is too much",
			    options->html ? "html" : "openmetrics");
	if (options->plan_only && options->output && mode != RECORD)
		return fail(STATUS_USAGE, "--plan is printed, so -o is too much");
	if (mode == TOP && options->command)
		return fail(STATUS_USAGE, "top takes no command: it has the whole terminal; "
			    "see perf metrics NAME -I 1000 -- COMMAND");
	if (options->command && !runs_command(mode))
		return fail(STATUS_USAGE, "%s runs no command; remove '-- %s'", modes[mode],
			    *options->command);
	if (options->show != MAP && (options->host || (options->matrix && mode == REPORT &&
						       !options->html)))
		return fail(STATUS_USAGE, "--matrix and --host are for perf metrics report FILE map");
	if (options->fail_on && options->show != WHY)
		return fail(STATUS_USAGE, "--fail-on is for perf metrics report FILE why");
	if (mode == STATUS && rest < argc)
		return fail(STATUS_USAGE, "status is of the machine, so '%s' is too much", argv[rest]);
	if (options->show == MAP && rest < argc)
		return fail(STATUS_USAGE, "a map is always of the same metrics, so '%s' is too much",
			    argv[rest]);
	return sort_check(options);
}

static int run(struct session *session, int argc, char **argv)
{
	const char *posix = getenv("POSIXLY_CORRECT");
	int status, machine, args, first, i;
	enum mode mode;

	/* What follows "--" is none of ours. */
	for (args = 1; args < argc && strcmp(argv[args], "--"); args++)
		;
	if (args < argc) {
		session->options.command = argv + args + 1;
		if (!*session->options.command)
			return fail(STATUS_USAGE, "there is no command after --");
		argv[args] = NULL;
	}
	/* With it an option behind NAME is a name. The command gets it back. */
	posix = posix ? format("%s", posix) : NULL;
	unsetenv("POSIXLY_CORRECT");
	status = options_read(&session->options, args, argv);
	if (posix)
		setenv("POSIXLY_CORRECT", posix, 1);
	if (status)
		return status < 0 ? 0 : status;
	mode = session->options.mode;
	first = optind + !!mode;
	if (mode == CHECK)
		return check_files(session, argv + first, args - first);
	if (mode == REPORT)
		return report(session, argv + first, args - first);
	if (mode == DIFF)
		return diff(session, argv + first, args - first);
	machine = machine_read(session);
	status = files_read(session);
	if (mode == STATUS)
		return status_show(session, status);
	if (mode == LIST)
		return list(session, argv + first, args - first) ?: status;
	status = status ?: machine;
	if (status)
		return status;
	/* Now, because what is allocated within a result is freed behind it. A table has no limits. */
	if (mode != METRICS || session->options.openmetrics || session->options.topology)
		status = session_topology(session);
	if (!status && mode == MAP)
		status = map_ask(session);
	if (!status && mode == WHY)
		status = why_ask(session, argv + first, args - first);
	for (i = first; i < args && mode != MAP && mode != WHY && !status; i++)
		status = session_ask(session, argv[i], mode == METRICS && i == first);
	if (!status && mode == RECORD)
		status = record_ask(session, i > first);
	if (!status && mode == TOP && first == args)
		status = top_ask(session);
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
