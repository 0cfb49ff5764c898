// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who accessed what. Counts per CPU and range, a trace of every access to a
 * modelled register, violations, and all of it with the truth as JSON when the
 * machine goes off.
 */
#include "top.h"
#include "system/cpu-timers.h"

#define RANGES	18

static const char * const range_names[RANGES] = {
	[SYN_RANGE_UNCORE] = "uncore",
	[SYN_RANGE_COREPMU] = "corepmu",
	[SYN_RANGE_OTHER] = "other",
	[SYN_RANGE_BOX(SYN_BOX_U)] = "uncore_u",
	[SYN_RANGE_BOX(SYN_BOX_C)] = "uncore_c",
	[SYN_RANGE_BOX(SYN_BOX_W)] = "uncore_w",
	[SYN_RANGE_BOX(SYN_BOX_S)] = "uncore_s",
	[SYN_RANGE_BOX(SYN_BOX_B)] = "uncore_b",
	[SYN_RANGE_BOX(SYN_BOX_M)] = "uncore_m",
	[SYN_RANGE_BOX(SYN_BOX_R)] = "uncore_r",
	[SYN_RANGE_HOLE] = "uncore_hole",
	[SYN_RANGE_GP] = "gp",
	[SYN_RANGE_RDPMC] = "rdpmc",
};

/* A CPU writes its own row only, so no lock is needed; readers may be late by one. */
static uint64_t accesses[SILICON_CPUS][RANGES][2];
static FILE *trace;
static const char *stats_path;

void stats_access(CPUState *cs, const struct part *p, uint32_t msr, bool write, uint64_t val,
		  enum msr_rc rc)
{
	uint64_t (*row)[2] = accesses[cs->cpu_index];
	const char *name = NULL;

	row[p->range][write]++;
	if (p->box) {
		int box = p->box(msr, &name);

		row[box < 0 ? SYN_RANGE_HOLE : SYN_RANGE_BOX(box)][write]++;
		apic_nmi_access(cs);
	}
	if (rc == MSR_GP)
		row[SYN_RANGE_GP][write]++;
	if (!trace || rc == MSR_PASS)
		return;
	fprintf(trace, "%" PRId64 " cpu%d %s 0x%x 0x%016" PRIx64 " %s%s\n", silicon_now_ns(),
		cs->cpu_index, write ? "wr" : "rd", msr, val,
		name ? name : range_names[p->range], rc == MSR_GP ? " #GP" : "");
}

void stats_rdpmc(CPUState *cs, uint32_t index, uint64_t val, bool gp)
{
	accesses[cs->cpu_index][SYN_RANGE_RDPMC][0]++;
	if (gp)
		accesses[cs->cpu_index][SYN_RANGE_GP][0]++;
	if (trace)
		fprintf(trace, "%" PRId64 " cpu%d rdpmc 0x%x 0x%016" PRIx64 "%s\n",
			silicon_now_ns(), cs->cpu_index, index, val, gp ? " #GP" : "");
}

uint64_t stats_get(CPUState *cs, unsigned int range, bool write)
{
	uint64_t sum = 0;

	if (range >= RANGES)
		return 0;
	if (cs)
		return accesses[cs->cpu_index][range][write];
	for (unsigned int i = 0; i < SILICON_CPUS; i++)
		sum += accesses[i][range][write];
	return sum;
}

void stats_clear(void)
{
	memset(accesses, 0, sizeof(accesses));
}

static void accesses_json(JSONWriter *w, const char *name, CPUState *cs)
{
	json_writer_start_object(w, name);
	for (unsigned int r = 0; r < RANGES; r++) {
		uint64_t rd = stats_get(cs, r, false), wr = stats_get(cs, r, true);

		if (!range_names[r] || !(rd | wr))
			continue;
		json_writer_start_object(w, range_names[r]);
		json_writer_uint64(w, "rd", rd);
		json_writer_uint64(w, "wr", wr);
		json_writer_end_object(w);
	}
	json_writer_end_object(w);
}

static void stats_dump(const char *path)
{
	g_autoptr(JSONWriter) w = json_writer_new(true);
	FILE *f = fopen(path, "w");
	CPUState *cs;

	if (!f) {
		perror(path);
		return;
	}
	json_writer_start_object(w, NULL);
	json_writer_int64(w, "ns", silicon_now_ns());
	json_writer_int64(w, "insns", icount_enabled() ? icount_get_raw() : 0);
	json_writer_start_object(w, "accesses");
	accesses_json(w, "all", NULL);
	CPU_FOREACH(cs) {
		char cpu[16];

		snprintf(cpu, sizeof(cpu), "%d", cs->cpu_index);
		accesses_json(w, cpu, cs);
	}
	json_writer_end_object(w);
	EACH_PART(p, json)
		p->json(w);
	json_writer_end_object(w);
	fprintf(f, "%s\n", json_writer_get(w));
	fclose(f);
}

static void at_exit(void)
{
	if (trace)
		fclose(trace);
	trace = NULL;
	if (stats_path && *stats_path && first_cpu)
		stats_dump(stats_path);
}

void stats_setup(const char *trace_path, const char *path)
{
	stats_path = path;
	if (trace_path && *trace_path) {
		trace = fopen(trace_path, "w");
		if (!trace)
			perror(trace_path);
	}
	atexit(at_exit);
}
