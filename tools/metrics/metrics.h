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
 *	output.c	table, CSV, JSON, OpenMetrics
 *	list.c		what there is
 *	top.c		a table that is redrawn
 *	screen.c	the terminal on which that and a map are
 *	sort.c		the order of values, and their prefixes
 *	replace.c	files that others read meanwhile
 *	util.c		memory, messages, numbers as text
 *	map.h		the rest draws maps
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

#define MAX_EVENTS	12	/* of a metric */
#define MAX_PARTS	64	/* ports, cores or the like of a package */
#define MAX_CPUS	8192
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
/* The prefix by which a value is less than the most. */
const char *scaled(double *value, double most);
/* Of a rate; the unit changes with it. */
const char *prefixed(double *value, const char **unit);
/* The text with each of these characters in another form, such as "\\%c". */
char *escaped(const char *text, const char *what, const char *as);
/* Prints words from column on, in 80 columns; the line is at column already. */
void print_wrapped(const char *text, int column);

/**
 * struct world - what is outside of the program; tests have another one
 * @sys: where sysfs is
 * @cpuinfo: the file that names the CPU
 * @perf: the program perf, as execvp() finds it
 * @patience: how long perf may take to end after it was told to, ms; to begin, four times that
 * @open: perf_event_open(); returns a file descriptor, or -1 and errno
 */
struct world {
	const char *sys, *cpuinfo, *perf;
	int patience;
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags);
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
	char *apart;		/* not NULL: the events may take turns */
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
/* Of a file of text, less empty lines and comments. The number of errors, which have been told. */
int lines_read(const char *path, take_fn *take, void *data);
/* Reads a metric file, likewise. */
int file_read(struct session *session, const char *path);
/* Reads what is installed and what the user has. 0, or a status if there is none, or wrong. */
int files_read(struct session *session);
/* The path of the last such file beside metric files, or NULL. */
char *file_find(const char *name);
/* A name as Prometheus wants it: what is measured, then the unit in words. */
char *family(const struct metric *metric);

double formula_value(const struct formula *formula);

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
/* The PMU of a kind that has this number behind its name, or -1 for none. NULL if there is none. */
const struct pmu *pmu_of(const struct session *session, const char *base, int number);
/* Is this one of the models, such as "06_5c 06_5f"? NULL is any. */
bool machine_is(const struct session *session, const char *models);
/* What people call these models: "Goldmont". */
char *machine_names(const char *models);
/* And this one; of one that is not known, what it says itself. */
const char *machine_name(const struct session *session);
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
	bool map;
	const char *output;	/* NULL for stdout, and of a map for text */
	const char *sort, *units;
	bool top;
	const char *topology;
	bool matrix, host;
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
	struct pmu *pmu;
	int num_pmus;
	int package_of[MAX_CPUS];	/* -1: no such CPU, or offline */
	bool online[MAX_PACKAGES];	/* has a CPU */
	int cpus;			/* one more than the highest */
	int packages;
	char model[16];			/* as 06_2e */
	char model_name[48];		/* as the CPU has it */
	struct plan plan;
	FILE *file;			/* what --openmetrics or -o writes next */
	struct target {
		int dir;		/* where it goes, or -1 */
		int fd;			/* it, if it is written in place, or -1 */
		const char *name;	/* in dir */
		char new[NAME_MAX + 1];	/* its name in dir before it takes the place of the old one */
		bool named;		/* that it has from the beginning */
		char *text;		/* what has been written */
		size_t size;
	} target;
	bool any_value;			/* has there been any? */
	int results;			/* that have been output */
	int signal;			/* that ended it; the program is to end by it, too */
	struct map *map;
	struct top *top;
	const struct view *view;	/* that has the terminal while perf counts, or NULL */
};

/* What the first word asks for. */
enum mode { METRICS, LIST, MAP, TOP, CHECK };
extern const char * const modes[];
/* METRICS for what is none of the others. */
enum mode mode_of(const char *word);

/* The program with its arguments, in a world. Returns the exit status. */
int session_run(const struct world *world, int argc, char **argv);

/* How many readings a counter may have. */
static inline int readings(const struct session *session)
{
	return (session->cpus > session->packages ? session->cpus : session->packages) ?: 1;
}

/* All of these return 0 or a status. */
int plan_make(struct session *session);
/* Outputs values or a map; time is 0 for the whole run. */
typedef int output_fn(struct session *session, double time);
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
	char *why;		/* n/a, because */
	char *note;		/* there is a value, but */
};

struct value *values_make(struct session *session, const struct options *options, int *num);

output_fn output_values;
/* Has all been written that was printed? 0, or a status. */
int output_end(void);
/* What would be counted together, and by which command. */
void output_plan(const struct session *session);

/* ---- sort.c ---- */

/*
 * Orders an array whose members, of this size, begin with a value: by "name" of the metric, by
 * "scope", or by "value", the highest of each metric first. NULL leaves it as it is.
 */
void values_sort(void *values, int num, size_t size, const char *by);
/* A prefix as --units wants it, NULL or auto for a short one; the unit of a rate changes with it. */
const char *units(const struct options *options, double *value, const char **unit);
/* Is there such an order, or such units? 0, or a status. */
int sort_check(const struct options *options);

/* ---- top.c ---- */

/* Takes the terminal. 0, or a status. */
int top_begin(struct session *session);
output_fn top_output;

/* ---- list.c ---- */

/* Lists all metrics, or all that is known of those named. 0, or a status for unknown names. */
int list(const struct session *session, char **names, int num);
/* Says that there is no such name, the first one or not, and which one is like it. A status. */
int unknown(const struct session *session, const char *name, bool first);

/* ---- replace.c ---- */

/*
 * session->file, to be written, that takes the place of what is at path, at once, when it is
 * ended. A device or a pipe, and a descriptor such as - or /dev/stdout, is written itself. 0, or
 * a status. A second begin does nothing.
 */
int replace_begin(struct session *session, const char *path);
int replace_end(struct session *session, const char *path);
/* Takes away what has been begun. */
void replace_cancel(struct session *session);

#endif /* PERF_METRICS_H */
