// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box that ceases to answer while it counts: its counts are those that were read last, perf
 * shows for how long they are good, and it is said once. Everything else goes on.
 *
 * CPU 0 serves package 0, CPU 2 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1 debug
 */
#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

#define NOTICED_US	1500000	/* so long it may take until the driver knows */

static const struct vanishing {
	const char *pmu, *event;
	unsigned int box, instance;
} vanishing[] = {
	{ "xeon7500_cbox_3", "llc_misses.all", SYN_BOX_C, 3 },
	{ "xeon7500_mbox_1", "mbox_cycles", SYN_BOX_M, 1 },
	{ "xeon7500_mbox_0", "dram_cmd.all,mask_addr=0x1", SYN_BOX_M, 0 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", SYN_BOX_S, 0 },
	{ "xeon7500_bbox_1", "imt_inserts_all", SYN_BOX_B, 1 },
	{ "xeon7500_rbox_1", "flits_sent,port=1", SYN_BOX_R, 1 },
	{ "xeon7500_wbox", "uncore_clock", SYN_BOX_W, 0 },
};

#define VANISHING	(int)ARRAY_SIZE(vanishing)

static void start(bool reads_0)
{
	event_close_all();
	module_unload();
	msr_write(0, SYN_ABSENT, 0);
	module_load("");
	msr_write(0, SYN_ABSENT_READS_0, reads_0);
	silicon_start();
	sampling_limit(1000000);
	kmsg_mark();
}

static void vanish(const struct vanishing *v)
{
	msr_write(0, SYN_ABSENT, SYN_ABSENT_BOX(v->box, v->instance));
}

/* It is said once, and nothing else is. */
static void check_log(const char *what)
{
	int said = 0, others = 0;
	char line[1024];

	while (kmsg_next(line, sizeof(line))) {
		if (strstr(line, "no longer answers")) {
			said++;
		} else if (!strncmp(line, OURS, strlen(OURS)) || strstr(line, "unchecked MSR access")) {
			others++;
			if (others == 1)
				ktap_note("%s: the log says: %s", what, line);
		}
	}
	ktap_check(said == 1, "%s: said %d times", what, said);
	ktap_check(!others, "%s: %d other lines", what, others);
	ktap_check(!foreign_writes(), "%s: foreign_writes %lld", what, foreign_writes());
}

static void check_refused(const char *what, const struct vanishing *v)
{
	struct perf_event_attr attr = event_attr(v->pmu, v->event);
	int fd = perf_open(&attr, 0, -1);

	ktap_check(fd == -ENODEV, "%s: a new event: %d", what, fd);
	if (fd >= 0)
		close(fd);
}

/* Two events of the box, one of its neighbours, and the same box of the other package. */
static void counting(const struct vanishing *v, bool reads_0, bool sampling)
{
	struct perf_count before, then, later;
	int fd, other, far;
	char what[80];

	start(reads_0);
	snprintf(what, sizeof(what), "%s, %s%s", v->pmu, reads_0 ? "reads 0" : "#GP",
		 sampling ? ", another box samples" : "");
	fd = event_open(v->pmu, v->event, 0, -1);
	other = event_open("xeon7500_cbox_5", "llc_hits.all", 0, -1);
	far = event_open(v->pmu, v->event, 2, -1);
	perf_enable(fd);
	perf_enable(other);
	perf_enable(far);
	if (sampling)
		perf_enable(sampling_open("xeon7500_cbox_2", "occupancy_irq", 3000017, 0, 64)->fd);
	sleep_us(20000);
	before = perf_count(fd);
	ktap_check(before.value && before.running == before.enabled,
		   "%s: %llu before, %llu of %llu ns", what, before.value, before.running,
		   before.enabled);
	vanish(v);
	then = perf_count(fd);
	ktap_check(then.value == before.value, "%s: %llu right after, %llu before", what,
		   then.value, before.value);
	sleep_us(NOTICED_US);
	then = perf_count(fd);
	check_refused(what, v);
	sleep_us(1200000);
	later = perf_count(fd);
	ktap_check(then.value == before.value && later.value == before.value,
		   "%s: %llu and %llu, %llu before", what, then.value, later.value, before.value);
	ktap_check(llabs((long long)(later.running - then.running)) < 1000000 &&
		   then.running < before.running + 1600000000ull,
		   "%s: it ran for %llu ms before, then %llu, later %llu", what,
		   before.running / 1000000, then.running / 1000000, later.running / 1000000);
	ktap_check(later.running < later.enabled, "%s: %llu of %llu ns", what, later.running,
		   later.enabled);
	/* Should the box come back, what its counter holds is no count. */
	msr_write(0, SYN_ABSENT, 0);
	ktap_check(perf_count(fd).value == before.value, "%s: %llu when the box is back", what,
		   perf_count(fd).value);
	vanish(v);
	/* To stop and start it does not bring it back. */
	perf_disable(fd);
	perf_run_us(fd, 2000);
	ktap_check(perf_count(fd).value == before.value, "%s: %llu when enabled again", what,
		   perf_count(fd).value);
	perf_disable(other);
	perf_disable(far);
	ktap_check(perf_count(other).value &&
		   perf_count(other).value == box_truth(0, SYN_EVENTS, "xeon7500_cbox_5"),
		   "%s: a neighbour: %llu, truth %llu", what, perf_count(other).value,
		   box_truth(0, SYN_EVENTS, "xeon7500_cbox_5"));
	ktap_check(perf_count(other).running == perf_count(other).enabled, "%s: a neighbour", what);
	ktap_check(perf_count(far).value &&
		   perf_count(far).value == box_truth(2, SYN_EVENTS, v->pmu) &&
		   perf_count(far).running == perf_count(far).enabled,
		   "%s: the other package: %llu, truth %llu", what, perf_count(far).value,
		   box_truth(2, SYN_EVENTS, v->pmu));
	event_close_all();
	check_log(what);
	msr_write(0, SYN_ABSENT, 0);
}

static void each_gp(void)
{
	int i;

	for (i = 0; i < VANISHING; i++)
		counting(&vanishing[i], false, false);
}

static void each_reads_0(void)
{
	int i;

	for (i = 0; i < VANISHING; i++)
		counting(&vanishing[i], true, false);
}

static void beside_sampling(void)
{
	counting(&vanishing[0], false, true);
	counting(&vanishing[0], true, true);
}

/* Nothing reads the event in the 1.5 s; the driver itself looks. */
static void unread(bool reads_0)
{
	const struct vanishing *v = &vanishing[1];
	const char *what = reads_0 ? "reads 0" : "#GP";
	struct perf_count then, later;
	u64 most;
	int fd;

	start(reads_0);
	fd = event_open(v->pmu, v->event, 0, -1);
	perf_enable(fd);
	sleep_us(2300000);
	vanish(v);
	most = box_truth(0, SYN_EVENTS, v->pmu);
	sleep_us(NOTICED_US);
	then = perf_count(fd);
	sleep_us(1200000);
	later = perf_count(fd);
	ktap_note("%s: %llu of %llu that happened before; ran %llu of %llu ms", what, later.value,
		  most, later.running / 1000000, later.enabled / 1000000);
	ktap_check(then.value == later.value && later.value <= most, "%s: %llu, %llu, of %llu",
		   what, then.value, later.value, most);
	ktap_check(llabs((long long)(later.running - then.running)) < 1000000 &&
		   later.running < later.enabled,
		   "%s: ran %llu, %llu of %llu ns", what, then.running, later.running,
		   later.enabled);
	check_refused(what, v);
	event_close_all();
	check_log(what);
	msr_write(0, SYN_ABSENT, 0);
}

/* What is held back does not run less than not at all. */
static void behind_a_gate(void)
{
	const struct vanishing *v = &vanishing[0];
	struct perf_count then, later;
	int fd;

	start(false);
	fd = event_open(v->pmu, v->event, 0, -1);
	perf_enable(fd);
	sleep_us(500000);
	vanish(v);
	sleep_us(NOTICED_US);
	then = perf_count(fd);
	event_open("xeon7500_package", "gate", 0, -1);
	sleep_us(300000);
	later = perf_count(fd);
	ktap_check(llabs((long long)(later.running - then.running)) < 1000000,
		   "ran for %llu us, behind the gate for %lld", then.running / 1000,
		   (long long)(later.running - then.running) / 1000);
	event_close_all();
	msr_write(0, SYN_ABSENT, 0);
}

/* Nothing is written to it any more, also when all other registers are written anew. */
static void last_cpu_stays(void)
{
	const struct vanishing *v = &vanishing[0];
	int fd;

	start(false);
	fd = event_open(v->pmu, v->event, 2, -1);
	perf_enable(fd);
	sleep_us(20000);
	msr_write(2, SYN_ABSENT, SYN_ABSENT_BOX(v->box, v->instance));
	sleep_us(NOTICED_US);
	set_online(3, false);
	offline_fails(2);
	check_log("a CPU that does not go");
	event_close_all();
	msr_write(2, SYN_ABSENT, 0);
	set_online(3, true);
}

static void nothing_reads(void)
{
	unread(false);
	unread(true);
}

/* The box samples itself, and freezes the package or not. */
static void sampling_on_it(const char *options, bool reads_0)
{
	const struct vanishing *v = &vanishing[0];
	struct perf_event_attr attr;
	char name[64], what[80];
	u64 before, after, most, sure, overflows;
	struct ring *r;
	int other;

	start(reads_0);
	snprintf(what, sizeof(what), "sampling%s, %s", options, reads_0 ? "reads 0" : "#GP");
	snprintf(name, sizeof(name), "%s%s", "occupancy_irq", options);
	other = event_open("xeon7500_cbox_5", "llc_hits.all", 0, -1);
	perf_enable(other);
	attr = sampling_attr(v->pmu, name, 3000017);
	r = event_ring(event_open_attr(&attr, 0, -1), attr.sample_type, 64);
	silicon_clear();
	perf_enable(r->fd);
	sleep_us(20000);
	sure = box_truth(0, SYN_OVERFLOWS, v->pmu);
	ring_drain(r, NULL, NULL);
	before = r->samples;
	vanish(v);
	most = box_truth(0, SYN_EVENTS, v->pmu);
	overflows = box_truth(0, SYN_OVERFLOWS, v->pmu);
	sleep_us(NOTICED_US);
	ring_drain(r, NULL, NULL);
	after = r->samples;
	sleep_us(100000);
	ring_drain(r, NULL, NULL);
	/* A sample of an overflow before may come late. */
	ktap_check(before && after <= overflows && after - before <= 1 + overflows - sure &&
		   r->samples == after, "%s: %llu samples, %llu, %llu, of %llu and %llu overflows",
		   what, before, after, r->samples, sure, overflows);
	perf_disable(r->fd);
	perf_disable(other);
	/* A counter close to its overflow that reads 0 looks as if it had counted up to it. */
	ktap_check(perf_value(r->fd) <= most, "%s: %llu, of %llu that happened before", what,
		   perf_value(r->fd), most);
	if (!*options)
		ktap_check(perf_count(other).running == perf_count(other).enabled, "%s: a neighbour",
			   what);
	check_refused(what, v);
	event_close_all();
	check_log(what);
	msr_write(0, SYN_ABSENT, 0);
}

static void it_samples(void)
{
	int reads_0;

	for (reads_0 = 0; reads_0 < 2; reads_0++) {
		sampling_on_it("", reads_0);
		sampling_on_it(",freeze=1", reads_0);
	}
}

/* The self-test of PMIs takes the next box. */
static void while_untested(void)
{
	static const struct vanishing first = { "xeon7500_cbox_0", "llc_misses.all", SYN_BOX_C, 0 };
	struct perf_event_attr attr;
	int reads_0, fd;

	for (reads_0 = 0; reads_0 < 2; reads_0++) {
		start(reads_0);
		perf_enable(event_open(first.pmu, first.event, 0, -1));
		sleep_us(20000);
		vanish(&first);
		sleep_us(NOTICED_US);
		check_caps_pmi("when the box has gone", "untested");
		attr = sampling_attr("xeon7500_mbox_0", "mbox_cycles", 700001);
		fd = perf_open(&attr, 0, -1);
		ktap_check(fd >= 0, "sampling: %s", strerror(-fd));
		if (fd >= 0)
			close(fd);
		check_caps_pmi("after a sampling event", "yes");
		event_close_all();
		check_log("the first event that samples");
		msr_write(0, SYN_ABSENT, 0);
	}
}

SILICON_MAIN({ "a box that vanishes raises #GP", each_gp },
	     { "a box that vanishes reads 0", each_reads_0 },
	     { "beside a box that samples", beside_sampling },
	     { "a vanished box behind a gate runs no less", behind_a_gate },
	     { "when its package goes to sleep and wakes", last_cpu_stays },
	     { "while nothing reads its event", nothing_reads },
	     { "before PMIs are tested", while_untested },
	     { "a box vanishes while it samples", it_samples })
