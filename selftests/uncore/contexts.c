// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every callback in every context, in one boot: each kind of event that sysfs shows, opened in each
 * of the ways below, each with every ioctl and read from every distance: before the self-test of
 * PMIs, after it, and where no PMI comes. Then, with everything open at once, CPUs go (also the last
 * one), the system sleeps, sysfs is read and an unload is tried. It is for the kernel's debuggers:
 * lockdep sees two orders of locks if only both have run. Whether lockdep is still on at the end is
 * seen in lib/guest.sh.
 *
 * What an open must return is known beforehand from perf's rules, not from the driver. A program of
 * BPF that reads in an NMI is in nmi_read.c.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * TEST: 6.1 debug
 * SOAK: 6.1 debug-kcsan
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "foreign.h"
#include "hotplug.h"
#include "module.h"
#include "sampling.h"

/* ---- what is opened: found in sysfs ---- */

struct kind {
	char name[96];
	struct perf_event_attr attr, partner;	/* and what can be in a group with it */
	bool package;		/* of xeon7500_package */
	bool single;		/* its box has one counter: no partner */
};

#define KINDS	128
static struct kind kinds[KINDS];
static int num_kinds;

static struct kind *kind_add(const char *pmu, const char *event)
{
	struct kind *k = &kinds[num_kinds++];

	ktap_require(num_kinds < KINDS, "too many kinds");
	*k = (struct kind){ .attr = event_attr(pmu, event), .package = !strcmp(pmu, PACKAGE) };
	k->partner = k->attr;
	snprintf(k->name, sizeof(k->name), "%.30s/%.40s/", pmu, event);
	return k;
}

/* Can it be opened, by itself or in a group? */
static bool opens(struct perf_event_attr *attr, struct perf_event_attr *leader)
{
	int group = leader ? perf_open(leader, 0, -1) : -1, fd = perf_open(attr, 0, group);

	close(fd);
	close(group);
	return fd >= 0;
}

/* The first event of a box that opens as it is: it counts, it samples, it freezes. */
static void kinds_of(const char *pmu, void *unused)
{
	struct kind *first = NULL, *k;
	uint16_t ctr[SILICON_MAX_COUNTERS];
	struct perf_event_attr attr;
	struct dirent **list;
	char path[200];
	int num, i;

	(void)unused;
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/events", pmu);
	num = scandir(path, &list, NULL, alphasort);
	ktap_require(num > 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < num; i++) {
		if (!is_event(list[i]->d_name))
			continue;
		attr = event_attr(pmu, list[i]->d_name);
		if (first && opens(&attr, &first->attr))
			break;
		if (!first && opens(&attr, NULL))
			first = kind_add(pmu, list[i]->d_name);
	}
	ktap_require(first, "%s: no event opens", pmu);
	first->single = box_counters(pmu, ctr) == 1;
	ktap_check(first->single == (i == num), "%s: groups", pmu);
	if (i < num)
		first->partner = attr;
	while (num)
		free(list[--num]);
	free(list);

	for (i = 0; i < 2; i++) {
		ktap_require(num_kinds < KINDS, "too many kinds");
		k = &kinds[num_kinds++];
		*k = *first;
		k->attr.sample_period = 70001;
		k->attr.sample_type = SAMPLE_BASE | PERF_SAMPLE_READ;
		if (i)
			attr_add_terms(&k->attr, pmu, "freeze=1");
		strcat(k->name, i ? " freezes" : " samples");
	}
}

static void find_kinds(void)
{
	num_kinds = 0;
	kind_add(PACKAGE, "gate");
	kind_add(PACKAGE, "frozen");
	kind_add(PACKAGE, "lost");
	for_each_pmu(kinds_of, NULL);
}

/* ---- how it is opened ---- */

enum leader { ALONE, OWN, OTHER, GATE, SOFTWARE, CLOCK, TRACED, CORE };

static const struct context {
	const char *name;
	enum leader leader;
	const char *tracepoint;	/* leads, and samples the group at each hit */
	bool leads;		/* a software event is its sibling */
	bool pinned, exclusive, inherit, enabled, cgroup, cgroup_leads, task, group_read;
	int err;		/* by perf's rules */
} contexts[] = {
	{ "leader" },
	{ "pinned", .pinned = true },
	{ "exclusive", .exclusive = true, .group_read = true },
	{ "pinned and exclusive", .pinned = true, .exclusive = true },
	{ "inherited", .inherit = true },
	{ "enabled when opened", .enabled = true },
	{ "leader of a software event", .leads = true, .group_read = true },
	{ "sibling of its own PMU", OWN, .group_read = true },
	{ "enabled sibling of its own PMU", OWN, .enabled = true, .group_read = true },
	{ "inherited sibling", OWN, .inherit = true },
	{ "pinned sibling", OWN, .pinned = true, .err = -EINVAL },
	{ "exclusive sibling", OWN, .exclusive = true, .err = -EINVAL },
	{ "sibling of another PMU of ours", OTHER, .err = -EINVAL },
	{ "sibling of a gate", GATE, .err = -EINVAL },
	{ "sibling of a software event", SOFTWARE, .group_read = true },
	{ "sibling of a clock that samples it", CLOCK, .group_read = true, .enabled = true },
	{ "sibling of RDMSR", TRACED, "msr/read_msr", .enabled = true },
	{ "sibling of WRMSR", TRACED, "msr/write_msr", .enabled = true },
	{ "sibling of timers", TRACED, "timer/hrtimer_start", .enabled = true },
	{ "sibling of the core PMU", CORE, .err = -EINVAL },
	{ "of a cgroup", .cgroup = true, .err = -EINVAL },
	{ "sibling of a cgroup's software event", SOFTWARE, .cgroup_leads = true, .err = -EINVAL },
	{ "of a task", .task = true, .err = -EINVAL },
};

#define CONTEXTS	(int)ARRAY_SIZE(contexts)

static int cgroup_fd = -1;

static int open_leader(const struct context *c, const struct kind *k, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY };
	int fd;

	switch (c->leader) {
	case ALONE:
		return -1;
	case OWN:
		attr = k->partner;
		break;
	case OTHER:
		attr = event_attr(strstr(k->name, "wbox") ? "xeon7500_ubox" : "xeon7500_wbox",
				  strstr(k->name, "wbox") ? "woken" : "uncore_clock");
		break;
	case GATE:
		attr = event_attr(PACKAGE, "gate");
		break;
	case CLOCK:
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_period = 100000;
		attr.sample_type = SAMPLE_BASE | PERF_SAMPLE_READ;
		break;
	case TRACED:
		return tracepoint_open(c->tracepoint, cpu);
	case CORE:
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		break;
	case SOFTWARE:
		break;
	}
	attr.inherit = c->inherit;
	attr.disabled = 1;
	attr.read_format = c->group_read || attr.sample_period ? PERF_FORMAT_GROUP : 0;
	if (c->cgroup_leads) {
		fd = syscall(SYS_perf_event_open, &attr, cgroup_fd, cpu, -1, PERF_FLAG_PID_CGROUP);
		ktap_require(fd >= 0, "%s", strerror(errno));
		open_events[num_open_events++] = fd;
		return fd;
	}
	fd = event_open_attr(&attr, cpu, -1);
	/* Without a ring no sample reads the group. */
	if (attr.sample_period)
		event_ring(fd, attr.sample_type, 8);
	return fd;
}

/* event_init() speaks first, then perf of groups. */
static int wanted(const struct context *c, const struct kind *k, bool pmi)
{
	if (k->attr.sample_period && !pmi && !c->task && !c->cgroup_leads)
		return -EOPNOTSUPP;
	if (c->leader == GATE && k->package)
		return 0;
	return c->leader == OWN && k->single ? -EINVAL : c->err;
}

/* ---- what is done with it ---- */

static const struct request {
	const char *name;
	unsigned long request;
	u64 arg;
	bool by_address, always;	/* always: it works for every event */
} requests[] = {
	{ "ENABLE", PERF_EVENT_IOC_ENABLE, .always = true },
	{ "ENABLE group", PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP, .always = true },
	{ "RESET", PERF_EVENT_IOC_RESET, .always = true },
	{ "REFRESH", PERF_EVENT_IOC_REFRESH, 2 },
	{ "PERIOD", PERF_EVENT_IOC_PERIOD, 80003, .by_address = true },
	{ "PERIOD too short", PERF_EVENT_IOC_PERIOD, 1, .by_address = true },
	{ "ID", PERF_EVENT_IOC_ID, 0, .by_address = true, .always = true },
	{ "SET_OUTPUT", PERF_EVENT_IOC_SET_OUTPUT, -1ULL },
	{ "SET_FILTER", PERF_EVENT_IOC_SET_FILTER, 0, .by_address = true },
	{ "SET_BPF", PERF_EVENT_IOC_SET_BPF, -1ULL },
	{ "PAUSE_OUTPUT", PERF_EVENT_IOC_PAUSE_OUTPUT, 1 },
	{ "PAUSE_OUTPUT off", PERF_EVENT_IOC_PAUSE_OUTPUT, 0 },	/* or no sample is taken below */
	{ "QUERY_BPF", PERF_EVENT_IOC_QUERY_BPF, 0, .by_address = true },
	{ "MODIFY_ATTRIBUTES", PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0, .by_address = true },
	{ "DISABLE", PERF_EVENT_IOC_DISABLE, .always = true },
	{ "RESET group", PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP, .always = true },
	{ "DISABLE group", PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP, .always = true },
	{ "ENABLE again", PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP, .always = true },
};

/* On the CPU that serves the package, on its neighbour, and from the other package: by IPI. */
static void read_everywhere(const char *what, int fd)
{
	u64 buf[16];
	int cpu;

	for (cpu = 0; cpu < 3; cpu++) {
		run_on(cpu);
		ktap_check(read(fd, buf, sizeof(buf)) > 0, "%s: read on CPU %d: %s", what, cpu,
			   strerror(errno));
	}
	run_on(0);
}

static void use(const char *what, int fd, bool samples)
{
	unsigned int i;
	u64 arg[16];

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct request *r = &requests[i];
		int err;

		memset(arg, 0, sizeof(arg));
		arg[0] = r->arg;
		err = ioctl(fd, r->request, r->by_address ? (u64)(unsigned long)arg : r->arg);
		ktap_check(!err || !r->always, "%s: %s: %s", what, r->name, strerror(errno));
		if (r->request == PERF_EVENT_IOC_PERIOD)
			ktap_check(!err == (samples && r->arg > 1), "%s: %s: %d", what, r->name,
				   err);
	}
	/* So that an NMI of its own may read the group. */
	if (samples)
		spin_us(200);
	read_everywhere(what, fd);
}

/* Counts of the leaders of each context, and our samples. If they are 0, nothing was tested. */
static u64 led[CONTEXTS], samples;

static void try_one(const struct context *c, const struct kind *k, bool pmi)
{
	struct perf_event_attr attr = k->attr, dummy = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};
	int leader = open_leader(c, k, 0), fd, want = wanted(c, k, pmi);
	u64 group[16] = {};
	char what[160];

	snprintf(what, sizeof(what), "%s, %s", k->name, c->name);
	attr.disabled = !c->enabled;
	attr.pinned = c->pinned;
	attr.exclusive = c->exclusive;
	attr.inherit = c->inherit;
	attr.read_format = c->group_read ? PERF_FORMAT_GROUP : 0;
	if (c->inherit)
		attr.sample_type &= ~(u64)PERF_SAMPLE_READ;
	fd = syscall(SYS_perf_event_open, &attr, c->cgroup ? cgroup_fd : c->task ? getpid() : -1, 0,
		     leader, c->cgroup ? PERF_FLAG_PID_CGROUP : 0);
	ktap_check(fd >= 0 ? !want : -errno == want, "%s: %s, not %s", what,
		   fd < 0 ? strerror(errno) : "opened", strerror(-want));
	if (fd >= 0) {
		open_events[num_open_events++] = fd;
		if (k->attr.sample_period)
			event_ring(fd, attr.sample_type, 1);
		if (c->leads)
			event_open_attr(&dummy, 0, fd);
		if (leader >= 0)
			ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
		use(what, fd, k->attr.sample_period);
		if (leader >= 0) {
			sleep_us(50);	/* arms a timer */
			read_everywhere(what, leader);
			read(leader, group, sizeof(group));
			led[c - contexts] += group[1];
		}
		if (k->attr.sample_period) {
			ring_drain(&rings[num_rings - 1], NULL, NULL);
			samples += rings[num_rings - 1].samples;
		}
	}
	event_close_all();
}

/* ---- the cases ---- */

static void fresh(bool pmi)
{
	all_online(4);
	event_close_all();
	module_unload();
	msr_write(0, SYN_FAULT_DEBUGCTL, !pmi);
	module_load("");
	/* perf gives the PMUs the same numbers each time. */
	if (!num_kinds)
		find_kinds();
	silicon_start();
	run_on(0);
}

/* Tasks of the core PMU are switched meanwhile: perf's locks and those of the scheduler. */
static void core_event(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES, .inherit = 1 };
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	ktap_check(fd >= 0, "cycles of this task: %s", strerror(errno));
}

static void cgroup(void)
{
	mkdir("/tmp/cgroup", 0755);
	ktap_check(!mount("cgroup", "/tmp/cgroup", "cgroup2", 0, NULL) || errno == EBUSY,
		   "no cgroup: %s", strerror(errno));
	cgroup_fd = open("/tmp/cgroup", O_RDONLY | O_DIRECTORY);
	ktap_check(cgroup_fd >= 0, "no cgroup: %s", strerror(errno));
	/* The next test finds no mount in /tmp. */
	umount2("/tmp/cgroup", MNT_DETACH);
}

/* The silicon's word that all boxes still count right. */
static void counts(int package)
{
	int cpu = package_cpu(package), i, fd[KINDS];

	event_close_all();
	silicon_clear();
	for (i = 0; i < num_kinds; i++) {
		if (!kinds[i].package && !kinds[i].attr.sample_period)
			perf_enable(fd[i] = event_open_attr(&kinds[i].attr, cpu, -1));
	}
	sleep_us(2000);
	for (i = 0; i < num_kinds; i++) {
		char pmu[40];
		u64 count, truth;

		if (kinds[i].package || kinds[i].attr.sample_period)
			continue;
		perf_disable(fd[i]);
		snprintf(pmu, sizeof(pmu), "%.*s", (int)strcspn(kinds[i].name, "/"), kinds[i].name);
		count = perf_count(fd[i]).value;
		truth = box_truth(cpu, SYN_EVENTS, pmu);
		ktap_check(count && count == truth, "%s: %llu, truth %llu", kinds[i].name, count, truth);
	}
	event_close_all();
}

/* All combinations where lockdep looks, and in soak. */
static bool whole(void)
{
	return soak() || debug_kernel();
}

/* Contexts with one kind of leader open and use an event alike. */
static bool skip_context(int c)
{
	return !whole() && c && contexts[c].leader == contexts[c - 1].leader;
}

/*
 * Boxes of one type differ in their registers alone. Each context has two or three of the types,
 * by their letter, and each type a third of the contexts.
 */
static bool skip_kind(int c, int k)
{
	const char *name = kinds[k].name;
	char last = name[strcspn(name, "/") - 1];

	if (!soak() && last >= '1' && last <= '9')
		return true;
	return !whole() && !kinds[k].package && (c + name[strlen("xeon7500_")]) % 3;
}

static void all_contexts(bool pmi)
{
	int c, k;

	fresh(pmi);
	core_event();
	cgroup();
	for (c = 0; c < CONTEXTS; c++) {
		for (k = 0; k < num_kinds; k++) {
			if (!skip_kind(c, k) && (pmi || !skip_context(c)))
				try_one(&contexts[c], &kinds[k], pmi);
		}
	}
	check_caps_pmi("at the end", pmi ? "yes" : "no");
	for (c = 0; pmi && c < CONTEXTS; c++)
		ktap_check(led[c] || (contexts[c].leader != CLOCK && contexts[c].leader != TRACED),
			   "%s: its leader has counted nothing", contexts[c].name);
	ktap_check(!pmi == !samples, "%llu samples", samples);
	counts(0);
	msr_write(0, SYN_FAULT_DEBUGCTL, 0);
}

/* The first sampling event starts the self-test of PMIs: within ctx->mutex if it is a sibling. */
static void untested(void)
{
	int c, k;

	for (c = 0; c < CONTEXTS; c++) {
		if (skip_context(c))
			continue;
		fresh(true);
		core_event();
		cgroup();
		for (k = 0; !kinds[k].attr.sample_period; k++)
			;
		check_caps_pmi(contexts[c].name, "untested");
		try_one(&contexts[c], &kinds[k], true);
		if (!wanted(&contexts[c], &kinds[k], true))
			check_caps_pmi(contexts[c].name, "yes");
	}
}

KTAP_CALL(tested, all_contexts(true))
KTAP_CALL(no_pmi, all_contexts(false))

/* ---- with everything open ---- */

static int files_read;

static int read_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char buf[4096];
	int fd;

	(void)ftw;
	ktap_check(type != FTW_F || !(st->st_mode & 0111), "%s: mode %o", path, st->st_mode);
	if (type != FTW_F || !(st->st_mode & 0444))
		return 0;
	fd = open(path, O_RDONLY);
	/* A file may go while CPUs go. */
	if (fd >= 0) {
		files_read++;
		/* power/autosuspend_delay_ms gives EIO on a device without autosuspend. */
		ktap_check(read(fd, buf, sizeof(buf)) >= 0 || errno == EIO, "%s: %s", path,
			   strerror(errno));
		close(fd);
	}
	return 0;
}

static void pmu_files(const char *pmu, void *unused)
{
	char path[120];

	(void)unused;
	/* nftw() strips a trailing slash, and does not follow the link that remains. */
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/.", pmu);
	nftw(path, read_file, 8, FTW_PHYS);
}

static void read_sysfs(void)
{
	files_read = 0;
	for_each_pmu(pmu_files, NULL);
	pmu_files(PACKAGE, NULL);
	ktap_check(files_read > 1000, "%d files read", files_read);
	nftw("/sys/module/xeon7500_uncore", read_file, 8, FTW_PHYS);
}

static void refuse_unload(void)
{
	int err = unload(OURS);

	ktap_check(err == EAGAIN || err == EBUSY, "unload with events open: %s", strerror(err));
}

/* All that suspend calls, but for the firmware. */
static void suspend(void)
{
	ktap_require(put_text("/sys/power/pm_test", "core"), "this kernel has no pm_test");
	put_text("/sys/module/suspend/parameters/pm_test_delay", "0");
	ktap_check(put_text("/sys/power/state", "mem"), "suspend: %s", strerror(errno));
	put_text("/sys/power/pm_test", "none");
}

static const struct {
	const char *what;
	void (*run)(void);	/* or NULL: */
	int cpu;
	bool online;
} steps[] = {
	{ "sysfs is read", read_sysfs },
	{ "unload", refuse_unload },
	{ "CPU 2 goes", .cpu = 2 },
	{ "sysfs is read after the move", read_sysfs },
	{ "CPU 2 comes back", .cpu = 2, .online = true },
	{ "suspend", suspend },
	{ "CPU 3 goes", .cpu = 3 },
	{ "the last CPU goes", .cpu = 2 },
	{ "sysfs is read without the package", read_sysfs },
	{ "unload without the package", refuse_unload },
	{ "the package comes back", .cpu = 2, .online = true },
	{ "CPU 3 comes back", .cpu = 3, .online = true },
};

/* Each kind alone and, where there is one, in a group; both packages. */
static void everything(void)
{
	int cpu, k, e;
	unsigned int i;
	u64 buf[16];

	fresh(true);
	core_event();
	for (cpu = 0; cpu < 4; cpu += 2) {
		for (k = 0; k < num_kinds; k++) {
			struct perf_event_attr attr = kinds[k].attr, partner = kinds[k].partner;
			int fd;

			/* Also gates: one that is closed holds the package. */
			attr.disabled = partner.disabled = 0;
			fd = event_open_attr(&attr, cpu, -1);
			if (!kinds[k].single && !attr.sample_period)
				event_open_attr(&partner, cpu, fd);
		}
		sleep_us(1000);
		ktap_check(box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"), "CPU %d: nothing counts", cpu);
	}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].run)
			steps[i].run();
		else
			set_online(steps[i].cpu, steps[i].online);
		for (e = 0; e < num_open_events; e++)
			ktap_check(read(open_events[e], buf, sizeof(buf)) >= 0, "%s: event %d: %s",
				   steps[i].what, e, strerror(errno));
	}
	event_close_all();
	counts(0);
	counts(1);
}

SILICON_MAIN({ "the first sampling event tests PMIs, in every context", untested },
	     { "every kind of event in every context", tested },
	     { "where no PMI comes", no_pmi },
	     { "CPUs go, suspend, sysfs and unload with everything open", everything })
