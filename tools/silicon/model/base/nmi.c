// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NMIs that no PMU asks for: of the dump button and of the chipset, which says at port
 * 0x61 why. Sent by a test.
 */
#include "silicon.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "tcg/helper-tcg.h"

#define REASON_PORT	0x61
#define CLEAR_SERR	0x04
#define CLEAR_IOCHK	0x08

target_ulong __real_helper_inb(CPUX86State *env, uint32_t port);
void __real_helper_outb(CPUX86State *env, uint32_t port, uint32_t data);
target_ulong __wrap_helper_inb(CPUX86State *env, uint32_t port);
void __wrap_helper_outb(CPUX86State *env, uint32_t port, uint32_t data);

static uint64_t reason;

struct coming {
	QEMUTimer timer;
	CPUState *cs;
};

static void arrive(void *opaque)
{
	struct coming *c = opaque;

	cpu_interrupt(c->cs, CPU_INTERRUPT_NMI);
	timer_del(&c->timer);
	g_free(c);
}

static void send_nmi(CPUState *cs, uint64_t after_ns)
{
	struct coming *c = g_new0(struct coming, 1);

	c->cs = cs;
	timer_init_ns(&c->timer, QEMU_CLOCK_VIRTUAL, arrive, c);
	timer_mod(&c->timer, silicon_now_ns() + after_ns);
}

target_ulong __wrap_helper_inb(CPUX86State *env, uint32_t port)
{
	return __real_helper_inb(env, port) | (port == REASON_PORT ? reason : 0);
}

void __wrap_helper_outb(CPUX86State *env, uint32_t port, uint32_t data)
{
	if (port == REASON_PORT) {
		bql_lock();
		if (data & CLEAR_SERR)
			reason &= ~(uint64_t)SYN_NMI_SERR;
		if (data & CLEAR_IOCHK)
			reason &= ~(uint64_t)SYN_NMI_IOCHK;
		bql_unlock();
	}
	__real_helper_outb(env, port, data);
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	if (msr != SYN_NMI_REASON)
		return false;
	*val = reason;
	return true;
}

static bool synth_wr(CPUState *cs, uint32_t msr, uint64_t val)
{
	if (msr == SYN_NMI)
		send_nmi(cs, val);
	else if (msr == SYN_NMI_REASON)
		reason = val & (SYN_NMI_SERR | SYN_NMI_IOCHK);
	else
		return false;
	return true;
}

static void power_on(CPUState *cs)
{
	reason = 0;
}

PART(PART_NMI, .synth_rd = synth_rd, .synth_wr = synth_wr, .power_on = power_on);
