// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf stat counts; what it prints as JSON is read here. perf is told and asked through its
 * stdin and stdout, where "ack" comes before all counts, when they have been started. The
 * command waits for that. It is a child of this process and not of perf, so that what becomes
 * of it is known, and so that it inherits nothing of perf's: no descriptor, no group.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "screen.h"

#define MAX_LINE	65536	/* of perf's */
#define NOTICE		2	/* s; what takes longer is told */

/* A program that was started. */
struct child {
	pid_t pid;	/* 0: it was not, or it has ended */
	int status;	/* as a shell has it */
	int fd;		/* a socket that is its stdin and stdout, or that lets it begin; or -1 */
};

struct run {
	struct session *session;
	output_fn *output;
	struct child perf, command;
	const void *mark;	/* of memory that is not of one result */
	int signals;		/* they come from here */
	char text[MAX_LINE];
	size_t len;
	bool too_long;		/* the line that is being read */
	int lines, whole;	/* lines of this interval, and of a whole one */
	double time, done;	/* of this interval and of the last one; NAN for none */
	bool begins;		/* perf does not count yet */
	double told;		/* when it was told to end, or 0 */
	double last;		/* when the last result came, or 0 */
	double deadline;	/* until when it is waited for; INFINITY for always */
	double tells;		/* when it is said that it is waited for; likewise */
	int failed;		/* a status */
};

/* The signals that end the program, and those that were blocked before them. */
static sigset_t held, blocked_before;

static bool together(const struct counter *a, const struct counter *b)
{
	return a->pmu == b->pmu && a->pass == b->pass && a->gate == b->gate;
}

/* Events have names by which what perf prints finds back to them: pm and their number. */
static char *event_list(const struct plan *plan)
{
	char *list = "";
	int i;

	for (i = 0; i < plan->num_counters; i++) {
		const struct counter *one = plan->counter[i];
		bool first = !i || !together(one, plan->counter[i - 1]);
		bool last = i + 1 == plan->num_counters || !together(one, plan->counter[i + 1]);

		list = format("%s%s%s%s/%s,name=pm%d/%s", list, i ? "," : "",
			      first && !one->gate ? "{" : "", one->pmu->name, one->terms, i,
			      last && !one->gate ? "}" : "");
	}
	return list;
}

char *count_arguments(const struct session *session, int fd, const char *quote)
{
	const struct options *options = &session->options;

	/* What was multiplexed is scaled here, by times that are not rounded. */
	return format("stat -j --no-scale%s --log-fd %d%s%s%s -e %s%s%s",
		      session->plan.command_only ? "" : " -a -A", fd,
		      options->interval ? format(" -I %d", options->interval) : "",
		      options->interval_count ?
		      format(" --interval-count %d", options->interval_count) : "",
		      options->summary ? " --summary" : "", quote, event_list(&session->plan),
		      quote);
}

/* ---- perf and the command ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * In the child, signals are as they were, but for those by which a shell's background is
 * ended. The command begins when it is allowed to, and never if that does not happen.
 */
static void __attribute__((noreturn))
become(char **argv, int fd, bool is_perf, pid_t us)
{
	sigset_t blocked = blocked_before;
	char go;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* perf is told to end by SIGINT. */
	if (is_perf)
		sigdelset(&blocked, SIGINT);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (is_perf) {
		/* It writes numbers as the locale says. */
		setenv("LC_ALL", "C", 1);
		/* The terminal's signals are not for perf, and without us it has nothing to do. */
		setpgid(0, 0);
		/* Nor does its warning wait for the foreground, where the terminal has tostop. */
		signal(SIGTTOU, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGINT);
		if (getppid() != us)
			_exit(STATUS_FAILED);
		dup2(fd, STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
	} else if (read(fd, &go, 1) != 1) {
		_exit(STATUS_FAILED);
	}
	execvp(argv[0], argv);
	go = errno == ENOENT ? 127 : 126;
	if (!is_perf || go != 127)
		warn("%s: %s", argv[0], strerror(errno));
	if (!is_perf)
		send(fd, &go, 1, MSG_NOSIGNAL);
	_exit(go);
}

static int start(const struct run *run, struct child *child, char **argv)
{
	pid_t us = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return fail(STATUS_FAILED, "socketpair: %s", strerror(errno));
	child->fd = ends[1];
	child->pid = fork();
	if (!child->pid) {
		close(ends[1]);
		become(argv, ends[0], child == &run->perf, us);
	}
	close(ends[0]);
	if (child->pid > 0) {
		/* Here too: it may be told to end before it has come to do so itself. */
		if (child == &run->perf)
			setpgid(child->pid, 0);
		return 0;
	}
	child->pid = 0;
	return fail(STATUS_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
}

static int begin(struct run *run)
{
	struct session *session = run->session;
	char *argv[40] = { (char *)session->world->perf }, *rest;
	int num = 1, status = 0;

	fflush(stdout);
	if (session->options.command)
		status = start(run, &run->command, session->options.command);
	if (!session->plan.num_counters || status)
		return status;
	rest = format("%s --control fd:0,1%s", count_arguments(session, STDOUT_FILENO, ""),
		      session->plan.command_only ? format(" -p %d", (int)run->command.pid) : "");
	while ((argv[num] = next_word(&rest)))
		num++;
	status = start(run, &run->perf, argv);
	/* Thousands of events take many seconds to open. */
	run->begins = true;
	run->deadline = now() + session->world->patience / 250.0;
	if (!status)
		send(run->perf.fd, "ping\n", 5, MSG_NOSIGNAL);
	return status;
}

/* Who says it twice does not want to wait. */
static void stop_perf(struct run *run)
{
	write_ends(run->session->signal);
	screen_end();
	if (run->told) {
		run->deadline = fmin(run->deadline, run->told + NOTICE);
		run->tells = INFINITY;
	} else if (run->perf.pid) {
		run->told = now();
		run->deadline = run->told + run->session->world->patience / 1e3;
		run->tells = run->told + NOTICE;
		/* All of its group: it may be a script. */
		kill(-run->perf.pid, SIGINT);
	}
}

static void allow_command(struct run *run)
{
	run->begins = false;
	if (!run->told)
		run->deadline = INFINITY;
	send(run->command.fd, "", 1, MSG_NOSIGNAL);
}

/* What has ended. perf has nothing to count after the command. */
static void reap(struct run *run)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *child = pid == run->perf.pid ? &run->perf :
				      pid == run->command.pid ? &run->command : NULL;

		if (!child)
			continue;
		child->pid = 0;
		child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (child != &run->command)
			continue;
		/* A command that has handled a signal goes on, and so does whoever waits for it. */
		if (!WIFSIGNALED(status))
			run->session->signal = 0;
		/* It has said so if it could not be run: then there is nothing to tell of it. */
		if (recv(child->fd, &(char){ 0 }, 1, MSG_DONTWAIT) == 1)
			run->failed = child->status;
		/* This is no second signal: perf has its time. */
		if (!run->told)
			stop_perf(run);
	}
}

/*
 * The terminal sends its signals to the command as well; what comes from kill is passed on. The end
 * of the command ends perf.
 */
static void take_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		reap(run);
		return;
	}
	if (run->session->view && screen_signal(run->session, info.ssi_signo))
		return;
	run->session->signal = info.ssi_signo;
	/* The terminal has printed ^C, and a table begins at the left. */
	if (info.ssi_code == SI_KERNEL && isatty(STDOUT_FILENO))
		dprintf(STDOUT_FILENO, "\n");
	if (!run->command.pid)
		stop_perf(run);
	else if (info.ssi_code != SI_KERNEL)
		kill(run->command.pid, info.ssi_signo);
}

/* ---- what perf prints ---- */

/* A number; NAN if it is none. */
static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char *end;
	double got;

	if (!text)
		return json_is_number(value) ? json_number_value(value) : NAN;
	got = strtod(text, &end);
	return end == text || *end || !isfinite(got) ? NAN : got;
}

/* Is there a reading of the counter in this place? */
static bool is_read(const struct session *session, const struct counter *counter, int at)
{
	if (session->plan.command_only)
		return at == 0;
	return counter->pmu->core ? session->package_of[at] >= 0 :
	       at < session->packages && counter->pmu->cpu[at] >= 0;
}

/*
 * Which reading a line is of. perf does not say the CPU of one that has gone offline, but its
 * lines are in the order of CPUs: it is the first one that has nothing yet. A CPU that has come
 * since then has none.
 */
static struct reading *reading_at(const struct session *session, const struct counter *counter,
				  double cpu)
{
	int package = cpu >= 0 && cpu < session->cpus ? session->package_of[(int)cpu] : -1, i;

	if (package >= 0 && !session->plan.command_only)
		return &counter->reading[counter->pmu->core ? (int)cpu : package];
	if (counter->pmu->core && !isnan(cpu))
		return NULL;
	for (i = 0; i < readings(session); i++) {
		if (is_read(session, counter, i) && !counter->reading[i].there)
			return &counter->reading[i];
	}
	return NULL;
}

/* The count as it is, and the time it was counted for. False for what is not of a plan. */
static bool read_count(struct run *run, const json_t *line, const char *event)
{
	const char *value = json_string_value(json_object_get(line, "counter-value"));
	struct session *session = run->session;
	struct reading *reading;
	int i, len = 0;

	if (!value || sscanf(event, "pm%d%n", &i, &len) != 1 || event[len] || i < 0 ||
	    i >= session->plan.num_counters)
		return false;
	reading = reading_at(session, session->plan.counter[i], number(line, "cpu"));
	if (!reading || reading->there)
		return false;
	reading->there = true;
	reading->running = number(line, "pcnt-running") / 100;
	reading->seconds = number(line, "event-runtime") / 1e9;
	reading->value = number(line, "counter-value");
	if (!strcmp(value, "<not supported>"))
		reading->why = "perf does not support an event of it here";
	else if (value[0] == '<' || !reading->running || !reading->seconds)
		reading->why = "its events have not been counted";
	else if (!(reading->value >= 0 && reading->running > 0 && reading->running < 1.01 &&
		   reading->seconds > 0))
		reading->why = "perf printed something else than numbers";
	if (reading->why)
		reading->value = reading->seconds = reading->running = 0;
	return true;
}

/*
 * Behind a gate events do not run, as the driver has it, and it makes no difference how long
 * perf takes to set up: what was not multiplexed ran for the same time. That is the whole, unless
 * another gate or a freeze held it back. Then the gates were open for longer, and by more than
 * the time between them: perf closes the first one after it is told to end, and the second one
 * before it prints. Between two intervals nothing stops; there perf knows best what share it was.
 */
static void set_shares(const struct run *run, double end)
{
	struct session *session = run->session;
	const struct plan *plan = &session->plan;
	double from = run->told ?: run->time ? 0 : run->last;
	int package, i;

	for (package = 0; package < session->packages && plan->counter[0]->gate; package++) {
		double whole = 0, open = INFINITY;

		for (i = 0; i < plan->num_counters; i++) {
			const struct reading *one = &plan->counter[i]->reading[package];

			if (plan->counter[i]->gate)
				open = fmin(open, one->there ? one->value / 1e9 : INFINITY);
			else if (!plan->counter[i]->pmu->core)
				whole = fmax(whole, one->seconds);
		}
		if (isfinite(open) && whole < open - (from ? end - from : 0))
			whole = open;
		for (i = 0; i < plan->num_counters; i++) {
			struct reading *one = &plan->counter[i]->reading[package];

			/* An interval does not begin and end for all at once; turns are longer. */
			if (!plan->counter[i]->pmu->core)
				one->running = one->seconds > fmin(0.99 * whole, whole - 0.001) ?
					       1 : one->seconds / whole;
		}
	}
}

static void done(struct run *run)
{
	struct session *session = run->session;
	double before = now();
	int i;

	if (session->plan.num_counters && (isnan(run->done) || !run->time))
		set_shares(run, before);
	/* Of the last result there is nothing left. */
	free_from(run->mark);
	write_begin();
	if (!run->failed)
		run->failed = run->output(session, run->time);
	write_end();
	/* The time that a slow reader takes is not perf's. */
	run->tells += now() - before;
	run->deadline += now() - before;
	/* Where nothing can be written there is no reason to count. */
	if (run->failed && !run->told)
		stop_perf(run);
	run->done = run->time;
	run->last = before;
	run->lines = 0;
	for (i = 0; i < session->plan.num_counters; i++)
		memset(session->plan.counter[i]->reading, 0,
		       readings(session) * sizeof(struct reading));
}

/* How many lines of perf's make an interval. */
static int lines_of(const struct session *session)
{
	int num = 0, i, at;

	for (i = 0; i < session->plan.num_counters; i++) {
		for (at = 0; at < readings(session); at++)
			num += is_read(session, session->plan.counter[i], at);
	}
	return num;
}

/* A line comes once in an interval; after the last one of it, the same again is none. */
static void take_line(struct run *run, char *text)
{
	const char *event;
	json_t *line;
	double when;

	if (!strcmp(text, "ack")) {
		allow_command(run);
		return;
	}
	line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	event = json_string_value(json_object_get(line, "event"));
	when = json_object_get(line, "interval") ? number(line, "interval") : 0;
	/* A perf that is told to end before the command has begun counts none of it. */
	if (event && when >= 0 && when != run->done && !run->begins) {
		if (run->lines && when != run->time)
			done(run);
		run->time = when;
		run->lines += read_count(run, line, event);
		if (run->lines == run->whole)
			done(run);
	}
	json_decref(line);
}

/* False at the end. A line that has no end is no line of perf's. */
static bool take_text(struct run *run)
{
	ssize_t num = read(run->perf.fd, run->text + run->len, MAX_LINE - run->len);
	char *end, *at = run->text;

	if (num <= 0)
		return false;
	run->len += num;
	while ((end = memchr(at, '\n', run->len))) {
		/* perf's "ack" has an end of string behind its end of line. */
		if (!*at) {
			at++;
			run->len--;
			continue;
		}
		*end = 0;
		if (!run->too_long)
			take_line(run, at);
		run->too_long = false;
		run->len -= end + 1 - at;
		at = end + 1;
	}
	memmove(run->text, at, run->len);
	if (run->len == MAX_LINE) {
		run->too_long = true;
		run->len = 0;
	}
	return true;
}

/* ---- all of it ---- */

/* Waits until something comes, and takes it. */
static void take(struct run *run)
{
	struct session *session = run->session;
	struct pollfd fds[3] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->perf.fd, .events = POLLIN },
		/* Nobody to look at keys, or the end is under way: then none. */
		{ .fd = session->view && !run->told ? STDIN_FILENO : -1, .events = POLLIN },
	};
	double left = fmax(run->deadline - now(), 0);
	/* A screen looks at the clock. */
	double tick = session->view && !run->told ? 1 : INFINITY;
	double next = fmin(fmin(left, fmax(run->tells - now(), 0)), tick);
	int num = poll(fds, 3, run->perf.pid && isfinite(next) ? (int)(1000 * next) + 1 : -1);

	if (num < 0)
		return;
	if (!num && session->view)
		screen_tick(session);
	if (fds[0].revents)
		take_signal(run);
	if (fds[1].revents && !take_text(run))
		shut(&run->perf.fd);
	if (fds[2].revents & ~POLLIN || (fds[2].revents && screen_keys(session)))
		stop_perf(run);
	/* Not while perf speaks: it may be us who are late. */
	if (run->perf.pid && !num && run->tells <= now()) {
		run->tells = INFINITY;
		write_begin();
		warn("perf stat has not ended yet; Ctrl-C ends it");
		write_end();
	}
	/* What has come is first: this may have been late itself. */
	if (run->perf.pid && !left && run->deadline <= now()) {
		kill(-run->perf.pid, SIGKILL);
		write_begin();
		run->failed = fail(STATUS_FAILED, "perf stat did not %s, and was killed",
				   run->told ? "end" : "begin");
		write_end();
		run->perf.pid = 0;
	}
}

static bool has_failed(const struct run *run)
{
	return run->perf.status && !(run->told && run->perf.status == 128 + SIGINT);
}

/* What perf has come to; before the command has begun it never does. */
static int judge_perf(const struct run *run)
{
	bool any = run->lines || !isnan(run->done);
	int status = run->perf.status;

	if (status == 127 && !any)
		return fail(STATUS_FAILED, "perf is not there: install linux-perf");
	if (!any && (run->session->signal || (run->session->view && run->told)))
		warn("it was ended before anything was counted%s", run->begins &&
		     run->session->options.command ? "; the command has not run" : "");
	else if (!any)
		return fail(STATUS_FAILED, "perf stat has counted nothing, its status is %d",
			    status);
	if (has_failed(run))
		return fail(STATUS_FAILED, "perf stat has failed in the middle, its status is %d",
			    status);
	return 0;
}

void hold_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction old;
	unsigned int i;

	sigemptyset(&held);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* Who has these ignored, as nohup has, does not want an end by them. */
		if ((signals[i] != SIGHUP && signals[i] != SIGQUIT) ||
		    sigaction(signals[i], NULL, &old) || old.sa_handler != SIG_IGN)
			sigaddset(&held, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &blocked_before);
}

int count(struct session *session, output_fn *output)
{
	static const int signals[] = { SIGCHLD, SIGWINCH, SIGTSTP, SIGCONT };
	struct run *run = allocate(sizeof(*run));
	bool counts = session->plan.num_counters;
	sigset_t ours = held;
	unsigned int i;
	int status;

	*run = (struct run){ .session = session, .output = output, .perf.fd = -1, .command.fd = -1,
			     .mark = mark(), .whole = lines_of(session), .done = NAN,
			     .deadline = INFINITY, .tells = INFINITY };
	/* The last three are for a screen alone. */
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]) - (session->view ? 0 : 3); i++)
		sigaddset(&ours, signals[i]);
	run->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	/* A reader that has gone ends the program after perf. */
	sigaddset(&ours, SIGPIPE);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	status = run->signals < 0 ? fail(STATUS_FAILED, "signalfd: %s", strerror(errno)) :
		 begin(run);
	if (!counts && !status)
		allow_command(run);
	while (!status && (run->perf.pid || run->command.pid)) {
		/* Without perf the command cannot begin any more. */
		if (run->begins && !run->perf.pid)
			shut(&run->command.fd);
		take(run);
	}
	while (run->perf.fd >= 0 && poll(&(struct pollfd){ run->perf.fd, POLLIN, 0 }, 1, 0) > 0 &&
	       take_text(run))
		;
	/* A part of a result can be read, but takes the place of no file and ends no recording. */
	if ((run->lines || !counts) && !status &&
	    !(has_failed(run) && (session->options.output || session->options.openmetrics)))
		done(run);
	shut(&run->signals);
	shut(&run->perf.fd);
	shut(&run->command.fd);
	write_begin();
	if (!status)
		status = run->failed ?: counts ? judge_perf(run) : 0;
	write_end();
	/* What is pending ends the program here. */
	screen_end();
	sigprocmask(SIG_SETMASK, &blocked_before, NULL);
	return status ?: run->command.status;
}
