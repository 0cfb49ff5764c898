// SPDX-License-Identifier: GPL-2.0-only
/*
 * What cannot be counted is refused: with the errno perf can make sense of, with a
 * reason in the log for those who switch on dynamic debug, and without a single access
 * to the hardware.
 *
 * TEST: 6.1 6.12 newest debug
 * VM: --sockets 2 --cores 2
 */
#include <sys/wait.h>

#include "kmsg.h"
#include "silicon.h"

static void want_reasons(void)
{
	const char *file = "/proc/dynamic_debug/control";

	ktap_require(put_text(file, "module xeon7500_uncore +p"), "%s: %s", file, strerror(errno));
}

/* Refused with this errno, and told why under the name of the PMU? */
static bool refused(struct perf_event_attr *attr, const char *pmu, pid_t pid, int cpu, int want,
		    bool reason)
{
	char line[1024], why[1024] = "", prefix[64];
	int fd, err;

	kmsg_mark();
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, 0);
	err = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	snprintf(prefix, sizeof(prefix), "%s: config ", pmu);
	while (!why[0] && kmsg_next(line, sizeof(line))) {
		const char *s = strstr(line, prefix);

		s = s ? strstr(s + strlen(prefix), ": ") : NULL;
		if (s)
			snprintf(why, sizeof(why), "%s", s + 2);
	}
	return ktap_check(err == want && !!why[0] == reason,
			  "%s, config %#llx,%#llx,%#llx: %s, wanted %s; reason '%s'", pmu,
			  attr->config, attr->config1, attr->config2,
			  err ? strerror(err) : "accepted", strerror(want), why);
}

static void start(void)
{
	silicon_start();
	want_reasons();
}

/* ---- attributes ---- */

static void privilege_levels_of(const char *pmu, const char *event)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int cpu = package_cpu(0);

	attr.exclude_user = 1;
	refused(&attr, pmu, -1, cpu, EOPNOTSUPP, true);
	attr.exclude_user = 0;
	attr.exclude_kernel = 1;
	refused(&attr, pmu, -1, cpu, EOPNOTSUPP, true);
	attr.exclude_kernel = 0;
	attr.exclude_hv = 1;
	refused(&attr, pmu, -1, cpu, EOPNOTSUPP, true);
	attr.exclude_hv = 0;
	attr.exclude_idle = 1;
	refused(&attr, pmu, -1, cpu, EOPNOTSUPP, true);
	attr.exclude_idle = 0;
	attr.exclude_guest = 1;
	refused(&attr, pmu, -1, cpu, EINVAL, true);
	attr.exclude_guest = 0;
	attr.exclude_host = 1;
	refused(&attr, pmu, -1, cpu, EINVAL, true);
}

static void privilege_levels(void)
{
	start();
	privilege_levels_of("xeon7500_cbox_0", "llc_misses.all");
	privilege_levels_of("xeon7500_package", "frozen");
	silicon_untouched();
}

static void tasks(void)
{
	struct perf_event_attr attr;

	start();
	attr = event_attr("xeon7500_wbox", "uncore_clock");
	refused(&attr, "xeon7500_wbox", 0, -1, EINVAL, true);
	refused(&attr, "xeon7500_wbox", getpid(), package_cpu(0), EINVAL, true);
	silicon_untouched();
}

/* Any CPU stands for its package, whichever does the work. */
static void other_cpus(void)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), tried = 0;
	struct perf_event_attr attr;

	for (cpu = 0; cpu < cpus; cpu++) {
		u64 count;
		int fd;

		if (cpu == package_cpu(cpu_package(cpu)))
			continue;
		tried++;
		start();
		fd = event_open("xeon7500_cbox_7", "occupancy_irq", cpu, -1);
		silicon_untouched();
		perf_run_us(fd, 2000);
		count = perf_count(fd).value;
		ktap_check(count, "CPU %d: counts nothing", cpu);
		ktap_check(!silicon_here() ||
			   count == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_7"),
			   "CPU %d: %llu", cpu, count);
	}
	ktap_check(tried == 2 || !silicon_here(), "%d CPUs", tried);
	/* No such CPU: perf itself says so. */
	start();
	attr = event_attr("xeon7500_cbox_7", "llc_misses.all");
	refused(&attr, "xeon7500_cbox_7", -1, 100000, EINVAL, false);
	silicon_untouched();
}

static void branch_stack(void)
{
	struct perf_event_attr attr;

	start();
	attr = event_attr("xeon7500_cbox_1", "llc_misses.all");
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	refused(&attr, "xeon7500_cbox_1", -1, package_cpu(0), EOPNOTSUPP, true);
	silicon_untouched();
}

/* Types that are not ours: nothing of it comes near the uncore. */
static void other_types(void)
{
	struct perf_event_attr attr;
	int fd;

	start();
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	attr.type = 9999;
	refused(&attr, "xeon7500_", -1, package_cpu(0), ENOENT, false);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = 999;
	fd = perf_open(&attr, package_cpu(0), -1);
	ktap_check(fd == -EINVAL || fd == -ENOENT, "%d", fd);
	silicon_untouched();
}

/* ---- config words ---- */

static u64 known[3];

static void know_format(const char *pmu, const char *name)
{
	struct perf_event_attr attr = {};
	char format[64];
	int lo, hi;

	sysfs_read(pmu, "format", name, format, sizeof(format));
	switch (sscanf(strchr(format, ':') + 1, "%d-%d", &lo, &hi)) {
	case 1:
		hi = lo;
		/* fall through */
	case 2:
		break;
	default:
		ktap_require(0, "format '%s'", format);
	}
	attr_set_field(&attr, format, hi - lo == 63 ? ~0ULL : (1ULL << (hi - lo + 1)) - 1);
	known[0] |= attr.config;
	known[1] |= attr.config1;
	known[2] |= attr.config2;
}

/* Each bit that no format attribute covers. */
static void unknown_bits_of(const char *pmu, void *arg)
{
	int cpu = package_cpu(0), word, bit, *tried = arg;
	struct dirent **list;
	char dir[96], event[128] = "";
	int num, i;

	memset(known, 0, sizeof(known));
	snprintf(dir, sizeof(dir), SYSFS_PMU "/%s/format", pmu);
	num = scandir(dir, &list, NULL, alphasort);
	ktap_require(num > 2, "%s: %s", dir, strerror(errno));
	for (i = 0; i < num; i++) {
		if (list[i]->d_name[0] != '.')
			know_format(pmu, list[i]->d_name);
	}
	snprintf(dir, sizeof(dir), SYSFS_PMU "/%s/events", pmu);
	num = scandir(dir, &list, NULL, alphasort);
	for (i = 0; i < num && !event[0]; i++) {
		if (is_event(list[i]->d_name))
			snprintf(event, sizeof(event), "%.100s", list[i]->d_name);
	}
	for (word = 0; word < 3; word++) {
		for (bit = 0; bit < 64; bit++) {
			struct perf_event_attr attr = event_attr(pmu, event);

			if (known[word] >> bit & 1)
				continue;
			if (word == 0)
				attr.config |= 1ULL << bit;
			else if (word == 1)
				attr.config1 |= 1ULL << bit;
			else
				attr.config2 |= 1ULL << bit;
			if (!refused(&attr, pmu, -1, cpu, EINVAL, true))
				return;
			++*tried;
		}
	}
}

static void unknown_bits(void)
{
	int tried = 0;

	start();
	for_each_pmu(unknown_bits_of, &tried);
	ktap_note("%d bits", tried);
	ktap_check(tried > 10 * 64, "%d", tried);
	silicon_untouched();
}

/* The package has three events, without options, and none overflows. */
static void package_events(void)
{
	static const struct {
		u64 config, config1, config2, period;
		int err;
	} wrong[] = {
		{ 0, .err = EINVAL }, { 4, .err = EINVAL }, { 0x102, .err = EINVAL },
		{ 2, .config1 = 1, .err = EINVAL }, { 2, .config2 = 1, .err = EINVAL },
		{ 2, .period = 1000000, .err = EOPNOTSUPP },
	};
	struct perf_event_attr attr;
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		attr = perf_attr("xeon7500_package", wrong[i].config);
		attr.config1 = wrong[i].config1;
		attr.config2 = wrong[i].config2;
		attr.sample_period = wrong[i].period;
		refused(&attr, "xeon7500_package", -1, package_cpu(0), wrong[i].err, true);
	}
	silicon_untouched();
}

/* Kernels since 6.3 have a fourth word, of which we use nothing. */
static void fourth_word(void)
{
	struct {
		struct perf_event_attr attr;
		u64 room[2];
	} big = {};
	const uint32_t size = 136; /* PERF_ATTR_SIZE_VER8 */
	int fd;

	start();
	big.attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	big.attr.size = size;
	fd = perf_open(&big.attr, package_cpu(0), -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	close(fd);
	((u64 *)&big)[size / 8 - 1] = 1;
	fd = perf_open(&big.attr, package_cpu(0), -1);
	/* An older kernel tells by another errno that it knows three words. */
	ktap_check(fd == -EINVAL || fd == -E2BIG, "%d", fd);
	silicon_untouched();
}

/* ---- events ---- */

/* The unit mask bits of each event code, from sysfs; -1 for codes nothing has. */
static int umasks[512];

static void learn_events(const char *pmu)
{
	struct dirent **list;
	char dir[96], terms[256];
	int num, i;

	memset(umasks, -1, sizeof(umasks));
	snprintf(dir, sizeof(dir), SYSFS_PMU "/%s/events", pmu);
	num = scandir(dir, &list, NULL, alphasort);
	for (i = 0; i < num; i++) {
		unsigned int event = 0, umask = 0;
		const char *s;

		if (!is_event(list[i]->d_name))
			continue;
		sysfs_read(pmu, "events", list[i]->d_name, terms, sizeof(terms));
		ktap_require(sscanf(terms, "event=%x", &event) == 1 && event < 512, "%s", terms);
		s = strstr(terms, "umask=");
		if (s)
			umask = strtoul(s + 6, NULL, 0);
		umasks[event] = (umasks[event] < 0 ? 0 : umasks[event]) | umask;
	}
}

static void unknown_events(void)
{
	/* One box of each kind that selects by code and unit mask. */
	static const struct {
		const char *pmu;
		unsigned int codes, umask;
	} boxes[] = {
		{ "xeon7500_ubox", 512, 0 },
		{ "xeon7500_cbox_0", 256, 255 },
		{ "xeon7500_wbox", 256, 255 },
	};
	unsigned int i, code, bit, tried = 0;
	int cpu;

	start();
	cpu = package_cpu(0);
	for (i = 0; i < ARRAY_SIZE(boxes); i++) {
		const char *pmu = boxes[i].pmu;

		learn_events(pmu);
		for (code = 0; code < boxes[i].codes; code++) {
			struct perf_event_attr attr = perf_attr(pmu, code);
			u64 wrong = boxes[i].umask & ~umasks[code];

			if (umasks[code] < 0) {
				refused(&attr, pmu, -1, cpu, EINVAL, true);
				tried++;
				continue;
			}
			if (umasks[code]) {
				/* None of its unit masks: it would count nothing. */
				refused(&attr, pmu, -1, cpu, EINVAL, true);
				tried++;
			}
			for (bit = 0; bit < 8; bit++) {
				if (!(wrong >> bit & 1))
					continue;
				attr.config = code | umasks[code] << 8 | 0x100 << bit;
				refused(&attr, pmu, -1, cpu, EINVAL, true);
				tried++;
			}
		}
	}
	ktap_note("%u choices", tried);
	ktap_check(tried > 1000, "%u", tried);
	silicon_untouched();
}

static void senseless_options(void)
{
	struct perf_event_attr attr;
	int cpu;

	start();
	cpu = need_package(1);
	attr = event_attr("xeon7500_cbox_0", "occupancy_irq,inv");
	refused(&attr, "xeon7500_cbox_0", -1, cpu, EINVAL, true);
	attr = event_attr("xeon7500_wbox", "uncore_clock,edge");
	refused(&attr, "xeon7500_wbox", -1, cpu, EINVAL, true);
	attr = event_attr("xeon7500_wbox", "uncore_clock,thresh=1");
	refused(&attr, "xeon7500_wbox", -1, cpu, EINVAL, true);
	attr = event_attr("xeon7500_wbox", "uncore_clock,umask=1");
	refused(&attr, "xeon7500_wbox", -1, cpu, EINVAL, true);
	/* The counter would pass it while it is written. */
	attr = event_attr("xeon7500_wbox", "uncore_clock");
	attr.sample_period = 2;
	refused(&attr, "xeon7500_wbox", -1, cpu, EINVAL, true);
	silicon_untouched();
}

/* Returns what it was. */
static int set_paranoid(int val)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r+");
	int was = 0;

	ktap_require(f && fscanf(f, "%d", &was) == 1, "paranoid: %s", strerror(errno));
	rewind(f);
	fprintf(f, "%d", val);
	ktap_require(!fclose(f), "paranoid: %s", strerror(errno));
	return was;
}

static int user_opens(struct perf_event_attr *attr)
{
	int fd, status = -1;

	if (!fork()) {
		if (setuid(65534))
			_exit(100);
		fd = perf_open(attr, 0, -1);
		_exit(fd < 0 ? -fd : 0);
	}
	wait(&status);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -1000;
}

/*
 * Without privileges perf's own rules hold. The program perf falls back to user space then, and
 * has to hear of the permission again.
 */
static void unprivileged(void)
{
	struct perf_event_attr attr;
	int err, was;

	start();
	was = set_paranoid(2);
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	err = user_opens(&attr);
	ktap_check(err == -EACCES, "%d", err);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	err = user_opens(&attr);
	ktap_check(err == -EACCES, "user space: %d", err);
	attr.sample_period = 100000;
	err = user_opens(&attr);
	ktap_check(err == -EACCES, "user space, sampling: %d", err);
	/* Here perf does not fall back: the user has asked for user space. */
	set_paranoid(1);
	err = user_opens(&attr);
	ktap_check(err == -EOPNOTSUPP, "user space, may count the kernel: %d", err);
	set_paranoid(-1);
	err = user_opens(&attr);
	ktap_check(err == -EOPNOTSUPP, "user space, may count all: %d", err);
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	err = user_opens(&attr);
	ktap_check(!err, "may count all: %d", err);
	set_paranoid(was);
	silicon_untouched();
}

MACHINE_MAIN({ "exclude_*", privilege_levels },
	     { "events of a task", tasks },
	     { "CPUs outside the cpumask stand for their package", other_cpus },
	     { "branch stacks", branch_stack },
	     { "types of other PMUs", other_types },
	     { "each bit that no format covers", unknown_bits },
	     { "events that the package does not have", package_events },
	     { "the fourth config word", fourth_word },
	     { "events and unit masks the manual does not have", unknown_events },
	     { "options that make no sense", senseless_options },
	     { "without privileges", unprivileged })
