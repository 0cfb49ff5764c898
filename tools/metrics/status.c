// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics status: what the machine, the module and the user are like, and what
 * prevents counting. It needs none of them: each row looks for itself.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rule.h"

struct row {
	const char *name;
	char *text;
	enum { FINE, NOTE, BLOCKS } level;
	const char *next;	/* commands, a line each, or NULL */
	bool root;		/* they are for root */
};

struct status {
	struct session *session;
	struct row *row;
	int num;
	bool uncore;		/* of the machine's module */
	const char *next;	/* what to do where counting will work, or NULL for why */
};

static struct row *row_add(struct status *status, const char *name, char *text)
{
	struct row *row = append(status->row, status->num);

	*row = (struct row){ .name = name, .text = text };
	return row;
}

static void blocks(struct row *row, const char *next, bool root)
{
	row->level = BLOCKS;
	row->next = next;
	row->root = root;
}

static char *joined(const char *list, const char *item)
{
	return *list ? format("%s, %s", list, item) : format("%s", item);
}

static char *plural(int num, const char *what)
{
	return format("%d %s%s", num, what, num == 1 ? "" : "s");
}

/* ---- the machine ---- */

static int metrics_here(const struct session *session)
{
	int num = 0, i;

	for (i = 0; i < session->num_metrics; i++)
		num += machine_is(session, session->metric[i]->group->machines);
	return num;
}

static bool add_cpu(struct status *status)
{
	const struct session *session = status->session;
	const char *module = machine_module(session);
	int packages = 0, cpus = 0, i;
	struct row *row;

	for (i = 0; i < session->packages; i++)
		packages += session->online[i];
	for (i = 0; i < session->cpus; i++)
		cpus += session->package_of[i] >= 0;
	row = row_add(status, "CPU", format("%s%s%s (%s): %s, %s", machine_name(session),
					    module && *session->model_name ? ", " : "",
					    module ? session->model_name : "",
					    *session->model ? session->model : "unknown model",
					    plural(packages, "package"), plural(cpus, "CPU")));
	if (!module && !metrics_here(session))
		blocks(row, NULL, false);
	if (row->level == BLOCKS)
		row->text = format("%s. No metric and no module is for this CPU: those are for Xeon "
				   "7500 and E7, Goldmont, Silvermont, Airmont and Sandy Bridge",
				   row->text);
	status->uncore = module && !strcmp(module, "xeon7500_uncore");
	return row->level != BLOCKS;
}

static const struct pmu *any_event(const struct status *status, char **terms);

/* Returns whether its events can be looked for. */
static bool add_module(struct status *status)
{
	const struct session *session = status->session;
	char *terms, *next, *lack = module_lack(session, &next);
	struct row *row;

	if (!lack) {
		if (machine_module(session))
			row_add(status, "module", format("%s is loaded", machine_module(session)));
		return true;
	}
	row = row_add(status, "module", lack);
	blocks(row, next, true);
	/* Of some cores the events of metrics are raw ones. */
	if (status->uncore || !any_event(status, &terms))
		return false;
	row->level = NOTE;
	row->text = format("%s; the metrics of this machine do without", row->text);
	return true;
}

/* "U-Box, C-Box 0-1, 4": the boxes of a package that are there, or that are not. */
static char *boxes_of(const struct session *session, int package, bool there)
{
	const struct { char letter; int num; } kinds[] = {
		{ 'u' }, { 'c', strcmp(session->model, "06_2f") ? 8 : 10 }, { 's', 2 }, { 'b', 2 },
		{ 'm', 2 }, { 'r', 2 }, { 'w' },
	};
	char *text = "";
	unsigned int k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const char *base = format("xeon7500_%cbox", kinds[k].letter);
		int num = kinds[k].num, run = 0, i;
		char *name = format("%c-Box%s", kinds[k].letter - 'a' + 'A', num ? " " : "");

		for (i = num ? 0 : -1; i <= num; i++) {
			const struct pmu *pmu = i < num ? pmu_of(session, base, i) : NULL;

			if (i < num && (pmu && pmu->cpu[package] >= 0) == there) {
				run++;
			} else if (run) {
				text = joined(text, !num ? name : run == 1 ?
					      format("%s%d", name, i - 1) :
					      format("%s%d-%d", name, i - run, i - 1));
				name = "";
				run = 0;
			}
		}
	}
	return text;
}

/* Packages that have the same boxes are in one row. */
static void add_boxes(struct status *status)
{
	const struct session *session = status->session;
	char *boxes[MAX_PACKAGES] = {};
	bool any = false;
	int p, q;

	for (p = 0; p < session->packages; p++) {
		char *there = boxes_of(session, p, true), *absent = boxes_of(session, p, false);

		if (session->online[p])
			boxes[p] = format("%s%s%s", *there ? there : "none", *absent ?
					  "; absent or fused off: " : "", absent);
		any |= *there;
	}
	for (p = 0; p < session->packages; p++) {
		char *same = boxes[p], *packages = "";

		for (q = p; same && q < session->packages; q++) {
			if (boxes[q] && !strcmp(same, boxes[q])) {
				packages = joined(packages, format("S%d", q));
				boxes[q] = NULL;
			}
		}
		if (same)
			row_add(status, "boxes", format("%s: %s", packages, same))->level =
				*same == 'n' ? NOTE : FINE;
	}
	if (!any)
		blocks(row_add(status, "boxes", "the module is loaded, but no box is in sysfs"),
		       "dmesg | grep xeon7500", true);
}

/* ---- the module ---- */

static char *package_cap(const struct session *session, const char *name)
{
	return read_file(session, format("/bus/event_source/devices/xeon7500_package/caps/%s", name));
}

static void add_uncore(struct status *status)
{
	static const struct { const char *pmi, *text; } pmis[] = {
		{ "yes", "self-test passed: overflows interrupt, so events can be sampled" },
		{ "untested", "not tested yet: the first event that is sampled starts the self-test" },
		{ "no", "self-test failed: no overflow interrupts, so events count but are not sampled" },
		{ "off", "off, as the parameter pmi=off of the module says: events count" },
	};
	const struct session *session = status->session;
	char *pmi = package_cap(session, "pmi"), *text = pmi;
	char *missed = package_cap(session, "missed_pmis");
	char *foreign = package_cap(session, "foreign_writes");
	unsigned int i;

	add_boxes(status);
	for (i = 0; pmi && i < sizeof(pmis) / sizeof(pmis[0]); i++) {
		if (!strcmp(pmi, pmis[i].pmi))
			text = format("%s", pmis[i].text);
	}
	if (pmi)
		row_add(status, "PMI", text)->level = !strcmp(pmi, "no") ? NOTE : FINE;
	if (missed)
		row_add(status, "samples", strtoull(missed, NULL, 0) ?
			format("%s overflows had no interrupt: a timer took their samples, up to 10 ms late",
			       missed) : "none late: no interrupt was missing")->level =
			strtoull(missed, NULL, 0) ? NOTE : FINE;
	if (foreign)
		row_add(status, "conflicts", strtoull(foreign, NULL, 0) ?
			format("third-party programs changed registers %s times since the module was "
			       "loaded, as LIKWID or PCM do; those counts are lost", foreign) :
			"no third-party program changed a register since the module was loaded")->level =
			strtoull(foreign, NULL, 0) ? NOTE : FINE;
}

/* ---- who else counts ---- */

#define SHOWN	4	/* processes */

/* Events and MSR devices that a process has open. */
static bool count_files(const char *dir, int *events, int *msrs)
{
	DIR *fds = opendir(dir);
	struct dirent *entry;
	char to[64];
	ssize_t len;

	*events = *msrs = 0;
	if (!fds)
		return errno != EACCES;
	while ((entry = readdir(fds))) {
		len = readlinkat(dirfd(fds), entry->d_name, to, sizeof(to) - 1);
		to[len < 0 ? 0 : len] = 0;
		*events += !strcmp(to, "anon_inode:[perf_event]");
		*msrs += !strncmp(to, "/dev/cpu/", 9) && strstr(to, "/msr");
	}
	closedir(fds);
	return true;
}

static char *proc_line(const struct session *session, const char *path)
{
	char *text = session->world->proc ? first_line(format("%s/%s", session->world->proc, path)) : NULL;
	char *at;

	/* A process can give itself any name. */
	for (at = text; at && *at; at++)
		*at = isprint((unsigned char)*at) ? *at : '?';
	return text;
}

static void add_others(struct status *status)
{
	const struct session *session = status->session;
	DIR *dir = session->world->proc ? opendir(session->world->proc) : NULL;
	int events, msrs, hidden = 0, num = 0, pass;
	struct dirent *entry;
	char *text = "", *what;

	/* Who has MSRs open comes first: these change counters without the kernel. */
	for (pass = 0; dir && pass < 2; pass++, rewinddir(dir)) {
		while ((entry = readdir(dir))) {
			if (entry->d_name[strspn(entry->d_name, "0123456789")] ||
			    atoi(entry->d_name) == getpid())
				continue;
			hidden += !count_files(format("%s/%s/fd", session->world->proc,
						      entry->d_name), &events, &msrs) && !pass;
			if ((pass ? msrs || !events : !msrs) || num++ >= SHOWN)
				continue;
			what = !msrs ? plural(events, "event") : !events ?
			       "MSRs, as LIKWID and PCM do" :
			       format("%s, and MSRs", plural(events, "event"));
			text = joined(text, format("%s (pid %s): %s", proc_line(session,
				      format("%s/comm", entry->d_name)) ?: "?", entry->d_name, what));
		}
	}
	if (dir)
		closedir(dir);
	row_add(status, "in use", format("%s%s%s", num ? text : hidden ?
					 "no other process of this user has counters open" :
					 "no other program has counters open",
					 num > SHOWN ? format(" and %d more", num - SHOWN) : "",
					 hidden ? ". Only root sees the processes of other users" : ""))
		->level = num ? NOTE : FINE;
	what = proc_line(session, "sys/kernel/nmi_watchdog");
	if (!status->uncore && what && !strcmp(what, "1"))
		*row_add(status, "watchdog", NULL) = (struct row){
			"watchdog", "the NMI watchdog holds a counter of each core", NOTE,
			"sysctl kernel.nmi_watchdog=0", true };
}

/* ---- perf and the user ---- */

/* What the program says of its version, or NULL. */
static char *version_of(const struct session *session, int *status)
{
	char text[200] = "", *at = text;
	int fds[2];
	pid_t pid;

	*status = 0;
	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
		dup2(STDIN_FILENO, STDERR_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		execlp(session->world->perf, session->world->perf, "--version", NULL);
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(fds[1]);
	if (pid > 0 && poll(&(struct pollfd){ fds[0], POLLIN, 0 }, 1, session->world->patience) > 0 &&
	    read(fds[0], text, sizeof(text) - 1) < 0)
		*text = 0;
	close(fds[0]);
	/* It has said all, or ends, or hangs. */
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
	}
	text[strcspn(text, "\n")] = 0;
	while (isprint((unsigned char)*at))
		at++;
	return *text && !*at ? format("%s", text) : NULL;
}

static void add_perf(struct status *status)
{
	int major = 0, minor = 0, ended;
	char *version = version_of(status->session, &ended);

	if (!version) {
		blocks(row_add(status, "perf", WIFEXITED(ended) && WEXITSTATUS(ended) == 127 ?
			       "the program perf is not there" :
			       "the program perf does not say its version, so it does not run"),
		       "apt install linux-perf", true);
		return;
	}
	if (strncmp(version, "perf version ", 13)) {
		blocks(row_add(status, "perf", format("another program is named perf and says '%s'",
						      version)), "apt install linux-perf", true);
		return;
	}
	if (sscanf(version, "perf version %d.%d", &major, &minor) == 2 && major < 6)
		blocks(row_add(status, "perf", format("%s is too old: perf stat has no JSON before "
						      "6.0", version)), "apt install linux-perf", true);
	else
		row_add(status, "perf", version);
}

/* 0 if an event can be opened, of this process or of all, else an errno. */
static int try_event(const struct session *session, const struct pmu *pmu, const char *terms,
		     bool own)
{
	int fd = event_open(session, pmu, terms, own, -1);

	return fd < 0 ? -fd : close(fd);
}

/* The PMU that has this event in sysfs. */
static const struct pmu *event_pmu(const struct session *session, const char *text, char **terms)
{
	struct perf_event_attr attr;
	char *name = format("%s", text);
	int p;

	*terms = name + strcspn(name, "/");
	*(*terms)++ = 0;
	(*terms)[strlen(*terms) - 1] = 0;
	for (p = 0; p < session->num_pmus; p++) {
		if (!strcmp(session->pmu[p].base, name) &&
		    !event_attr(session, &session->pmu[p], *terms, &attr))
			return &session->pmu[p];
	}
	return NULL;
}

/* The first event of a metric of this machine all of whose events sysfs has. */
static const struct pmu *any_event(const struct status *status, char **terms)
{
	const struct session *session = status->session;
	const struct pmu *pmu;
	char *others;
	int m, e;

	for (m = 0; m < session->num_metrics; m++) {
		const struct metric *metric = session->metric[m];

		if (!machine_is(session, metric->group->machines))
			continue;
		pmu = event_pmu(session, metric->event[0].text, terms);
		for (e = 1; e < metric->num_events && pmu; e++) {
			if (!event_pmu(session, metric->event[e].text, &others))
				pmu = NULL;
		}
		if (pmu && pmu->core != status->uncore)
			return pmu;
	}
	return NULL;
}

static void add_permission(struct status *status)
{
	const struct session *session = status->session;
	const struct pmu *gate = pmu_of(session, "xeon7500_package", -1), *pmu;
	const char *paranoid = proc_line(session, "sys/kernel/perf_event_paranoid");
	const char *level = paranoid ? format(" (perf_event_paranoid is %s)", paranoid) : "";
	char *terms, *text, *colon;
	int all, own;

	pmu = any_event(status, &terms);
	if (!pmu) {
		blocks(row_add(status, "user", "no event of a metric is in sysfs"),
		       "perf metrics list", false);
		return;
	}
	all = try_event(session, pmu, terms, false);
	own = all && pmu->core ? try_event(session, pmu, terms, true) : all;
	if (!own) {
		row_add(status, "user", format("this user may count%s%s", all ?
					       " commands, but not all CPUs" : "", level));
		if (gate && try_event(session, gate, "gate", false))
			row_add(status, "gate", "this user may not stop all counters at once, which "
				"needs CAP_PERFMON: boxes start one after the other")->level = NOTE;
		return;
	}
	if (own != EACCES && own != EPERM) {
		blocks(row_add(status, "user", format("%s/%s/ cannot be opened: %s", pmu->name, terms,
						      strerror(own))),
		       own == EMFILE ? "ulimit -n 65536" : "dmesg | tail", own != EMFILE);
		return;
	}
	text = permission_text(pmu);
	colon = strchr(text, '\n');
	blocks(row_add(status, "user", format("%.*s%s", (int)(strcspn(text, ":")), text, level)),
	       colon ? colon + 2 : NULL, true);
}

/* ---- files ---- */

/* Is there such a place, as S0 or S0/mbox_0, on this machine? */
static bool is_here(const struct session *session, const char *place)
{
	int package, number, len = 0;
	const struct pmu *pmu;
	char letter[2];

	if (sscanf(place, "S%d%n", &package, &len) != 1 || package >= session->packages ||
	    !session->online[package] || strncmp(place, format("S%d", package), len))
		return false;
	place += len;
	len = 0;
	if (sscanf(place, "/%1[a-z]box_%d%n", letter, &number, &len) != 2)
		return true;
	if (place[len])
		return false;
	pmu = pmu_of(session, format("xeon7500_%sbox", letter), number);
	return pmu && pmu->cpu[package] >= 0;
}

/* Packages with an M-Box whose limit is not known. */
static char *unlimited(struct session *session)
{
	char *packages = "";
	int p, i;

	for (p = 0; p < session->packages; p++) {
		for (i = 0; i < MAP_MBOXES; i++) {
			const struct pmu *pmu = pmu_of(session, "xeon7500_mbox", i);

			if (pmu && pmu->cpu[p] >= 0 &&
			    !limit_of(session, "memory", p, format("mbox_%d", i))) {
				packages = joined(packages, format("S%d", p));
				break;
			}
		}
	}
	return packages;
}

static void add_topology(struct status *status)
{
	struct session *session = status->session;
	int wrong = session_topology(session), links = 0, p, q;
	const struct topology *topology = session->topology;
	const char *path = session->topology_file.path;
	struct row *row;
	char *lack;

	if (wrong) {
		status->next = "perf metrics status --topology >topology";
		row = row_add(status, "topology", format("%s is wrong, see above: why, map and "
							 "--openmetrics do not count with it", path));
		row->level = NOTE;
		return;
	}
	for (p = 0; p < MAP_PACKAGES; p++) {
		for (q = 0; q < MAP_PORTS; q++)
			links += !!*topology->link[p][q].peer;
	}
	if (path) {
		row_add(status, "topology", format("%s: %s of links, %s, %s", path,
						   plural(links, "end"),
						   plural(topology->nodes, "node"),
						   plural(topology->limits, "limit")));
		for (p = 0; p < topology->limits; p++) {
			const char *place = topology->limit[p].place;

			if (!*place || is_here(session, place))
				continue;
			row = &status->row[status->num - 1];
			row->text = format("%s; there is no %s", row->text, place);
			row->level = NOTE;
		}
		lack = unlimited(session);
		if (*lack) {
			row = &status->row[status->num - 1];
			row->text = format("%s; no limit of memory for %s, so why does not judge it",
					   row->text, lack);
			row->level = NOTE;
			row->next = "perf metrics memory_bandwidth --per-box -- PROGRAM";
		}
		return;
	}
	row = row_add(status, "topology", "no file says where links lead and what memory can move");
	row->level = NOTE;
	row->next = "perf metrics status --topology >topology";
}

static void add_files(struct status *status, int files)
{
	const struct session *session = status->session;
	int rules = 0, i;

	if (files) {
		blocks(row_add(status, "metrics", "the metric files are missing or wrong, see above"),
		       "perf metrics check FILE", false);
		return;
	}
	for (i = 0; i < session->num_rules; i++)
		rules += machine_is(session, session->rule[i]->group->machines);
	row_add(status, "metrics", format("%s and %s for this machine",
					  plural(metrics_here(session), "metric"),
					  plural(rules, "rule")));
}

/* ---- output ---- */

static void print_commands(const char *before, const char *next)
{
	char *rest = format("%s", next), *line;

	while ((line = strsep(&rest, "\n")))
		printf("%s%s\n", before, line);
}

static void print_rows(const struct status *status, const struct row *worst)
{
	int i;

	for (i = 0; i < status->num; i++) {
		const struct row *row = &status->row[i];

		printf("%c %-10s ", row->level == BLOCKS ? '!' : row->level == NOTE ? '-' : ' ',
		       row->name);
		print_wrapped(row->text, 13);
		if (row->next && row != worst)
			print_commands(format("%13s%s", "", row->root ? "as root: " : ""), row->next);
	}
	printf("\n");
	if (!worst) {
		printf("Counting will work. Next:\n");
		print_commands("\t", status->next ?: status->uncore ? "perf metrics why -- sleep 1" :
			       "perf metrics why -- COMMAND");
		return;
	}
	printf("Counting will not work: ");
	print_wrapped(format("%s.", worst->text), 24);
	if (!worst->next)
		return;
	printf("Next%s:\n", worst->root ? ", as root" : "");
	print_commands("\t", worst->next);
}

static void print_json(const struct status *status, const struct row *worst)
{
	static const char * const levels[] = { "fine", "note", "blocks" };
	json_t *rows = json_array(), *all;
	int i;

	for (i = 0; i < status->num; i++) {
		const struct row *row = &status->row[i];

		json_array_append_new(rows, json_pack("{ss so ss so?}", "name", row->name, "text",
						      string_json(row->text), "level",
						      levels[row->level], "next",
						      string_json(row->next)));
	}
	all = json_pack("{sb so}", "counting", !worst, "rows", rows);
	put_json(stdout, all);
}

int status_show(struct session *session, int files)
{
	struct status status = { .session = session };
	const struct row *worst = NULL;
	bool known;
	int i;

	if (session->options.topology)
		return topology_skeleton(session);
	known = add_cpu(&status);
	add_files(&status, files);
	if (known) {
		if (add_module(&status)) {
			if (status.uncore)
				add_uncore(&status);
			if (!files)
				add_permission(&status);
		}
		if (status.uncore)
			add_topology(&status);
	}
	add_perf(&status);
	add_others(&status);
	for (i = status.num - 1; i >= 0; i--) {
		if (status.row[i].level == BLOCKS)
			worst = &status.row[i];
	}
	if (session->options.json)
		print_json(&status, worst);
	else
		print_rows(&status, worst);
	return output_end() ?: (worst ? STATUS_FAILED : 0);
}
