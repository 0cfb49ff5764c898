// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random attrs with structure: events by name with random values of the fields that sysfs has, now
 * and then a bit that no field may have, in groups or not, sampling or not, with the
 * flags that perf knows; random ioctls; and what was accepted counts for a moment, on one box or on
 * two, behind a gate or not, after a stranger whose counter has overflowed or not, with PMIs that get
 * lost, come twice or late. Whatever it was,
 *
 *	the counts of a box add up to the silicon's truth,
 *	events run as long as the silicon's counters do, and not at all behind a gate that is never open,
 *	each overflow is a sample, has found no room or is in xeon7500_package/lost/,
 *	no access was against the rules of the silicon, and the kernel has nothing to say,
 *	what is refused is refused with an errno that perf explains,
 *	as many events as at first run at the same time afterwards, and alone whatever was accepted.
 *
 * SEED in the environment draws the same again, ROUNDS says how often. In make test they are always
 * the same.
 *
 * PART: adversaries
 * VM: --sockets 1 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1
 * SOAK: 6.1 newest debug
 */
#include "foreign.h"
#include "kmsg.h"
#include "sampling.h"

#define C_MISSES	0x400714	/* llc_misses.all of a C-Box, enabled */
#define PMUS	32
#define NAMES	400
#define EVENTS	5

static struct pmu {
	char name[32];
	int num_events, num_formats, room;
	char *event[NAMES], *format[64];
} pmus[PMUS];
static int num_pmus;

/* In ns: a PMI may come between a counter's start or stop and its clock. */
static u64 slack(void)
{
	return debug_kernel() ? 300000 : 20000;
}

static u64 seed;

static u64 draw(u64 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

/* draw() has 31 bits at a time. */
static u64 draw_bits(int bits)
{
	u64 val = draw(1 << 22);

	val = val << 21 | draw(1 << 21);
	val = val << 21 | draw(1 << 21);
	return val >> (64 - bits);
}

static int names_in(const char *pmu, const char *dir, char **names, int max)
{
	struct dirent **list;
	char path[120];
	int num, i, n = 0;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/%s", pmu, dir);
	num = scandir(path, &list, NULL, alphasort);
	ktap_require(num > 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < num; i++) {
		if (is_event(list[i]->d_name) && n < max)
			names[n++] = strdup(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return n;
}

static void add_pmu(const char *name, void *unused)
{
	struct pmu *p = &pmus[num_pmus++];

	(void)unused;
	ktap_require(num_pmus < PMUS, "too many PMUs");
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->num_events = names_in(name, "events", p->event, NAMES);
	p->num_formats = names_in(name, "format", p->format, 64);
}

/* The number of bits that a format has. */
static int width(const char *format)
{
	const char *s = strchr(format, ':');
	int lo, hi, sum = 0;

	for (; s; s = strchr(s + 1, ',')) {
		hi = lo = atoi(s + 1);
		sscanf(s + 1, "%d-%d", &lo, &hi);
		sum += hi - lo + 1;
	}
	return sum;
}

/* An event with some of its PMU's fields; what it has is or'ed, as perf does with aliases. */
static struct perf_event_attr random_attr(const struct pmu *p, const char *event, char *text,
					  size_t size)
{
	struct perf_event_attr attr = event_attr(p->name, event);
	int n = (int)draw(4), len = snprintf(text, size, "%s/%s", p->name, event);
	char format[64];

	while (n-- && p->num_formats) {
		const char *name = p->format[draw(p->num_formats)];
		u64 val;

		sysfs_read(p->name, "format", name, format, sizeof(format));
		val = draw(2) ? 1 : draw_bits(width(format));
		attr_set_field(&attr, format, val);
		if (len < (int)size)
			len += snprintf(text + len, size - len, ",%s=%#llx", name, val);
	}
	if (!draw(10))
		attr.config |= 1ULL << draw(64);
	/* Threshold 255 is the driver's own test, which is in no truth: see silicon_start(). */
	if ((attr.config >> 24 & 0xff) == 0xff)
		attr.config &= ~(1ULL << 24);
	if (!draw(20))
		attr.config1 |= 1ULL << draw(64);
	if (!draw(20))
		attr.config2 |= 1ULL << draw(64);
	if (!draw(3)) {
		attr.sample_period = draw(8) ? (2000 + draw(2000)) << draw(6) : draw(5);
		attr.sample_type = SAMPLE_BASE;
		attr.read_format |= PERF_FORMAT_LOST;
		attr.freq = !draw(10);
	}
	if (!attr.sample_period && !draw(3))
		attr.read_format |= PERF_FORMAT_GROUP;
	attr.pinned = !draw(10);
	attr.exclusive = !draw(20);
	attr.inherit = !draw(10);
	attr.exclude_user = !draw(30);
	attr.exclude_guest = !draw(30);
	attr.precise_ip = !draw(30);
	if (len < (int)size)
		snprintf(text + len, size - len, "/ %#llx,%#llx,%#llx period %llu", attr.config,
			 attr.config1, attr.config2, attr.sample_period);
	return attr;
}

static bool explained(int err)
{
	switch (-err) {
	case EINVAL:
	case EOPNOTSUPP:
	case EBUSY:
		return true;
	default:
		return false;
	}
}

/* Returns whether it may have limited the samples of the event. */
static bool random_ioctl(int fd)
{
	u64 period = 30000 + draw(100000);

	switch (draw(6)) {
	case 0:
		ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
		break;
	case 1:
		return !ioctl(fd, PERF_EVENT_IOC_REFRESH, 1 + draw(3));
	case 2:
		ioctl(fd, PERF_EVENT_IOC_DISABLE, draw(2));
		break;
	default:
		ioctl(fd, PERF_EVENT_IOC_ENABLE, draw(2));
	}
	return false;
}

/* How many pinned events of the same kind run at the same time. */
static int room_of(const struct pmu *p)
{
	struct perf_event_attr attr = event_attr(p->name, p->event[0]);
	int fd[SILICON_MAX_COUNTERS], i, room = 0;
	struct perf_count count;

	attr.pinned = 1;
	for (i = 0; i < SILICON_MAX_COUNTERS; i++) {
		fd[i] = event_open_attr(&attr, 0, -1);
		perf_enable(fd[i]);
	}
	/* End of file: it has found no counter. */
	for (i = 0; i < SILICON_MAX_COUNTERS; i++)
		room += read(fd[i], &count, sizeof(count)) == sizeof(count);
	event_close_all();
	return room;
}

/* Does an event that was accepted run when nothing else is open? Alone it has whatever it needs. */
static bool runs_alone(const struct perf_event_attr *accepted)
{
	struct perf_event_attr attr = *accepted;
	struct perf_count count;
	int fd;

	attr.sample_period = attr.freq = attr.inherit = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.pinned = 1;
	fd = event_open_attr(&attr, 0, -1);
	perf_enable(fd);
	return read(fd, &count, sizeof(count)) == sizeof(count);
}

/*
 * Value, times and lost samples of an event, not of its group. False: it is pinned, and has found no
 * counter, now or after another one was enabled; what it has counted cannot be read.
 */
static bool read_event(int fd, const struct perf_event_attr *attr, struct perf_count *count, u64 *lost)
{
	bool group = attr->read_format & PERF_FORMAT_GROUP;
	u64 buf[3 + 2 * EVENTS];
	ssize_t bytes = read(fd, buf, sizeof(buf));

	if (bytes < (ssize_t)sizeof(*count))
		return false;
	*count = (struct perf_count){ .value = buf[group ? 3 : 0], .enabled = buf[1], .running = buf[2] };
	*lost = attr->read_format & PERF_FORMAT_LOST ? buf[group ? 4 : 3] : 0;
	return true;
}

static void add_truth(const char *pmu, u64 *events, u64 *overflows, u64 *ns, u64 *windows)
{
	*events += box_truth(0, SYN_EVENTS, pmu);
	*overflows += box_truth(0, SYN_OVERFLOWS, pmu);
	*ns += box_truth(0, SYN_ENABLED, pmu) * msr_read(0, SYN_HZ_DEN) / msr_read(0, SYN_HZ_NUM);
	*windows += box_truth(0, SYN_WINDOWS, pmu);
}

static unsigned int accepted, refused, compared, waited, sampled, gated;

static struct round {
	const struct pmu *pmu[2];	/* may be the same */
	int num, fd[EVENTS], gate;
	struct perf_event_attr attr[EVENTS];
	char text[EVENTS][240];
	unsigned int limit;		/* of samples in a second */
	u64 fault;			/* of PMIs: SYN_FAULT_LOSE and so on, from 3 on none */
	bool may_open, shut, limited;
} now;

/* What a stranger has left in a C-Box, and what happens to PMIs. */
static void disturb(void)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num_ctr, i;

	if (box_is(now.pmu[0]->name, "cbox") && !draw(4)) {
		num_ctr = box_counters(now.pmu[0]->name, ctr);
		for (i = 0; i < num_ctr; i++)
			foreign_overflow(0, now.pmu[0]->name, ctr[i], C_MISSES);
	}
	silicon_clear();
	ktap->violations = 0;
	lost_open();
	now.fault = draw(8);
	if (now.fault == SYN_FAULT_DELAY_NS - SYN_FAULT_LOSE)
		msr_write(0, SYN_FAULT_DELAY_NS, 5000ULL << draw(9));
	else if (now.fault < SYN_FAULT_DELAY_NS - SYN_FAULT_LOSE)
		msr_write(0, SYN_FAULT_LOSE + now.fault, 1 + draw(3));
}

static void open_all(void)
{
	const struct pmu *p = NULL;
	const char *event = NULL;
	int i, group, leader = -1;

	now.may_open = draw(8);
	now.shut = !now.may_open || !draw(6);
	now.gate = now.shut ? event_open(PACKAGE, "gate", 0, -1) : -1;
	for (i = 0; i < now.num; i++) {
		struct perf_event_attr *attr = &now.attr[i];

		/* The same one again may differ in what a box has only once. */
		if (!i || draw(3)) {
			p = now.pmu[!draw(4)];
			event = p->event[draw(p->num_events)];
		}
		*attr = random_attr(p, event, now.text[i], sizeof(now.text[i]));
		group = draw(3) ? -1 : leader;
		/* A member would give the count of its leader. */
		if (group >= 0)
			attr->read_format &= ~(u64)PERF_FORMAT_GROUP;
		now.fd[i] = perf_open(attr, 0, group);
		if (now.fd[i] < 0) {
			refused++;
			ktap_check(explained(now.fd[i]), "%s: %s", now.text[i],
				   strerror(-now.fd[i]));
			continue;
		}
		accepted++;
		open_events[num_open_events++] = now.fd[i];
		leader = now.fd[i];
		if (attr->sample_period)
			event_ring(now.fd[i], attr->sample_type, 1);
	}
}

/* Enabled one by one: what is late counts less, and so does its truth. */
static void run_all(void)
{
	struct perf_count count;
	u64 lost;
	int i;

	now.limited = false;
	for (i = 0; i < now.num; i++) {
		if (now.fd[i] >= 0)
			now.limited |= random_ioctl(now.fd[i]);
		if (now.gate >= 0 && now.may_open && !draw(3)) {
			perf_enable(now.gate);
			now.shut = false;
		}
	}
	/* Now and then for more than a tick, so that what is throttled goes on. */
	usleep(draw(20) ? 200 + draw(500) : 12000);
	for (i = 0; i < now.num; i++) {
		if (now.fd[i] >= 0 && draw(2))
			read_event(now.fd[i], &now.attr[i], &count, &lost);
	}
	usleep(draw(300));
	for (i = 0; i < now.num; i++) {
		if (now.fd[i] >= 0)
			perf_disable(now.fd[i]);
	}
}

static void judge(void)
{
	u64 sum = 0, running = 0, truth = 0, ns = 0, windows = 0, lost, violations;
	bool whole = true, readable = true;
	struct books books = {};
	struct perf_count count;
	char line[300];
	int i;

	for (i = 0; i < now.num; i++) {
		if (now.fd[i] < 0)
			continue;
		if (!read_event(now.fd[i], &now.attr[i], &count, &lost)) {
			readable = false;
			continue;
		}
		whole = whole && count.running == count.enabled;
		sum += count.value;
		running += count.running;
		books.no_room += lost;
		/* By an ioctl, and at the end */
		if (now.attr[i].sample_period && now.attr[i].sample_period < 5)
			books.stops += 2;
		ktap_check(!count.value || count.running, "%s: %llu in no time", now.text[i],
			   count.value);
	}
	rings_drain();
	rings_sum(&books.rings);
	books.lost = lost_count();
	for (i = 0; i < 1 + (now.pmu[1] != now.pmu[0]); i++)
		add_truth(now.pmu[i]->name, &truth, &books.overflows, &ns, &windows);
	violations = msr_read(0, SYN_VIOLATIONS);
	compared += !!truth;
	waited += !whole;
	gated += now.gate >= 0;
	sampled += !!books.overflows;
	ktap_check(readable ? sum == truth : sum <= truth, "%llu, truth %llu", sum, truth);
	/*
	 * The clocks are read some instructions apart. perf counts the time that an event is throttled,
	 * and nobody knows how long freeze=1 has stopped a package whose PMI got lost or is late.
	 */
	ktap_check((running + slack() * windows >= ns || !readable) &&
		   (running <= ns + slack() * (windows + 1) || books.overflows >= now.limit / SAMPLING_HZ ||
		    (books.overflows && now.fault <= SYN_FAULT_DELAY_NS - SYN_FAULT_LOSE)),
		   "%llu ns of events, %llu of counters, in %llu windows", running, ns, windows);
	ktap_check(!now.shut || !windows, "%llu windows behind a gate that was never open", windows);
	ktap_check(!violations, "%llu accesses against the rules", violations);
	books_balance("books", &books);
	/* Fewer do not take the 6 ms after which those of events that leave are lost. */
	if (!now.limited && books.overflows < 100)
		books_lost("books", &books);
	while (kmsg_next(line, sizeof(line)))
		ktap_check(kmsg_level > 3, "the kernel: %s", line);
}

/* Nothing of this round is left: neither in the driver nor, for the next one, in the silicon. */
static void judge_after(void)
{
	int i, room;

	event_close_all();
	msr_write(0, SYN_FAULT_LOSE, 0);
	msr_write(0, SYN_FAULT_DOUBLE, 0);
	msr_write(0, SYN_FAULT_DELAY_NS, 0);
	room = room_of(now.pmu[0]);
	ktap_check(room == now.pmu[0]->room, "%s: %d events run at the same time, %d at first",
		   now.pmu[0]->name, room, now.pmu[0]->room);
	for (i = 0; i < now.num; i++) {
		if (now.fd[i] >= 0)
			ktap_check(runs_alone(&now.attr[i]), "%s does not run alone", now.text[i]);
		event_close_all();
	}
	/* What a stranger leaves in a box stays until the driver uses the counter. */
	foreign_clean(0);
	silicon_clear();
	ktap->violations = 0;
}

static void play_round(void)
{
	u64 begun = seed;
	int i;

	now.pmu[0] = &pmus[draw(num_pmus)];
	now.pmu[1] = &pmus[draw(num_pmus)];
	now.num = 1 + (int)draw(EVENTS);
	now.limit = draw(4) ? 20000 : SAMPLING_HZ;
	sampling_limit(now.limit);
	event_close_all();
	disturb();
	open_all();
	run_all();
	judge();
	judge_after();
	if (!ktap->failed)
		return;
	for (i = 0; i < now.num; i++)
		ktap_note("%s%s", now.fd[i] < 0 ? "refused: " : "", now.text[i]);
	if (now.fault <= SYN_FAULT_DELAY_NS - SYN_FAULT_LOSE)
		ktap_note("PMIs: SYN_FAULT_LOSE + %llu", now.fault);
	ktap_note("SEED=%llu ROUNDS=1", begun);
}

static void rounds(void)
{
	const char *s = getenv("SEED"), *r = getenv("ROUNDS");
	int n, num = r ? atoi(r) : soak() ? 20000 : 500;

	silicon_start();
	for_each_pmu(add_pmu, NULL);
	for (n = 0; n < num_pmus; n++) {
		pmus[n].room = room_of(&pmus[n]);
		ktap_check(pmus[n].room, "%s: no event runs", pmus[n].name);
	}
	kmsg_mark();
	/* The self-test measures how late a PMI is, and so must not see one that is delayed. */
	sampling_open("xeon7500_cbox_0", "llc_misses.all", 1000000, 0, 1);
	event_close_all();
	/* With --icount the clock is the same in each run: in soak selftests/run gives another SEED. */
	seed = s ? strtoull(s, NULL, 0) : 7500;
	ktap_note("SEED=%llu", seed);
	for (n = 0; n < num && !ktap->failed; n++)
		play_round();
	check_stopped(0, "at the end");
	ktap_note("%d rounds: %u events accepted, %u refused; %u rounds counted, %u multiplexed, %u with samples, %u with a gate",
		  n, accepted, refused, compared, waited, sampled, gated);
	ktap_check(compared > (unsigned int)n / 4 || n < 20, "%u of %d rounds counted", compared,
		   n);
	/* Of 6,000 rounds, in 600 counters overflowed, in 850 events waited, and 1,600 had a gate. */
	ktap_check((sampled > (unsigned int)n / 30 && waited > (unsigned int)n / 30 &&
		    gated > (unsigned int)n / 10) || n < 500, "hardly any of a kind");
}

SILICON_MAIN({ "random attrs with structure", rounds })
