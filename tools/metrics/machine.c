// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs tells of this machine: CPUs and packages, PMUs and their events.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

/* Models by the name that people have for them, and the module that has their events. */
static const struct {
	const char *model, *name, *module;
} models[] = {
	{ "06_2e", "Xeon 7500", "xeon7500_uncore" }, { "06_2f", "Xeon E7", "xeon7500_uncore" },
	{ "06_5c", "Goldmont", "intel_core_ext" }, { "06_5f", "Goldmont", "intel_core_ext" },
	{ "06_7a", "Goldmont Plus", "intel_core_ext" }, { "06_37", "Silvermont", "intel_core_ext" },
	{ "06_4a", "Silvermont", "intel_core_ext" }, { "06_4d", "Silvermont", "intel_core_ext" },
	{ "06_5a", "Silvermont", "intel_core_ext" }, { "06_4c", "Airmont", "intel_core_ext" },
	{ "06_2a", "Sandy Bridge", "intel_core_ext" }, { "06_2d", "Sandy Bridge", "intel_core_ext" },
};

/* The first line of a file below sysfs, NULL if there is none. */
static char *read_file(const struct session *session, const char *dir, const char *name)
{
	char *path = format("%s%s%s", session->world->sys, dir, name), *text = NULL;
	FILE *f = fopen(path, "re");
	size_t size = 0;

	free(path);
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

static char *pmu_file(const struct session *session, const char *pmu, const char *name)
{
	char *path = format("%s/%s", pmu, name);
	char *text = read_file(session, "/bus/event_source/devices/", path);

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
		for (; cpu >= 0 && cpu <= last && cpu < MAX_CPUS; cpu++)
			visit(cpu, arg);
		list = *end == ',' ? end + 1 : "";
	}
}

static void cpu_add(int cpu, void *arg)
{
	struct session *session = arg;
	char *path = format("%d/topology/physical_package_id", cpu);
	char *text = read_file(session, "/devices/system/cpu/cpu", path);

	if (text) {
		int package = atoi(text);

		if (package < 0 || package >= MAX_PACKAGES)
			package = 0;
		session->package_of[cpu] = package;
		if (cpu >= session->cpus)
			session->cpus = cpu + 1;
		if (package >= session->packages)
			session->packages = package + 1;
	}
	free(text);
	free(path);
}

/* A PMU that counts packages, while its CPUs are read. */
struct adding {
	const struct session *session;
	struct pmu *pmu;
};

static void pmu_add_cpu(int cpu, void *arg)
{
	const struct adding *adding = arg;
	int package = adding->session->package_of[cpu];

	if (package >= 0)
		adding->pmu->cpu[package] = cpu;
}

static void pmu_add(struct session *session, const char *name)
{
	char *type = pmu_file(session, name, "type"), *mask = pmu_file(session, name, "cpumask");
	size_t len = strlen(name), base = len;
	struct pmu *pmu;
	int i;

	if (!type) {
		free(mask);
		return;
	}
	session->pmu = grow(session->pmu, session->num_pmus, sizeof(*session->pmu));
	pmu = &session->pmu[session->num_pmus++];
	memset(pmu, 0, sizeof(*pmu));
	pmu->name = format("%s", name);
	pmu->type = strtoul(type, NULL, 0);
	while (base && isdigit((unsigned char)name[base - 1]))
		base--;
	pmu->number = -1;
	if (base < len && base > 1 && name[base - 1] == '_') {
		pmu->number = atoi(name + base);
		pmu->base = format("%.*s", (int)base - 1, name);
	} else {
		pmu->base = format("%s", name);
	}
	pmu->core = !mask;
	for (i = 0; i < MAX_PACKAGES; i++)
		pmu->cpu[i] = -1;
	if (mask)
		for_each_cpu(mask, pmu_add_cpu, &(struct adding){ session, pmu });
	free(mask);
	free(type);
}

static void model_read(struct session *session)
{
	unsigned int family = 0, model = 0;
	FILE *f = fopen(session->world->cpuinfo, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&text, &size, f) >= 0 && text[0] != '\n') {
		sscanf(text, "cpu family : %u", &family);
		sscanf(text, "model : %u", &model);
	}
	snprintf(session->model, sizeof(session->model), "%02x_%02x", family & 0xff, model & 0xff);
	free(text);
	fclose(f);
}

static int by_number(const void *a, const void *b)
{
	const struct pmu *x = a, *y = b;
	int order = strcmp(x->base, y->base);

	return order ? order : x->number - y->number;
}

void machine_read(struct session *session)
{
	char *online = read_file(session, "/devices/system/cpu/", "online");
	char *path = format("%s/bus/event_source/devices", session->world->sys);
	DIR *dir = opendir(path);
	struct dirent *entry;
	int i;

	for (i = 0; i < MAX_CPUS; i++)
		session->package_of[i] = -1;
	for_each_cpu(online ?: "0", cpu_add, session);
	model_read(session);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			pmu_add(session, entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(path);
	free(online);
	if (session->num_pmus)
		qsort(session->pmu, session->num_pmus, sizeof(*session->pmu), by_number);
}

bool machine_is(const struct session *session, const char *list)
{
	const char *at = list ? strstr(list, session->model) : "";

	return at && (!list || *session->model);
}

char *machine_names(const char *list)
{
	char *names = format("%s", ""), *more;
	const char *last = "", *name;
	size_t len;
	unsigned int i;

	for (; *(list += strspn(list, " \t")); list += len) {
		len = strcspn(list, " \t");
		for (i = 0, name = NULL; i < sizeof(models) / sizeof(models[0]); i++) {
			if (len == strlen(models[i].model) && !strncmp(list, models[i].model, len))
				name = models[i].name;
		}
		if (name && !strcmp(name, last))
			continue;
		more = format("%s%s%.*s", names, *names ? ", " : "",
			      name ? (int)strlen(name) : (int)len, name ?: list);
		free(names);
		names = more;
		last = name ?: "";
	}
	return names;
}

/* Is the module there, also as a part of the kernel? */
static bool has_module(const struct session *session, const char *name)
{
	char *path = format("%s/module/%s", session->world->sys, name);
	bool found = !access(path, F_OK);

	free(path);
	return found;
}

int machine_check(const struct session *session)
{
	const char *module = NULL;
	bool held;
	unsigned int i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (!strcmp(session->model, models[i].model))
			module = models[i].module;
	}
	if (!module || has_module(session, module))
		return 0;
	held = !strcmp(module, "xeon7500_uncore") && has_module(session, "intel_uncore");
	return fail(STATUS_FAILED, "the module %s is not loaded%s. As root:%s\n\tmodprobe %s", module,
		    held ? ", and intel_uncore holds the counters" : "",
		    held ? "\n\trmmod intel_uncore" : "", module);
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
		for (; lo >= 0 && lo <= hi && hi < 64; lo++, value >>= 1)
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

static char *add_terms(const struct session *session, const struct pmu *pmu, const char *terms,
		       struct perf_event_attr *attr, bool aliases)
{
	char *copy = format("%s", terms), *term, *save, *error = NULL, *path;

	for (term = strtok_r(copy, ",", &save); term && !error; term = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(term, '='), *text, *end = "";

		if (equals)
			*equals++ = 0;
		path = format("events/%s", term);
		text = aliases && !equals ? pmu_file(session, pmu->name, path) : NULL;
		free(path);
		if (text) {
			error = add_terms(session, pmu, text, attr, false);
			free(text);
			continue;
		}
		path = format("format/%s", term);
		text = pmu_file(session, pmu->name, path);
		free(path);
		if (!text)
			error = format("%s has no event or field '%s'", pmu->name, term);
		else if (!set_field(attr, text, equals ? strtoull(equals, &end, 0) : 1) || *end)
			error = format("'%s' is no value for %s of %s", equals ?: "1", term,
				       pmu->name);
		free(text);
	}
	free(copy);
	return error;
}

char *event_attr(const struct session *session, const struct pmu *pmu, const char *terms,
		 struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = pmu->type;
	return add_terms(session, pmu, terms, attr, true);
}
