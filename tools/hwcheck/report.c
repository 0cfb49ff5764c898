// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal (FILE.log), which is on the disk before anything is written to a register; the
 * report (FILE), and what the owner is told of it. No serial number, host name or address.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "expected.h"	/* made by tools/readings */
#include "hwcheck.h"

static const char *report_path;
static FILE *journal, *report;
static u64 tsc_begin;

void read_line(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");

	*to = 0;
	if (!f)
		return;
	if (fgets(to, size, f))
		to[strcspn(to, "\n")] = 0;
	fclose(f);
}

/* Standard output or error is the same file. */
static bool is_output(const struct stat *st)
{
	struct stat out;
	int fd;

	for (fd = 1; fd <= 2; fd++) {
		if (!fstat(fd, &out) && out.st_dev == st->st_dev && out.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/*
 * Nothing that was there is lost; the journal is only added to. In a directory of all somebody else
 * may have been there first.
 */
static FILE *create(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644);
	struct stat st;

	errno = fd < 0 || fstat(fd, &st) ? errno : !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
		st.st_uid != geteuid() || st.st_mode & 022 ? EINVAL : is_output(&st) ? EBUSY : 0;
	return errno ? NULL : fdopen(fd, "w");
}

/* The report of an earlier run gets a number, so that its answers are not lost. */
static bool keep_earlier(void)
{
	char to[PATH_MAX];
	unsigned int n = 0;
	struct stat st;

	if (fstat(fileno(report), &st) || !st.st_size)
		return true;
	do {
		snprintf(to, sizeof(to), "%s.%u", report_path, ++n);
	} while (!lstat(to, &st));
	if (rename(report_path, to))
		return false;
	printf("# the report that was there is now %s\n", to);
	fclose(report);
	report = create(report_path, O_EXCL);
	return report;
}

const char *because(const char *text, ...)
{
	static char reasons[4][320];
	static unsigned int next;
	char *why = reasons[next++ % 4];
	va_list args;

	va_start(args, text);
	vsnprintf(why, sizeof(reasons[0]), text, args);
	va_end(args);
	return why;
}

const char *report_open(const char *path)
{
	const char *log = because("%s.log", path);

	report_path = path;
	report = create(path, 0);
	journal = report ? create(log, O_APPEND) : NULL;
	tsc_begin = __rdtsc();
	return journal ? NULL : because("%s: %s", report ? log : path,
					errno == EBUSY ? "the output goes there, too: hwcheck writes it by itself" :
					errno != EINVAL ? strerror(errno) :
					"no regular file with one name, that only you can write");
}

void report_drop(const char *path)
{
	struct stat st;

	if (!fstat(fileno(report), &st) && !st.st_size)
		unlink(path);
	if (!fstat(fileno(journal), &st) && !st.st_size)
		unlink(because("%s.log", path));
}

void say(const char *text, ...)
{
	static bool stuck;
	va_list args;
	int i;

	for (i = 0; i < 2; i++) {
		FILE *f = i ? stdout : journal;

		/* Who was told to end waits once for a slow reader; the journal has it all. */
		if (i && ended && !stuck)
			stuck = poll(&(struct pollfd){ 1, POLLOUT, 0 }, 1, 1000) <= 0;
		if (!f || (i && stuck))
			continue;
		va_start(args, text);
		vfprintf(f, text, args);
		va_end(args);
		putc('\n', f);
		fflush(f);
	}
}

const char *say_now(const struct experiment *e, const char *eta)
{
	if (e) {
		say("# now: package %d: %s, %s", pkg->id, e->name, eta);
		show_writes(journal, e);
	} else {
		say("# now: %s", eta);
	}
	return fflush(journal) || ferror(journal) || fsync(fileno(journal)) ?
	       "the journal cannot be written" : NULL;
}

static void json_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', f);
		if ((unsigned char)*text >= ' ' && (unsigned char)*text < 127)
			putc(*text, f);
	}
	putc('"', f);
}

static void fact(const char *name, const char *val)
{
	fprintf(report, "  \"%s\": ", name);
	json_string(report, val);
	fputs(",\n", report);
}

static void facts(double seconds)
{
	static const struct { const char *name, *file; } files[] = {
		{ "bios vendor", "/sys/class/dmi/id/bios_vendor" },
		{ "bios", "/sys/class/dmi/id/bios_version" },
		{ "bios date", "/sys/class/dmi/id/bios_date" },
		{ "vendor", "/sys/class/dmi/id/sys_vendor" },
		{ "product", "/sys/class/dmi/id/product_name" },
		{ "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog" },
		{ "load", "/proc/loadavg" },
		{ "clocksource",
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	};
	char line[400], name[64], text[256] = "";
	struct utsname uts;
	time_t t = time(NULL);
	unsigned int i;
	FILE *f;

	fact("hwcheck", HWCHECK_VERSION);
	fact("machine", machine_e7 ? "westmereex" : "xeon7500");
	fact("options", options_given);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", gmtime(&t));
	fact("date", text);
	snprintf(text, sizeof(text), "%.1f", seconds);
	fact("seconds", text);
	snprintf(text, sizeof(text), "%.0f",
		 seconds > 0 ? (__rdtsc() - tsc_begin) / seconds / 1000 : 0);
	fact("tsc_khz", text);
	f = fopen("/proc/cpuinfo", "re");
	while (f && fgets(line, sizeof(line), f) && *line != '\n') {
		if (sscanf(line, "%63[^\t:] : %255[^\n]", name, text) == 2 &&
		    strstr("model name, stepping, microcode", name))
			fact(name, text);
	}
	if (f)
		fclose(f);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		read_line(files[i].file, text, sizeof(text));
		fact(files[i].name, text);
	}
	uname(&uts);
	fact("kernel", uts.release);
}

/* CPU, package, core and APIC id of each */
static void cpus(void)
{
	const struct package *p;
	unsigned int i;

	fprintf(report, "  \"cpus\": [");
	for (p = packages; p < packages + num_packages; p++) {
		for (i = 0; i < p->num_cpus; i++)
			fprintf(report, "%s[%d, %d, %d, %d]", p > packages || i ? ", " : "",
				p->cpu[i], p->id, p->core[i], p->apic[i]);
	}
	fprintf(report, "],\n");
}

/* What one package says, or all together: of those that say something, all the same. */
static const char *found_by(unsigned int n, unsigned int first, unsigned int last)
{
	const char *what = NULL;
	bool tried = false;
	unsigned int i;

	for (i = first; i < last; i++) {
		const struct result *r = &shared->results[i][n];

		tried |= r->state != NOT_RUN;
		if (r->state != ANSWERED)
			continue;
		if (what && strcmp(what, r->what))
			return "undetermined";
		what = r->what;
	}
	return what ? what : tried ? "undetermined" : "not run";
}

static bool said(const char *what)
{
	return strcmp(what, "undetermined") && strcmp(what, "not run");
}

static void reading(unsigned int n, const char *sep)
{
	const struct experiment *e = &experiments[n];
	const char *what = found_by(n, 0, num_packages), *quote = e->breaks ? "\"" : "";
	unsigned int i;

	fprintf(report, "%s\n    \"%s\": {\"answer\": \"%s\", \"confidence\": \"%s\", \"breaks\": "
		"[%s%s%s], \"packages\": [", sep, e->name, what, said(what) ? "seen" : "none",
		quote, e->breaks ? e->breaks : "", quote);
	for (i = 0; i < num_packages; i++) {
		fprintf(report, "%s[%d, \"%s\", ", i ? ", " : "", packages[i].id,
			found_by(n, i, i + 1));
		json_string(report, shared->results[i][n].evidence);
		putc(']', report);
	}
	fputs("]}", report);
}

static void registers(void)
{
	unsigned int p, i;

	fprintf(report, "  \"registers\": {");
	for (p = 0; p < num_packages; p++) {
		fprintf(report, "%s\n    \"%d\": {", p ? "," : "", packages[p].id);
		for (i = 0; i < packages[p].num_saved; i++)
			fprintf(report, "%s\"0x%x\": \"0x%llx\"", i ? ", " : "",
				packages[p].saved[i].msr, packages[p].saved[i].val);
		fputs("}", report);
	}
	fprintf(report, "\n  },\n");
}

/* How the machine compares with what model and driver take it to be. */
static void tell_owner(void)
{
	unsigned int same = 0, asked = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		int n = number(expected[i].name);
		const char *what = found_by(n, 0, num_packages);

		if (!wanted(&experiments[n]))
			continue;
		asked++;
		same += !strcmp(what, expected[i].first);
		if (strcmp(what, expected[i].first) && said(what))
			say("# different: %s=%s; the driver then: %s", expected[i].name, what,
			    expected[i].driver);
	}
	if (asked)
		say("# as the model in %u of %u", same, asked);
	say("# not run, by hand: m_dram_cmd: its events have the same known bits, no count "
	    "differs; r_ndr_any: a match counts its own opcodes, whatever their names");
}

static void write_all(double seconds)
{
	const char *sep = "";
	unsigned int n;

	rewind(report);
	fputs("{\n", report);
	facts(seconds);
	cpus();
	registers();
	fprintf(report, "  \"packages\": %u,\n  \"readings\": {", num_packages);
	for (n = 0; n < num_experiments; n++) {
		if (!wanted(&experiments[n]))
			continue;
		reading(n, sep);
		sep = ",";
	}
	fprintf(report, "\n  }\n}\n");
}

/* Called before the first experiment with 0 seconds, and in the end. */
bool report_write(double seconds)
{
	bool opened = seconds || keep_earlier();

	if (opened)
		write_all(seconds);
	if (!opened || fflush(report) || ftruncate(fileno(report), ftell(report)) ||
	    fsync(fileno(report)) || ferror(report)) {
		fprintf(stderr, "hwcheck: the report: %s\n", strerror(errno));
		return false;
	}
	if (!seconds)
		return true;
	if (level > LEVEL_READ)
		tell_owner();
	say("# please send the report and its .log, with a line on what the machine was doing, %s",
	    *REPORT_TO ? "to " REPORT_TO :
	    "to those you have hwcheck from: this build knows no address (make REPORT_TO=)");
	return true;
}
