// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting. A counter runs while its own enable, its bit in GLOBAL_CTRL and
 * the freeze bit allow; its value is brought up to date when somebody looks,
 * when anything about it changes, and when its overflow is due.
 */
#include "core.h"

static bool enabled(const struct core *k, unsigned int i)
{
	if (k->global_status & GLOBAL_STATUS_CTR_FRZ)
		return false;
	if (!(k->global_ctrl >> core_bit(i) & 1))
		return false;
	if (i < CORE_GP)
		return k->evtsel[i] & EVTSEL_EN;
	return k->fixed_ctrl >> 4 * (i - CORE_GP) & 3;
}

/* Freeze as the machine's perfmon version does it. */
static void freeze(struct core *k)
{
	if (k->debugctl & DEBUGCTL_FRZ_PERFMON) {
		if (k->model->version >= 4)
			k->global_status |= GLOBAL_STATUS_CTR_FRZ;
		else
			k->global_ctrl = 0;
	}
	if (k->debugctl & DEBUGCTL_FRZ_LBR) {
		if (k->model->version >= 4)
			k->global_status |= GLOBAL_STATUS_LBR_FRZ;
		else
			k->debugctl &= ~DEBUGCTL_LBR;
	}
}

static void pmi_fired(void *opaque)
{
	struct core *k = opaque;

	silicon_pmi(k->cs);
}

void core_pmi_init(struct core *k)
{
	k->pmi = timer_new_ns(QEMU_CLOCK_VIRTUAL, pmi_fired, k);
}

void core_interrupt(struct core *k)
{
	if (!k->knob.pmi_late)
		silicon_pmi(k->cs);
	else if (!timer_pending(k->pmi))
		timer_mod(k->pmi, silicon_now_ns() + k->knob.pmi_late);
}

void core_pmi(struct core *k)
{
	freeze(k);
	core_interrupt(k);
}

void core_overflow(struct core *k, unsigned int i, const struct core_sample *s)
{
	struct core_counter *c = &k->ctr[i];

	c->truth.overflows++;
	if (pebs_on(k, i)) {
		if (s && pebs_exact(k, i)) {
			pebs_write(k, i, s);
			return;
		}
		/*
		 * The microcode is late: by a few instructions where the event
		 * has an instruction of its own, by the next one elsewhere.
		 */
		k->t.skid |= 1u << i;
		k->t.skid_until[i] = k->t.retired + (s ? k->knob.skid : 1);
		return;
	}
	k->global_status |= 1ull << core_bit(i);
	if (c->intr) {
		c->truth.pmis++;
		k->stat[SYN_CORE_S_PMI_COUNTER]++;
		core_pmi(k);
	}
}

/* Clocks up to now. Returns the counters that overflowed. */
static uint32_t catch_up(struct core *k)
{
	uint32_t over = 0;

	core_clock_update(k);
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];
		uint64_t now, n;

		if (!c->running || !core_event_timed(&c->ev))
			continue;
		now = core_clock_read(k, &c->ev, c->rings);
		n = core_event_sum(k, &c->ev, now) - core_event_sum(k, &c->ev, c->mark);
		c->mark = now;
		c->val += n;
		c->truth.events += n;
		if (c->val > core_mask(k)) {
			c->val &= core_mask(k);
			over |= 1u << i;
		}
	}
	return over;
}

bool core_catch_up(struct core *k)
{
	uint32_t over = catch_up(k), left = over;

	for (; left; left &= left - 1)
		core_overflow(k, ctz32(left), NULL);
	return over;
}

static bool same_core(const struct core *a, const struct core *b)
{
	X86CPU *x = X86_CPU(a->cs), *y = X86_CPU(b->cs);

	return x->socket_id == y->socket_id && x->core_id == y->core_id;
}

/*
 * PDIR wants the other programmable counters of the core silent, those of its other
 * thread as well. Said once per setting, not each time an interrupt handler
 * stops and starts everything.
 */
static void check_pdir_of(struct core *k)
{
	bool set = false, run = false;

	for (int cpu = 0; cpu < SILICON_CPUS; cpu++) {
		const struct core *o = core_peek(cpu);

		if (!o || !same_core(k, o))
			continue;
		for (int i = 0; i < CORE_GP; i++) {
			if (o == k && i == 1)
				continue;
			set |= !!(o->evtsel[i] & EVTSEL_EN);
			run |= o->ctr[i].running;
		}
	}
	if (!set || !(k->evtsel[1] & EVTSEL_EN))
		k->pdir_clash = false;
	if (!run || k->pdir_clash || !k->ctr[1].running || !pebs_on(k, 1) || !pebs_exact(k, 1))
		return;
	k->pdir_clash = true;
	k->stat[SYN_CORE_S_V_PDIR]++;
	silicon_violation(VIOL_CORE, k->cs, "PDIR on counter 1 beside others");
}

/* The big lock is held: registers are written with it. */
static void check_pdir(struct core *k)
{
	if (k->model->kind != KIND_SANDYBRIDGE)
		return;
	for (int cpu = 0; cpu < SILICON_CPUS; cpu++) {
		struct core *o = core_peek(cpu);

		if (o && same_core(k, o))
			check_pdir_of(o);
	}
}

/* Only counter 3 collects precise stores. */
static void check_store(struct core *k, unsigned int i)
{
	if (k->model->kind == KIND_SANDYBRIDGE && i != 3 && pebs_on(k, i) &&
	    (k->evtsel[i] & 0xffff) == 0x02cd)
		silicon_violation(VIOL_CORE, k->cs, "precise store on counter %u", i);
}

/* Start and stop what the registers now say. The past is settled already. */
void core_apply(struct core *k)
{
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];
		bool run = enabled(k, i), was = c->running;

		if (i < CORE_GP) {
			uint64_t sel = k->evtsel[i];

			c->rings = (sel & EVTSEL_OS ? RING_OS : 0) | (sel & EVTSEL_USR ? RING_USR : 0);
			c->intr = sel & EVTSEL_INT;
			if (c->decoded != sel + 1 || c->rates != core_event_rates() ||
			    c->ev.offcore) {
				core_event_decode(k, sel, &c->ev);
				c->decoded = sel + 1;
				c->rates = core_event_rates();
			}
		} else {
			unsigned int ctrl = k->fixed_ctrl >> 4 * (i - CORE_GP) & 0xf;

			c->rings = ctrl & 3;
			c->intr = ctrl & 8;
			core_event_fixed(k, i - CORE_GP, &c->ev);
		}
		c->mark = core_clock_read(k, &c->ev, c->rings);
		c->running = run;
		if (!run || was)
			continue;
		c->truth.windows++;
		if (i < CORE_GP)
			check_store(k, i);
		if (c->ev.offcore)
			core_offcore_check(k, c->ev.offcore - 1);
	}
	if (!(k->pebs_enable & ~PEBS_ENABLE_STORES))
		k->skid_broken = 0;
	check_pdir(k);
	trace_apply(k);
	core_clock_arm(k);
}

void core_sync(struct core *k)
{
	bool changed = core_catch_up(k);

	trace_settle(k);
	if (k->t.due)
		trace_boundary(k);
	else if (changed)
		core_apply(k);
}

void core_set_counter(struct core *k, unsigned int i, uint64_t val)
{
	k->ctr[i].val = val & core_mask(k);
	core_apply(k);
}
