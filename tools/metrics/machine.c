// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs tells of this machine: CPUs and packages, PMUs and their events.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rule.h"

/* Models by the name that people have for them, and the module that has their events. */
static const struct model {
	const char *model, *name, *module;
} models[] = {
	{ "06_2e", "Xeon 7500", "xeon7500_uncore" }, { "06_2f", "Xeon E7", "xeon7500_uncore" },
	{ "06_5c", "Goldmont", "intel_core_ext" }, { "06_5f", "Goldmont", "intel_core_ext" },
	{ "06_7a", "Goldmont Plus", "intel_core_ext" }, { "06_37", "Silvermont", "intel_core_ext" },
	{ "06_4a", "Silvermont", "intel_core_ext" }, { "06_4d", "Silvermont", "intel_core_ext" },
	{ "06_5a", "Silvermont", "intel_core_ext" }, { "06_4c", "Airmont", "intel_core_ext" },
	{ "06_2a", "Sandy Bridge", "intel_core_ext" }, { "06_2d", "Sandy Bridge", "intel_core_ext" },
};

char *first_line(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL, *line = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getline(&text, &size, f) >= 0)
		line = format("%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	fclose(f);
	return line;
}

char *read_file(const struct session *session, const char *path)
{
	return first_line(format("%s%s", session->world->sys, path));
}

static char *pmu_file(const struct session *session, const char *pmu, const char *dir,
		      const char *name)
{
	return read_file(session, format("/bus/event_source/devices/%s/%s%s", pmu, dir, name));
}

/* A list such as "0-3,8", a flag for each CPU. NULL if there are too many. */
static bool *cpus_of(const char *list)
{
	bool *cpus = allocate(MAX_CPUS);
	long cpu, last;
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : "") {
		cpu = last = strtol(list, &end, 10);
		if (end == list)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (last >= MAX_CPUS)
			return NULL;
		for (; cpu >= 0 && cpu <= last; cpu++)
			cpus[cpu] = true;
	}
	return cpus;
}

static int cpus_read(struct session *session)
{
	bool *online = cpus_of(read_file(session, "/devices/system/cpu/online") ?: "0");
	int cpu, package;
	char *text;

	if (!online)
		return fail(STATUS_FAILED, "this machine has more than %d CPUs", MAX_CPUS);
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		session->package_of[cpu] = -1;
		text = !online[cpu] ? NULL : read_file(session,
			format("/devices/system/cpu/cpu%d/topology/physical_package_id", cpu));
		if (!text)
			continue;
		package = atoi(text);
		if (package < 0 || package >= MAX_PACKAGES)
			return fail(STATUS_FAILED, "CPU %d is of package %d, which is none of 0 to %d",
				    cpu, package, MAX_PACKAGES - 1);
		session->package_of[cpu] = package;
		session->online[package] = true;
		session->cpus = cpu + 1;
		if (package >= session->packages)
			session->packages = package + 1;
	}
	return 0;
}

struct pmu *pmu_add(struct session *session, const char *name)
{
	struct pmu *pmu = append(session->pmu, session->num_pmus);
	char *digits;
	int i;

	*pmu = (struct pmu){ format("%s", name), format("%s", name), -1 };
	digits = strrchr(pmu->base, '_');
	if (digits && digits[1] && !digits[1 + strspn(digits + 1, "0123456789")]) {
		pmu->number = atoi(digits + 1);
		*digits = 0;
	}
	for (i = 0; i < MAX_PACKAGES; i++)
		pmu->cpu[i] = -1;
	return pmu;
}

static void pmu_read(struct session *session, const char *name)
{
	char *type = pmu_file(session, name, "", "type");
	char *mask = pmu_file(session, name, "", "cpumask");
	bool *cpus = cpus_of(mask ?: "");
	struct pmu *pmu;
	int i;

	if (!type || !cpus)
		return;
	pmu = pmu_add(session, name);
	pmu->type = strtoul(type, NULL, 0);
	pmu->core = !mask;
	for (i = 0; i < session->cpus; i++) {
		if (cpus[i] && session->package_of[i] >= 0)
			pmu->cpu[session->package_of[i]] = i;
	}
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
		sscanf(text, "model name : %47[^\n]", session->model_name);
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

int machine_read(struct session *session)
{
	DIR *dir = opendir(format("%s/bus/event_source/devices", session->world->sys));
	int status = cpus_read(session);
	struct dirent *entry;

	model_read(session);
	while (dir && (entry = readdir(dir)))
		pmu_read(session, entry->d_name);
	if (dir)
		closedir(dir);
	if (session->num_pmus)
		qsort(session->pmu, session->num_pmus, sizeof(*session->pmu), by_number);
	return status;
}

const struct pmu *pmu_of(const struct session *session, const char *base, int number)
{
	int i;

	for (i = 0; i < session->num_pmus; i++) {
		if (session->pmu[i].number == number && !strcmp(session->pmu[i].base, base))
			return &session->pmu[i];
	}
	return NULL;
}

bool machine_is(const struct session *session, const char *models)
{
	return !models || (*session->model && strstr(models, session->model));
}

/* NULL if it is none of ours. */
static const struct model *model_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (!strcmp(name, models[i].model))
			return &models[i];
	}
	return NULL;
}

char *machine_names(const char *list)
{
	char *rest = format("%s", list), *names = "", *word;
	const char *last = "", *name;
	const struct model *model;

	while ((word = next_word(&rest))) {
		model = model_of(word);
		name = model ? model->name : word;
		if (strcmp(name, last))
			names = format("%s%s%s", names, *names ? ", " : "", name);
		last = name;
	}
	return names;
}

const char *machine_name(const struct session *session)
{
	const struct model *model = model_of(session->model);

	return model ? model->name : *session->model_name ? session->model_name : session->model;
}

const char *machine_module(const struct session *session)
{
	const struct model *model = model_of(session->model);

	return model ? model->module : NULL;
}

/* Is the module there, also as a part of the kernel? */
static bool has_module(const struct session *session, const char *name)
{
	return !access(format("%s/module/%s", session->world->sys, name), F_OK);
}

/* Is there a file of this module for the running kernel? */
static bool is_installed(const struct session *session, const char *module)
{
	FILE *f = session->world->modules ?
		  fopen(format("%s/modules.dep", session->world->modules), "re") : NULL;
	const char *name = format("/%s.ko", module);
	char *line = NULL;
	bool found = !f;
	size_t size = 0;

	/* Where nobody can tell, modprobe will. */
	while (f && !found && getline(&line, &size, f) >= 0) {
		line[strcspn(line, ":")] = 0;
		found = strstr(line, name);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

char *module_lack(const struct session *session, char **next)
{
	const char *module = machine_module(session), *kernel;

	if (!module || has_module(session, module))
		return NULL;
	if (!is_installed(session, module)) {
		kernel = strrchr(session->world->modules, '/') + 1;
		*next = format("apt install xeon7500-pmu-dkms linux-headers-%s", kernel);
		return format("%s is not installed for this kernel, %s. In the source: make install",
			      module, kernel);
	}
	*next = format("modprobe %s", module);
	/* As a part of the kernel it has no directory there, but its PMUs. */
	if (strcmp(module, "xeon7500_uncore") ||
	    !(has_module(session, "intel_uncore") || pmu_of(session, "uncore_cbox", 0)))
		return format("%s is not loaded", module);
	*next = format("%s\n%s", has_module(session, "intel_uncore") ? "rmmod intel_uncore" :
		       "# boot with initcall_blacklist=intel_uncore_init, then", *next);
	return format("%s is not loaded, and intel_uncore holds the counters", module);
}

char *module_text(const struct session *session)
{
	const struct model *model = model_of(session->model);

	if (!model || !has_module(session, model->module))
		return NULL;
	return format("%s %s", model->module,
		      read_file(session, format("/module/%s/version", model->module)) ?: "");
}

int machine_check(const struct session *session)
{
	const struct plan *plan = &session->plan;
	char *next, *lack;
	int m;

	for (m = 0; m < plan->num_metrics &&
	     !machine_is(session, plan->metric[m].metric->group->machines); m++)
		;
	if (m && m == plan->num_metrics)
		return fail(STATUS_FAILED, "nothing of this can be counted here: %s",
			    plan->metric[0].why);
	lack = module_lack(session, &next);
	return lack ? fail(STATUS_FAILED, "the module %s. As root:\n\t%s", lack,
			   escaped(next, "\n", "%c\t")) : 0;
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
	char *copy = format("%s", terms), *term, *error = NULL;

	while (!error && (term = strsep(&copy, ","))) {
		char *value = term, *name = strsep(&value, "="), *text, *end = "";

		if (!*term)
			continue;
		text = aliases && !value ? pmu_file(session, pmu->name, "events/", name) : NULL;
		if (text) {
			error = add_terms(session, pmu, text, attr, false);
			continue;
		}
		text = pmu_file(session, pmu->name, "format/", name);
		if (!text)
			error = format("%s has no event or field '%s'", pmu->name, name);
		else if (!set_field(attr, text, value ? strtoull(value, &end, 0) : 1) || *end)
			error = format("'%s' is no value for %s of %s", value ?: "1", name,
				       pmu->name);
	}
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
