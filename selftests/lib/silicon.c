// SPDX-License-Identifier: GPL-2.0-only
#include "silicon.h"

void silicon_clear(void)
{
	if (!silicon_here())
		return;
	ktap->violations += msr_read(0, SYN_VIOLATIONS);
	msr_write(0, SYN_CLEAR, 1);
}

void silicon_forgive(void)
{
	msr_write(0, SYN_CLEAR, 1);
}

u64 silicon_truth(int cpu, unsigned int what, unsigned int ctr)
{
	return msr_read(cpu, SYN_TRUTH(what, ctr));
}

unsigned int silicon_accesses(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0)) +
	       msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

void silicon_untouched(void)
{
	if (silicon_here())
		ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

void silicon_compare(void)
{
	if (silicon_here())
		return;
	ktap_note("nothing to compare with");
	longjmp(ktap_end, 1);
}

void silicon_traffic(int cpu, u64 sel, u64 pattern)
{
	msr_write(cpu, SYN_TRAFFIC_SEL, sel);
	msr_write(cpu, SYN_TRAFFIC_SET, pattern);
}

void silicon_no_violation(void)
{
	unsigned int kind;
	u64 num;

	if (!silicon_here())
		return;
	num = ktap->violations + msr_read(0, SYN_VIOLATIONS);
	ktap->violations = 0;
	if (ktap_check(!num, "%llu accesses against the rules of the silicon", num))
		return;
	for (kind = 0; kind < SYN_V_KINDS; kind++) {
		u64 n = msr_read(0, SYN_VIOLATION(kind));

		if (n)
			ktap_note("%llu of kind %u", n, kind);
	}
	/* They are not the next one's. */
	silicon_forgive();
}

const char *uncore_missing(void)
{
	DIR *d = opendir(SYSFS_PMU);
	struct dirent *e = NULL;

	while (d && (e = readdir(d)) && strncmp(e->d_name, "xeon7500_", 9))
		;
	if (d)
		closedir(d);
	return e ? NULL : "needs the driver xeon7500_uncore";
}

const char *metrics_missing(void)
{
	return silicon_missing() ?: uncore_missing() ?:
	       system("perf metrics --version >/dev/null 2>&1") ? "needs perf-metrics" : NULL;
}

int pmu_cpus(const char *pmu, int cpus[SILICON_MAX_PACKAGES])
{
	char path[300], text[64] = "", *s;
	int num = 0;
	FILE *f;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/cpumask", pmu);
	f = fopen(path, "r");
	ktap_require(f, "%s: %s", path, strerror(errno));
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	for (s = strtok(text, ",\n"); s; s = strtok(NULL, ",\n")) {
		int cpu = 0, last = 0;

		if (sscanf(s, "%d-%d", &cpu, &last) == 1)
			last = cpu;
		for (; cpu <= last && num < SILICON_MAX_PACKAGES; cpu++)
			cpus[num++] = cpu;
	}
	return num;
}

int cpu_package(int cpu)
{
	char path[96];
	int package = -1;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%d", &package) == 1, "%s", path);
	fclose(f);
	return package;
}

int package_cpu(int package)
{
	int cpus[SILICON_MAX_PACKAGES];
	int num = pmu_cpus("xeon7500_ubox", cpus);
	int i;

	for (i = 0; i < num; i++) {
		if (cpu_package(cpus[i]) == package)
			return cpus[i];
	}
	return -1;
}

int need_package(int package)
{
	int cpu = package_cpu(package);

	if (cpu < 0 && !silicon_here())
		ktap_skip("needs another package");
	return cpu;
}

static int box_instance(const char *pmu)
{
	const char *s = strrchr(pmu, '_');

	return s && s[1] >= '0' && s[1] <= '9' ? atoi(s + 1) : 0;
}

bool box_is(const char *pmu, const char *name)
{
	return !strncmp(pmu + strlen("xeon7500_"), name, strlen(name));
}

int box_counters(const char *pmu, uint16_t ctr[SILICON_MAX_COUNTERS])
{
	static const uint16_t c[] = { C0_CTR_0, C1_CTR_0, C2_CTR_0, C3_CTR_0, C4_CTR_0,
				      C5_CTR_0, C6_CTR_0, C7_CTR_0, C8_CTR_0, C9_CTR_0 };
	static const uint16_t s[] = { S0_CTR0, S1_CTR0 }, b[] = { B0_CNT0, B1_CNT0 };
	static const uint16_t m[] = { M0_CNT_0, M1_CNT_0 }, r[] = { R_CTR0, R_CTR8 };
	int n = box_instance(pmu), num = 0, first = 0, i;

	if (box_is(pmu, "ubox"))
		first = U_CTR, num = 1;
	else if (box_is(pmu, "wbox"))
		first = W_CTR_0, num = 4;
	else if (box_is(pmu, "cbox"))
		first = c[n % 10], num = 6;
	else if (box_is(pmu, "sbox"))
		first = s[n & 1], num = 4;
	else if (box_is(pmu, "bbox"))
		first = b[n & 1], num = 4;
	else if (box_is(pmu, "mbox"))
		first = m[n & 1], num = 6;
	else if (box_is(pmu, "rbox"))
		first = r[n & 1], num = 8;
	ktap_require(num, "%s: no such box", pmu);
	for (i = 0; i < num; i++)
		ctr[i] = first + 2 * i;
	if (box_is(pmu, "wbox"))
		ctr[num++] = W_FIXED_CTR;
	return num;
}

unsigned int counter_ctl(unsigned int ctr)
{
	return ctr == W_FIXED_CTR ? W_FIXED_CTR_CTL : ctr - 1;
}

/* The value of a counter; those of the W-Box read 2^24 too high where the lower 24 bits are 0. */
static u64 counter_value(int cpu, unsigned int ctr)
{
	bool wbox = ctr == W_FIXED_CTR || (ctr >= W_CTR_0 && ctr <= W_CTR_3);
	u64 val = msr_read(cpu, ctr);

	return wbox && (val & 0xffffff) <= 1 ? val - 0x1000000 : val;
}

u64 counter_move(int fd, int cpu, unsigned int ctr, u64 to)
{
	const u64 wrap = 1ull << 48, step = 0x3456789abcde;
	u64 at = counter_value(cpu, ctr), left = (to - at) & (wrap - 1), moved = left, buf[16];

	while (left) {
		u64 by = left < step ? left : step;

		at = (at + by) & (wrap - 1);
		left -= by;
		msr_write(cpu, ctr, at);
		ktap_require(read(fd, buf, sizeof(buf)) > 0, "read: %s", strerror(errno));
	}
	return moved;
}

u64 box_truth(int cpu, unsigned int what, const char *pmu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i;
	u64 sum = 0;

	for (i = 0; i < num; i++)
		sum += silicon_truth(cpu, what, ctr[i]);
	return sum;
}

void for_each_pmu(void (*visit)(const char *pmu, void *arg), void *arg)
{
	struct dirent **list;
	int num = scandir(SYSFS_PMU, &list, NULL, alphasort), i;

	ktap_require(num >= 0, SYSFS_PMU ": %s", strerror(errno));
	for (i = 0; i < num; i++) {
		if (!strncmp(list[i]->d_name, "xeon7500_", 9) &&
		    strcmp(list[i]->d_name, "xeon7500_package"))
			visit(list[i]->d_name, arg);
		free(list[i]);
	}
	free(list);
}

void sysfs_read(const char *pmu, const char *dir, const char *name, char *text, int size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/%s/%s", pmu, dir, name);
	f = fopen(path, "r");
	ktap_require(f, "%s: %s", path, strerror(errno));
	if (!fgets(text, size, f))
		text[0] = 0;
	fclose(f);
	text[strcspn(text, "\n")] = 0;
}

bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), len = strlen(text);
	bool done = fd >= 0 && write(fd, text, len) == len;

	if (fd >= 0)
		close(fd);
	return done;
}

void attr_set_field(struct perf_event_attr *attr, const char *format, u64 val)
{
	u64 word = 0;
	const char *s = strchr(format, ':');

	ktap_require(s, "format '%s'", format);
	while (s && *s) {
		int lo, hi, len = 0;

		if (sscanf(s + 1, "%d-%d%n", &lo, &hi, &len) != 2) {
			ktap_require(sscanf(s + 1, "%d%n", &lo, &len) == 1, "format '%s'", format);
			hi = lo;
		}
		for (; lo <= hi; lo++, val >>= 1)
			word |= (val & 1) << lo;
		s = s[len + 1] == ',' ? s + len + 1 : NULL;
	}
	ktap_require(!val, "value too large for format '%s'", format);
	if (!strncmp(format, "config1", 7))
		attr->config1 |= word;
	else if (!strncmp(format, "config2", 7))
		attr->config2 |= word;
	else
		attr->config |= word;
}

void attr_add_terms(struct perf_event_attr *attr, const char *pmu, const char *terms)
{
	char copy[256], path[300], text[256], *term, *eq, *save;

	snprintf(copy, sizeof(copy), "%s", terms);
	for (term = strtok_r(copy, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		eq = strchr(term, '=');
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/events/%s", pmu, term);
		if (!eq && !access(path, R_OK)) {
			sysfs_read(pmu, "events", term, text, sizeof(text));
			attr_add_terms(attr, pmu, text);
			continue;
		}
		if (eq)
			*eq = 0;
		if (!strncmp(term, "config", 6))
			snprintf(text, sizeof(text), "%s:0-63", term);
		else
			sysfs_read(pmu, "format", term, text, sizeof(text));
		attr_set_field(attr, text, eq ? strtoull(eq + 1, NULL, 0) : 1);
	}
}

bool is_event(const char *name)
{
	const char *ext = strrchr(name, '.');

	return name[0] != '.' && !(ext && (!strcmp(ext, ".scale") || !strcmp(ext, ".unit")));
}

struct perf_event_attr event_attr(const char *pmu, const char *event)
{
	struct perf_event_attr attr = perf_attr(pmu, 0);

	attr_add_terms(&attr, pmu, event);
	return attr;
}

struct perf_event_attr cycles_attr(u64 period, u64 type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(struct perf_event_attr),
		.sample_period = period,
		.sample_type = type,
	};
}

int open_events[256];

int num_open_events;

struct ring rings[RING_MAX];

int num_rings;

void ring_close_all(void)
{
	while (num_rings)
		ring_unmap(&rings[--num_rings]);
}

void event_close_all(void)
{
	ring_close_all();
	while (num_open_events)
		close(open_events[--num_open_events]);
}

void silicon_start(void)
{
	int cpus[SILICON_MAX_PACKAGES], num = silicon_here() ? pmu_cpus("xeon7500_ubox", cpus) : 0;

	event_close_all();
	for (int i = 0; i < num; i++)
		msr_write(cpus[i], SYN_UNCOUNTED, 0xff000000);
	silicon_clear();
}

int event_open_attr(struct perf_event_attr *attr, int cpu, int group)
{
	int fd = perf_open(attr, cpu, group);

	ktap_require(fd >= 0, "config %#llx,%#llx,%#llx on CPU %d: %s", attr->config, attr->config1,
		     attr->config2, cpu, strerror(-fd));
	ktap_require(num_open_events < 256, "too many events");
	open_events[num_open_events++] = fd;
	return fd;
}

struct ring *event_ring(int fd, u64 type, unsigned int pages)
{
	struct ring *r = &rings[num_rings];

	ktap_require(num_rings < RING_MAX, "too many rings");
	ring_map(r, fd, pages);
	r->type = type;
	num_rings++;
	return r;
}

int tracepoint_open(const char *name, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint_id(name),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = 1,
	};
	struct ring *r = &rings[num_rings];
	int fd = event_open_attr(&attr, cpu, -1);

	/* Perf overwrites a ring that is mapped only for reading, so it is never full. */
	r->size = 2 * RING_PAGE;
	r->page = mmap(NULL, r->size, PROT_READ, MAP_SHARED, fd, 0);
	ktap_require(r->page != MAP_FAILED, "mmap: %s", strerror(errno));
	num_rings++;
	return fd;
}

int event_open(const char *pmu, const char *event, int cpu, int group)
{
	struct perf_event_attr attr = event_attr(pmu, event);

	attr.disabled = group < 0;
	return event_open_attr(&attr, cpu, group);
}

void hurry(const char *pmu)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), SYSFS_PMU "/%s/perf_event_mux_interval_ms", pmu);
	f = fopen(path, "w");
	ktap_require(f && fputs("1", f) >= 0 && !fclose(f), "mux interval: %s", strerror(errno));
}

void sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	while (nanosleep(&ts, &ts))
		;
}

void perf_run_us(int fd, unsigned int us)
{
	perf_enable(fd);
	sleep_us(us);
	perf_disable(fd);
}

bool event_counts(const char *what, const char *pmu, const char *event, int cpu, unsigned int us)
{
	int fd = event_open(pmu, event, cpu, -1);
	u64 count, truth;

	perf_run_us(fd, us);
	count = perf_count(fd).value;
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	return ktap_check(count && count == truth, "%s: %s/%s/ on CPU %d: %llu, truth %llu", what,
			  pmu, event, cpu, count, truth);
}

void silicon_start_idle(void)
{
	event_close_all();
	sleep_us(1100000);
	silicon_start();
}

void traffic_rate(int cpu, u64 sel, unsigned int active)
{
	silicon_traffic(cpu, sel, SYN_PATTERN(TRAFFIC_PERIOD_LOG2, 0, active, 1));
}

void traffic_silence(int cpu, unsigned int box, unsigned int inst)
{
	silicon_traffic(cpu, SYN_SEL(box, inst, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 0, 0));
}

u64 traffic_count(u64 from, u64 to, unsigned int active)
{
	u64 period = 1 << TRAFFIC_PERIOD_LOG2, sum = (to - from) / period * active, cycle;

	for (cycle = to - (to - from) % period; cycle < to; cycle++)
		sum += cycle % period < active;
	return sum;
}
