// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can fail is made to fail, one after the other, until nothing is left: each allocation of a
 * load, of an open and of a CPU that comes or goes (fail-nth of the debug kernel), each state of
 * CPU hotplug on both ways, and each access to IA32_DEBUGCTL of a session that samples. After each
 * failure nothing is left behind, the same works, and counts are the silicon's truth.
 *
 * The kernel's own watchdog leaks its event where a CPU fails to come online, so it is off. kmemleak
 * complains when it gets no memory, so its caches are left out: only "A" in slub_debug tells that.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2 --append nmi_watchdog=0 --append slub_debug=A;-,kmemleak_object,kmemleak_scan_area
 * BOOT: own
 * TEST: none
 * SOAK: 6.1 debug
 * SKIP: 6.1
 */
#include "foreign.h"
#include "hotplug.h"
#include "module.h"
#include "sampling.h"

#define BOX	"xeon7500_cbox_2"

static void start(void)
{
	event_close_all();
	all_online(4);
	if (!loaded(OURS))
		ktap_require(!load_ours(), "the module cannot be loaded");
	silicon_start();
}

/* It still does what it is for. */
static void works(const char *after, int n)
{
	int package, cpu;
	char what[80];

	snprintf(what, sizeof(what), "%s %d", after, n);
	if (!loaded(OURS))
		ktap_require(!load_ours(), "%s: the module cannot be loaded", what);
	all_online(4);
	for (package = 0; package < 2; package++) {
		cpu = package_cpu(package);
		ktap_require(cpu >= 0, "%s: no CPU for package %d", what, package);
		silicon_clear();
		ktap_require(event_counts(what, BOX, "occupancy_irq", cpu, 500), "it is broken");
		event_close_all();
		check_stopped(cpu, what);
	}
}

/* ---- allocations ---- */

/* Opened before: to open it takes allocations. */
static int nth_fd = -1;

static void fail_start(void)
{
	int file;
	static const char *const files[] = {
		"/sys/kernel/debug/failslab/ignore-gfp-wait",
		"/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait",
		"/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem",
	};

	for (file = 0; file < (int)ARRAY_SIZE(files); file++)
		put_text(files[file], "N");
	put_text("/sys/kernel/debug/failslab/verbose", "0");
	put_text("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	nth_fd = open("/proc/self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		ktap_skip("this kernel cannot make allocations fail");
	ktap_require(put_text("/sys/kernel/debug/failslab/cache-filter", "Y"), "cache-filter");
}

/* The Nth allocation of this thread fails. */
static void fail_nth(int n)
{
	char text[12];
	int len = snprintf(text, sizeof(text), "%d", n);

	ktap_require(pwrite(nth_fd, text, len, 0) == len, "fail-nth: %s", strerror(errno));
}

/* How many allocations are left until one fails; 0: it has failed. */
static int left_of_nth(void)
{
	char text[12] = "";

	ktap_require(pread(nth_fd, text, sizeof(text) - 1, 0) > 0, "fail-nth: %s", strerror(errno));
	fail_nth(0);
	return atoi(text);
}

static int module_fd = -1;

static void before_load(void)
{
	struct utsname uts;
	char path[200];

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/updates/" OURS ".ko", uts.release);
	close(module_fd);
	module_fd = open(path, O_RDONLY);
	ktap_require(module_fd >= 0, "%s: %s", path, strerror(errno));
}

static int try_load(void)
{
	return syscall(SYS_finit_module, module_fd, "", 0) ? -errno : 0;
}

static void after_load(int n, int err)
{
	ktap_check(!err || err == -ENOMEM || err == -ENODEV, "allocation %d: load: %s", n,
		   strerror(-err));
	ktap_check(loaded(OURS) == !err, "allocation %d: load returns %d", n, err);
	ktap_check(err ? pmu_type(PACKAGE) < 0 : true, "allocation %d: a PMU is left", n);
	works("load with failed allocation", n);
	ktap_require(!unload(OURS), "allocation %d: unload: %s", n, strerror(errno));
}

static struct perf_event_attr attr;
static int leader = -1, opened = -1;

static int try_open(void)
{
	opened = perf_open(&attr, 2, leader);
	return opened < 0 ? opened : 0;
}

static void after_open(int n, int err)
{
	ktap_check(!err || err == -ENOMEM || err == -EINVAL, "allocation %d: %s", n,
		   strerror(-err));
	if (opened >= 0)
		close(opened);
	works("open with failed allocation", n);
}

static int try_offline(void)
{
	return write_online(2, false) ? 0 : -errno;
}

static void after_hotplug(int n, int err)
{
	ktap_check(!err || err == -ENOMEM || err == -EAGAIN || err == -EBUSY,
		   "allocation %d: %s", n, strerror(-err));
	works("hotplug with failed allocation", n);
}

static int try_online(void)
{
	return write_online(2, true) ? 0 : -errno;
}

/* Until an attempt needs no more allocations than have succeeded. */
static void each_allocation(const char *what, void (*before)(void), int (*attempt)(void),
			    void (*after)(int n, int err))
{
	int n, err = 0, left = 0, made = 0, done = 0, refused = 0;

	for (n = 1; !left && n < 1 << 20; n++) {
		if (before)
			before();
		fail_nth(n);
		err = attempt();
		left = left_of_nth();
		made = n - left;
		if (err)
			refused++;
		else
			done++;
		after(n, err);
		/* Most are attributes in sysfs, one like the other. */
		if (!soak() && n > 40)
			n += n / 8;
	}
	ktap_note("%s: of %d allocations %d failed: %d times refused, %d times done without",
		  what, made, refused + done - 1, refused, done - 1);
	ktap_check(n > 2 && left, "%s: it does not end", what);
	ktap_check(!err, "%s: no allocation failed, but it did: %s", what, strerror(-err));
}

static void loads(void)
{
	fail_start();
	start();
	ktap_require(!unload(OURS), "in use");
	each_allocation("load", before_load, try_load, after_load);
	start();
}

static void opens_of(const char *pmu, const char *event, u64 period, bool sibling)
{
	start();
	attr = event_attr(pmu, event);
	attr.sample_period = period;
	attr.sample_type = SAMPLE_BASE;
	leader = sibling ? perf_open_config(pmu, attr.config, 2, -1) : -1;
	each_allocation(event, NULL, try_open, after_open);
	close(leader);
	leader = -1;
}

static void opens(void)
{
	fail_start();
	opens_of("xeon7500_mbox_1", "bbox_cmds.reads", 0, false);
	opens_of("xeon7500_mbox_1", "mbox_cycles", 0, true);
	opens_of("xeon7500_cbox_3", "occupancy_irq", 100003, false);
	opens_of(PACKAGE, "frozen", 0, true);
	opens_of(PACKAGE, "gate", 0, false);
}

static void offline_first(void)
{
	event_open("xeon7500_wbox", "uncore_clock", 2, -1);
	set_online(2, false);
}

static void hotplugs(void)
{
	fail_start();
	start();
	each_allocation("offline", start, try_offline, after_hotplug);
	each_allocation("online", offline_first, try_online, after_hotplug);
}

/* ---- states of CPU hotplug ---- */

/* With both ways of leaving: the package has another CPU, or it has lost its last. */
static void each_state(bool last, bool coming)
{
	FILE *f = fopen("/sys/devices/system/cpu/hotplug/states", "r");
	char line[128], name[80], text[16];
	int state, failed = 0, refused = 0, fd, sample, gate;

	ktap_require(f, "hotplug/states: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		bool ok;

		if (sscanf(line, "%d: %79[^\n]", &state, name) != 2)
			continue;
		start();
		if (last)
			set_online(3, false);
		sample = event_open("xeon7500_wbox", "uncore_clock", 2, -1);
		perf_enable(sample);
		sampling_open("xeon7500_cbox_3", "occupancy_irq", 2700017, 2, 8);
		perf_enable(rings[0].fd);
		gate = event_open(PACKAGE, "gate", 2, -1);
		perf_enable(gate);
		if (coming)
			set_online(2, false);
		fd = open("/sys/devices/system/cpu/cpu2/hotplug/fail", O_WRONLY);
		if (fd < 0)
			ktap_skip("this kernel has no cpu/hotplug/fail");
		snprintf(text, sizeof(text), "%d", state);
		/* Atomic states and those that must not fail are refused. */
		ok = write(fd, text, strlen(text)) > 0;
		close(fd);
		if (!ok) {
			refused++;
			continue;
		}
		failed += !write_online(2, coming);
		put_text("/sys/devices/system/cpu/cpu2/hotplug/fail", "-1");
		perf_count(sample);
		/* What was there is closed in whatever state this is. */
		event_close_all();
		all_online(4);
		set_online(2, true);
		works(name, state);
	}
	fclose(f);
	ktap_note("%s%s: failed at %d states, %d cannot fail", coming ? "coming" : "going",
		  last ? ", last CPU" : "", failed, refused);
	ktap_check(failed > 5, "%d", failed);
}

static void states(void)
{
	each_state(false, false);
	each_state(true, false);
	each_state(false, true);
	each_state(true, true);
}

/* ---- IA32_DEBUGCTL ---- */

/*
 * A session from load to unload whose Nth access to IA32_DEBUGCTL answers #GP: either it is told
 * that overflows do not interrupt, or each overflow is a sample, and NMIs come: not only the timer
 * finds them that looks for lost ones.
 */
static void debugctl(void)
{
	int n, fd, turn, tries, refused = 0, sampled = 0;
	struct perf_event_attr a;
	u64 left = 0, before, by_timer;
	struct ring *r;
	long long missed;
	bool now;

	for (n = 1; !left && n < 1000; n++) {
		start();
		ktap_require(!unload(OURS), "in use");
		msr_write(0, SYN_FAULT_DEBUGCTL_GP, n);
		module_load("");
		silicon_start();
		lost_open();
		a = sampling_attr(BOX, "occupancy_irq", 2700017);
		for (turn = 0; turn < 3; turn++) {
			before = msr_read(0, SYN_FAULT_DEBUGCTL_GP);
			fd = perf_open(&a, 0, -1);
			if (fd < 0) {
				refused++;
				ktap_check(fd == -EOPNOTSUPP, "access %d: %s", n, strerror(-fd));
				continue;
			}
			open_events[num_open_events++] = fd;
			r = event_ring(fd, a.sample_type, 64);
			missed = package_caps("missed_pmis");
			perf_enable(fd);
			/*
			 * The timer comes once in 10 ms, or less often if the host stops the
			 * machine. A sample may be in the ring before its PMI is counted as missed.
			 */
			for (tries = 0, by_timer = 0; r->samples <= by_timer + 1 && tries < 100; tries++) {
				spin_us(4000);
				ring_drain(r, NULL, NULL);
				by_timer = package_caps("missed_pmis") - missed;
			}
			now = before && !msr_read(0, SYN_FAULT_DEBUGCTL_GP);
			/* Before the event stops: that gives a last sample, also without an NMI. */
			ktap_check(now || r->samples > by_timer + 1,
				   "access %d, turn %d: %llu samples, %llu of them by the timer", n,
				   turn, r->samples, by_timer);
			perf_disable(fd);
			sampled++;
		}
		check_books("with a refused access");
		event_close_all();
		left = msr_read(0, SYN_FAULT_DEBUGCTL_GP);
		msr_write(0, SYN_FAULT_DEBUGCTL_GP, 0);
		module_unload();
		module_load("");
		works("refused access to DEBUGCTL", n);
	}
	ktap_note("%d accesses: %d events refused, %d sampled", n - 2, refused, sampled);
	ktap_check(n > 3 && left, "it does not end");
}

SILICON_MAIN({ "each allocation of an open fails in turn", opens },
	     { "each allocation of a load", loads },
	     { "each allocation of CPU hotplug", hotplugs },
	     { "each access to IA32_DEBUGCTL fails in turn", debugctl },
	     { "CPU hotplug fails at each state", states })
