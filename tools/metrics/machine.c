// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs tells of this machine: CPUs and packages, PMUs and their events.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

#define SYSFS_CPU	"/sys/devices/system/cpu"
#define SYSFS_PMU	"/sys/bus/event_source/devices"

struct pmu *pmus;
int num_pmus;
int package_of[MAX_CPUS];
int cpus;
int packages;
char machine_model[16];

/* The first line of a file, NULL if there is none. */
static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getline(&text, &size, f) < 0) {
		free(text);
		text = NULL;
	} else {
		text[strcspn(text, "\n")] = 0;
	}
	fclose(f);
	return text;
}

static char *pmu_file(const char *pmu, const char *dir, const char *name)
{
	char *path = format(SYSFS_PMU "/%s/%s%s%s", pmu, dir, *dir ? "/" : "", name);
	char *text = read_file(path);

	free(path);
	return text;
}

/* Calls visit() for each CPU of a list such as "0-3,8". */
static void for_each_cpu(const char *list, void (*visit)(int cpu, void *arg), void *arg)
{
	while (*list) {
		char *end;
		long cpu = strtol(list, &end, 10), last = cpu;

		if (end == list)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; cpu <= last && cpu < MAX_CPUS; cpu++)
			visit(cpu, arg);
		list = *end == ',' ? end + 1 : "";
	}
}

static void cpu_add(int cpu, void *arg)
{
	char *path = format(SYSFS_CPU "/cpu%d/topology/physical_package_id", cpu);
	char *text = read_file(path);

	(void)arg;
	if (text) {
		package_of[cpu] = atoi(text);
		if (package_of[cpu] < 0 || package_of[cpu] >= MAX_PACKAGES)
			package_of[cpu] = 0;
		if (cpu >= cpus)
			cpus = cpu + 1;
		if (package_of[cpu] >= packages)
			packages = package_of[cpu] + 1;
	}
	free(text);
	free(path);
}

static void pmu_add_cpu(int cpu, void *arg)
{
	struct pmu *pmu = arg;

	if (package_of[cpu] >= 0)
		pmu->cpu[package_of[cpu]] = cpu;
}

static void pmu_add(const char *name)
{
	char *type = pmu_file(name, "", "type"), *mask = pmu_file(name, "", "cpumask");
	size_t len = strlen(name), base = len;
	struct pmu *pmu;
	int i;

	if (!type)
		return;
	pmus = grow(pmus, num_pmus, sizeof(*pmus));
	pmu = &pmus[num_pmus++];
	memset(pmu, 0, sizeof(*pmu));
	pmu->name = strdup(name);
	pmu->type = strtoul(type, NULL, 0);
	while (base && isdigit((unsigned char)name[base - 1]))
		base--;
	pmu->number = -1;
	if (base < len && base > 1 && name[base - 1] == '_') {
		pmu->number = atoi(name + base);
		pmu->base = format("%.*s", (int)base - 1, name);
	} else {
		pmu->base = strdup(name);
	}
	pmu->core = !mask;
	for (i = 0; i < MAX_PACKAGES; i++)
		pmu->cpu[i] = -1;
	if (mask)
		for_each_cpu(mask, pmu_add_cpu, pmu);
	free(mask);
	free(type);
}

static void model_read(void)
{
	unsigned int family = 0, model = 0;
	FILE *f = fopen("/proc/cpuinfo", "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&text, &size, f) >= 0 && text[0] != '\n') {
		sscanf(text, "cpu family : %u", &family);
		sscanf(text, "model : %u", &model);
	}
	snprintf(machine_model, sizeof(machine_model), "%02x_%02x", family & 0xff, model & 0xff);
	free(text);
	fclose(f);
}

static int by_number(const void *a, const void *b)
{
	const struct pmu *x = a, *y = b;
	int order = strcmp(x->base, y->base);

	return order ? order : x->number - y->number;
}

void machine_read(void)
{
	char *online = read_file(SYSFS_CPU "/online");
	struct dirent *entry;
	DIR *dir;
	int i;

	for (i = 0; i < MAX_CPUS; i++)
		package_of[i] = -1;
	for_each_cpu(online ?: "0", cpu_add, NULL);
	free(online);
	model_read();
	dir = opendir(SYSFS_PMU);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			pmu_add(entry->d_name);
	}
	if (dir)
		closedir(dir);
	qsort(pmus, num_pmus, sizeof(*pmus), by_number);
}

/* Is this one of the models, such as "06_5c 06_5f"? */
bool machine_is(const char *models)
{
	char *copy, *word, *save;
	bool found = false;

	if (!models)
		return true;
	copy = strdup(models);
	for (word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		found |= !strcmp(word, machine_model);
	free(copy);
	return found;
}

/* Puts a value where a format says: "config1:0-7", "config:18", "config:1,6-9". */
static bool set_field(struct perf_event_attr *attr, const char *where, uint64_t value)
{
	const char *at = strchr(where, ':');
	uint64_t word = 0;

	while (at && *at) {
		int lo, hi, len = 0;

		if (sscanf(at + 1, "%d-%d%n", &lo, &hi, &len) != 2) {
			if (sscanf(at + 1, "%d%n", &lo, &len) != 1)
				return false;
			hi = lo;
		}
		for (; lo <= hi && hi < 64; lo++, value >>= 1)
			word |= (value & 1) << lo;
		at = at[len + 1] == ',' ? at + len + 1 : NULL;
	}
	if (!strncmp(where, "config1:", 8))
		attr->config1 |= word;
	else if (!strncmp(where, "config2:", 8))
		attr->config2 |= word;
	else if (!strncmp(where, "config:", 7))
		attr->config |= word;
	else
		return false;
	return !value;
}

static bool add_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
		      bool aliases, char **error)
{
	char *copy = strdup(terms), *term, *save;
	bool ok = true;

	for (term = strtok_r(copy, ",", &save); term && ok; term = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(term, '='), *text, *end = "";

		if (equals)
			*equals++ = 0;
		text = aliases && !equals ? pmu_file(pmu->name, "events", term) : NULL;
		if (text) {
			ok = add_terms(pmu, text, attr, false, error);
			free(text);
			continue;
		}
		text = pmu_file(pmu->name, "format", term);
		if (!text)
			*error = format("%s has no event or field '%s'", pmu->name, term);
		else if (!set_field(attr, text, equals ? strtoull(equals, &end, 0) : 1) || *end)
			*error = format("'%s' is no value for %s of %s", equals ?: "1", term,
					pmu->name);
		ok = !*error;
		free(text);
	}
	free(copy);
	return ok;
}

bool event_attr(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
		char **error)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = pmu->type;
	*error = NULL;
	return add_terms(pmu, terms, attr, true, error);
}
