// SPDX-License-Identifier: GPL-2.0-only
/*
 * The faults of mainline's uncore driver, one at a time. For upstream/uncore.py.
 *
 *	uncore FAULT	is it there? Named as in Documentation/upstream; status 1 if it is
 *	uncore reset	the silicon is as at power on; no driver may be loaded
 *
 * What a count is compared with comes from the silicon or from packets that are sent here.
 */
#include "silicon.h"

#define WRAP	(1ull << 48)

static int one_open(const char *pmu, const char *terms, int group)
{
	struct perf_event_attr attr = event_attr(pmu, terms);

	attr.disabled = group < 0;
	return event_open_attr(&attr, 0, group);
}

static uint64_t count_for(int fd, unsigned int us)
{
	perf_run_us(fd, us);
	return perf_count(fd).value;
}

static bool equal(uint64_t got, uint64_t want)
{
	printf("%llu, expected %llu (%+lld)", (unsigned long long)got, (unsigned long long)want,
	       (long long)(got - want));
	return got == want;
}

/* An event of a box that is counted alone, and what the silicon has counted. */
static bool is_counted(const char *pmu, const char *ours, const char *terms)
{
	uint64_t got;

	msr_write(0, SYN_CLEAR, 1);
	got = count_for(one_open(pmu, terms, -1), 100);
	return equal(got, box_truth(0, SYN_EVENTS, ours)) && got;
}

static bool fixed_ctr_bits(void)
{
	msr_write(0, W_FIXED_CTR, WRAP - 1000);
	return is_counted("uncore_wbox", "xeon7500_wbox", "event=0xff");
}

static bool wbox(void)
{
	return is_counted("uncore_wbox", "xeon7500_wbox", "event=0x03,umask=0x1");
}

static bool occupancy(void)
{
	bool right = is_counted("uncore_sbox_0", "xeon7500_sbox_0", "event=0x0d");
	uint64_t undefined = msr_read(0, SYN_VIOLATION(SYN_V_OCCUPANCY));

	printf(", undefined %llu times", (unsigned long long)undefined);
	return right && !undefined;
}

/* Cleared by a tool that leaves rst_all set, as the guide has it (2.1.2 a), and frz_all. */
static bool en_all(void)
{
	uint64_t violations;
	bool right;

	msr_write(0, U_GLOBAL_CTL, 1u << 31 | 1u << 29);
	right = is_counted("uncore_cbox_0", "xeon7500_cbox_0", "event=0x14,umask=0x7");
	violations = msr_read(0, SYN_VIOLATION(SYN_V_RST_ALL));
	printf(", while it is reset %llu times", (unsigned long long)violations);
	return right && !violations;
}

/* mainline's name beside the same event that is told to go on; all counters are about to wrap. */
static bool wrap(void)
{
	char terms[256], goes_on[300];
	int leader, fd, i;
	uint64_t got;

	for (i = 0; i < 6; i++)
		msr_write(0, M0_CNT_0 + 2 * i, WRAP - 5);
	sysfs_read("uncore_mbox_0", "events", "bbox_cmds_read", terms, sizeof(terms));
	snprintf(goes_on, sizeof(goes_on), "%s%s", terms,
		 strstr(terms, "wrap_mode") ? "" : ",wrap_mode=1");
	leader = one_open("uncore_mbox_0", goes_on, -1);
	fd = one_open("uncore_mbox_0", terms, leader);
	got = count_for(leader, 1000);
	return equal(perf_count(fd).value, got) && got > 100;
}

/* Only the second kind of packet has address bit 33. */
static bool addr_mask(void)
{
	static const struct { uint64_t addr; unsigned int num; } packets[] = {
		{ 0x12345ull << 6, 3 }, { 1ull << 33, 7 },
	};
	int fd = one_open("uncore_mbox_0", "inc_sel=0xa,wrap_mode=1,pld=0x200,filter_cfg_en=1,"
			  "filter_match=0x200000000,filter_mask=0x8000000", -1);
	unsigned int i;

	msr_write(0, SYN_TRAFFIC_MIX, 0);
	perf_enable(fd);
	for (i = 0; i < 2; i++) {
		msr_write(0, SYN_PKT_HEADER, SYN_PKT_BOX(SYN_BOX_M) | SYN_PKT_OPCODE(2));
		msr_write(0, SYN_PKT_ADDR, packets[i].addr);
		msr_write(0, SYN_PKT_SEND, packets[i].num);
	}
	perf_disable(fd);
	return equal(perf_count(fd).value, packets[1].num);
}

/*
 * Of Westmere-EX: four events that want the first field of the register. The last one gets the
 * last field, bits 23:21; its own bit 23 belongs to no field that it selects.
 */
static bool fvc(void)
{
	static const char * const terms[] = {
		"fvc=0x1000", "fvc=0x2000", "fvc=0x3000", "fvc=0x800000",
	};
	char all[64];
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(all, sizeof(all), "inc_sel=0xd,wrap_mode=1,%s", terms[i]);
		perf_enable(one_open("uncore_mbox_0", all, -1));
	}
	return equal(msr_read(0, M0_ZDP_CTL_FVC) >> 21 & 7, 0);
}

static void reset(void)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < cpus; cpu++)
		msr_write(cpu, SYN_RESET, 1);
}

static const struct {
	const char *name;
	bool (*right)(void);
} faults[] = {
	{ "nhmex_fixed_ctr_bits", fixed_ctr_bits },
	{ "nhmex_wbox", wbox },
	{ "nhmex_occupancy", occupancy },
	{ "nhmex_en_all", en_all },
	{ "nhmex_wrap", wrap },
	{ "nhmex_addr_mask", addr_mask },
	{ "nhmex_fvc", fvc },
};

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 2 || setjmp(ktap_end))
		return 2;
	if (!strcmp(argv[1], "reset")) {
		reset();
		return 0;
	}
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (!strcmp(argv[1], faults[i].name))
			return !faults[i].right();
	}
	return 2;
}
