// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading: who may, when, and what is left behind.
 *
 * VM: --sockets 2 --cores 2
 * SOAK: 6.1 6.12 newest debug-rt
 * PUT: ../spec/xeon7500/registers.json ../spec/xeon7500/registers_mw.json
 */
#include "hotplug.h"
#include "kmsg.h"
#include "module.h"
#include "silicon.h"

#define MAX_REGS	400

/* A case begins with the module loaded and ends with it loaded. */
static void start(void)
{
	event_close_all();
	if (loaded(MAINLINE))
		unload(MAINLINE);
	if (!loaded(OURS))
		load_ours();
	silicon_start();
}

/* ---- every register of a package that can be read ---- */

struct dump {
	uint16_t msr[MAX_REGS];
	bool control[MAX_REGS];
	u64 val[MAX_REGS];
	int num;
};

/* Is this an enable, control or status register? M_MSR_PMU_ZDP_CTL_FVC is none. */
static bool is_control(const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "\""), name);
	return (strstr(word, "CTL") && !strstr(word, "ZDP")) || strstr(word, "SEL") ||
	       strstr(word, "GLOBAL_STATUS");
}

/* Is the row of the spec that this is in for another model alone? */
static bool is_elsewhere(const char *row)
{
	const char *models = strstr(row, "\"models\": [\"wsm-ex\"]"), *end = strchr(row, '}');

	return models && models < end;
}

/* The readable registers of a file of the spec; those that change by themselves do not count. */
static void find_registers(const char *path, struct dump *d)
{
	static char text[1 << 17];
	FILE *f = fopen(path, "r");
	char *s = text, *access;

	ktap_require(f, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	while ((s = strstr(s, "\"name\": \""))) {
		bool timestamp = !strncmp(s + 9, "M_MSR_PMU_TIMESTAMP", 19);
		bool control = is_control(s + 9);

		s = strstr(s, "\"msr\": \"");
		access = s ? strstr(s, "\"access\": \"R") : NULL;
		ktap_require(s && strstr(s, "\"access\": \""), "%s: not as expected", path);
		if (access == strstr(s, "\"access\": \"") && !timestamp && !is_elsewhere(s)) {
			ktap_require(d->num < MAX_REGS, "too many registers");
			d->control[d->num] = control;
			d->msr[d->num++] = strtoul(s + 8, NULL, 16);
		}
	}
}

static void dump_registers(int cpu, struct dump *d)
{
	int i;

	d->num = 0;
	find_registers("registers.json", d);
	find_registers("registers_mw.json", d);
	ktap_require(d->num > 300, "%d registers", d->num);
	for (i = 0; i < d->num; i++)
		d->val[i] = msr_read(cpu, d->msr[i]);
}

static void dump_packages(struct dump d[2])
{
	dump_registers(0, &d[0]);
	dump_registers(2, &d[1]);
}

static void compare_dumps(const struct dump before[2], const struct dump after[2])
{
	int p, i;

	for (p = 0; p < 2; p++) {
		for (i = 0; i < before[p].num; i++)
			ktap_check(before[p].msr[i] == after[p].msr[i] &&
				   before[p].val[i] == after[p].val[i],
				   "package %d: MSR %#x was %#llx, now %#llx", p, before[p].msr[i],
				   before[p].val[i], after[p].val[i]);
	}
}

static struct dump before[2], after[2];

static void load_and_unload(void)
{
	start();
	ktap_require(!unload(OURS), "in use");
	dump_packages(before);
	ktap_require(!load_ours(), "cannot be loaded");
	dump_packages(after);
	compare_dumps(before, after);
	ktap_check(!unload(OURS), "in use");
	dump_packages(after);
	compare_dumps(before, after);
}

/* Keeps some events of each kind of box busy for a moment. */
static void use_it(void)
{
	static const struct {
		const char *pmu, *event;
	} uses[] = {
		{ "xeon7500_ubox", "woken" },
		{ "xeon7500_cbox_0", "llc_misses.all" },
		{ "xeon7500_cbox_0", "occupancy_irq,thresh=3,edge" },
		{ "xeon7500_cbox_5", "llc_hits.all" },
		{ "xeon7500_wbox", "uncore_clock" },
		{ "xeon7500_wbox", "prochot" },
		{ "xeon7500_sbox_0", "to_r_snp_msgq_cycles_ne" },
		{ "xeon7500_sbox_1", "to_r_prog_ev,match=1,mask_addr=1" },
		{ "xeon7500_bbox_1", "imt_inserts_all" },
		{ "xeon7500_mbox_0", "bbox_cmds.reads" },
		{ "xeon7500_rbox_0", "flits_sent,port=1" },
		{ "xeon7500_rbox_1", "flits_sent,port=2" },
	};
	unsigned int i, p;

	for (p = 0; p < 2; p++) {
		for (i = 0; i < ARRAY_SIZE(uses); i++)
			perf_enable(event_open(uses[i].pmu, uses[i].event, package_cpu(p), -1));
	}
	sleep_us(2000);
	event_close_all();
}

/* All CPUs of package 1 go and come back. What is enabled then is off afterwards. */
static void package_goes_and_comes(void)
{
	msr_write(2, U_GLOBAL_CTL, 0x1);
	msr_write(2, C5_GLOBAL_CTL, 0x3f);
	set_online(2, false);
	set_online(3, false);
	set_online(3, true);
	set_online(2, true);
}

/* Nothing is enabled or selected, and no overflow bit is up. */
static void check_clean(const char *when)
{
	int p, i;

	dump_packages(after);
	for (p = 0; p < 2; p++) {
		for (i = 0; i < after[p].num; i++)
			ktap_check(!after[p].control[i] || !after[p].val[i],
				   "%s: package %d: MSR %#x is %#llx", when, p, after[p].msr[i],
				   after[p].val[i]);
	}
}

/* Whatever an earlier user has left in the registers that we use, they are clean then. */
static void no_trace(void (*meanwhile)(void))
{
	static const struct {
		uint16_t msr;
		u64 val;
	} junk[] = {
		{ U_GLOBAL_CTL, 0x1 }, { U_EV_SEL, 0x4400f8 }, { C0_GLOBAL_CTL, 0x15 },
		{ C0_EVT_SEL_0, 0x400714 }, { C0_EVT_SEL_1, 0x2c40001e }, { C5_GLOBAL_CTL, 0x3f },
		{ C5_EVT_SEL_0, 0x400015 }, { W_GLOBAL_CTL, 0x8000000f }, { W_EVT_SEL_0, 0x400002 },
		{ W_FIXED_CTR_CTL, 1 },
	};
	unsigned int i;
	int cpu;

	start();
	ktap_require(!unload(OURS), "in use");
	for (i = 0; i < ARRAY_SIZE(junk); i++) {
		for (cpu = 0; cpu <= 2; cpu += 2)
			msr_write(cpu, junk[i].msr, junk[i].val);
	}
	ktap_require(!load_ours(), "cannot be loaded");
	use_it();
	check_clean("idle");
	if (meanwhile) {
		meanwhile();
		check_clean("idle again");
	}
	ktap_check(!unload(OURS), "in use");
	check_clean("unloaded");
}

KTAP_CALL(leaves_no_trace, no_trace(NULL))
KTAP_CALL(leaves_no_trace_of_a_package, no_trace(package_goes_and_comes))

/* What was left enabled does not count beside our events, nor into them. */
static void ignores_leftovers(void)
{
	u64 count;
	int i, fd;

	start();
	ktap_require(!unload(OURS), "in use");
	for (i = 0; i < 6; i++)
		msr_write(0, C0_EVT_SEL_0 + 2 * i, 0x400714);
	msr_write(0, C0_GLOBAL_CTL, 0x3f);
	msr_write(0, U_GLOBAL_CTL, 1 << 28);
	ktap_require(!load_ours(), "cannot be loaded");
	ktap_check(!msr_read(0, U_GLOBAL_CTL) && !msr_read(0, C0_GLOBAL_CTL), "still enabled");
	silicon_clear();
	fd = event_open("xeon7500_cbox_0", "llc_hits.all", 0, -1);
	perf_run_us(fd, 2000);
	count = perf_count(fd).value;
	ktap_check(count && count == silicon_truth(0, SYN_EVENTS, C0_CTR_0));
	ktap_check(box_truth(0, SYN_WINDOWS, "xeon7500_cbox_0") == 1, "%llu windows",
		   box_truth(0, SYN_WINDOWS, "xeon7500_cbox_0"));
	event_close_all();
	ktap_check(!unload(OURS), "in use");
	ktap_check(!msr_read(0, U_GLOBAL_CTL) && !msr_read(0, C0_GLOBAL_CTL), "enabled");
	for (i = 0; i < 6; i++)
		msr_write(0, C0_EVT_SEL_0 + 2 * i, 0);
}

/* ---- what is not there ---- */

static int try_open(const char *pmu, const char *event, int cpu)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd = perf_open(&attr, cpu, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Package 1 has no C-Box 3 and no S-Box 0, and nobody has the W-Box. */
static void boxes_missing(void)
{
	const u64 w = SYN_ABSENT_BOX(SYN_BOX_W, 0);
	int cpus[SILICON_MAX_PACKAGES], fd, gate, p;
	u64 moved;

	start();
	ktap_require(!unload(OURS), "in use");
	msr_write(0, SYN_ABSENT, w);
	msr_write(2, SYN_ABSENT, w | SYN_ABSENT_BOX(SYN_BOX_C, 3) | SYN_ABSENT_BOX(SYN_BOX_S, 0));
	kmsg_mark();
	ktap_require(!load_ours(), "cannot be loaded");
	ktap_check(kmsg_count(OURS ": CPU ") == 4, "each is reported once");
	ktap_check(pmu_type("xeon7500_wbox") < 0);
	ktap_check(pmu_cpus("xeon7500_cbox_2", cpus) == 2);
	ktap_check(pmu_cpus("xeon7500_cbox_3", cpus) == 1 && cpus[0] == 0);
	ktap_check(try_open("xeon7500_cbox_3", "llc_misses.all", 0) == 0);
	ktap_check(try_open("xeon7500_cbox_3", "llc_misses.all", 2) == -ENODEV, "%d",
		   try_open("xeon7500_cbox_3", "llc_misses.all", 2));
	/* What is there works, wraps included, though S SUMMARY cannot be read. */
	silicon_clear();
	for (p = 0; p < 2; p++) {
		gate = event_open("xeon7500_package", "gate", 2 * p, -1);
		fd = event_open("xeon7500_cbox_2", "llc_misses.all", 2 * p, -1);
		perf_enable(fd);
		moved = counter_move(fd, 2 * p, C2_CTR_0, 0xfffffffffff0);
		perf_run_us(gate, 2000);
		ktap_check(perf_count(fd).value ==
			   moved + box_truth(2 * p, SYN_EVENTS, "xeon7500_cbox_2"),
			   "package %d: %#llx", p, perf_count(fd).value);
		ktap_check(box_truth(2 * p, SYN_OVERFLOWS, "xeon7500_cbox_2") == 1);
	}
	ktap_check(kmsg_count("unchecked MSR access") == 0);
	event_close_all();
	ktap_check(!unload(OURS), "in use");
	msr_write(0, SYN_ABSENT, 0);
	msr_write(2, SYN_ABSENT, 0);
	ktap_require(!load_ours(), "cannot be loaded");
	ktap_check(pmu_cpus("xeon7500_wbox", cpus) == 2);
}

/* ---- who may ---- */

static void event_open_holds_it(void)
{
	int fd;

	start();
	fd = event_open("xeon7500_cbox_1", "llc_misses.all", package_cpu(0), -1);
	ktap_check(unload(OURS) == EWOULDBLOCK);
	perf_enable(fd);
	ktap_check(unload(OURS) == EWOULDBLOCK);
	sleep_us(1000);
	perf_disable(fd);
	ktap_check(perf_count(fd).value == box_truth(package_cpu(0), SYN_EVENTS, "xeon7500_cbox_1"));
	event_close_all();
	ktap_check(!unload(OURS), "in use");
	ktap_check(pmu_type("xeon7500_cbox_1") < 0);
	ktap_check(!load_ours(), "cannot be loaded");
	ktap_check(pmu_type("xeon7500_cbox_1") >= 0);
}

static void many_times(void)
{
	int i, times = soak() ? 100 : 5;

	start();
	for (i = 0; i < times; i++) {
		int fd = event_open("xeon7500_cbox_1", "llc_misses.all", package_cpu(1), -1);

		perf_enable(fd);
		event_close_all();
		ktap_require(!unload(OURS), "round %d: in use", i);
		ktap_require(!load_ours(), "round %d: cannot be loaded", i);
	}
}

static void mainline_comes_second(void)
{
	start();
	kmsg_mark();
	silicon_clear();
	ktap_check(load_mainline() == EBUSY);
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
	ktap_check(kmsg_count("refusing " MAINLINE) == 1);
	ktap_check(!loaded(MAINLINE) && pmu_type("uncore_cbox_0") < 0);
	ktap_check(pmu_type("xeon7500_cbox_0") >= 0);
}

static void mainline_comes_first(void)
{
	start();
	ktap_require(!unload(OURS), "in use");
	ktap_require(!load_mainline(), "mainline cannot be loaded");
	ktap_require(pmu_type("uncore_cbox_0") >= 0, "mainline has no C-Box");
	kmsg_mark();
	silicon_clear();
	ktap_check(load_ours() == EBUSY);
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
	ktap_check(kmsg_count(OURS ": ") == 1);
	ktap_check(!loaded(OURS) && pmu_type("xeon7500_ubox") < 0);
	ktap_check(pmu_type("uncore_cbox_0") >= 0);
	ktap_check(!unload(MAINLINE));
	ktap_check(!load_ours(), "cannot be loaded");
}

SILICON_MAIN({ "load and unload leave every register as it was", load_and_unload },
	     { "use leaves them clean, whatever was in them", leaves_no_trace },
	     { "so it does on a package that was away", leaves_no_trace_of_a_package },
	     { "what was left running does not count", ignores_leftovers },
	     { "boxes that are not there", boxes_missing },
	     { "an open event holds the module", event_open_holds_it },
	     { "load and unload many times", many_times },
	     { "intel_uncore is refused beside us", mainline_comes_second },
	     { "we are refused beside intel_uncore", mainline_comes_first })
