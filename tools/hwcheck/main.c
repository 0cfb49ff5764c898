// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwcheck: what no manual settles about the uncore of Xeon 7500 and E7, asked of the machine.
 * See Documentation/hwcheck.md.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hwcheck.h"

#define KSFT_SKIP	4
#define PACKAGES_MAX	8
#define RESULTS_MAX	64

bool machine_e7;
int package_cpu;

static const char *only;
static bool under_hypervisor;

/* ---- results ---- */

struct result {
	char what[24];		/* "" undetermined */
	char evidence[200];
};

static struct result results[PACKAGES_MAX][RESULTS_MAX];
static struct result *current;
static unsigned int package;
static jmp_buf done;

void answer(const char *what, const char *evidence, ...)
{
	va_list args;

	snprintf(current->what, sizeof(current->what), "%s", what);
	va_start(args, evidence);
	vsnprintf(current->evidence, sizeof(current->evidence), evidence, args);
	va_end(args);
	longjmp(done, 1);
}

void undetermined(const char *why, ...)
{
	va_list args;

	current->what[0] = 0;
	va_start(args, why);
	vsnprintf(current->evidence, sizeof(current->evidence), why, args);
	va_end(args);
	longjmp(done, 1);
}

static unsigned int num_all(void)
{
	return num_experiments + num_pmi_experiments;
}

static const struct experiment *nth(unsigned int n)
{
	return n < num_experiments ? &experiments[n] : &pmi_experiments[n - num_experiments];
}

const char *found(const char *name)
{
	unsigned int i;

	for (i = 0; i < num_all(); i++) {
		if (!strcmp(nth(i)->name, name))
			return *results[package][i].what ? results[package][i].what : NULL;
	}
	return NULL;
}

/* ---- where we are ---- */

static void read_line(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");

	*to = 0;
	if (!f)
		return;
	if (fgets(to, size, f))
		to[strcspn(to, "\n")] = 0;
	fclose(f);
}

/* The value of a line "name : value" of /proc/cpuinfo. */
static void cpuinfo(const char *name, char *to, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;

	*to = 0;
	while (f && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || strncmp(line, name, strlen(name)) || strlen(colon) < 3)
			continue;
		snprintf(to, size, "%s", colon + 2);
		to[strcspn(to, "\n")] = 0;
		break;
	}
	if (f)
		fclose(f);
}

/* Why not here, or NULL. */
static const char *wrong_machine(void)
{
	unsigned int eax, ebx, ecx, edx, model;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx ||
	    !__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return "this is no Intel CPU";
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	if ((eax >> 8 & 0xf) != 6 || (model != 0x2e && model != 0x2f))
		return "this is neither a Xeon 7500 (06_2E) nor a Xeon E7 (06_2F)";
	machine_e7 = model == 0x2f;
	if ((ecx >> 31 & 1) && !under_hypervisor)
		return "this is a virtual machine: what it would find is not the hardware (--hypervisor runs it nevertheless)";
	return NULL;
}

static const char *other_driver(void)
{
	static const char * const devices[] = {
		"xeon7500_ubox", "xeon7500_cbox_0", "uncore_ubox", "uncore_cbox_0",
	};
	static char why[96];
	char path[96];
	size_t i;

	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", devices[i]);
		if (access(path, F_OK))
			continue;
		snprintf(why, sizeof(why), "a driver has the uncore (%s): rmmod %s first", devices[i],
			 devices[i][0] == 'x' ? "xeon7500_uncore" : "intel_uncore");
		return why;
	}
	return NULL;
}

/* The first CPU of each package that is online. */
static unsigned int find_packages(int *first)
{
	long seen[PACKAGES_MAX] = { 0 };
	unsigned int n = 0, i;
	int cpu;

	for (cpu = 0; cpu < 4096 && n < PACKAGES_MAX; cpu++) {
		char path[96], text[32];
		long id;

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		read_line(path, text, sizeof(text));
		if (!*text)
			continue;
		id = atol(text);
		for (i = 0; i < n && seen[i] != id; i++)
			;
		if (i < n)
			continue;
		seen[n] = id;
		first[n++] = cpu;
	}
	return n;
}

/* ---- the report ---- */

static void json_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', f);
		if ((unsigned char)*text >= ' ')
			putc(*text, f);
	}
	putc('"', f);
}

static void json_fact(FILE *f, const char *name, const char *val)
{
	fprintf(f, "  \"%s\": ", name);
	json_string(f, val);
	fputs(",\n", f);
}

static const char * const breaks[] = { "read_only", "rst_all", "locked", "undefined" };

/* What all packages say together: of those that say something, all the same. */
static const char *together(unsigned int n, unsigned int packages, char *evidence, size_t size)
{
	const char *what = "";
	unsigned int i;

	*evidence = 0;
	for (i = 0; i < packages; i++) {
		const struct result *r = &results[i][n];

		if (*evidence)
			snprintf(evidence + strlen(evidence), size - strlen(evidence), "; ");
		snprintf(evidence + strlen(evidence), size - strlen(evidence), "%s", r->evidence);
		if (*what && *r->what && strcmp(what, r->what))
			return "undetermined";
		if (*r->what)
			what = r->what;
	}
	return *what ? what : "undetermined";
}

static bool belongs(const struct experiment *e, enum level level)
{
	return e->level <= level && (machine_e7 ? e->e7 : e->x7500) && (!only || !strcmp(only, e->name));
}

static int report(const char *path, enum level level, unsigned int packages)
{
	static const struct { const char *name, *file; } files[] = {
		{ "bios", "/sys/class/dmi/id/bios_version" },
		{ "product", "/sys/class/dmi/id/product_name" },
	};
	static const char * const from_cpuinfo[] = { "model name", "model", "stepping", "microcode" };
	unsigned int n, i, b;
	const char *sep = "";
	struct utsname uts;
	char text[900];
	FILE *f = fopen(path, "we");

	if (!f) {
		fprintf(stderr, "hwcheck: %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(f, "{\n");
	json_fact(f, "machine", machine_e7 ? "westmereex" : "xeon7500");
	for (i = 0; i < sizeof(from_cpuinfo) / sizeof(from_cpuinfo[0]); i++) {
		cpuinfo(from_cpuinfo[i], text, sizeof(text));
		json_fact(f, from_cpuinfo[i], text);
	}
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		read_line(files[i].file, text, sizeof(text));
		json_fact(f, files[i].name, text);
	}
	uname(&uts);
	json_fact(f, "kernel", uts.release);
	fprintf(f, "  \"packages\": %u,\n  \"readings\": {", packages);
	for (n = 0; n < num_all(); n++) {
		const struct experiment *e = nth(n);
		const char *what, *sep_rule = "";

		if (!belongs(e, level) || level < LEVEL_COUNT)
			continue;
		what = together(n, packages, text, sizeof(text));
		fprintf(f, "%s\n    \"%s\": {\"answer\": \"%s\", \"confidence\": \"%s\", \"breaks\": [",
			sep, e->name, what, !strcmp(what, "undetermined") ? "none" : "seen");
		for (b = 0; b < sizeof(breaks) / sizeof(breaks[0]); b++) {
			if (e->breaks >> b & 1) {
				fprintf(f, "%s\"%s\"", sep_rule, breaks[b]);
				sep_rule = ", ";
			}
		}
		fprintf(f, "], \"evidence\": ");
		json_string(f, text);
		fputs("}", f);
		sep = ",";
	}
	fprintf(f, "\n  }\n}\n");
	if (fclose(f)) {
		fprintf(stderr, "hwcheck: %s: %s\n", path, strerror(errno));
		return 1;
	}
	return 0;
}

/* ---- running ---- */

static int failures;
static unsigned int num_lines;

static void line(bool ok, const char *text, const char *skip)
{
	printf("%sok %u %s%s%s\n", ok ? "" : "not ", ++num_lines, text, skip ? " # SKIP " : "",
	       skip ? skip : "");
	failures += !ok;
}

static void run_one(unsigned int n)
{
	const struct experiment * const volatile e = nth(n);	/* longjmp() comes back here */
	const char *bad;
	char text[128];

	current = &results[package][n];
	save();
	if (!setjmp(done))
		e->run();
	try_wr(package_cpu, U_CTL, 0);
	bad = restore();
	if (e->level == LEVEL_PMI)
		pmi_end();
	if (*current->what)
		snprintf(text, sizeof(text), "package %u: %s=%s", package, e->name, current->what);
	else
		snprintf(text, sizeof(text), "package %u: %s", package, e->name);
	printf("# %s\n", current->evidence);
	if (bad)
		printf("# %s\n", bad);
	line(!bad, text, *current->what || bad ? NULL : "undetermined");
}

/* One that came meanwhile ends it between two experiments, with all put back. */
static const int held_signals[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP };

#define NUM_HELD	(sizeof(held_signals) / sizeof(held_signals[0]))

static bool interrupted(void)
{
	bool any = false;
	sigset_t pending;
	size_t i;

	sigpending(&pending);
	for (i = 0; i < NUM_HELD; i++)
		any |= sigismember(&pending, held_signals[i]) == 1;
	return any;
}

static void hold_signals(void)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NUM_HELD; i++)
		sigaddset(&set, held_signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Returns why it cannot go on, or NULL. */
static const char *run_package(enum level level)
{
	unsigned int n, all, good;
	const char *why;
	cpu_set_t set;
	char text[96];

	CPU_ZERO(&set);
	CPU_SET(package_cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	good = registers_readable(&all);
	snprintf(text, sizeof(text), "package %u: %u of %u registers can be read", package, good, all);
	line(good, text, NULL);
	why = other_owner();
	for (n = 0; !why && level >= LEVEL_COUNT && n < num_all(); n++) {
		if (!belongs(nth(n), level))
			continue;
		if (interrupted())
			return "interrupted";
		run_one(n);
		why = other_owner();
	}
	return why;
}

static void list(void)
{
	unsigned int n;

	for (n = 0; n < num_all(); n++)
		printf("--%s %-18s %s\n", nth(n)->level == LEVEL_PMI ? "pmi  " : "count", nth(n)->name,
		       nth(n)->touches);
}

#ifndef VERSION
#define VERSION "unknown"
#endif

static int usage(FILE *f)
{
	fprintf(f, "usage: hwcheck --read|--count|--pmi [OPTION...]\n"
		"  --read          which registers there are; writes nothing\n"
		"  --count         and experiments with counters; no interrupt\n"
		"  --pmi           and with interrupts; wants hwcheck_nmi.ko\n"
		"  --list          what the experiments touch\n"
		"  --only NAME     this experiment only\n"
		"  --report FILE   JSON (hwcheck.json)\n"
		"  --hypervisor    also in a virtual machine\n"
		"  --version\n");
	return f == stdout ? 0 : 2;
}

static int skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return KSFT_SKIP;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "read", no_argument, NULL, 'r' }, { "count", no_argument, NULL, 'c' },
		{ "pmi", no_argument, NULL, 'p' }, { "list", no_argument, NULL, 'l' },
		{ "only", required_argument, NULL, 'o' }, { "report", required_argument, NULL, 'R' },
		{ "hypervisor", no_argument, NULL, 'H' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' }, {},
	};
	const char *path = "hwcheck.json", *why;
	int opt, first[PACKAGES_MAX];
	enum level level = LEVEL_NONE;
	unsigned int packages;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'r':
			level = LEVEL_READ;
			break;
		case 'c':
			level = LEVEL_COUNT;
			break;
		case 'p':
			level = LEVEL_PMI;
			break;
		case 'l':
			list();
			return 0;
		case 'o':
			only = optarg;
			break;
		case 'R':
			path = optarg;
			break;
		case 'H':
			under_hypervisor = true;
			break;
		case 'h':
			return usage(stdout);
		case 'v':
			puts("hwcheck " VERSION);
			return 0;
		default:
			return usage(stderr);
		}
	}
	if (level == LEVEL_NONE || optind != argc)
		return usage(stderr);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n");
	why = wrong_machine();
	if (!why)
		why = other_driver();
	if (!why && access("/dev/cpu/0/msr", level == LEVEL_READ ? R_OK : R_OK | W_OK))
		why = "/dev/cpu/0/msr cannot be opened: be root, modprobe msr allow_writes=on";
	if (!why && level == LEVEL_PMI)
		why = nmi_module_missing();
	if (why)
		return skip(why);
	hold_signals();
	packages = find_packages(first);
	for (package = 0; package < packages; package++) {
		package_cpu = first[package];
		why = run_package(level);
		if (why)
			break;
	}
	if (why) {
		printf("# %s\n", why);
		line(false, "nobody else is in the way", NULL);
	}
	printf("1..%u\n", num_lines);
	return report(path, level, packages) || failures;
}
