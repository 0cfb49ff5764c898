/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf-metrics: answers in place of events.
 *
 *	files.c		metric files: what to count and how to compute with it
 *	formula.c	the formulas in them
 *	machine.c	what sysfs tells: packages, PMUs, events
 *	plan.c		which events are counted together, in as few passes as possible
 *	count.c		perf stat counts
 *	value.c		what the metrics are
 *	output.c	table, CSV, JSON, OpenMetrics
 *	list.c		what there is
 *	replace.c	files that others read meanwhile
 *	map.h		the rest draws maps
 */
#ifndef PERF_METRICS_H
#define PERF_METRICS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_EVENTS	12	/* of a metric */
#define MAX_PARTS	64	/* ports, cores or the like of a package */
#define MAX_CPUS	1024
#define MAX_PACKAGES	16

/* Exit statuses of our own; otherwise that of the command. */
#define STATUS_NO_VALUE	1	/* all is n/a */
#define STATUS_USAGE	2	/* wrong usage, unknown metric, bad file */
#define STATUS_FAILED	3	/* counting is not possible */

void die(int status, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *allocate(size_t size);
/* Room for one more in an array that begins with NULL and 0. */
void *grow(void *array, size_t num, size_t size);

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
	bool apart;		/* the events may take turns */
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

extern struct metric **metrics;
extern int num_metrics;
extern struct group **groups;
extern int num_groups;

/* Reads a file. Returns the number of errors, each of which has been told. */
int file_read(const char *path);
/* Reads what is installed and what the user has. */
void files_read(void);
/* The path of the last such file beside metric files, or NULL. To be freed. */
char *file_find(const char *name);

bool formula_set(struct formula *formula, struct metric *metric, const char *text, char **error);
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

extern struct pmu *pmus;
extern int num_pmus;
extern int package_of[MAX_CPUS];	/* -1: no such CPU, or offline */
extern int cpus;			/* one more than the highest */
extern int packages;
extern char machine_model[16];		/* as 06_2e */

void machine_read(void);
bool machine_is(const char *models);
/* An event as perf would open it, or NULL and an error. */
bool event_attr(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
		char **error);

/* ---- the plan ---- */

/* What perf is to count: one event on one PMU, on every package. */
struct counter {
	const struct pmu *pmu;
	char *terms;
	int pass;		/* of its PMU */
	/* What came of it, by CPU; by 0 when it is the command that is counted */
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
	int *counter;
	int num;
};

/* One place a metric has a value of its own. */
struct cell {
	char *name;		/* "mbox_0"; NULL for a package as a whole */
	/* Where each event comes from; num 0 if from nowhere */
	struct {
		struct source *source;
		int num;
	} event[MAX_EVENTS];
	char *why;		/* there is no value here */
};

struct plan_metric {
	struct metric *metric;
	struct cell *cell;	/* of one package: all are alike */
	int num_cells;
	char *why;		/* there is none at all */
};

struct plan {
	struct plan_metric *metric;
	int num_metrics;
	struct counter *counter;
	int num_counters;
	bool command_only;	/* count the command and not all CPUs */
	int gate[2];		/* counters, or -1 */
	int passes;
};

struct options {
	bool per_machine, per_socket, per_box;
	enum { FORM_TABLE, FORM_CSV, FORM_JSON } form;
	const char *openmetrics;
	int interval;		/* ms, 0 for none */
	int interval_count;
	bool summary;
	bool all_cpus;
	bool no_gate;
	bool plan_only;
	bool map;
	const char *map_file;	/* NULL for text */
	const char *topology;
	bool matrix;
	/* Gets what is typed while perf counts; true if that is the end. NULL for nobody. */
	bool (*key)(int key);
	char **command;		/* NULL for none */
};

void plan_make(struct plan *plan, const struct options *options);
void plan_show(const struct plan *plan);

/* ---- counting, values, output ---- */

/* The signal that ended count(); the program is to end by it, too. */
extern int count_signal;
/* Runs perf stat, calls output() for each interval. Returns the exit status. */
int count(struct plan *plan, const struct options *options,
	  void (*output)(struct plan *plan, const struct options *options, double time));
char **count_command(const struct plan *plan, const struct options *options, int fd);

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

struct value *values_make(const struct plan *plan, const struct options *options, int *num);
void values_free(struct value *values, int num);

void output_values(struct plan *plan, const struct options *options, double time);
/* A number with its unit, as short as people want it. */
char *number_text(double value, const char *unit);
/* Has there been any value? */
extern bool output_any;
/* Prints words from column on, in 80 columns; the line is at column already. */
void print_wrapped(const char *text, int column);
/* A name as Prometheus wants it: what is measured, then the unit in words. To be freed. */
char *family(const struct metric *metric);

/* ---- list.c ---- */

/* Lists all metrics, or all that is known of those named; also as JSON. Unknown names end it. */
void list(char **names, int num, bool json);

/* ---- replace.c ---- */

/* A file that takes the place of what is at path, at once, when it is ended. Both or die. */
FILE *replace_begin(const char *path);
void replace_end(FILE *f, const char *path);

#endif /* PERF_METRICS_H */
