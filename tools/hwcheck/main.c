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
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "hwcheck.h"

#define KSFT_SKIP	4

bool machine_e7;
struct package packages[PACKAGES_MAX], *pkg;
unsigned int num_packages;
struct shared *shared;
enum level level;
volatile int ended;
char options_given[256];

static const char *only;
static long asked_package = -1;
static int under_hypervisor, despite_panic, keep_rules, loads;

/* ---- results ---- */

const struct experiment *current;
static struct result *result;
static jmp_buf done;

void answer(const char *what, const char *evidence, ...)
{
	va_list args;

	va_start(args, evidence);
	vsnprintf(result->evidence, sizeof(result->evidence), evidence, args);
	va_end(args);
	snprintf(result->what, sizeof(result->what), "%s", what ? what : "");
	result->state = what ? ANSWERED : ended ? NOT_RUN : UNDETERMINED;
	longjmp(done, 1);
}

int number(const char *name)
{
	unsigned int i;

	for (i = 0; name && i < num_experiments; i++) {
		if (!strcmp(experiments[i].name, name))
			return i;
	}
	return -1;
}

const char *found(const char *name)
{
	const struct result *r = &shared->results[pkg - packages][number(name)];

	return r->state == ANSWERED ? r->what : NULL;
}

/* Of this level and --only, or what that needs. */
static bool asked(const struct experiment *e)
{
	const char *name = only;

	while (name && strcmp(name, e->name))
		name = experiments[number(name)].needs;
	return e->level <= level && (!only || name) && !(keep_rules && e->breaks);
}

bool wanted(const struct experiment *e)
{
	return asked(e) && e->of != (machine_e7 ? X7500 : E7);
}

/* ---- where we are ---- */

/* Why not here, or NULL. */
static const char *wrong_machine(void)
{
	unsigned int eax, ebx, ecx, edx, model;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx ||
	    !__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return "this is no Intel CPU: only --dry-run (with --count or --pmi) works";
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	if ((eax >> 8 & 0xf) != 6 || (model != 0x2e && model != 0x2f))
		return "this is neither a Xeon 7500 (06_2E) nor a Xeon E7 (06_2F): only --dry-run (with --count or --pmi) works";
	machine_e7 = model == 0x2f;
	if ((ecx >> 31 & 1) && !under_hypervisor)
		return "this is a virtual machine: what it would find is not the hardware "
		       "(--hypervisor runs it nevertheless)";
	return NULL;
}

#define PMU	"/sys/bus/event_source/devices/"

static const char *other_driver(void)
{
	if (!access(PMU "xeon7500_ubox", F_OK) || !access(PMU "xeon7500_cbox_0", F_OK))
		return "a driver has the uncore: rmmod xeon7500_uncore first";
	if (access(PMU "uncore_ubox", F_OK) && access(PMU "uncore_cbox_0", F_OK))
		return NULL;
	/* What is built in has no state. */
	return !access("/sys/module/intel_uncore/initstate", F_OK) ?
	       "a driver has the uncore: rmmod intel_uncore first" :
	       "a driver that is built into the kernel has the uncore, only --read works: "
	       "start it with initcall_blacklist=intel_uncore_init (3.16 and newer)";
}

/* The packages and their CPUs that are online, or why they cannot be had. */
static const char *find_packages(void)
{
	int cpu = -1, id = -1, core = -1, apic;
	const char *why = NULL;
	char line[512], online[64];
	struct package *p;
	FILE *f;

	read_line("/sys/devices/system/cpu/present", line, 64);
	read_line("/sys/devices/system/cpu/online", online, sizeof(online));
	if (level == LEVEL_PMI && strcmp(line, online))
		return because("CPUs %.63s are there, --pmi needs all online: "
			       "echo 1 >/sys/devices/system/cpu/cpuN/online; after a start with "
			       "nosmt echo on >/sys/devices/system/cpu/smt/control", line);
	f = fopen("/proc/cpuinfo", "re");
	while (f && !why && fgets(line, sizeof(line), f)) {
		sscanf(line, "processor : %d", &cpu);
		sscanf(line, "physical id : %d", &id);
		sscanf(line, "core id : %d", &core);
		if (sscanf(line, "apicid : %d", &apic) != 1 ||
		    (asked_package >= 0 && id != asked_package))
			continue;
		for (p = packages; p < packages + num_packages && p->id != id; p++)
			;
		if (p == packages + PACKAGES_MAX || p->num_cpus == PACKAGE_CPUS) {
			why = "more packages or CPUs than hwcheck knows";
			continue;
		}
		num_packages += p == packages + num_packages;
		p->id = id;
		p->cpu[p->num_cpus] = cpu;
		p->core[p->num_cpus] = core;
		p->apic[p->num_cpus++] = apic;
	}
	if (f)
		fclose(f);
	return why || num_packages ? why : "/proc/cpuinfo has no such package (physical id)";
}

/* ---- running ---- */

void line(bool ok, const char *text, const char *skip)
{
	say("%sok %u %s%s%s", ok ? "" : "not ", ++shared->lines, text, skip ? " # SKIP " : "",
	    skip ? skip : "");
	shared->failures += !ok;
}

/* Where a PMI that should not come could do harm: why one may, or NULL. */
static const char *pmi_may_come(const struct experiment *e)
{
	const char *bit, *mask;
	unsigned int i;
	u64 val;

	if (!(e->may & MAY_PMI_EN))
		return NULL;
	for (i = 0; i < pkg->num_cpus; i++) {
		if (!read_msr_of(pkg->cpu[i], DEBUGCTL, &val) && (val & DEBUGCTL_PMI))
			return because("IA32_DEBUGCTL bit 13 is on, on CPU %d", pkg->cpu[i]);
	}
	if (level < LEVEL_PMI)
		return despite_panic ? NULL : nmi_not_safe();
	bit = only ? NULL : found("debugctl_13");
	mask = found("pmi_mask_0");
	if (bit && !strcmp(bit, "needless") && (!mask || strcmp(mask, "none")))
		return "with no core selected NMIs may come, and bit 13 does not keep them out";
	return NULL;
}

static const char *run_one(unsigned int n)
{
	const char *bad;
	char text[128];

	current = &experiments[n];
	result = &shared->results[pkg - packages][n];
	bad = pmi_may_come(current);
	if (bad) {
		snprintf(result->evidence, sizeof(result->evidence), "%s", bad);
	} else {
		shared->open_package = pkg - packages;
		shared->open = n + 1;
		if (!setjmp(done))
			current->run();
	}
	bad = put_back();
	snprintf(text, sizeof(text), "package %d: %s%s%s", pkg->id, current->name,
		 result->state == ANSWERED ? "=" : "", result->what);
	say("# %s", result->evidence);
	line(!bad, text, bad || result->state == ANSWERED ? NULL :
	     result->state == NOT_RUN ? "not run" : "undetermined");
	return bad;
}

static void run_on(const int *cpu, unsigned int num)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	while (num--)
		CPU_SET(cpu[num], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* A process on each CPU reads and writes memory, every second one that of the next package. */
static void start_loads(void)
{
	const size_t size = 32 << 20;
	pid_t parent = getpid();
	unsigned int p, i;
	char *memory;
	size_t at;

	for (p = 0; p < num_packages; p++) {
		for (i = 0; i < packages[p].num_cpus; i++) {
			if (fork())
				continue;
			guard_unlock();
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGTERM, SIG_DFL);
			run_on(packages[(p + i % 2) % num_packages].cpu, 1);
			memory = malloc(size);
			if (!memory || nice(19) < 0)
				_exit(1);
			memset(memory, 1, size);
			run_on(&packages[p].cpu[i], 1);
			while (getppid() == parent) {
				for (at = 0; at < size; at += 64)
					((volatile char *)memory)[at]++;
			}
			_exit(0);
		}
	}
}

/* In a process of its own, see guard.c. Ends where another program comes, or something fails. */
void run_all(void)
{
	double begin = seconds();
	const char *bad = NULL;
	unsigned int n;
	char eta[64];

	if (loads)
		start_loads();
	for (pkg = packages; pkg < packages + num_packages && !bad && !ended; pkg++) {
		run_on(pkg->cpu, pkg->num_cpus);
		if (level == LEVEL_PMI)
			say("# now: package %d: takes a PMI that an earlier --count has left",
			    pkg->id);
		bad = drain(pkg);
		for (n = 0; n < num_experiments && !bad && !ended; n++) {
			if (!wanted(&experiments[n]))
				continue;
			snprintf(eta, sizeof(eta), "%u of %u, %.0f s left", shared->done + 1,
				 shared->wanted, (seconds() - begin) / (shared->done + 0.1) *
				 (shared->wanted - shared->done));
			bad = other_driver() ?: other_owner(pkg) ?:
			      say_now(&experiments[n], shared->done ? eta : "the first") ?:
			      run_one(n);
			shared->done += !bad;
		}
	}
	bad = bad ?: other_driver();
	if (bad)
		snprintf(shared->why, sizeof(shared->why), "%s", bad);
}

/* ---- what the owner asks for ---- */

static void dry_run(void)
{
	static const char * const levels[] = { "", "", "count", "pmi" };
	const struct experiment *e;

	for (e = experiments; e < experiments + num_experiments; e++) {
		if (!asked(e))
			continue;
		printf("--%-5s %s%s%s%s%s\n", levels[e->level], e->name,
		       e->of == BOTH ? "" : e->of == E7 ? ", E7 only" : ", 7500 only",
		       e->needs ? ", after " : "", e->needs ? e->needs : "",
		       e->breaks ? ", breaks a rule" : "");
		show_writes(stdout, e);
	}
}

static int wrong(const char *what, const char *arg)
{
	fprintf(stderr, "hwcheck: %s%s\n", what, arg);
	return 2;
}

/* Was all printed, and so has the owner what is asked for? */
static int printed(void)
{
	return fflush(stdout) || ferror(stdout) ? wrong("the output cannot be written", "") : 0;
}

static int usage(FILE *f)
{
	fprintf(f, "usage: hwcheck --read|--count|--pmi [OPTION...]\n"
		"       hwcheck --restore FILE\n"
		"  --read            reads all registers; writes nothing\n"
		"  --count           and experiments with counters\n"
		"  --pmi             and with interrupts; needs hwcheck_nmi.ko\n"
		"  --dry-run         every register and bit they write; touches nothing\n"
		"  --only NAME       this experiment, and those it needs\n"
		"  --package N       this package only (physical id)\n"
		"  --load            makes traffic, on an idle machine\n"
		"  --limit SECONDS   ends it then (300)\n"
		"  --report FILE     JSON (hwcheck.json), and FILE.log\n"
		"  --restore FILE    puts that back, after both processes were killed\n"
		"  --keep-rules      none that breaks a rule of the manual\n"
		"  --despite-panic   also where an unknown NMI panics\n"
		"  --hypervisor      also in a virtual machine\n"
		"  --version\n");
	return f == stdout ? printed() : 2;
}

static int skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return KSFT_SKIP;
}

/* Why --only asks for nothing, or NULL. */
static const char *wrong_only(void)
{
	int n = number(only);

	return !only ? NULL : n < 0 ? "no such experiment, --pmi --dry-run has them: " :
	       keep_rules && experiments[n].breaks ? "this experiment breaks a rule: " :
	       experiments[n].level <= level ? NULL : experiments[n].level == LEVEL_PMI ?
	       "--only: this experiment needs --pmi: " :
	       "--only: this experiment needs --count or --pmi: ";
}

/* Also after an undetermined write nothing is open as 0, 1 or 2 that is not the owner's. */
static void open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static const char *not_here(void)
{
	return wrong_machine() ?: (level != LEVEL_READ ? other_driver() : NULL) ?:
	       (access("/dev/cpu/0/msr", level == LEVEL_READ ? R_OK : R_OK | W_OK) ?
		"/dev/cpu/0/msr cannot be opened: be root, modprobe msr" : NULL);
}

/* After the report has been opened. */
static const char *not_now(void)
{
	const char *why = guard_begin();
	unsigned int p;

	if (why)
		return why;
	for (p = 0; !why && p < num_packages; p++)
		why = other_owner(&packages[p]);
	why = why ?: say_now(NULL, "MSR 0xc00 of each package is written as it was read");
	for (p = 0; !why && p < num_packages; p++)
		why = write_refused(&packages[p]);
	if (why)
		unlink(SAVED);
	return why;
}

static int run(const char *path, double limit)
{
	unsigned int p, n, missing[PACKAGES_MAX];
	const char *why;
	double begin;

	printf("KTAP version 1\n");
	why = not_here();
	if (level == LEVEL_PMI)
		why = why ?: nmi_module_missing() ?: (despite_panic ? NULL : nmi_not_safe());
	why = why ?: find_packages();
	if (!why && only && !wanted(&experiments[number(only)]))
		why = "this is no question of this machine";
	/* First, so that what another one writes is not saved. */
	why = why ?: guard_lock(level == LEVEL_READ, "another hwcheck runs");
	if (why)
		return skip(why);
	for (p = 0; p < num_packages; p++)
		missing[p] = save(&packages[p]);
	why = report_open(path);
	if (why)
		return wrong("the report cannot be written: ", why);
	begin = seconds();
	for (n = 0; n < num_experiments; n++)
		shared->wanted += num_packages * wanted(&experiments[n]);
	why = level > LEVEL_READ ? not_now() : NULL;
	if (why) {
		report_drop(path);
		return skip(why);
	}
	if (!report_write(0)) {
		if (level > LEVEL_READ)
			unlink(SAVED);
		return 1;
	}
	for (p = 0; p < num_packages; p++)
		line(packages[p].num_saved,
		     because("package %d: %u of %u registers can be read", packages[p].id,
			     packages[p].num_saved, packages[p].num_saved + missing[p]), NULL);
	if (level > LEVEL_READ) {
		say("# %u experiments on %u packages; registers are in " SAVED "; Ctrl-C ends it",
		    shared->wanted, num_packages);
		why = guard_run(limit);
	}
	if (why)
		line(false, why, NULL);
	if (*shared->why)
		line(false, shared->why, NULL);
	if (shared->open) {
		line(false, "registers are as they were", NULL);
		say("# what they were is in " SAVED ": hwcheck --restore " SAVED);
	}
	if (!report_write(seconds() - begin))
		shared->failures++;
	say("1..%u", shared->lines);
	return shared->failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	static int dry;
	static const struct option options[] = {
		{ "read", no_argument, NULL, 'r' }, { "count", no_argument, NULL, 'c' },
		{ "pmi", no_argument, NULL, 'p' }, { "dry-run", no_argument, &dry, 1 },
		{ "only", required_argument, NULL, 'o' }, { "load", no_argument, &loads, 1 },
		{ "package", required_argument, NULL, 'P' },
		{ "limit", required_argument, NULL, 't' },
		{ "report", required_argument, NULL, 'R' },
		{ "restore", required_argument, NULL, 'b' },
		{ "keep-rules", no_argument, &keep_rules, 1 },
		{ "despite-panic", no_argument, &despite_panic, 1 },
		{ "hypervisor", no_argument, &under_hypervisor, 1 },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'v' }, {},
	};
	const char *path = "hwcheck.json", *from = NULL, *why;
	double limit = 300;
	unsigned int p;
	char *end;
	int opt, index = 0;

	open_standard();
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (opt != 'R' && opt != '?')
			snprintf(options_given + strlen(options_given),
				 sizeof(options_given) - strlen(options_given), "%s--%s%s%s",
				 *options_given ? " " : "", options[index].name, optarg ? " " : "",
				 optarg ? optarg : "");
		switch (opt) {
		case 0:
			break;
		case 'r':
		case 'c':
		case 'p':
			if (level != LEVEL_NONE)
				return wrong("one of --read, --count and --pmi", "");
			level = opt == 'r' ? LEVEL_READ : opt == 'c' ? LEVEL_COUNT : LEVEL_PMI;
			break;
		case 'o':
			only = optarg;
			break;
		case 'P':
			asked_package = strtol(optarg, &end, 10);
			if (end == optarg || *end || asked_package < 0)
				return wrong("--package needs a number, not ", optarg);
			break;
		case 't':
			limit = strtod(optarg, &end);
			if (end == optarg || *end || !(limit >= 0.1 && limit <= 86400))
				return wrong("--limit needs 0.1 to 86400 seconds, not ", optarg);
			break;
		case 'R':
			path = optarg;
			break;
		case 'b':
			from = optarg;
			break;
		case 'v':
			puts("hwcheck " HWCHECK_VERSION);
			return printed();
		default:
			return usage(opt == 'h' ? stdout : stderr);
		}
	}
	shared = calloc(1, sizeof(*shared));	/* until SAVED is there */
	if (!shared || optind != argc || (level == LEVEL_NONE) == !from)
		return usage(stderr);
	why = wrong_only();
	if (why)
		return wrong(why, only);
	if (dry && from)
		return wrong("--dry-run is of --read, --count and --pmi", "");
	if (dry) {
		dry_run();
		return printed();
	}
	if (!from)
		return run(path, limit);
	level = LEVEL_COUNT;
	why = not_here() ?: find_packages();
	if (why)
		return skip(why);
	for (p = 0; p < num_packages; p++)
		save(&packages[p]);
	return restore_from(from);
}
