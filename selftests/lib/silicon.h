/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the uncore PMUs against what the virtual silicon knows. An event is
 * opened by its sysfs name, counts, and is compared with the truth the model keeps
 * of the same counter; nothing here is taken from the driver.
 *
 * A test program ends with SILICON_MAIN() in place of KTAP_MAIN(): a case fails if the
 * silicon has seen an access against the rules meanwhile. MACHINE_MAIN() is for one that also
 * runs on real hardware, where there is no truth to compare with: it leaves out what
 * silicon_here() says it must, or ends by silicon_compare().
 */
#ifndef SELFTESTS_SILICON_H
#define SELFTESTS_SILICON_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "msr.h"
#include "perf.h"
#include "ring.h"
#include "synthetic.h"

#define SYSFS_PMU		"/sys/bus/event_source/devices"
#define SILICON_MAX_PACKAGES	8
#define SILICON_MAX_COUNTERS	8

/* ---- the model ---- */

/* Statistics, truth and violations to zero; the violations are remembered. */
void silicon_clear(void);

/* The same after provoking violations on purpose. */
void silicon_forgive(void);

u64 silicon_truth(int cpu, unsigned int what, unsigned int ctr);

/* Reads and writes of uncore registers since silicon_clear(), by any CPU. */
unsigned int silicon_accesses(void);

/* What the driver has refused has cost no access. */
void silicon_untouched(void);

/*
 * What follows compares with the silicon's truth. On real hardware a case ends here and
 * has passed: what it did so far is worth something.
 */
void silicon_compare(void);

/* From now on an event happens as the pattern says (see synthetic.h). */
void silicon_traffic(int cpu, u64 sel, u64 pattern);

/* The check of each case. */
void silicon_no_violation(void);

/* The reason why there is no event to test, or NULL. */
const char *uncore_missing(void);

/* Likewise, to test perf metrics against the silicon. */
const char *metrics_missing(void);

#define MACHINE_MAIN(...)						\
	KTAP_MAIN_CHECKED(uncore_missing(), silicon_no_violation, __VA_ARGS__)
#define SILICON_MAIN(...)						\
	KTAP_MAIN_CHECKED(silicon_missing() ?: uncore_missing(), silicon_no_violation, __VA_ARGS__)
#define METRICS_MAIN(...)						\
	KTAP_MAIN_CHECKED(metrics_missing(), silicon_no_violation, __VA_ARGS__)

/* ---- packages ---- */

/* The CPUs that a PMU wants its events on, one for each package. */
int pmu_cpus(const char *pmu, int cpus[SILICON_MAX_PACKAGES]);

/* The package of a CPU that is online. */
int cpu_package(int cpu);

/* The CPU in charge of a package, -1 if there is none. */
int package_cpu(int package);

/* The same; a machine with fewer packages skips the case. */
int need_package(int package);

/* ---- boxes: addresses of the counters, from the register tables of the guide ---- */

bool box_is(const char *pmu, const char *name);

/* Fills in the counters of a box and returns their number. */
int box_counters(const char *pmu, uint16_t ctr[SILICON_MAX_COUNTERS]);

/* The control register of a counter. */
unsigned int counter_ctl(unsigned int ctr);

/*
 * Moves a counter that stands, and whose event is on it. A counter that has gained half of
 * 2^48 since it was read last is taken for one that somebody else has written, so this goes
 * in steps, after each of which the event is read; of odd size, see counter_value(). Returns
 * what the event has counted by it.
 */
u64 counter_move(int fd, int cpu, unsigned int ctr, u64 to);

/* Some truth, summed over the counters of a box. */
u64 box_truth(int cpu, unsigned int what, const char *pmu);

/* Calls visit() for the PMU of each box. */
void for_each_pmu(void (*visit)(const char *pmu, void *arg), void *arg);

/* ---- events by their sysfs names ---- */

void sysfs_read(const char *pmu, const char *dir, const char *name, char *text, int size);

/* Writes to a file of sysfs or procfs; false, with errno, if that cannot be. */
bool put_text(const char *path, const char *text);

/* Puts a value where a format attribute says: "config1:0-7", "config:18", "config:1,6-9". */
void attr_set_field(struct perf_event_attr *attr, const char *format, u64 val);

/* Adds terms in perf's syntax: "event=0x14,umask=0x7,edge". */
void attr_add_terms(struct perf_event_attr *attr, const char *pmu, const char *terms);

/* Is this file of an events directory an event? */
bool is_event(const char *name);

/* The attr of "llc_misses.all", "llc_misses.all,thresh=2" or "event=0x0d", as perf would make it. */
struct perf_event_attr event_attr(const char *pmu, const char *event);

/* { pmu, event } of each S-, B-, M- and R-Box */
#define EACH_SBMR_BOX							\
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy" },		\
	{ "xeon7500_sbox_1", "to_r_snp_msgq_cycles_ne" },		\
	{ "xeon7500_bbox_0", "msgs_in_non_snoop" },			\
	{ "xeon7500_bbox_1", "imt_inserts_all" },			\
	{ "xeon7500_mbox_0", "mbox_cycles" },				\
	{ "xeon7500_mbox_1", "bbox_cmds.reads" },			\
	{ "xeon7500_rbox_0", "flits_sent,port=1" },			\
	{ "xeon7500_rbox_1", "flits_sent,port=2" },

/* The core PMU samples so many cycles apart. */
struct perf_event_attr cycles_attr(u64 period, u64 type);

/* Open events; whatever a failed case leaves behind is closed by the next one. */
extern int open_events[256];
extern int num_open_events;

/* Their rings: an event lives on, and counts, as long as its ring is mapped. */
#define RING_MAX	256
extern struct ring rings[RING_MAX];
extern int num_rings;

void ring_close_all(void);

void event_close_all(void);

/*
 * A case begins: no event is open and everything counts from zero, but for that
 * by which the driver tests that PMIs arrive: any event with threshold 255, inverted or not.
 */
void silicon_start(void);

int event_open_attr(struct perf_event_attr *attr, int cpu, int group);

/* pages: a power of two. type: sample_type of the event. */
struct ring *event_ring(int fd, u64 type, unsigned int pages);

/* A CPU's tracepoint, disabled. Each hit is a sample that reads the group; none can be drained. */
int tracepoint_open(const char *name, int cpu);

/* Opens an event by name, disabled unless it is to follow a group leader. */
int event_open(const char *pmu, const char *event, int cpu, int group);

/* Events that take turns do so every millisecond in place of four. */
void hurry(const char *pmu);

void sleep_us(unsigned int us);

/* The event is enabled for so long. */
void perf_run_us(int fd, unsigned int us);

/* An event that is opened now, and enabled for so long, counts what the silicon does, and not 0. */
bool event_counts(const char *what, const char *pmu, const char *event, int cpu, unsigned int us);

/*
 * silicon_start(), when the timers of earlier events have ended, by which the driver looks
 * after what counts once a second.
 */
void silicon_start_idle(void);

/*
 * Events that happen as a test says: in the first cycles of each period, so that what
 * a counter gains follows from the cycles of its window alone. With a rate for each
 * source a count tells where it came from.
 */
#define TRAFFIC_PERIOD_LOG2	8

/* From now on this source (SYN_SEL) has so many events in each period. */
void traffic_rate(int cpu, u64 sel, unsigned int active);

/* Every other source in this box instance has none. */
void traffic_silence(int cpu, unsigned int box, unsigned int inst);

/* Events of such a source in cycles [from, to). */
u64 traffic_count(u64 from, u64 to, unsigned int active);

#endif /* SELFTESTS_SILICON_H */
