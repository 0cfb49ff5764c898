// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf-metrics reads from outside, to be fuzzed: FUZZ_KIND says what, a metric file (m), a
 * topology file (t), what perf prints (p), or a recording (r). It is read by the program itself in the world of
 * $FAKE, whose perf prints the file $FAKE/stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/metrics/map.h"

static char dir[200];
static char kind;

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)group;
	(void)flags;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static char *in_dir(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the program says is no matter. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	snprintf(dir, sizeof(dir), "%s", getenv("FAKE") ?: "/nowhere");
	kind = *(getenv("FUZZ_KIND") ?: "m");
	return dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0;
}

static void read_metrics(const uint8_t *data, size_t size)
{
	struct session session = {};
	int num;

	put(in_dir("fuzz.metric"), data, size);
	file_read(&session, &(struct text){ in_dir("fuzz.metric") });
	session.options.json = true;
	list(&session, NULL, 0);
	session.options.json = false;
	for (num = 0; num < session.num_metrics; num++)
		list(&session, &session.metric[num]->name, 1);
}

static void read_topology(const uint8_t *data, size_t size)
{
	const struct session session = {};
	struct topology topology = {};

	put(in_dir("fuzz.topology"), data, size);
	topology_read(&topology, &session, &(struct text){ in_dir("fuzz.topology") });
}

static void read_stream(const uint8_t *data, size_t size)
{
	char cpuinfo[220], perf[220], sys[220];
	struct world world = { sys, cpuinfo, perf, 5000, open_event };
	char *args[] = { "perf-metrics", "memory", "llc_miss_ratio", "--per-box", "--csv", "-I", "100", NULL };

	snprintf(sys, sizeof(sys), "%s/sys", dir);
	snprintf(cpuinfo, sizeof(cpuinfo), "%s/cpuinfo", dir);
	snprintf(perf, sizeof(perf), "%s/perf", dir);
	put(in_dir("stream"), data, size);
	session_run(&world, 7, args);
}

static void read_record(const uint8_t *data, size_t size)
{
	static const struct world world = { "/nowhere", "/nowhere", "/nowhere" };
	char *args[] = { "perf-metrics", "report", in_dir("fuzz.record"), "--per-box", "-I", "1000",
			 "--summary", NULL };

	put(in_dir("fuzz.record"), data, size);
	session_run(&world, 7, args);
	args[3] = "--html";
	args[4] = "/dev/null";
	args[5] = NULL;
	session_run(&world, 5, args);
	args[3] = "why";
	args[4] = "--json";
	session_run(&world, 5, args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (kind == 'm')
		read_metrics(data, size);
	else if (kind == 't')
		read_topology(data, size);
	else if (kind == 'r')
		read_record(data, size);
	else
		read_stream(data, size);
	free_from(NULL);
	return 0;
}
