// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each uncore event of LIKWID, counted by LIKWID's own library: it reads what the silicon has
 * counted, and at the rate of the event with that name that the driver has. In the guest;
 * selftests/strangers/likwid.py starts it, and says what LIKWID has: lines "EVENT COUNTERS" as
 * likwid-perfctr -e lists them.
 *
 * Where the two differ, or LIKWID breaks a rule of the silicon, the reason is in excuses[]. An
 * excuse that nothing needs any more is an error as well.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <likwid.h>

#include "foreign.h"

/* Long enough that the rate of an event is the same in two windows. */
#define WINDOW_US	300

#define NHM	1
#define WSM	2
#define BOTH	(NHM | WSM)
/* Not mended by Documentation/upstream/programs/likwid */
#define STAYS	4

static int machine;

/* Whether the library has these changes. */
static bool mended(void)
{
	return getenv("MENDED");
}

/* ---- where LIKWID differs ---- */

enum fault {
	OTHER_COUNT,	/* its number is not what the counter has counted */
	OTHER_RATE,	/* not the event that its name says */
	VIOLATION,	/* of a rule of the silicon */
	NO_COUNTER,	/* it cannot use the counter */
	NO_NAME,	/* the driver has no such event */
};

/* The first that fits is taken. */
static const struct excuse {
	int machines;
	enum fault fault;
	const char *event, *counter;	/* patterns */
	const char *why;
} excuses[] = {
	{ BOTH, OTHER_COUNT, "*", "MBOX1C3", "registers.h: counter 3 of M-Box 1 is CB7H in place of CF7H" },
	{ NHM, NO_COUNTER, "*", "CBOX6C5", "the counter is missing in the map" },
	{ NHM, OTHER_RATE, "FVC_*", "*", "ZDP_CTL_FVC as on Westmere-EX, one bit too high" },
	{ NHM, OTHER_RATE, "BCMD_SCHEDQ_*", "*", "MAP as on Westmere-EX, one bit too high" },
	{ NHM, VIOLATION, "BCMD_SCHEDQ_OCCUPANCY_F2*", "*", "and so no command that is defined" },
	{ NHM, VIOLATION, "BCMD_SCHEDQ_OCCUPANCY_SPRWR", "*", "likewise" },
	{ WSM, OTHER_RATE, "BCMD_SCHEDQ_OCCUPANCY_ALL", "*", "cut to three bits, so these are the reads" },
	{ WSM, OTHER_RATE, "CYCLES_MFULL", "*", "in flag mode, where code 1 is CYCLES_SCHED_MODE" },
	{ WSM, OTHER_RATE, "COHQ_IMT_ALLOC_WAIT", "*", "code 0EH is COHQ_BYPASS, 13H on the Xeon 7500" },
	{ WSM, OTHER_RATE, "IMT_FULL", "*", "code 12H is IMPLICIT_WBS, 16H on the Xeon 7500" },
	{ WSM, OTHER_RATE, "ALLOC_TO_ARB_*_ALL", "*", "FFH, a bit more than the field has" },
	{ BOTH, OTHER_RATE, "ARB_WINS_[ABI]*", "CBOX*", "code 0AH is ARB_LOSSES, 09H is meant" },
	{ BOTH, VIOLATION, "*_OCCUPANCY*", "SBOX*", "reset_occ_cnt is not set" },
	{ BOTH, OTHER_COUNT, "*_OCCUPANCY*", "SBOX*", "so it begins with what was in the queue counter" },
	{ BOTH, VIOLATION, "TO_R_*_MSGQ_CYCLES_FULL_ALL", "SBOX*", "undefined with several C-Boxes" },
	{ BOTH, NO_NAME, "TO_R_*_MSGQ_CYCLES_FULL_ALL", "SBOX*", "undefined with several C-Boxes" },
	{ BOTH | STAYS, NO_NAME, "TO_R_B_HOM_MSGQ_*_ALL", "SBOX*", "no manual has this sum" },
	{ BOTH | STAYS, NO_NAME, "PKTS_SENT_*_ALL", "SBOX*", "no manual has this sum" },
	{ BOTH | STAYS, NO_NAME, "LLC_VICTIMS_ALL", "CBOX*", "no manual has this sum" },
	{ BOTH, OTHER_RATE, "TO_R_PROG_EV", "SBOX*", "counts by MM_CFG, which is not written without options" },
	{ BOTH, OTHER_RATE, "NEW_PACKETS_RECV_*_SNP", "*", "Table 2-48: bit 5, LIKWID sets 4" },
	{ BOTH, OTHER_RATE, "NEW_PACKETS_RECV_*_HOM", "*", "Table 2-48: bit 4, LIKWID sets 5" },
	{ BOTH, OTHER_RATE, "ALLOC_TO_ARB_*_HOM_VN?", "*", "Table 2-48: VN0 is bit 15, LIKWID has it the other way" },
	{ BOTH, OTHER_RATE, "QUE_ARB_BID_*_DRS", "*", "class 2 is NDR, 4 is meant" },
};

#define EXCUSES (int)ARRAY_SIZE(excuses)

static int used[EXCUSES];

static bool applies(const struct excuse *e)
{
	return e->machines & machine && (!mended() || e->machines & STAYS);
}

/* Its number, or -1 if there is none. */
static int excuse(enum fault fault, const char *event, const char *counter)
{
	const struct excuse *e;

	for (e = excuses; e < excuses + EXCUSES; e++) {
		if (e->fault == fault && applies(e) && !fnmatch(e->event, event, 0) &&
		    !fnmatch(e->counter, counter, 0))
			return e - excuses;
	}
	return -1;
}

static bool excused(enum fault fault, const char *event, const char *counter)
{
	int i = excuse(fault, event, counter);

	if (i >= 0)
		used[i]++;
	return i >= 0;
}

/* What LIKWID calls otherwise: the beginning of its name, and of ours. */
static const struct {
	const char *likwid, *ours;
} names[] = {
	{ "LLC_MISSES_SHARED", "LLC_MISSES_S" }, { "LLC_MISSES_FORWARD", "LLC_MISSES_F" },
	{ "LLC_MISSES_INVALID", "LLC_MISSES_I" },
	{ "LLC_HITS_MODIFIED", "LLC_HITS_M" }, { "LLC_HITS_EXCLUSIVE", "LLC_HITS_E" },
	{ "LLC_HITS_SHARED", "LLC_HITS_S" }, { "LLC_HITS_FORWARD", "LLC_HITS_F" },
	{ "LLC_S_FILLS_MODIFIED", "LLC_S_FILLS_M" }, { "LLC_S_FILLS_EXCLUSIVE", "LLC_S_FILLS_E" },
	{ "LLC_S_FILLS_SHARED", "LLC_S_FILLS_S" }, { "LLC_S_FILLS_FORWARD", "LLC_S_FILLS_F" },
	{ "LLC_VICTIMS_MODIFIED", "LLC_VICTIMS_M" }, { "LLC_VICTIMS_EXCLUSIVE", "LLC_VICTIMS_E" },
	{ "LLC_VICTIMS_SHARED", "LLC_VICTIMS_S" }, { "LLC_VICTIMS_FORWARD", "LLC_VICTIMS_F" },
	{ "LLC_VICTIMS_FILL_WITHOUT_VICTIMS", "LLC_VICTIMS_I" },
	{ "BOUNCES_C2P_AD", "BOUNCES_P2C_AD" }, { "SINKS_P2C_IV", "SINKS_P2C_AD" },
	{ "STARVED_EGRESS_C2P_AD_SB", "STARVED_EGRESS_C2S_AD_SB" },
	{ "MAF_NACK1_ALL_MAF_NACK1", "MAF_NACK1_ALL_MAF_NACK2" },
	{ "U2R_REQUEST_CYCLES", "U2B_REQUEST_CYCLES" },
	{ "C_C0_THROTTLE_TMP", "C_THROTTLE_TMP" },
	{ "MBOX_CLOCKTICKS", "MBOX_CYCLES" },
	{ "BBOX_RSP_SPR_UNCORE", "BBOX_RSP_SPR_UNCOR" },
};

/* ---- the list ---- */

struct event {
	char name[80];		/* LIKWID's */
	char counter[16];	/* the one it counts on here, in LIKWID's word */
	char pmu[24];		/* the same in the driver's */
	unsigned int ctr;	/* and in the silicon's */
	char ours[80];		/* the driver's name of the event */
	int port;		/* of an R-Box, or -1 */
	bool done;
	u64 truth, clocks;
};

static struct event events[2500];
static int num_events;

/* PMU and register of a counter of LIKWID. */
static bool find_counter(struct event *e)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int instance = 0, num = 0;
	char box = tolower(e->counter[0]);

	if (box == 'u' || box == 'w')
		snprintf(e->pmu, sizeof(e->pmu), "xeon7500_%cbox", box);
	if (!strcmp(e->counter, "WBOXFIX"))
		num = 4;
	else if (e->pmu[0] && sscanf(e->counter + 4, "%d", &num) != 1)
		return false;
	else if (!e->pmu[0] && sscanf(e->counter + 4, "%dC%d", &instance, &num) != 2)
		return false;
	if (!e->pmu[0])
		snprintf(e->pmu, sizeof(e->pmu), "xeon7500_%cbox_%d", box, instance);
	if (num >= box_counters(e->pmu, ctr))
		return false;
	e->ctr = ctr[num];
	return true;
}

/* "BBOX_CMDS_READS" for bbox_cmds.reads */
static void flatten(char *to, const char *name)
{
	for (; *name; name++)
		*to++ = *name == '.' ? '_' : toupper(*name);
	*to = 0;
}

/* The driver counts the ports of an R-Box from 0; LIKWID's port 8 is port 7. */
static int port_of(const char *name)
{
	const char *s = strstr(name, "_PORT");

	return s ? (s[5] == '8' ? 7 : s[5] - '0') % 4 : -1;
}

/*
 * LIKWID's ALLOC_TO_ARB_PORT1_IPERF0_NCB is our alloc_to_arb.ncb,port=1, and its
 * FVC_EV0_BBOX_CMDS_READS our bbox_cmds.reads.
 */
static void plain_name(const char *name, char *plain, int *port)
{
	const char *s = strstr(name, "_PORT"), *rest;
	char copy[80];
	unsigned int i;

	*port = port_of(name);
	strcpy(plain, name);
	if (s) {
		rest = strchr(strchr(s + 1, '_') + 1, '_');
		sprintf(plain, "%.*s%s", (int)(s - name), name, rest ?: "");
	} else if (!strncmp(name, "FVC_EV", 6)) {
		strcpy(plain, name + strlen("FVC_EV0_"));
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(plain, names[i].likwid, strlen(names[i].likwid))) {
			snprintf(copy, sizeof(copy), "%s%s", names[i].ours,
				 plain + strlen(names[i].likwid));
			strcpy(plain, copy);
			break;
		}
	}
}

static void find_ours(struct event *e)
{
	char path[100], plain[80], flat[300];
	struct dirent *d;
	DIR *dir;

	plain_name(e->name, plain, &e->port);
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/events", e->pmu);
	dir = opendir(path);
	ktap_require(dir, "%s: %s", path, strerror(errno));
	while ((d = readdir(dir))) {
		flatten(flat, d->d_name);
		if (is_event(d->d_name) && !strcmp(flat, plain)) {
			snprintf(e->ours, sizeof(e->ours), e->port < 0 ? "%s" : "%s,port=%d",
				 d->d_name, e->port);
			break;
		}
	}
	closedir(dir);
}

/* All of them take minutes. */
static int stride(void)
{
	return soak() ? 1 : 19;
}

static void list_read(void)
{
	int boxes = machine == WSM ? 10 : 8, of_kind[128] = {}, line = 0, n;
	char name[80], counters[300], *s;
	FILE *f = fopen("/t/list", "r");
	struct event *e;

	ktap_require(f, "/t/list: %s", strerror(errno));
	while (fscanf(f, "%79s %299s", name, counters) == 2) {
		if (line++ % stride())
			continue;
		ktap_require(num_events < (int)ARRAY_SIZE(events), "too many");
		e = &events[num_events];
		strcpy(e->name, name);
		s = strtok(counters, "|");
		n = of_kind[(int)s[0]]++;
		/* All boxes and all counters have their turn. */
		if (strstr(s, "BOX0C") && n & 1)
			s = strtok(NULL, "|");
		if (!strcmp(s, "CBOX"))
			sprintf(e->counter, "CBOX%dC%d", n % boxes, n / boxes % 6);
		else if (!strcmp(s, "MBOX"))
			sprintf(e->counter, "MBOX%dC%d", n % 2, n / 2 % 6);
		else if (!strcmp(s, "SBOX"))
			sprintf(e->counter, "SBOX%dC%d", n % 2, n / 2 % 4);
		else if (!strncmp(s, "RBOX", 4) && !s[5])
			sprintf(e->counter, "%sC%d", s, port_of(name) * 2 + n % 2);
		else if (!strcmp(s, "WBOX"))
			sprintf(e->counter, "WBOX%d", n % 4);
		else if (!strcmp(s, "UBOX"))
			strcpy(e->counter, "UBOX0");
		else
			snprintf(e->counter, sizeof(e->counter), "%s", s);
		ktap_require(find_counter(e), "%s: what is counter %s?", name, e->counter);
		find_ours(e);
		num_events++;
	}
	fclose(f);
}

/* ---- cases ---- */

/* What is counted together: an event of each box, and of an R-Box one of each port. */
#define SET	32

static bool fits(struct event * const *set, int num, const struct event *e)
{
	int i;

	for (i = 0; i < num; i++) {
		if (!strcmp(set[i]->pmu, e->pmu) && set[i]->port == e->port)
			return false;
	}
	/* What breaks a rule does so alone. */
	return num < SET && !(num && excuse(VIOLATION, e->name, e->counter) >= 0);
}

/* The next set of events that LIKWID has not counted yet; returns their number. */
static int next_set(struct event **set)
{
	int num = 0, i;

	for (i = 0; i < num_events; i++) {
		if (events[i].done || !fits(set, num, &events[i]))
			continue;
		events[i].done = true;
		set[num++] = &events[i];
		if (excuse(VIOLATION, events[i].name, events[i].counter) >= 0)
			break;
	}
	return num;
}

static struct event *of_counter(struct event **set, int num, const char *counter)
{
	int i;

	for (i = 0; i < num && strcmp(set[i]->counter, counter); i++)
		;
	return i < num ? set[i] : NULL;
}

static int equal;

/* Lets LIKWID count a set and compares. */
static void count_set(struct event **set, int num)
{
	char text[SET * 100] = "";
	u64 violations;
	int group, i, len = 0;

	for (i = 0; i < num; i++) {
		len += snprintf(text + len, sizeof(text) - len, "%s%s:%s", i ? "," : "",
				set[i]->name, set[i]->counter);
		msr_write(0, set[i]->ctr, 0);
		set[i]->clocks = 0;
	}
	msr_write(0, SYN_CLEAR, 1);
	group = perfmon_addEventSet(text);
	/* A set of nothing but what it cannot do is none. */
	if (group < 0 && num == 1 && excused(NO_COUNTER, set[0]->name, set[0]->counter))
		return;
	if (!ktap_check(group >= 0 && !perfmon_setupCounters(group) && !perfmon_startCounters(),
			"%s", text))
		return;
	sleep_us(WINDOW_US);
	ktap_check(!perfmon_stopCounters(), "%s", text);
	violations = msr_read(0, SYN_VIOLATIONS);
	for (i = 0; i < perfmon_getNumberOfEvents(group); i++) {
		struct event *e = of_counter(set, num, perfmon_getCounterName(group, i));
		double value = perfmon_getLastResult(group, i, 0);

		/* Not ours: it adds those that it counts always. */
		if (!e)
			continue;
		e->truth = silicon_truth(0, SYN_EVENTS, e->ctr);
		e->clocks = silicon_truth(0, SYN_ENABLED, e->ctr);
		if (!e->clocks)
			continue;
		if (value == e->truth)
			equal++;
		else if (!excused(OTHER_COUNT, e->name, e->counter))
			ktap_check(false, "%s:%s: LIKWID says %.0f, truth %llu in %llu clocks",
				   e->name, e->counter, value, e->truth, e->clocks);
	}
	for (i = 0; i < num; i++) {
		if (!set[i]->clocks && !excused(NO_COUNTER, set[i]->name, set[i]->counter))
			ktap_check(false, "%s:%s: not counted", set[i]->name, set[i]->counter);
	}
	if (violations && !excused(VIOLATION, set[0]->name, set[0]->counter))
		ktap_check(false, "%s: %llu violations", text, violations);
}

static void likwid_init(void)
{
	static const int cpu;

	ktap_require(!HPMinit() && !perfmon_init(1, &cpu), "LIKWID");
}

static void likwid_end(void)
{
	perfmon_finalize();
	HPMfinalize();
}

static void likwid_counts(void)
{
	struct event *set[SET];
	int num, sets = 0;

	list_read();
	module_unload();
	foreign_clean(0);
	HPMmode(ACCESSMODE_DIRECT);
	ktap_require(!topology_init(), "LIKWID");
	likwid_init();
	while ((num = next_set(set))) {
		/* See second_set(). */
		if (machine == WSM && !mended() && sets) {
			likwid_end();
			likwid_init();
		}
		count_set(set, num);
		sets++;
	}
	likwid_end();
	ktap_note("%d events in %d sets, %d equal to the truth", num_events, sets, equal);
	ktap_check(num_events > 2300 / stride() && equal > 2200 / stride(), "too few");
}

/* Returns what LIKWID says. */
static double count_hits(u64 *truth)
{
	static const char text[] = "LLC_HITS_ALL:CBOX0C0";
	int group;

	msr_write(0, SYN_CLEAR, 1);
	group = perfmon_addEventSet(text);
	ktap_require(group >= 0 && !perfmon_setupCounters(group) && !perfmon_startCounters() &&
		     !perfmon_stopCounters(), "%s", text);
	*truth = silicon_truth(0, SYN_EVENTS, C0_CTR_0);
	return perfmon_getLastResult(group, 0, 0);
}

/*
 * Its reset of the counters on Westmere-EX ors 29 into U_MSR_PMON_GLOBAL_CTL, and not bit 29.
 * So there its numbers hold what was in the counters before.
 */
static void left_over(void)
{
	u64 left = 1000000000000, truth;
	double value;

	likwid_init();
	msr_write(0, C0_CTR_0, left);
	value = count_hits(&truth);
	if (machine == NHM || mended())
		left = 0;
	ktap_check(truth && value == truth + left, "%.0f, truth %llu", value, truth);
}

/*
 * When it stops it clears the control registers, but on Westmere-EX not its copy of them. So it
 * does not write one again that was the same before, and counts nothing.
 */
static void second_set(void)
{
	u64 truth;

	count_hits(&truth);
	ktap_check(machine == WSM && !mended() ? !truth : truth, "truth %llu", truth);
	likwid_end();
	silicon_forgive();
	foreign_clean(0);
	module_load("");
}

static bool same_rate(const struct event *e, u64 value, u64 clocks)
{
	double a = (double)e->truth * clocks, b = (double)value * e->clocks;
	double more = a > b ? a - b : b - a;

	return more <= 0.02 * (a > b ? a : b) + 30.0 * (e->clocks > clocks ? e->clocks : clocks);
}

static void same_events(void)
{
	struct perf_event_attr attr;
	u64 value, clocks;
	int i, fd, same = 0, seen = 0;

	for (i = 0; i < num_events; i++) {
		struct event *e = &events[i];

		if (!e->ours[0]) {
			if (!excused(NO_NAME, e->name, e->counter))
				ktap_check(false, "%s: %s has no such event", e->name, e->pmu);
			continue;
		}
		/* It has counted nothing, or something else. */
		if (!e->clocks)
			continue;
		seen++;
		silicon_start();
		attr = event_attr(e->pmu, e->ours);
		attr.disabled = 1;
		fd = perf_open(&attr, 0, -1);
		if (fd < 0) {
			if (!excused(NO_NAME, e->name, e->counter))
				ktap_check(false, "%s: %s/%s/: %s", e->name, e->pmu, e->ours,
					   strerror(-fd));
			continue;
		}
		perf_run_us(fd, WINDOW_US);
		value = perf_count(fd).value;
		clocks = box_truth(0, SYN_ENABLED, e->pmu);
		close(fd);
		if (same_rate(e, value, clocks))
			same++;
		else if (!excused(OTHER_RATE, e->name, e->counter))
			ktap_check(false, "%s:%s: %llu in %llu clocks, %s/%s/ %llu in %llu",
				   e->name, e->counter, e->truth, e->clocks, e->pmu, e->ours, value,
				   clocks);
	}
	ktap_note("%d of %d have the rate of the event of that name", same, seen);
}

static void excuses_needed(void)
{
	int i;

	for (i = 0; i < EXCUSES; i++) {
		if (!applies(&excuses[i]))
			continue;
		ktap_note("%d times: %s on %s: %s", used[i], excuses[i].event, excuses[i].counter,
			  excuses[i].why);
		ktap_check(used[i] || !soak(), "%s on %s", excuses[i].event, excuses[i].counter);
	}
}

static const char *which_machine(void)
{
	char id[32];

	if (silicon_missing() || uncore_missing())
		return silicon_missing() ?: uncore_missing();
	sysfs_read("xeon7500_ubox", ".", "identifier", id, sizeof(id));
	machine = strcmp(id, "westmere-ex") ? NHM : WSM;
	return NULL;
}

/* What LIKWID does is its own: no case of the rules. */
KTAP_MAIN_UNLESS(which_machine(),
		 { "LIKWID reads what the silicon has counted", likwid_counts },
		 { "and what was in the counter before, on Westmere-EX only", left_over, KTAP_SAME_PROCESS },
		 { "nothing a second time, on Westmere-EX only", second_set, KTAP_SAME_PROCESS },
		 { "its events are those that the driver has by that name", same_events, KTAP_SAME_PROCESS },
		 { "what it gets wrong is what we say", excuses_needed, KTAP_SAME_PROCESS })
