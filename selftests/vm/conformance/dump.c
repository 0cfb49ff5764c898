// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything sysfs says of our PMUs, and every event opened once, with the virtual
 * times between which it was programmed; see ../conformance.py.
 *
 *	F PMU NAME TEXT			a format attribute
 *	E PMU NAME TEXT			an event, .scale or .unit attribute
 *	O PMU NAME TERMS FROM TO	opened, with these terms added
 */
#include "silicon.h"

static void dump_dir(const char *pmu, const char *dir, char mark)
{
	char path[300], text[256];
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
	uint64_t from, to;
	char text[300];

	snprintf(text, sizeof(text), "%s%s", event, terms);
	fd = event_open(pmu, text, cpu, -1);
	from = msr_read(cpu, SYN_NS);
	perf_enable(fd);
	to = msr_read(cpu, SYN_NS);
	event_close_all();
	printf("O %s %s %s %llu %llu\n", pmu, event, terms[0] ? terms : "-",
	       (unsigned long long)from, (unsigned long long)to);
}

static void open_all(const char *pmu)
{
	char path[300], port[16];
	struct dirent **list;
	int num, i, n;
	bool ports;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/port", pmu);
	ports = !access(path, R_OK);
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/events", pmu);
	num = scandir(path, &list, NULL, alphasort);
	for (i = 0; i < num; i++) {
		if (!is_counter_event(pmu, list[i]->d_name))
			continue;
		if (!ports)
			open_once(pmu, list[i]->d_name, "");
		for (n = 0; ports && n < 4; n++) {
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

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", pmu, names[i]);
		snprintf(term, sizeof(term), ",%s", names[i]);
		if (!access(path, R_OK))
			open_once(pmu, "flits_sent", term);
	}
}

static void dump_pmu(const char *pmu, void *arg)
{
	(void)arg;
	dump_dir(pmu, "format", 'F');
	dump_dir(pmu, "events", 'E');
	open_all(pmu);
	open_named_ports(pmu);
}

int main(void)
{
	if (setjmp(ktap_end))
		return 1;
	for_each_pmu(dump_pmu, NULL);
	printf("violations %llu\n", (unsigned long long)msr_read(0, SYN_VIOLATIONS));
	return 0;
}
