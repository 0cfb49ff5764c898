/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf-metrics: answers in place of events.
 *
 *	main.c		the real world
 *	session.c	options, and what is done with them
 *	files.c		metric files: what to count and how to compute with it
 *	machine.c	what sysfs tells: packages, PMUs, events
 *	plan.c		which events are counted together, in as few passes as possible
 *	count.c		perf stat counts
 *	value.c		what the metrics are
 *	output.c	table, CSV, JSON, OpenMetrics; the order of values
 *	list.c		what there is
 *	record.c	what has been counted, in a file
 *	report.c	the same output from there
 *	diff.c		what has changed between two of them
 *	html.c		a page of one
 *	top.c		a table that is redrawn
 *	screen.c	the terminal on which that and a map are
 *	replace.c	files that others read meanwhile
 *	util.c		memory, messages, numbers as text
 *	map.h		the rest draws maps
 *	rule.h		and this judges: rules, limits, why, status
 */
#ifndef PERF_METRICS_H
#define PERF_METRICS_H

#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

#define MAX_EVENTS	12	/* of a metric */
#define MAX_PARTS	64	/* ports, cores or the like of a package */
#define MAX_CPUS	8192
#define MAX_NUMBER	1000000000	/* of an option, such as the interval in ms */
#define MAX_PACKAGES	256

/* Exit statuses of our own; otherwise that of the command. */
#define STATUS_NO_VALUE	1	/* all is n/a */
#define STATUS_USAGE	2	/* wrong usage, unknown metric, bad file */
#define STATUS_FAILED	3	/* counting is not possible */

/* ---- util.c ---- */

/* Says it on stderr. fail() returns the status, so that "return fail(...)" ends what is done. */
int fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define warn(...) ((void)fail(0, __VA_ARGS__))
/*
 * Memory is there until the end, but for what is made for one result: that is freed at once.
 * All of it begins with 0. Without memory the process ends, and perf with it: see count.c.
 */
void *allocate(size_t size);
/* Frees what was allocated since mark() returned this, or all for NULL. */
const void *mark(void);
void free_from(const void *mark);
/* One more at the end of an array that begins with NULL and 0. */
#define append(array, num) ((array) = grow(array, num, sizeof(*(array))), &(array)[(num)++])
void *grow(void *array, size_t num, size_t size);
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The text with each {name} replaced. */
char *replaced(const char *text, const char *name, const char *by);
/* Splits off the first word and returns it; NULL at the end. */
char *next_word(char **text);
/* A number with its unit, as short as people want it. */
char *number_text(double value, const char *unit);
/* The same of a table, with so many digits behind the point, or more where these would be zeros. */
char *digits_text(double value, int digits);
/* The prefix by which a value is less than the most. */
const char *scaled(double *value, double most);
/* Of a rate; the unit changes with it. */
const char *prefixed(double *value, const char **unit);
/* The bytes of the control character here, also of U+0080 to U+009F; 0 for a tab or none. */
int control_at(const char *text);
struct json_t;
/*
 * JSON is UTF-8 without control characters; arguments, names of files and CPUs are what they are.
 * NULL for NULL.
 */
struct json_t *string_json(const char *text);
/* A line of JSON, which is gone then; false if it could not be written. */
bool put_json(FILE *f, struct json_t *json);
/* The text with each of these characters in another form, such as "\\%c". */
char *escaped(const char *text, const char *what, const char *as);
/*
 * Prints words from column on, up to a width of columns; the line is at column already. A tab is a
 * space at which no line is broken.
 */
void put_wrapped(FILE *f, const char *text, int column, int width);
/* To stdout, in 80 columns. */
void print_wrapped(const char *text, int column);

/**
 * struct world - what is outside of the program; tests have another one
 * @sys: where sysfs is
 * @cpuinfo: the file that names the CPU
 * @perf: the program perf, as execvp() finds it
 * @patience: how long perf may take to end after it was told to, ms; to begin, four times that
 * @open: perf_event_open(); returns a file descriptor, or -1 and errno
 * @proc: where /proc is, NULL for nowhere
 * @modules: the directory of the running kernel's modules, likewise
 */
struct world {
	const char *sys, *cpuinfo, *perf;
	int patience;
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags);
	const char *proc, *modules;
};

/* ---- metric files ---- */

enum scope {
	SCOPE_PACKAGE,
	SCOPE_BOX,	/* each box of a kind by itself */
	SCOPE_CPU,	/* each CPU by itself */
	SCOPE_PART,	/* ports, cores, ...: the file lists them */
};

/* How counts of several boxes become one number. */
enum reduce {
	REDUCE_SUM,
	REDUCE_MEAN,
	REDUCE_MAX,
	REDUCE_MIN,
};

extern const char * const reduce_names[];

struct metric_event {
	char *name;
	enum reduce reduce;
	char *text;		/* PMU/terms/, maybe with {part} */
};

struct formula {
	char *text;
	void *parser;
};

struct group {
	char *name;
	char *help;
	char *machines;		/* CPU models as 06_2e, NULL for any */
};

struct metric {
	char *name;
	char *family;		/* the name that Prometheus has: what is measured, then the unit */
	struct group *group;
	char *help;
	char *unit;
	char *file;
	int line;
	enum scope scope;
	char *kind;		/* of the parts, such as "port" */
	char *part[MAX_PARTS];
	int num_parts;
	struct metric_event event[MAX_EVENTS];
	int num_events;
	unsigned int used;	/* events that formulas have, a bit each */
	char *apart;		/* not NULL: the events may be multiplexed */
	struct formula formula;
	struct formula valid;	/* where it is 0 the value is n/a */
	char *valid_why;
	double limit[2];	/* a value outside cannot be */
	double plausible[2];	/* a value outside is marked */
	char *doubt;		/* lines, or NULL */
	char *source;
	/* The variables of the formulas: events, then seconds */
	double var[MAX_EVENTS + 1];
	bool asked;
};

struct session;

/* Gets each line: its first word, and the rest. NULL, or what is wrong with it. */
typedef const char *take_fn(void *data, int number, char *word, char *rest);
/* A file by its name, and what is in it: NULL until it is read there. */
struct text {
	const char *path;
	const char *text;
	size_t size;
};

/*
 * Of a file of text, less empty lines and comments. The number of errors, which have been told; the
 * text is still NULL if the file could not be read.
 */
int lines_read(struct text *file, take_fn *take, void *data);
/* Reads a metric file, likewise. */
int file_read(struct session *session, struct text *file);
/* Reads what is installed and what the user has. 0, or a status if there is none, or wrong. */
int files_read(struct session *session);
/* The path of the last such file beside metric files, or NULL. */
char *file_find(const char *name);

double formula_value(const struct formula *formula);
/* Does this condition hold? One that has no value does not. */
bool formula_true(const struct formula *formula);
/*
 * A formula over variables; those that it has get their bit in *used. NULL, or what is wrong.
 */
const char *formula_parse(struct formula *formula, const char * const *names, double *vars,
			  int num_vars, unsigned int *used, char *text);
/* Is this a word of a-z, 0-9 and _? NULL, or what is wrong with it. */
const char *check_word(const char *text);
/* A place is in names of files and labels: has it nothing that means something there? */
bool is_place_name(const char *word);
/* Are these files in one directory? */
bool same_directory(const char *a, const char *b);
/* Says what is wrong with a line, or with the file for line 0. Returns the number of errors. */
int bad_line(const char *path, int line, const char *error);

/* ---- the machine ---- */

struct pmu {
	char *name;
	char *base;		/* less the number at the end */
	int number;		/* or -1 */
	uint32_t type;
	bool core;		/* counts on each CPU */
	int cpu[MAX_PACKAGES];	/* where it is opened, by package; -1 for nowhere */
};

/* Reads the parts of the session that are the machine's. 0, or a status. */
int machine_read(struct session *session);
/* The PMU of this name is one of the session's. */
struct pmu *pmu_add(struct session *session, const char *name);
/* That of the machine with its version; NULL if it is not loaded. */
char *module_text(const struct session *session);
/* The PMU of a kind that has this number behind its name, or -1 for none. NULL if there is none. */
const struct pmu *pmu_of(const struct session *session, const char *base, int number);
/* Is this one of the models, such as "06_5c 06_5f"? NULL is any. */
bool machine_is(const struct session *session, const char *models);
/* What people call these models: "Goldmont". */
char *machine_names(const char *models);
/* And this one; of one that is not known, what it says itself. */
const char *machine_name(const struct session *session);
/* The module that has its events; NULL if the machine is none of ours. */
const char *machine_module(const struct session *session);
/*
 * Why the module of this machine is not there, as "xeon7500_uncore is not loaded", and the commands
 * that change it, for root, a line each. NULL if it is loaded, or if there is none.
 */
char *module_lack(const struct session *session, char **next);
/* The first line of a file, NULL if there is none. */
char *first_line(const char *path);
/* That of one below sysfs, NULL if there is none. */
char *read_file(const struct session *session, const char *path);
/* Says why nothing can be counted: the wrong machine, or no module for it. 0, or a status. */
int machine_check(const struct session *session);
/* An event as perf would open it. NULL, or an error. */
char *event_attr(const struct session *session, const struct pmu *pmu, const char *terms,
		 struct perf_event_attr *attr);

/* ---- the plan ---- */

/* What perf is to count: one event on one PMU, on every package. */
struct counter {
	const struct pmu *pmu;
	char *terms;
	int pass;		/* of its PMU */
	int gate;		/* -1 for the first one, 1 for the last one; else 0 */
	/* What came of it: by package, of a core's PMU by CPU; by 0 if the command is counted */
	struct reading {
		bool there;
		const char *why;	/* why not */
		double value;
		double seconds;		/* that it was counted */
		double running;		/* share of the time it was asked to */
	} *reading;
};

/* An event on one PMU: its counters, one for each pass that counts it for the metric. */
struct source {
	struct counter **counter;
	int num;
};

/* One place a metric has a value of its own. */
struct cell {
	char *name;		/* "mbox_0"; NULL for a package as a whole */
	/* Where each event comes from */
	struct {
		struct source **source;
		int num;
	} event[MAX_EVENTS];
	char *why;		/* there is no value here */
};

struct plan_metric {
	struct metric *metric;
	struct cell **cell;	/* of one package: all are alike */
	int num_cells;
	char *why;		/* there is none at all */
};

struct plan {
	struct plan_metric *metric;
	int num_metrics;
	struct counter **counter;	/* in the order of perf's command line */
	int num_counters;
	bool command_only;	/* count the command and not all CPUs */
	int passes;
};

/* What the first word asks for; METRICS if it is a name. */
enum mode { METRICS, LIST, MAP, TOP, CHECK, WHY, STATUS, RECORD, REPORT, DIFF, NUM_MODES };
/* Counts while a command runs, if there is one. */
bool runs_command(enum mode mode);
extern const char * const modes[];
/* METRICS for what is none of the others. */
enum mode mode_of(const char *word);

struct options {
	bool per_machine, per_socket, per_box;
	bool csv, json;
	const char *openmetrics;
	int interval;		/* ms, 0 for none */
	int interval_count;
	bool summary;
	bool all_cpus;
	bool no_gate;
	bool plan_only;
	enum mode mode;		/* the first word */
	enum mode show;		/* what counts become: that, or the word behind a recording */
	const char *output;	/* NULL for stdout, and of a map for text */
	const char *sort, *units;
	const char *topology;
	const char *html;
	bool matrix, host;
	const char *fail_on;
	bool rules;
	bool help, version;
	char **command;		/* NULL for none */
};

/* Everything that a run of the program knows. */
struct session {
	const struct world *world;
	struct options options;
	struct metric **metric;
	int num_metrics;
	struct group **group;
	int num_groups;
	struct rule **rule;
	int num_rules;
	struct text *text;		/* the metric files */
	int num_texts;
	struct text topology_file;	/* no path for none */
	struct topology *topology;	/* what is in it */
	struct pmu *pmu;
	int num_pmus;
	int package_of[MAX_CPUS];	/* -1: no such CPU, or offline */
	bool online[MAX_PACKAGES];	/* has a CPU */
	int cpus;			/* one more than the highest */
	int packages;
	time_t when;			/* of a recording: the end of what is shown; or 0 */
	const char *host;		/* likewise; NULL for this one */
	char model[16];			/* as 06_2e */
	char model_name[48];		/* as the CPU has it */
	struct plan plan;
	FILE *file;			/* what --openmetrics or -o writes next */
	FILE *out;			/* stdout, while a file has its place; else NULL */
	struct target {
		int dir;		/* where it goes, or -1 */
		int fd;			/* it, if it is written in place, or -1 */
		const char *name;	/* in dir */
		char new[NAME_MAX + 1];	/* its name in dir before it takes the place of the old one */
		bool named;		/* that it has from the beginning */
		mode_t mode;		/* that it gets */
		char *text;		/* what has been written */
		size_t size;
	} target;
	bool any_value;			/* has there been any? */
	bool judged, found, unjudged;	/* by a rule; one of --fail-on holds, or was not judged */
	int results;			/* that have been output */
	int signal;			/* that ended it; the program is to end by it, too */
	struct map *map;
	struct top *top;
	struct view *view;		/* that has the terminal while perf counts, or NULL */
};

/* Asks for what a name says; the first one could have been a mode. 0, or a status. */
int session_ask(struct session *session, const char *name, bool first);
/* The program with its arguments, in a world. Returns the exit status. */
int session_run(const struct world *world, int argc, char **argv);

/* How many readings a counter may have. */
static inline int readings(const struct session *session)
{
	return (session->cpus > session->packages ? session->cpus : session->packages) ?: 1;
}

/* Why a user may not count on a PMU, and the command that lets him. */
char *permission_text(const struct pmu *pmu);
/*
 * Opens an event on the first CPU that the PMU has, or of this process, in a group if leader >= 0;
 * without one it is disabled. A file descriptor, or -errno.
 */
int event_open(const struct session *session, const struct pmu *pmu, const char *terms, bool own,
	       int leader);
/* All of these return 0 or a status. */
int plan_make(struct session *session);
/* Outputs values or a map; time is 0 for the whole run. */
typedef int output_fn(struct session *session, double time);
/* That of the options. */
output_fn *output_of(const struct options *options);
/*
 * Begins the file of the options, if there is one; all that is printed then goes there, unless the
 * output writes it itself. The file is there when that ends, which returns status or another one.
 */
int output_begin(struct session *session);
int output_finish(struct session *session, int status);
/*
 * Signals that end the program are pending from here on, until count() reads them. To be called
 * before there is a screen: ncurses has handlers that end the program with a status.
 */
void hold_signals(void);
/* Runs perf stat and the command, calls output() for each result. Returns the exit status. */
int count(struct session *session, output_fn *output);
/* perf's arguments, with quotes around what a shell would change; its output goes to fd. */
char *count_arguments(const struct session *session, int fd, const char *quote);

/* ---- values, output ---- */

struct value {
	const struct metric *metric;
	char *scope;		/* machine, command, S0, S0/mbox_0 */
	int package;		/* or -1 */
	const char *cell;	/* or NULL */
	double value;
	double seconds;
	double running;
	double most;		/* what is 100 % of it, for top; 0 if unknown */
	bool absent;		/* a box of it is not on the package */
	char *why;		/* n/a, because */
	char *note;		/* there is a value, but */
};

struct value *values_make(struct session *session, const struct options *options, int *num);

output_fn output_values;
/* The title of a result as text: its time, or of the whole that it is; again: others came before. */
void print_time(double time, bool again);
/* Has all been written that was printed? 0, or a status. */
int output_end(void);
/*
 * Orders an array whose members, of this size, begin with a value: by "name" of the metric, by
 * "scope", or by "value", first what is nearest to its limit, then the highest of each metric. NULL
 * leaves it as it is.
 */
void values_sort(void *values, int num, size_t size, const char *by);
/* The prefix of a number for --units, none for base; the unit of a rate changes with it. */
const char *units(const struct options *options, double *value, const char **unit);
/* Is there such an order, or such units? 0, or a status. */
int sort_check(const struct options *options);
/* What would be counted together, and by which command. */
void output_plan(const struct session *session);

/* ---- top.c ---- */

/* Takes the terminal. 0, or a status. */
int top_begin(struct session *session);
output_fn top_output;

/* ---- list.c ---- */

/* Lists all metrics, or all that is known of those named. 0, or a status for unknown names. */
int list(const struct session *session, char **names, int num);
/* A line of what is known of one of them; nothing for an empty text or NULL. */
void print_item(const char *name, const char *text);
/* The one of this name, or NULL. */
struct metric *metric_named(const struct session *session, const char *name);
/* Which of two is nearer to a name that is unknown; NULL is none. */
const char *nearer(const char *name, const char *other, const char *like);
/* "; did you mean ...", or empty for NULL. */
char *meant(const char *like);
/*
 * Says that there is no such metric, or rule where these are asked for, the first one or not, and
 * which one is like it. A status.
 */
int unknown(const struct session *session, const char *name, bool first);

/* ---- replace.c ---- */

/*
 * session->file, to be written, that takes the place of what is at path, at once, when it is
 * ended. It has the mode of a file of this user that it replaces, of --openmetrics 0644. A device or a pipe, and a descriptor such as - or /dev/stdout, is written itself. 0, or
 * a status. A second begin does nothing.
 */
int replace_begin(struct session *session, const char *path);
int replace_end(struct session *session, const char *path);
/*
 * Writes what has been printed to session->file, at once and behind what was before. The file takes
 * its place the first time, and is there with all of it whatever happens then. 0, or a status, also
 * if another file is in its place now.
 */
int replace_flush(struct session *session, const char *path);
/* Takes away what has been begun. */
void replace_cancel(struct session *session);

/* ---- record.c, report.c, diff.c, html.c ---- */

#define RECORD_VERSION	1	/* of the format; see perf-metrics(5) */

/* Asks for what is recorded if no metric is named: what the map and rules want. 0, or a status. */
int record_ask(struct session *session, bool named);
output_fn record_output;

/* A recording that is read; of @session, whose machine, metrics and plan it has. */
struct record {
	struct session *session;
	const char *path;
	FILE *f;
	struct json_t *header;
	char *command;		/* its words, "" for none */
	double start;		/* s since 1970 */
	int interval;		/* ms */
	long first;		/* where the first interval begins in the file */
	int intervals;
	bool whole;		/* it has an end, with the counts of the whole time */
	double end;		/* of the last interval, s */
};

/*
 * Reads it, so that the session is as it was, and tells of what is wrong: STATUS_USAGE for what
 * is no recording, is damaged, or is newer than this program. One without end is taken.
 */
int record_open(struct record *record, struct session *session, const char *path);
void record_close(struct record *record);
/*
 * Calls fn() with the readings of each so many intervals together, 0 for the whole time; time is
 * that of the last of them, 0 for the whole. 0, or the first status that is not.
 */
typedef int record_fn(struct session *session, double time, void *data);
int record_each(struct record *record, int together, record_fn *fn, void *data);
/* Leaves those metrics in the plan that are asked for, all if none is. 0, or a status. */
int record_pick(struct record *record, char **names, int num);

/* Is a metric in the plan? */
bool plan_has(const struct plan *plan, const struct metric *metric);

/* "report FILE [NAME...]" and "diff A B [NAME...]". 0, or a status. */
int report(struct session *session, char **args, int num);
int diff(struct session *session, char **args, int num);
/* Writes a page to session->file. 0, or a status. */
int html(struct record *record);

#endif /* PERF_METRICS_H */
