// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything sysfs says of our PMUs, and every event opened once, with the virtual
 * times between which it was programmed; for selftests/vm/conformance.py.
 *
 *	dump [all]
 *
 * Instances of a box share their names. All are opened on the first one, and the other
 * instances have an equal share of them each. So do the ports of the R-Box. With "all"
 * every name is opened on every instance and port.
 *
 *	F PMU NAME TEXT			a format attribute
 *	E PMU NAME TEXT			an event, .scale or .unit attribute; of the CPU's PMU, too
 *	C PMU NAME TEXT			an attribute of caps
 *	I PMU TEXT			its identifier
 *	O PMU NAME TERMS FROM TO	opened, with these terms added
 *	G PMU NAME			takes "edge" without "thresh"
 */
#include "silicon.h"

static bool all;

static void dump_dir(const char *pmu, const char *dir, char mark)
{
	char path[300], text[4096];
	struct dirent **list;
	int num, i;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/%s", pmu, dir);
	num = scandir(path, &list, NULL, alphasort);
	ktap_require(num >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < num; i++) {
		if (list[i]->d_name[0] == '.')
			continue;
		sysfs_read(pmu, dir, list[i]->d_name, text, sizeof(text));
		printf("%c %s %s %s\n", mark, pmu, list[i]->d_name, text);
	}
}

static void open_once(const char *pmu, const char *event, const char *terms)
{
	int cpu = package_cpu(0), fd;
	u64 from, to;
	char text[300];

	snprintf(text, sizeof(text), "%s%s", event, terms);
	fd = event_open(pmu, text, cpu, -1);
	from = msr_read(cpu, SYN_NS);
	perf_enable(fd);
	to = msr_read(cpu, SYN_NS);
	event_close_all();
	printf("O %s %s %s %llu %llu\n", pmu, event, terms[0] ? terms : "-", from, to);
}

/* Of fixed events and of those that add more than 1 in a clock it is refused. */
static void try_edge(const char *pmu, const char *event)
{
	struct perf_event_attr attr;
	char text[300];
	int fd;

	snprintf(text, sizeof(text), "%s,edge", event);
	attr = event_attr(pmu, text);
	fd = perf_open(&attr, package_cpu(0), -1);
	if (fd < 0)
		return;
	close(fd);
	printf("G %s %s\n", pmu, event);
}

/* Which instance this is, and of how many. */
static int instance_of(const char *pmu, int *num)
{
	const char *digit = strrchr(pmu, '_') + 1;
	char path[300];

	for (*num = 0; *digit >= '0' && *digit <= '9'; ++*num) {
		snprintf(path, sizeof(path), SYSFS_PMU "/%.*s%d", (int)(digit - pmu), pmu, *num);
		if (access(path, R_OK))
			break;
	}
	return *num ? atoi(digit) : 0;
}

static void open_all(const char *pmu)
{
	int num, instance, instances, nth = 0, i, n;
	char path[300], port[16];
	struct dirent **list;
	bool ports, edge;

	instance = instance_of(pmu, &instances);
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/port", pmu);
	ports = !access(path, R_OK);
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/edge", pmu);
	edge = !access(path, R_OK);
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/events", pmu);
	num = scandir(path, &list, NULL, alphasort);
	ktap_require(num >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < num; i++) {
		if (!is_event(list[i]->d_name))
			continue;
		nth++;
		if (edge && !instance)
			try_edge(pmu, list[i]->d_name);
		if (!ports && (all || !instance || nth % instances == instance))
			open_once(pmu, list[i]->d_name, "");
		for (n = 0; ports && n < 4; n++) {
			if (!all && (nth + instance) % 4 != n)
				continue;
			snprintf(port, sizeof(port), ",port=%d", n);
			open_once(pmu, list[i]->d_name, port);
		}
	}
}

/* The R-Box has names for its ports besides. */
static void open_named_ports(const char *pmu)
{
	static const char * const names[] = {
		"qpi0", "qpi1", "qpi2", "qpi3", "s0", "s1", "b0", "u_b1"
	};
	char path[300], term[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", pmu, names[i]);
		snprintf(term, sizeof(term), ",%s", names[i]);
		if (!access(path, R_OK))
			open_once(pmu, "flits_sent", term);
	}
}

static void dump_pmu(const char *pmu, void *arg)
{
	char text[64];

	(void)arg;
	sysfs_read(pmu, ".", "identifier", text, sizeof(text));
	printf("I %s %s\n", pmu, text);
	dump_dir(pmu, "format", 'F');
	dump_dir(pmu, "events", 'E');
	dump_dir(pmu, "caps", 'C');
	open_all(pmu);
	open_named_ports(pmu);
}

int main(int argc, char **argv)
{
	all = argc == 2 && !strcmp(argv[1], "all");
	if (setjmp(ktap_end))
		return 1;
	for_each_pmu(dump_pmu, NULL);
	dump_dir("xeon7500_package", "format", 'F');
	dump_dir("xeon7500_package", "events", 'E');
	dump_dir("cpu", "events", 'E');
	printf("violations %llu\n", msr_read(0, SYN_VIOLATIONS));
	return 0;
}
