// SPDX-License-Identifier: GPL-2.0-only
/*
 * More events than counters: perf lets them take turns. Whatever the turns, no
 * event may lose or gain a count when its counter is handed on.
 *
 * The truth belongs to a counter register, which serves many events in turn. So the
 * sum over all events is compared with the sum over all counters; and to see that no
 * event has got what another one counted, all but one of them are made silent.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "silicon.h"

#define PMU	"xeon7500_cbox_2"
#define NUM	14
#define COUNTERS	6

static const char * const events[NUM] = {
	"trans_irq", "trans_ipq", "trans_viq", "trans_maf", "trans_rwrf", "trans_rspf", "maf_ack",
	"occupancy_irq", "occupancy_ipq", "occupancy_viq", "occupancy_maf", "occupancy_rwrf",
	"occupancy_rspf", "sinks_s2p_bl",
};

static struct perf_count count[NUM];

/*
 * Counts the events of one program, which has all, or every second if there are two. It counts for
 * so long, and until the events have had their turns: else nothing would be tested.
 */
static void count_share(int cpu, unsigned int us, int first, int programs)
{
	int fd[NUM], i;

	hurry(PMU);
	for (i = first; i < NUM; i += programs) {
		fd[i] = event_open(PMU, events[i], cpu, -1);
		perf_enable(fd[i]);
	}
	sleep_us(us);
	for (i = 0; i < 1000 && box_truth(cpu, SYN_WINDOWS, PMU) <= 2 * NUM; i++)
		sleep_us(1000);
	for (i = first; i < NUM; i += programs)
		perf_disable(fd[i]);
	for (i = first; i < NUM; i += programs)
		count[i] = perf_count(fd[i]);
}

static void count_all(int cpu, unsigned int us)
{
	count_share(cpu, us, 0, 1);
}

/* Likewise, but two programs, each of which begins and ends when it comes to it. */
static void count_by_two(int cpu, unsigned int us)
{
	struct perf_count *of_other = mmap(NULL, sizeof(count), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t other = fork();
	int i;

	count_share(cpu, us, !other, 2);
	if (!other) {
		memcpy(of_other, count, sizeof(count));
		_exit(0);
	}
	waitpid(other, NULL, 0);
	for (i = 1; i < NUM; i += 2)
		count[i] = of_other[i];
}

static void check_turns(int cpu)
{
	u64 windows = box_truth(cpu, SYN_WINDOWS, PMU);

	ktap_check(windows > 2 * NUM, "%llu windows", windows);
}

static void check_sums(void (*count_them)(int cpu, unsigned int us))
{
	u64 sum = 0, truth, running = 0, enabled = 0;
	int cpu, i;

	silicon_start();
	cpu = package_cpu(1);
	count_them(cpu, 200000);
	for (i = 0; i < NUM; i++) {
		sum += count[i].value;
		running += count[i].running;
		enabled += count[i].enabled;
		ktap_check(count[i].value && count[i].running < count[i].enabled,
			   "%s: %llu in %llu of %llu ns", events[i], count[i].value,
			   count[i].running, count[i].enabled);
	}
	/* Two programs, one after the other, would have twice as much. */
	ktap_check(running < enabled * COUNTERS / NUM * 5 / 4, "%llu of %llu ns: not all at the same time",
		   running, enabled);
	truth = box_truth(cpu, SYN_EVENTS, PMU);
	ktap_check(sum == truth, "%llu, truth %llu", sum, truth);
	check_turns(cpu);
}

static void sums_agree(void)
{
	check_sums(count_all);
}

static void check_each(void (*count_them)(int cpu, unsigned int us))
{
	int cpu, loud, i;

	cpu = package_cpu(0);
	for (loud = 0; loud < NUM; loud++) {
		struct perf_event_attr attr = event_attr(PMU, events[loud]);
		u64 truth;

		silicon_start();
		silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, SYN_ANY_CODE, SYN_ANY),
				SYN_PATTERN(0, 0, 0, 0));
		silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, attr.config & 0xff, SYN_ANY),
				SYN_PATTERN(2, 0, 3, 1));
		count_them(cpu, 60000);
		truth = box_truth(cpu, SYN_EVENTS, PMU);
		for (i = 0; i < NUM; i++)
			ktap_check(count[i].value == (i == loud ? truth : 0),
				   "%s: %llu, while %s had %llu", events[i], count[i].value,
				   events[loud], truth);
		ktap_check(truth, "%s", events[loud]);
		check_turns(cpu);
		msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	}
}

static void each_gets_its_own(void)
{
	check_each(count_all);
}

static void two_programs(void)
{
	check_sums(count_by_two);
	check_each(count_by_two);
}

/* The time perf scales with is the time the counter was on, and each has its share. */
static void scaled_counts(void)
{
	u64 num, den, windows, ran, slack, share, alone;
	struct perf_event_attr attr;
	int cpu, i;

	silicon_start();
	cpu = package_cpu(0);
	attr = event_attr(PMU, events[0]);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, attr.config & 0xff, SYN_ANY),
			SYN_PATTERN(0, 0, 1, 1));
	count_all(cpu, 500000);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	windows = box_truth(cpu, SYN_WINDOWS, PMU);
	num = msr_read(cpu, SYN_HZ_NUM);
	den = msr_read(cpu, SYN_HZ_DEN);
	ran = count[0].value * den / num;
	/* The clocks are read some instructions apart, once for each of its turns. */
	slack = 4000 * windows;
	ktap_check(ran + slack > count[0].running && ran < count[0].running + slack,
		   "counted for %llu ns, running for %llu, %llu turns of all", ran,
		   count[0].running, windows);
	/* Until the last one is enabled, those before it have more. */
	alone = count[0].enabled - count[NUM - 1].enabled;
	for (i = 0; i < NUM; i++) {
		share = count[i].enabled * COUNTERS / NUM;
		ktap_check(count[i].running > share - share / 20 &&
			   count[i].running < share + share / 20 + alone,
			   "%s: %llu of %llu ns", events[i], count[i].running, count[i].enabled);
	}
}

/* Groups take turns, too: whatever makes room for one, all of it starts at once. */
static void groups(void)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	u64 opened[SILICON_MAX_COUNTERS], last, windows;
	int cpu, g, i, num, n, turn, leader[2];

	silicon_start();
	cpu = package_cpu(1);
	hurry(PMU);
	num = box_counters(PMU, ctr);
	for (g = 0; g < 2; g++) {
		leader[g] = event_open(PMU, events[4 * g], cpu, -1);
		for (i = 1; i < 4; i++)
			event_open(PMU, events[4 * g + i], cpu, leader[g]);
	}
	for (turn = 0; turn < 20; turn++) {
		perf_enable(leader[0]);
		perf_enable(leader[1]);
		windows = box_truth(cpu, SYN_WINDOWS, PMU) + 4 + turn % 2 * 4;
		for (n = 0; n < 1000 && box_truth(cpu, SYN_WINDOWS, PMU) < windows; n++)
			sleep_us(300);
		ktap_require(n < 1000, "turn %d: nothing runs", turn);
		perf_disable(leader[0]);
		perf_disable(leader[1]);
		/* The counters that have stopped last are those of one group. */
		for (last = 0, i = 0; i < num; i++) {
			u64 closed = silicon_truth(cpu, SYN_CLOSED, ctr[i]);

			last = closed > last ? closed : last;
		}
		for (n = 0, i = 0; i < num; i++) {
			if (silicon_truth(cpu, SYN_CLOSED, ctr[i]) == last)
				opened[n++] = silicon_truth(cpu, SYN_OPENED, ctr[i]);
		}
		ktap_check(n == 4, "turn %d: %d counters stopped together", turn, n);
		for (i = 1; i < n; i++)
			ktap_check(opened[i] == opened[0], "turn %d: started at %llu and %llu",
				   turn, opened[0], opened[i]);
	}
}

/* Pinned events keep their counters; the others share what is left. */
static void pinned(void)
{
	struct perf_event_attr attr;
	u64 sum = 0;
	int cpu, fd[2], i;

	silicon_start();
	cpu = package_cpu(1);
	for (i = 0; i < 2; i++) {
		attr = event_attr(PMU, i ? "llc_hits.all" : "llc_misses.all");
		attr.pinned = 1;
		fd[i] = event_open_attr(&attr, cpu, -1);
		perf_enable(fd[i]);
	}
	count_all(cpu, 100000);
	for (i = 0; i < 2; i++)
		perf_disable(fd[i]);
	for (i = 0; i < 2; i++) {
		struct perf_count c = perf_count(fd[i]);

		ktap_check(c.value && c.running == c.enabled, "%llu of %llu ns", c.running,
			   c.enabled);
		sum += c.value;
	}
	for (i = 0; i < NUM; i++)
		sum += count[i].value;
	ktap_check(sum == box_truth(cpu, SYN_EVENTS, PMU), "%llu, truth %llu", sum,
		   box_truth(cpu, SYN_EVENTS, PMU));
}

SILICON_MAIN({ "14 events on 6 counters: the sums agree", sums_agree },
	     { "each event has counts of its own only", each_gets_its_own },
	     { "two programs on one box: no count is lost, doubled or the other's", two_programs },
	     { "running times fit the counts", scaled_counts },
	     { "groups start as one", groups },
	     { "beside pinned events", pinned })
