// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synthetic MSRs of the core PMU and its part of the JSON.
 */
#include "core.h"

static uint64_t rate_sel;

static uint64_t *truth(struct core *k, uint32_t msr)
{
	unsigned int n = msr & 0xff, what = msr >> 8 & 0xf;
	unsigned int i = n >= 0x20 ? CORE_GP + n - 0x20 : n;
	uint64_t *all[] = {
		&k->ctr[0].truth.events, &k->ctr[0].truth.overflows, &k->ctr[0].truth.windows,
		&k->ctr[0].truth.records, &k->ctr[0].truth.lost, &k->ctr[0].truth.pmis,
	};

	if (what >= ARRAY_SIZE(all) || i >= CORE_COUNTERS || (n < 0x20 && n >= CORE_GP))
		return NULL;
	return (void *)((char *)all[what] + i * sizeof(k->ctr[0]));
}

/* Everything that is a plain variable. */
static uint64_t *knob(struct core *k, uint32_t msr)
{
	if (msr == SYN_CORE_SKID)
		return &k->knob.skid;
	if (msr == SYN_CORE_PMI_LATE)
		return &k->knob.pmi_late;
	if (msr == SYN_CORE_RATE_SEL)
		return &rate_sel;
	if (msr >> 8 == SYN_OFF_RATE(0) >> 8)
		return core_offcore_knob(k, msr);
	return mem_knob(k->mem, msr);
}

static void power_on(CPUState *cs)
{
	struct core *k = core_get(cs);

	core_sync(k);
	core_knobs_default(k);
	rate_sel = 0;
	core_event_default_rates();
	core_apply(k);
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	struct core *k;
	uint64_t *p = NULL;

	if (msr < SYN_CORE_BASE)
		return false;
	k = core_get(cs);
	core_clock_update(k);
	if (msr < SYN_CORE_STAT(0)) {
		k->in_rdmsr = true;
		core_sync(k);
		k->in_rdmsr = false;
		p = truth(k, msr);
	} else if (msr == SYN_CORE_STAT(SYN_CORE_S_CYCLES)) {
		*val = muldiv64(k->clock.ns[0] + k->clock.ns[1], k->model->mhz, 1000);
	} else if (msr == SYN_CORE_STAT(SYN_CORE_S_MHZ)) {
		*val = k->model->mhz;
	} else if (msr - SYN_CORE_STAT(0) < SYN_CORE_STATS) {
		p = &k->stat[msr - SYN_CORE_STAT(0)];
	} else if (msr - SYN_CORE_SERVED(0) < SYN_LEVELS) {
		p = &k->served[msr - SYN_CORE_SERVED(0)];
	} else if (msr - SYN_CORE_SAMPLED(0) < SYN_LEVELS) {
		p = &k->sampled[msr - SYN_CORE_SAMPLED(0)];
	} else if (msr - SYN_OFF_SHARE(0) < 16) {
		*val = core_offcore_share(k, msr - SYN_OFF_SHARE(0));
	} else {
		p = knob(k, msr);
	}
	if (p)
		*val = *p;
	return true;
}

static bool synth_wr(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct core *k;
	uint64_t *p;

	if (msr < SYN_CORE_BASE)
		return false;
	k = core_get(cs);
	core_sync(k);
	switch (msr) {
	case SYN_PEBS_INDEX:
		if (!pebs_set_index(k, val))
			silicon_violation(VIOL_CORE, cs, "PEBS index moved without a DS area");
		return true;
	case SYN_MEM_COLD:
		mem_cold(k->mem);
		return true;
	case SYN_CORE_RATE_SET:
		core_event_set_rate(rate_sel, val);
		core_apply(k);
		return true;
	}
	p = knob(k, msr);
	if (p)
		*p = val;
	core_apply(k);		/* rates are part of what counts */
	return true;
}

static void clear_truth(struct core *k)
{
	for (int i = 0; i < CORE_COUNTERS; i++)
		memset(&k->ctr[i].truth, 0, sizeof(k->ctr[i].truth));
	memset(k->stat, 0, sizeof(k->stat));
	memset(k->served, 0, sizeof(k->served));
	memset(k->sampled, 0, sizeof(k->sampled));
}

static void clear_work(CPUState *cs, run_on_cpu_data data)
{
	clear_truth(core_get(cs));
}

/* Translated code counts without a lock, so that each CPU clears its own. */
static void clear(CPUState *cs)
{
	core_sync(core_get(cs));
	for (int cpu = 0; cpu < SILICON_CPUS; cpu++) {
		struct core *k = core_peek(cpu);

		if (k && k->cs == cs)
			clear_truth(k);
		else if (k)
			async_run_on_cpu(k->cs, clear_work, RUN_ON_CPU_NULL);
	}
}

static void json_counters(JSONWriter *w, struct core *k)
{
	json_writer_start_object(w, "counters");
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];
		char name[16];

		if (!c->truth.windows && !c->truth.events)
			continue;
		snprintf(name, sizeof(name), "%s%d", i < CORE_GP ? "pmc" : "fixed",
			 i < CORE_GP ? i : i - CORE_GP);
		json_writer_start_object(w, name);
		json_writer_uint64(w, "events", c->truth.events);
		json_writer_uint64(w, "overflows", c->truth.overflows);
		json_writer_uint64(w, "windows", c->truth.windows);
		json_writer_uint64(w, "records", c->truth.records);
		json_writer_uint64(w, "lost", c->truth.lost);
		json_writer_uint64(w, "pmis", c->truth.pmis);
		json_writer_end_object(w);
	}
	json_writer_end_object(w);
}

static void json_array(JSONWriter *w, const char *name, const uint64_t *v, unsigned int n)
{
	json_writer_start_array(w, name);
	for (unsigned int i = 0; i < n; i++)
		json_writer_uint64(w, NULL, v[i]);
	json_writer_end_array(w);
}

static void json(JSONWriter *w)
{
	static const char *const names[] = {
		"records", "skidded", "lost_full", "lost_bounds", "lost_stop", "lost_ds",
		"pmi_counter", "pmi_buffer", "pmi_bounds", "pebs_written", "pdir_clash",
		"offcore_zero", "insns",
	};

	json_writer_start_object(w, "core");
	for (int cpu = 0; cpu < SILICON_CPUS; cpu++) {
		struct core *k = core_peek(cpu);
		char name[16];

		if (!k)
			continue;
		snprintf(name, sizeof(name), "cpu%d", cpu);
		json_writer_start_object(w, name);
		json_counters(w, k);
		for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
			json_writer_uint64(w, names[i], k->stat[i]);
		json_array(w, "served", k->served, SYN_LEVELS);
		json_array(w, "sampled", k->sampled, SYN_LEVELS);
		json_writer_end_object(w);
	}
	json_writer_end_object(w);
}

PART(PART_CORE_SYNTH, .synth_rd = synth_rd, .synth_wr = synth_wr, .clear = clear,
     .power_on = power_on, .json = json);
