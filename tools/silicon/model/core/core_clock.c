// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Core cycles: virtual time during which the CPU was not halted, by ring, and
 * the one timer per CPU that makes counters overflow when they should.
 */
#include "core.h"
#include "qemu/main-loop.h"
#include "hw/core/cpu.h"

void core_clock_update(struct core *k)
{
	struct core_clock *c = &k->clock;
	int64_t ns = silicon_now_ns();
	uint64_t tsc = cpu_get_tsc(core_env(k));

	if (!c->halted) {
		c->ns[c->ring] += ns - c->last_ns;
		c->tsc[c->ring] += tsc - c->last_tsc;
	}
	c->last_ns = ns;
	c->last_tsc = tsc;
	/* Nobody follows the ring while it makes no difference. */
	if (k->t.class == CLASS_NONE && !k->t.clocks)
		c->ring = core_env(k)->hflags & HF_CPL_MASK ? 1 : 0;
}

static uint64_t sum_rings(const uint64_t *v, uint8_t rings)
{
	return (rings & RING_OS ? v[0] : 0) + (rings & RING_USR ? v[1] : 0);
}

/* As of the last update. */
uint64_t core_clock_read(const struct core *k, const struct core_event *ev, uint8_t rings)
{
	if (ev->src == SRC_TSC)
		return sum_rings(k->clock.tsc, rings);
	return muldiv64(sum_rings(k->clock.ns, rings), k->model->mhz, 1000);
}

/* Cycles from now until the counter overflows; a day stands for never. */
static uint64_t cycles_left(const struct core *k, const struct core_counter *c)
{
	const uint64_t horizon = 86400ull * 1000000 * k->model->mhz;
	uint64_t now = core_clock_read(k, &c->ev, c->rings);
	uint64_t goal = core_event_sum(k, &c->ev, now) + core_mask(k) + 1 - c->val;
	uint64_t lo = 0, hi = horizon;

	if (core_event_sum(k, &c->ev, now + hi) < goal)
		return horizon;
	while (hi - lo > 1) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (core_event_sum(k, &c->ev, now + mid) < goal)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

static int64_t ns_left(const struct core *k, const struct core_counter *c)
{
	const struct core_clock *clk = &k->clock;
	uint64_t n = cycles_left(k, c);

	/*
	 * The TSC's rate is the host's business. An estimate will do: what
	 * fires early is armed again.
	 */
	if (c->ev.src == SRC_TSC)
		return clk->last_tsc ? muldiv64(n, clk->last_ns, clk->last_tsc) + 1 : n;
	return DIV_ROUND_UP((unsigned __int128)n * 1000, k->model->mhz);
}

void core_clock_arm(struct core *k)
{
	uint8_t ring = k->clock.ring ? RING_USR : RING_OS;
	int64_t best = INT64_MAX;

	for (int i = 0; i < CORE_COUNTERS; i++) {
		const struct core_counter *c = &k->ctr[i];

		/* Without an interrupt nobody can tell when it overflowed. */
		if (c->running && (c->intr || pebs_on(k, i)) &&
		    core_event_timed(&c->ev) && (c->rings & ring))
			best = MIN(best, ns_left(k, c));
	}
	if (k->clock.halted || best > 86400ll * 1000000000)
		timer_del(k->timer);
	else
		timer_mod(k->timer, k->clock.last_ns + MAX(best, 1));
}

static void timer_work(CPUState *cs, run_on_cpu_data data)
{
	core_sync(core_peek(cs->cpu_index));
}

static void timer_fired(void *opaque)
{
	struct core *k = opaque;

	async_run_on_cpu(k->cs, timer_work, RUN_ON_CPU_NULL);
}

void core_clock_init(struct core *k)
{
	k->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, timer_fired, k);
	k->clock.last_ns = silicon_now_ns();
	k->clock.last_tsc = cpu_get_tsc(core_env(k));
}

/* ---- halts ---- */

G_NORETURN void __real_helper_hlt(CPUX86State *env);
G_NORETURN void __wrap_helper_hlt(CPUX86State *env);
G_NORETURN void __real_helper_mwait(CPUX86State *env, int next_eip_addend);
G_NORETURN void __wrap_helper_mwait(CPUX86State *env, int next_eip_addend);
bool __real_x86_cpu_exec_halt(CPUState *cs);
bool __wrap_x86_cpu_exec_halt(CPUState *cs);

static void halt(CPUState *cs, bool halted)
{
	struct core *k = core_peek(cs->cpu_index);

	if (!k || k->clock.halted == halted)
		return;
	core_clock_update(k);
	k->clock.halted = halted;
	core_clock_arm(k);
}

void __wrap_helper_hlt(CPUX86State *env)
{
	halt(env_cpu(env), true);
	__real_helper_hlt(env);
}

/* QEMU lets MWAIT sleep on a lone CPU only; elsewhere it is a pause. */
void __wrap_helper_mwait(CPUX86State *env, int next_eip_addend)
{
	CPUState *cs = env_cpu(env);

	if (cs->cpu_index == 0 && !CPU_NEXT(cs))
		halt(cs, true);
	__real_helper_mwait(env, next_eip_addend);
}

bool __wrap_x86_cpu_exec_halt(CPUState *cs)
{
	bool awake = __real_x86_cpu_exec_halt(cs);

	if (awake)
		halt(cs, false);
	return awake;
}
