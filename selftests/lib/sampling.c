// SPDX-License-Identifier: GPL-2.0-only
#include "sampling.h"

bool sample_regs_are_real(const struct sample *s)
{
	return s->abi && s->reg[SAMPLE_REG_FLAGS] & 2 && s->reg[SAMPLE_REG_SP];
}

static const u64 *sample_take_chain(struct sample *s, const u64 *p)
{
	s->chain_len = *p++;
	for (u64 i = 0; i < s->chain_len; i++) {
		if (i < 128)
			s->chain[i] = p[i];
	}
	return p + s->chain_len;
}

static void sample_decode(struct sample *s, u64 type, const u64 *p)
{
	memset(s, 0, sizeof(*s));
	if (type & PERF_SAMPLE_IP)
		s->ip = *p++;
	if (type & PERF_SAMPLE_TID) {
		s->pid = (uint32_t)*p;
		s->tid = *p++ >> 32;
	}
	if (type & PERF_SAMPLE_TIME)
		s->time = *p++;
	if (type & PERF_SAMPLE_CPU)
		s->cpu = (uint32_t)*p++;
	if (type & PERF_SAMPLE_PERIOD)
		s->period = *p++;
	if (type & PERF_SAMPLE_READ) {
		s->num_values = *p++;
		for (u64 i = 0; i < s->num_values; i++) {
			if (i < SAMPLE_MAX_VALUES)
				s->value[i] = p[i];
		}
		p += s->num_values;
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		p = sample_take_chain(s, p);
	if (type & PERF_SAMPLE_REGS_INTR) {
		s->abi = *p++;
		if (s->abi)
			memcpy(s->reg, p, sizeof(s->reg));
	}
}

void ring_drain(struct ring *r, sample_visit visit, void *arg)
{
	const union ring_record *rec;
	struct sample s;

	while ((rec = ring_record(r))) {
		if (!visit || rec->header.type != PERF_RECORD_SAMPLE)
			continue;
		sample_decode(&s, r->type, rec->word + 1);
		visit(r, &s, arg);
	}
}

void rings_drain(void)
{
	for (int i = 0; i < num_rings; i++)
		ring_drain(&rings[i], NULL, NULL);
}

void rings_sum(struct ring *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < num_rings; i++) {
		sum->samples += rings[i].samples;
		sum->lost += rings[i].lost;
		sum->throttles += rings[i].throttles;
		sum->unthrottles += rings[i].unthrottles;
	}
}

u64 ring_no_room(const struct ring *r)
{
	struct {
		u64 value, lost;
	} now = {};

	ktap_require(read(r->fd, &now, sizeof(now)) == sizeof(now), "read: %s", strerror(errno));
	return now.lost;
}

struct perf_event_attr sampling_attr(const char *pmu, const char *event, u64 period)
{
	struct perf_event_attr attr = event_attr(pmu, event);

	attr.sample_period = period;
	attr.sample_type = SAMPLE_BASE;
	attr.read_format = PERF_FORMAT_LOST;
	return attr;
}

struct ring *sampling_open(const char *pmu, const char *event, u64 period, int cpu,
			   unsigned int pages)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, period);

	return event_ring(event_open_attr(&attr, cpu, -1), attr.sample_type, pages);
}

static void sysctl_perf(const char *name, unsigned int val)
{
	char path[80], text[16];

	snprintf(text, sizeof(text), "%u", val);
	snprintf(path, sizeof(path), "/proc/sys/kernel/perf_%s", name);
	ktap_require(put_text(path, text), "%s: %s", path, strerror(errno));
}

static unsigned int sampling_rate(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_max_sample_rate", O_RDONLY);

	ktap_require(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "%s", strerror(errno));
	close(fd);
	return strtoul(text, NULL, 10);
}

static unsigned int sampling_per_tick;

void sampling_limit(unsigned int per_second)
{
	sampling_per_tick = (per_second + SAMPLING_HZ - 1) / SAMPLING_HZ;
	/* The kernel lowers the rate for a long NMI until the last write. */
	do {
		sysctl_perf("cpu_time_max_percent", 25);
		sysctl_perf("event_max_sample_rate", per_second);
		sysctl_perf("cpu_time_max_percent", 0);
	} while (sampling_rate() != per_second);
}

u64 perf_value(int fd)
{
	u64 buf[4] = {};

	ktap_require(read(fd, buf, sizeof(buf)) >= 8, "read: %s", strerror(errno));
	return buf[0];
}

u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void spin_us(unsigned int us)
{
	u64 end = clock_ns() + us * 1000ULL;

	while (clock_ns() < end)
		;
}

static int lost_fd[SILICON_MAX_PACKAGES];

int lost_packages;

void lost_open(void)
{
	int cpus[SILICON_MAX_PACKAGES];

	lost_packages = pmu_cpus("xeon7500_ubox", cpus);
	for (int i = 0; i < lost_packages; i++) {
		lost_fd[i] = event_open("xeon7500_package", "lost", cpus[i], -1);
		perf_enable(lost_fd[i]);
	}
}

u64 lost_count(void)
{
	u64 sum = 0;

	for (int i = 0; i < lost_packages; i++)
		sum += perf_value(lost_fd[i]);
	return sum;
}

static int gate_fd[SILICON_MAX_PACKAGES];

static int gate_packages;

void gates_install(void)
{
	int cpus[SILICON_MAX_PACKAGES];

	gate_packages = pmu_cpus("xeon7500_ubox", cpus);
	for (int i = 0; i < gate_packages; i++)
		gate_fd[i] = event_open("xeon7500_package", "gate", cpus[i], -1);
}

void gates_open(void)
{
	for (int i = 0; i < gate_packages; i++)
		perf_enable(gate_fd[i]);
}

void gates_close(void)
{
	for (int i = 0; i < gate_packages; i++)
		perf_disable(gate_fd[i]);
}

/* Overflows of all counters of all packages. */
static void add_overflows(const char *pmu, void *arg)
{
	int cpus[SILICON_MAX_PACKAGES], num = pmu_cpus(pmu, cpus), i;

	for (i = 0; i < num; i++)
		*(u64 *)arg += box_truth(cpus[i], SYN_OVERFLOWS, pmu);
}

u64 all_overflows(void)
{
	u64 sum = 0;

	for_each_pmu(add_overflows, &sum);
	return sum;
}

void books_balance(const char *what, const struct books *b)
{
	u64 told = b->rings.samples + b->no_room + b->lost;
	u64 more = told - b->overflows, records = 0;

	if (sampling_per_tick)
		records = 2 * (b->overflows / sampling_per_tick);
	if (records > b->no_room)
		records = b->no_room;
	ktap_check(told >= b->overflows && more <= records + b->stops,
		   "%s: %llu overflows, %llu samples, %llu without room, %llu lost", what,
		   b->overflows, b->rings.samples, b->no_room, b->lost);
}

void books_lost(const char *what, const struct books *b)
{
	unsigned int share = debug_kernel() ? 20 : 1000;
	u64 stalls = msr_read(0, SYN_INSNS) ? 0 : 1 + b->overflows / share;

	ktap_check(b->lost <= stalls, "%s: %llu of %llu overflows lost", what, b->lost,
		   b->overflows);
}

struct books check_books_but(const char *what, u64 wraps)
{
	struct books b = { .overflows = all_overflows() - wraps, .lost = lost_count() };
	int i;

	rings_drain();
	rings_sum(&b.rings);
	for (i = 0; i < num_rings; i++)
		b.no_room += ring_no_room(&rings[i]);
	books_balance(what, &b);
	books_lost(what, &b);
	return b;
}

struct books check_books(const char *what)
{
	return check_books_but(what, 0);
}
