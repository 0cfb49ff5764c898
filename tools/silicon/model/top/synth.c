// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synthetic MSRs, see synthetic.h.
 */
#include "silicon.h"
#include "uncore/uncore.h"
#include "system/cpu-timers.h"

static uint64_t truth(struct package *p, uint32_t msr)
{
	struct counter *c = counter_find(p, msr & 0xfff);

	if (!c)
		return 0;
	counter_settle(c);
	switch (msr >> 12 & 0xf) {
	case SYN_EVENTS:
		return c->stat.events;
	case SYN_OPENED:
		return c->stat.opened;
	case SYN_CLOSED:
		return c->stat.closed;
	case SYN_OVERFLOWS:
		return c->stat.overflows;
	case SYN_WINDOWS:
		return c->stat.windows;
	case SYN_ENABLED:
		return c->stat.enabled + (c->c.running ? p->now - c->stat.since : 0);
	case SYN_SKIPPED:
		return c->stat.skipped;
	case SYN_OVERFLOWED:
		return c->stat.overflowed ? cf_ns(c->stat.overflowed) : 0;
	case SYN_DUE:
		return c->next_overflow == CF_NEVER ? 0 : cf_ns(c->next_overflow);
	}
	return 0;
}

static uint64_t read_base(CPUState *cs, struct package *p, uint32_t msr)
{
	switch (msr) {
	case SYN_ID:
		return SYN_MAGIC;
	case SYN_INSNS:
		return icount_enabled() ? icount_get_raw() : 0;
	case SYN_CYCLES:
		return p->now;
	case SYN_NS:
		return silicon_now_ns();
	case SYN_HZ_NUM:
		return CF_HZ_NUM;
	case SYN_HZ_DEN:
		return CF_HZ_DEN;
	case SYN_TSC_KHZ:
		return machine_tsc_khz(cpu_env(cs));
	case SYN_PACKAGE:
		return p->id;
	case SYN_CORE:
		return X86_CPU(cs)->core_id;
	case SYN_THREAD:
		return X86_CPU(cs)->thread_id;
	case SYN_FREEZE_LATENCY:
		return p->freeze_latency;
	case SYN_FREEZES:
		return p->freezes;
	case SYN_FROZEN_CYCLES:
		return p->frozen_cycles + (p->frozen ? p->now - p->frozen_since : 0);
	case SYN_ABSENT:
		return p->absent;
	case SYN_UNCOUNTED:
		return p->uncounted;
	case SYN_GP:
		return p->gp;
	case SYN_ABSENT_READS_0:
		return p->absent_reads_0;
	case SYN_NMI_REASON:
		return nmi_reason();
	}
	return 0;
}

/* The blocks of 0x1000 addresses in synthetic.h. */
#define BLOCK(msr)	((msr) >> 12 & 0xff)

static uint64_t syn_read(CPUState *cs, uint32_t msr)
{
	struct package *p = package_get(cs);
	uint64_t *fault;

	package_settle(p);
	switch (BLOCK(msr)) {
	case BLOCK(SYN_BASE):
		return read_base(cs, p, msr);
	case BLOCK(SYN_TRUTH(0, 0)) ... BLOCK(SYN_TRUTH(15, 0)):
		return truth(p, msr);
	case BLOCK(SYN_ACCESS(0, 0)):
		return stats_get(cs, msr >> 4 & 0xff, msr & 1);
	case BLOCK(SYN_ACCESS_ALL(0, 0)):
		return stats_get(NULL, msr >> 4 & 0xff, msr & 1);
	case BLOCK(SYN_VIOLATIONS):
		if (msr == SYN_VIOLATIONS)
			return violation_count(VIOL_KINDS);
		msr -= SYN_VIOLATION(0);
		return msr < VIOL_KINDS ? violation_count(msr) : 0;
	case BLOCK(SYN_PMI(0)):
		if (msr >= SYN_PMI_CPU(0))
			return apic_cpu_stat(cs, msr - SYN_PMI_CPU(0));
		return apic_stat(p->id, msr - SYN_PMI(0));
	case BLOCK(SYN_FAULT_LOSE):
		fault = apic_fault(msr);
		return fault ? *fault : 0;
	case BLOCK(SYN_READING(0)):
		msr -= SYN_READING(0);
		return msr < READINGS ? reading(msr) : 0;
	}
	switch (msr) {
	case SYN_PKT_HEADER:
		return p->pkt_header;
	case SYN_PKT_ADDR:
		return p->pkt_addr;
	case SYN_TRAFFIC_SEL:
		return traffic_sel(p);
	case SYN_TRAFFIC_MIX:
		return !p->no_mix;
	}
	return 0;
}

static void syn_write(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct package *p = package_get(cs);
	struct packet pkt;
	uint64_t *fault;

	package_settle(p);
	switch (msr) {
	case SYN_CLEAR:
		stats_clear();
		apic_clear_stats();
		uncore_clear_truth();
		core_clear_truth(cs);
		return;
	case SYN_RESET:
		apic_clear_faults();
		readings_power_on();
		nmi_set_reason(0);
		uncore_power_on(p);
		core_power_on(cs);
		syn_write(cs, SYN_CLEAR, 1);
		return;
	case SYN_FREEZE_LATENCY:
		p->freeze_latency = val;
		return;
	case SYN_ABSENT:
		p->absent = val;
		return;
	case SYN_UNCOUNTED:
		p->uncounted = val;
		return;
	case SYN_GP:
		p->gp = val;
		return;
	case SYN_ABSENT_READS_0:
		p->absent_reads_0 = val;
		return;
	case SYN_NMI:
		nmi_send(cs, val);
		return;
	case SYN_NMI_REASON:
		nmi_set_reason(val);
		return;
	case SYN_PKT_HEADER:
		p->pkt_header = val;
		return;
	case SYN_PKT_ADDR:
		p->pkt_addr = val;
		return;
	case SYN_PKT_SEND:
		pkt = packet_decode(p->pkt_header, p->pkt_addr);
		package_inject(p, &pkt, val);
		return;
	case SYN_TRAFFIC_MIX:
		traffic_set_mix(p, val);
		return;
	case SYN_TRAFFIC_SEL:
		traffic_set_sel(p, val);
		return;
	case SYN_TRAFFIC_SET:
		traffic_set(p, val);
		return;
	case SYN_TRAFFIC_RESET:
		traffic_reset(p);
		return;
	}
	if (BLOCK(msr) == BLOCK(SYN_READING(0)) && reading_set(msr - SYN_READING(0), val))
		uncore_reread();
	fault = apic_fault(msr);
	if (fault)
		*fault = val;
}

#define CORE_FIRST	0x53580000u

enum msr_rc synth_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	if (msr >= CORE_FIRST)
		return core_synth_rdmsr(cs, msr, val);
	*val = syn_read(cs, msr);
	return MSR_OK;
}

enum msr_rc synth_wrmsr(CPUState *cs, uint32_t msr, uint64_t val)
{
	if (msr >= CORE_FIRST)
		return core_synth_wrmsr(cs, msr, val);
	syn_write(cs, msr, val);
	return MSR_OK;
}
