// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf stat counts; what it prints as JSON is read here.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics.h"

#define LOG_FD	3	/* of perf */

extern char **environ;

int count_signal;

static pid_t perf_pid;
static volatile sig_atomic_t stopped_by;

/*
 * The terminal sends SIGINT to perf and the command, too, unless it is a key there. Other
 * signals come to us alone, and are passed on again each second: perf may not have begun, or
 * we not have begun to wait.
 */
static void note_signal(int sig)
{
	if (sig != SIGALRM)
		stopped_by = sig;
	alarm(1);
}

/*
 * perf says what it has counted when its command ends, not before; without a command on SIGINT.
 */
static void stop_perf(const struct options *options)
{
	char *path = format("/proc/%d/task/%d/children", (int)perf_pid, (int)perf_pid);
	FILE *f = options->command ? fopen(path, "re") : NULL;
	int pid;

	if (!options->command)
		kill(perf_pid, SIGINT);
	while (f && fscanf(f, "%d", &pid) == 1)
		kill(pid, SIGTERM);
	if (f)
		fclose(f);
	free(path);
}

/* Events have names by which what perf prints finds back to them: pm and their number. */
static char *event_list(const struct plan *plan)
{
	char *list = NULL;
	size_t size;
	FILE *f = open_memstream(&list, &size);
	bool open = false;
	int order, i;

	for (order = 0; order < plan->num_counters; order++) {
		const struct counter *counter, *next;
		bool gate = false;

		/* The first gate comes before all others, the second one is last anyway. */
		i = order;
		if (plan->gate[0] >= 0) {
			if (order == 0)
				i = plan->gate[0];
			else if (order <= plan->gate[0])
				i = order - 1;
			gate = i >= plan->gate[0];
		}
		counter = &plan->counter[i];
		next = i + 1 < plan->num_counters && i + 1 != plan->gate[0] ? counter + 1 : NULL;
		if (!open)
			fprintf(f, "%s%s", order ? "," : "", gate ? "" : "{");
		else
			fprintf(f, ",");
		fprintf(f, "%s/%s,name=pm%d/", counter->pmu->name, counter->terms, i);
		open = !gate && next && next->pmu == counter->pmu && next->pass == counter->pass;
		if (!open && !gate)
			fprintf(f, "}");
	}
	fclose(f);
	return list;
}

char **count_command(const struct plan *plan, const struct options *options, int fd)
{
	static char *argv[32];
	int num = 0;

	argv[num++] = "perf";
	argv[num++] = "stat";
	argv[num++] = "-j";
	/* What took turns is scaled here, by times that are not rounded. */
	argv[num++] = "--no-scale";
	if (!plan->command_only) {
		argv[num++] = "-a";
		argv[num++] = "-A";
	}
	argv[num++] = "--log-fd";
	argv[num++] = format("%d", fd);
	if (options->interval) {
		argv[num++] = "-I";
		argv[num++] = format("%d", options->interval);
		if (options->interval_count) {
			argv[num++] = "--interval-count";
			argv[num++] = format("%d", options->interval_count);
		}
		if (options->summary)
			argv[num++] = "--summary";
	}
	argv[num++] = "-e";
	argv[num++] = event_list(plan);
	argv[num] = NULL;
	return argv;
}

/* perf writes numbers as the locale says, which JSON does not allow. */
static void plain_numbers(void)
{
	const char *all = getenv("LC_ALL");

	if (all && *all) {
		setenv("LANG", all, 1);
		unsetenv("LC_ALL");
	}
	setenv("LC_NUMERIC", "C", 1);
}

static int start(const struct plan *plan, const struct options *options)
{
	char **argv = count_command(plan, options, LOG_FD), **command = options->command;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t ours;
	int fds[2], err, num = 0;

	if (command) {
		char **all;

		while (argv[num])
			num++;
		for (err = 0; command[err]; err++)
			;
		all = allocate((num + err + 2) * sizeof(*all));
		memcpy(all, argv, num * sizeof(*all));
		all[num] = "--";
		memcpy(all + num + 1, command, err * sizeof(*all));
		argv = all;
	}
	if (pipe2(fds, O_CLOEXEC))
		die(STATUS_FAILED, "pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	/* dup2() to itself would leave it closed on exec. */
	if (fds[1] == LOG_FD)
		fcntl(fds[1], F_SETFD, 0);
	else
		posix_spawn_file_actions_adddup2(&actions, fds[1], LOG_FD);
	posix_spawnattr_init(&attr);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	posix_spawnattr_setsigdefault(&attr, &ours);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	plain_numbers();
	fflush(stdout);
	err = posix_spawnp(&perf_pid, "perf", &actions, &attr, argv, environ);
	if (err == ENOENT)
		die(STATUS_FAILED, "perf is not there: install linux-perf");
	if (err)
		die(STATUS_FAILED, "perf cannot be started: %s", strerror(err));
	close(fds[1]);
	return fds[0];
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_string(value) ? atof(json_string_value(value)) : json_number_value(value);
}

/* The count as it is, and the time it was counted for. */
static void read_count(struct plan *plan, const json_t *line)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	const char *value = json_string_value(json_object_get(line, "counter-value"));
	int i, cpu = plan->command_only ? 0 : (int)number(line, "cpu");
	struct reading *reading;

	/* Of a CPU that has gone offline perf says something, but not which it was. */
	if (!plan->command_only && !json_object_get(line, "cpu"))
		return;
	if (!event || !value || sscanf(event, "pm%d", &i) != 1 || i < 0 ||
	    i >= plan->num_counters || cpu < 0 || cpu > cpus)
		return;
	reading = &plan->counter[i].reading[cpu];
	reading->there = true;
	reading->running = number(line, "pcnt-running") / 100;
	reading->seconds = number(line, "event-runtime") / 1e9;
	if (!strcmp(value, "<not supported>"))
		reading->why = "perf does not support an event of it here";
	else if (value[0] == '<' || !reading->running || !reading->seconds)
		reading->why = "its events have not been counted";
	else
		reading->value = atof(value);
}

/*
 * The gates were open longer than the counters of the package counted, all for the same time:
 * the one that was open for less is the better measure of it. Between two intervals nothing
 * stops; there each event knows best itself. A driver that leaves out of the running time what
 * is behind a closed gate leaves out what perf takes to set up, too: that is no multiplexing.
 * But an event that ran for much less was held back by another gate, or by a freeze.
 */
static void set_windows(struct plan *plan)
{
	int cpu, i;

	for (cpu = 0; cpu < cpus; cpu++) {
		double window = 0;

		for (i = 0; i < 2 && plan->gate[0] >= 0; i++) {
			const struct reading *gate = &plan->counter[plan->gate[i]].reading[cpu];

			if (gate->there && !gate->why && (!window || gate->value / 1e9 < window))
				window = gate->value / 1e9;
		}
		for (i = 0; window && i < plan->num_counters; i++) {
			struct reading *reading = &plan->counter[i].reading[cpu];

			if (plan->counter[i].pmu->core || !reading->there || reading->why)
				continue;
			reading->running = reading->seconds < 0.9 * window ?
					   reading->seconds / window : 1;
			if (reading->running == 1)
				reading->seconds = window;
		}
	}
}

static void done(struct plan *plan, const struct options *options, double time,
		 void (*output)(struct plan *plan, const struct options *options, double time))
{
	static bool again;
	int i;

	if (!again || !time)
		set_windows(plan);
	again = true;
	output(plan, options, time);
	for (i = 0; i < plan->num_counters; i++)
		memset(plan->counter[i].reading, 0, (cpus + 1) * sizeof(struct reading));
}

/* How many lines of perf's make an interval. */
static int lines_of(const struct plan *plan)
{
	int num = 0, online = 0, i, p;

	for (i = 0; i < cpus; i++)
		online += package_of[i] >= 0;
	for (i = 0; i < plan->num_counters; i++) {
		if (plan->command_only)
			num++;
		else if (plan->counter[i].pmu->core)
			num += online;
		else
			for (p = 0; p < packages; p++)
				num += plan->counter[i].pmu->cpu[p] >= 0;
	}
	return num;
}

/*
 * A line of what perf says, without its end; NULL if there will be none, or if a signal came.
 * Keys are looked at meanwhile.
 */
static char *next_line(int fd, const struct options *options, bool *quit)
{
	static char *text;
	static size_t size, len, used;
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .events = POLLIN } };
	char *end, key;
	ssize_t num;

	len -= used;
	if (used)
		memmove(text, text + used, len);
	used = 0;
	while (!(end = len ? memchr(text, '\n', len) : NULL)) {
		/* Nobody to look at keys, or the end is under way: then perf alone. */
		fds[1].fd = options->key && !*quit ? STDIN_FILENO : -1;
		if (poll(fds, 2, -1) < 0)
			return NULL;
		if (fds[1].revents && read(STDIN_FILENO, &key, 1) == 1 && options->key(key)) {
			*quit = true;
			kill(perf_pid, SIGINT);
		}
		if (!fds[0].revents)
			continue;
		if (size - len < 4096) {
			size += 65536;
			text = realloc(text, size);
			if (!text)
				die(STATUS_FAILED, "no memory");
		}
		num = read(fd, text + len, size - len);
		if (num <= 0) {
			errno = num ? errno : 0;
			return NULL;
		}
		len += num;
	}
	*end = 0;
	used = end + 1 - text;
	return text;
}

int count(struct plan *plan, const struct options *options,
	  void (*output)(struct plan *plan, const struct options *options, double time))
{
	struct sigaction act = { .sa_handler = note_signal };
	int lines = 0, whole = lines_of(plan), status;
	bool any = false, quit = false;
	double time = 0;
	int fd;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	fd = start(plan, options);
	while (true) {
		char *text = next_line(fd, options, &quit);
		json_t *line;
		double when;

		if (!text) {
			if (errno != EINTR)
				break;
			if (stopped_by && (stopped_by != SIGINT || options->key))
				stop_perf(options);
			continue;
		}
		line = json_loads(text, 0, NULL);
		when = number(line, "interval");
		if (!json_object_get(line, "event")) {
			json_decref(line);
			continue;
		}
		any = true;
		if (lines && when != time) {
			done(plan, options, time, output);
			lines = 0;
		}
		time = when;
		read_count(plan, line);
		json_decref(line);
		if (++lines == whole) {
			done(plan, options, time, output);
			lines = 0;
		}
	}
	if (lines)
		done(plan, options, time, output);
	close(fd);
	while (waitpid(perf_pid, &status, 0) < 0 && errno == EINTR)
		;
	if (quit)
		return 0;
	if (stopped_by || WIFSIGNALED(status)) {
		count_signal = stopped_by ?: WTERMSIG(status);
		return 128 + count_signal;
	}
	if (!any)
		die(WEXITSTATUS(status) && options->command ? WEXITSTATUS(status) : STATUS_FAILED,
		    "perf stat has counted nothing, its status is %d", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}
