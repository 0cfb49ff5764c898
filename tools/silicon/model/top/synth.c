// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synthetic MSRs, see synthetic.h: those of the whole model, and the way to those of its parts.
 */
#include "top.h"
#include "system/cpu-timers.h"

/* The blocks of 0x1000 addresses in synthetic.h. */
#define BLOCK(msr)	((msr) >> 12 & 0xff)

static void settle(CPUState *cs, uint32_t msr)
{
	if (msr < SYN_CORE_BASE)
		EACH_PART(p, settle)
			p->settle(cs);
}

uint64_t synth_rdmsr(CPUState *cs, uint32_t msr)
{
	uint64_t val = 0;

	settle(cs, msr);
	EACH_PART(p, synth_rd)
		if (p->synth_rd(cs, msr, &val))
			return val;
	switch (BLOCK(msr)) {
	case BLOCK(SYN_ACCESS(0, 0)):
		return stats_get(cs, msr >> 4 & 0xff, msr & 1);
	case BLOCK(SYN_ACCESS_ALL(0, 0)):
		return stats_get(NULL, msr >> 4 & 0xff, msr & 1);
	case BLOCK(SYN_READING(0)):
		msr -= SYN_READING(0);
		return msr < READINGS ? reading(msr) : 0;
	}
	switch (msr) {
	case SYN_ID:
		return SYN_MAGIC;
	case SYN_INSNS:
		return icount_enabled() ? icount_get_raw() : 0;
	case SYN_NS:
		return silicon_now_ns();
	case SYN_PACKAGE:
		return silicon_package(cs);
	case SYN_CORE:
		return X86_CPU(cs)->core_id;
	case SYN_THREAD:
		return X86_CPU(cs)->thread_id;
	}
	return 0;
}

void synth_wrmsr(CPUState *cs, uint32_t msr, uint64_t val)
{
	settle(cs, msr);
	switch (msr) {
	case SYN_RESET:
		readings_power_on();
		EACH_PART(p, power_on)
			p->power_on(cs);
		/* fall through */
	case SYN_CLEAR:
		stats_clear();
		EACH_PART(p, clear)
			p->clear(cs);
		return;
	}
	if (BLOCK(msr) == BLOCK(SYN_READING(0)) && reading_set(msr - SYN_READING(0), val))
		EACH_PART(p, reread)
			p->reread();
	EACH_PART(p, synth_wr)
		if (p->synth_wr(cs, msr, val))
			return;
}
