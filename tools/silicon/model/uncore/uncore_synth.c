// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synthetic MSRs of the uncore.
 */
#include "uncore.h"

/* Plain variables that tests set. */
static uint64_t *knob(struct package *p, uint32_t msr)
{
	switch (msr) {
	case SYN_FREEZE_LATENCY:
		return &p->freeze_latency;
	case SYN_ABSENT:
		return &p->absent;
	case SYN_ABSENT_READS_0:
		return &p->absent_reads_0;
	case SYN_UNCOUNTED:
		return &p->uncounted;
	case SYN_GP:
		return &p->gp;
	case SYN_PKT_HEADER:
		return &p->pkt_header;
	case SYN_PKT_ADDR:
		return &p->pkt_addr;
	case SYN_TRAFFIC_SEL:
		return &p->traffic_sel;
	}
	return NULL;
}

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
	case SYN_DUE:
		return c->next_overflow == CF_NEVER ? 0 : cf_ns(c->next_overflow);
	}
	return 0;
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	struct package *p;
	uint64_t *plain;

	if (msr >= SYN_CORE_BASE)
		return false;
	p = package_get(cs);
	plain = knob(p, msr);
	if (plain)
		*val = *plain;
	else if (msr >= SYN_TRUTH(0, 0) && msr <= SYN_TRUTH(15, 0xfff))
		*val = truth(p, msr);
	else if (msr == SYN_CYCLES)
		*val = p->now;
	else if (msr == SYN_HZ_NUM)
		*val = CF_HZ_NUM;
	else if (msr == SYN_HZ_DEN)
		*val = CF_HZ_DEN;
	else if (msr == SYN_FREEZES)
		*val = p->freezes;
	else if (msr == SYN_FROZEN_CYCLES)
		*val = p->frozen_cycles + (p->frozen ? p->now - p->frozen_since : 0);
	else
		return false;
	return true;
}

static bool synth_wr(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct package *p;
	uint64_t *plain;
	struct packet pkt;

	if (msr >= SYN_CORE_BASE)
		return false;
	p = package_get(cs);
	plain = knob(p, msr);
	if (plain) {
		*plain = val;
		return true;
	}
	switch (msr) {
	case SYN_PKT_SEND:
		pkt = packet_decode(p->pkt_header, p->pkt_addr);
		package_inject(p, &pkt, val);
		return true;
	case SYN_TRAFFIC_MIX:
		p->no_mix = !val;
		traffic_changed();
		break;
	case SYN_TRAFFIC_SET:
		traffic_set(p->id, p->traffic_sel, val);
		break;
	case SYN_TRAFFIC_RESET:
		traffic_reset(p->id);
		p->no_mix = false;
		break;
	default:
		return false;
	}
	package_reselect(p);
	return true;
}

PART(PART_UNCORE_SYNTH, .synth_rd = synth_rd, .synth_wr = synth_wr);
