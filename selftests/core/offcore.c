// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offcore events by their names: all of them count, and the pairs give the latency
 * that the silicon was told.
 *
 * SOAK: 6.1 6.12 newest
 * VM: --machine goldmont
 * VM: --machine silvermont
 * TEST: 6.1
 * SOAK: 6.1 newest
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>

#include "sample.h"

#define EVENTS		"/sys/bus/event_source/devices/cpu/events"

static void spin(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

static u64 term(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 0) : 0;
}

/* The encoding of a name, from sysfs; false if it asks for a parameter. */
static bool encoding(const char *name, u64 *config, u64 *config1)
{
	char path[300], text[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), EVENTS "/%s", name);
	f = fopen(path, "r");
	ktap_require(f && fgets(text, sizeof(text), f), "%s", path);
	fclose(f);
	*config = term(text, "event=") | term(text, "umask=") << 8;
	*config1 = term(text, "ocr_req=") | term(text, "ocr_rsp=") << 16 |
		   term(text, "ocr_outstanding=") << 38;
	return !strchr(text, '?');
}

static u64 count(u64 config, u64 config1)
{
	struct perf_event_attr attr = core_attr(config, config1, 0);
	u64 n;
	int fd;

	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%#llx,%#llx: %s", config, config1, strerror(-fd));
	perf_enable(fd);
	spin();
	perf_disable(fd);
	n = perf_count(fd).value;
	close(fd);
	return n;
}

static void all_names(void)
{
	u64 zero = core_stat(0, SYN_CORE_S_OFFCORE_ZERO);
	struct dirent *d;
	int num = 0, bit;
	DIR *dir;

	run_on(0);
	/* No program does all of them. */
	for (bit = 0; bit < 15; bit++)
		msr_write(0, SYN_OFF_RATE(bit), 1024 >> bit % 5);
	msr_write(0, SYN_OFF_RATE(15), 0);
	ext_load("enforce=1");
	dir = opendir(EVENTS);
	ktap_require(dir);
	while ((d = readdir(dir))) {
		u64 config, config1;

		if (strncmp(d->d_name, "offcore", 7) || !encoding(d->d_name, &config, &config1))
			continue;
		num++;
		ktap_check(count(config, config1), "%s counts nothing", d->d_name);
	}
	closedir(dir);
	ktap_check(num > 80, "%d names", num);
	ktap_check(core_stat(0, SYN_CORE_S_OFFCORE_ZERO) == zero);
}

/* The kernel alone takes a selection that counts nothing, and counts nothing. */
static void zero(void)
{
	u64 before = core_stat(0, SYN_CORE_S_OFFCORE_ZERO);

	ext_load("");
	ktap_check(!count(0x01b7, 0x1));
	ktap_check(!count(0x01b7, 0x10000));
	ktap_check(!count(0x02b7, 0));
	/* At least: a counter starts again whenever its task gets the CPU back. */
	ktap_check(core_stat(0, SYN_CORE_S_OFFCORE_ZERO) >= before + 3);
	ext_load("enforce=1");
	ktap_check(try_open(0x01b7, 0x1, 0) == -EINVAL);
	ktap_check(try_open(0x01b7, 0x10000, 0) == -EINVAL);
	ktap_check(try_open(0x02b7, 0, 0) == -EINVAL);
}

/* @first and @second as perf takes them; both have counted, all the time. */
static void perf_pair(const char *first, const char *second, double *a, double *b)
{
	char command[400], line[256];
	double val[2] = {}, share[2] = {};
	int n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "perf stat -x, -o /tmp/pair -e '{%s,%s}' sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'",
		 first, second);
	ktap_require(!shell(command), "%s", command);
	f = fopen("/tmp/pair", "r");
	ktap_require(f);
	while (n < 2 && fgets(line, sizeof(line), f)) {
		/* count, unit, event (with commas), time, share of it */
		if (line[0] < '0' || line[0] > '9')
			continue;
		val[n] = strtod(line, NULL);
		share[n] = strtod(strstr(line, "100.00") ?: "0", NULL);
		n++;
	}
	fclose(f);
	ktap_check(n == 2 && share[0] == 100 && share[1] == 100, "%s, %s: %d counted", first,
		   second, n);
	*a = val[0];
	*b = val[1];
}

/* Exact, unless requests of several kinds are mixed: then by how much of each came. */
static void latency_is(double cycles, double requests, double want, bool mixed, const char *what)
{
	double off = mixed ? 0.01 * want * requests : 0;

	ktap_check(requests > 100 && fabs(cycles - want * requests) <= off,
		   "%s: %.0f / %.0f, not %.1f", what, cycles, requests, want);
}

/* The pairs, and what the name for any request stands for */
struct offcore {
	const char *models;
	const struct offcore_pair {
		const char *name;
		unsigned int request;
	} *pairs;
	unsigned int num_pairs;
	unsigned int any_request;
	unsigned int all_requests;
};

static const struct offcore_pair goldmont_pairs[] = {
	{ "demand_data_rd", 0x0001 }, { "demand_rfo", 0x0002 }, { "demand_code_rd", 0x0004 },
	{ "any_data_rd", 0x3091 }, { "any_rfo", 0x0022 }, { "any_read", 0x32b7 },
	{ "any_request", 0x8000 },
};

static const struct offcore_pair silvermont_pairs[] = {
	{ "demand_data_rd", 0x0001 }, { "demand_rfo", 0x0002 }, { "demand_code_rd", 0x0004 },
	{ "any_data_rd", 0x3091 }, { "any_rfo", 0x0022 }, { "any_code_rd", 0x0044 },
	{ "any_reads", 0x32f7 }, { "any_request", 0x8008 },
};

static const struct offcore machines[] = {
	{
		.models = GOLDMONT,
		.pairs = goldmont_pairs,
		.num_pairs = ARRAY_SIZE(goldmont_pairs),
		.any_request = 0x8000,
		.all_requests = 0x7fbf,
	},
	{
		.models = SILVERMONT,
		.pairs = silvermont_pairs,
		.num_pairs = ARRAY_SIZE(silvermont_pairs),
		.any_request = 0x8008,
		.all_requests = 0x7fff,
	},
};

/* That of the CPU at hand */
static const struct offcore *offcore;

/* The same without perf, which takes long to start. */
static void open_pair(const char *first, const char *second, double *a, double *b)
{
	const char *names[] = { first, second };
	u64 config, config1;
	struct perf_count c[2];
	int fd[2], i;

	for (i = 0; i < 2; i++) {
		struct perf_event_attr attr;

		encoding(names[i], &config, &config1);
		attr = core_attr(config, config1, 0);
		attr.disabled = !i;
		fd[i] = open_task(&attr, i ? fd[0] : -1);
		ktap_require(fd[i] >= 0, "%s: %s", names[i], strerror(-fd[i]));
	}
	perf_enable(fd[0]);
	spin();
	perf_disable(fd[0]);
	for (i = 0; i < 2; i++) {
		c[i] = perf_count(fd[i]);
		ktap_check(c[i].running, "%s: never on", names[i]);
	}
	/* Without its leader the second one counts on when the task has lost its CPU. */
	for (i = 0; i < 2; i++)
		close(fd[i]);
	*a = c[0].value;
	*b = c[1].value;
}

static void latency(void)
{
	unsigned int i, bit;

	run_on(0);
	ext_load("enforce=1");
	for (bit = 0; bit < 15; bit++) {
		msr_write(0, SYN_OFF_RATE(bit), 200 + 10 * bit);
		msr_write(0, SYN_OFF_LATENCY(bit), 90 + 17 * bit);
	}
	msr_write(0, SYN_OFF_RATE(15), 0);
	for (i = 0; i < offcore->num_pairs; i++) {
		const struct offcore_pair *pairs = offcore->pairs;
		unsigned int request = pairs[i].request == offcore->any_request ?
				       offcore->all_requests : pairs[i].request;
		bool mixed = request & (request - 1);
		double cycles, requests, weighted = 0, rate = 0;
		char out[80], req[80];

		for (bit = 0; bit < 15; bit++) {
			if (request >> bit & 1) {
				weighted += (200 + 10 * bit) * (90 + 17 * bit);
				rate += 200 + 10 * bit;
			}
		}
		snprintf(out, sizeof(out), "offcore_outstanding.%s", pairs[i].name);
		snprintf(req, sizeof(req), "offcore_requests.%s", pairs[i].name);
		open_pair(out, req, &cycles, &requests);
		latency_is(cycles, requests, weighted / rate, mixed, pairs[i].name);
		open_pair(req, out, &requests, &cycles);
		latency_is(cycles, requests, weighted / rate, mixed, pairs[i].name);
		/* perf in each order and spelling, with each pair in "make soak". */
		if (soak() || i == 0) {
			perf_pair(out, req, &cycles, &requests);
			latency_is(cycles, requests, weighted / rate, mixed, pairs[i].name);
		}
		if (soak() || i == 3) {
			perf_pair(req, out, &requests, &cycles);
			latency_is(cycles, requests, weighted / rate, mixed, pairs[i].name);
		}
		snprintf(out, sizeof(out), "cpu/event=0xb7,umask=0x1,ocr_req=%#x,ocr_outstanding=1/",
			 pairs[i].request);
		snprintf(req, sizeof(req), "cpu/event=0xb7,umask=0x2,ocr_req=%#x,ocr_rsp=0x1/",
			 pairs[i].request);
		if (soak() || i == 1) {
			perf_pair(out, req, &cycles, &requests);
			latency_is(cycles, requests, weighted / rate, mixed, out);
		}
		if (soak() || i == 6) {
			perf_pair(req, out, &requests, &cycles);
			latency_is(cycles, requests, weighted / rate, mixed, out);
		}
	}
}

/* With a single number for both halves, one order does not fit. */
static void by_hand(void)
{
	struct perf_event_attr out = core_attr(0x01b7, 0x4000000001, 0);
	struct perf_event_attr req = core_attr(0x01b7, 0x10001, 0);
	int leader, fd;

	leader = open_task(&out, -1);
	ktap_require(leader >= 0);
	fd = open_task(&req, leader);
	ktap_check(fd >= 0, "%s", strerror(-fd));
	close(fd);
	close(leader);
	leader = open_task(&req, -1);
	ktap_require(leader >= 0);
	fd = open_task(&out, leader);
	ktap_check(fd == -EINVAL, "%d", fd);
	close(leader);
}

/* @led: the first of them leads the group, else something else does, on a counter of its own */
static int try_group(u64 select, u64 val, u64 other_select, u64 other_val, bool led)
{
	struct perf_event_attr attr = core_attr(0x00c0, 0, 0);
	int fd[3] = { -1, -1, -1 }, i, err;

	if (!led) {
		fd[0] = open_task(&attr, -1);
		ktap_require(fd[0] >= 0, "%s", strerror(-fd[0]));
	}
	attr = core_attr(select, val, 0);
	fd[1] = open_task(&attr, fd[0]);
	ktap_require(fd[1] >= 0, "%s", strerror(-fd[1]));
	attr = core_attr(other_select, other_val, 0);
	fd[2] = open_task(&attr, led ? fd[1] : fd[0]);
	err = fd[2] < 0 ? fd[2] : 0;
	for (i = 2; i >= 0; i--) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
	return err;
}

/* Both halves have the same request types (SDM 18.6.3). */
static void same_requests(void)
{
	static const struct {
		u64 select, val, other_select, other_val;
		bool pair;	/* whose quotient would be no latency */
	} groups[] = {
		{ 0x01b7, 0x4000000001, 0x02b7, 0x10001, false },
		{ 0x02b7, 0x10091, 0x01b7, 0x4000000091, false },
		{ 0x01b7, 0x4000000001, 0x02b7, 0x10002, true },
		{ 0x01b7, 0x4000000001, 0x02b7, 0x10003, true },
		{ 0x01b7, 0x4000000003, 0x02b7, 0x10001, true },
		{ 0x01b7, 0x4000000001, 0x01b7, 0x10002, true },
		{ 0x02b7, 0x10002, 0x01b7, 0x4000000001, true },
		/* Neither of these is a count of all requests, or of requests in flight. */
		{ 0x01b7, 0x4000000001, 0x02b7, 0x40002, false },
		{ 0x01b7, 0x10001, 0x02b7, 0x10002, false },
		{ 0x01b7, 0x4000000001, 0x00c4, 0, false },
	};
	unsigned int pass, i;

	for (pass = 0; pass < 4; pass++) {
		bool enforce = pass & 1, led = pass & 2;

		ext_load(enforce ? "enforce=1" : "");
		for (i = 0; i < ARRAY_SIZE(groups); i++) {
			int now = try_group(groups[i].select, groups[i].val,
					    groups[i].other_select, groups[i].other_val, led);

			ktap_check(now == (enforce && groups[i].pair ? -EINVAL : 0),
				   "enforce %d, led %d, group %u: %d", enforce, led, i, now);
		}
	}
}

/* perf's own test of all names that it can parse says the same with ours as without. */
static void perf_parses(void)
{
	static const char *const test[] = {
		"perf test sysfs 2>&1 | grep -v Running >/tmp/without",
		"perf test sysfs 2>&1 | grep -v Running >/tmp/with",
	};
	int pass;

	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "" : NULL);
		shell(test[pass]);
	}
	if (!ktap_check(!shell("grep -q 'sysfs *: Ok' /tmp/without && cmp /tmp/without /tmp/with")))
		shell("cat /tmp/without /tmp/with");
	for (int bit = 0; bit < 16; bit++)
		msr_write(0, SYN_OFF_RATE(bit), SYN_OFF_FOLLOW);
	ext_load("");
}

void ktap_begin(void)
{
	/* One is, or no case would run. */
	for (offcore = machines; !cpu_is(offcore->models); offcore++)
		;
	run_on(0);
}

CORE_MAIN(GOLDMONT " " SILVERMONT,
	     { "every name counts something", all_names },
	     { "what counts nothing", zero },
	     { "average latency with perf, both orders", latency },
	     { "the pair by hand", by_hand },
	     { "the pair has the same requests", same_requests },
	     { "perf's own test of names", perf_parses })
