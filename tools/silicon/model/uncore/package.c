// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A package: what is in it, its time, freeze.
 *
 * Nothing ticks. A package remembers up to which cycle everything is
 * settled, and the first cycle at which anything can happen by itself: an
 * overflow or a freeze (the deadline). An access first settles all that came
 * due before it, in the order of cycles; when the deadline lies ahead that is
 * one comparison. A timer runs only for what the guest would notice without
 * looking: an overflow with pmi_en, which may interrupt it or stop counters.
 *
 * Choices where the guide leaves one open:
 * - [freeze_latency] 16 cycles.
 * - [uncore_clock] It never stops.
 */
#include "uncore.h"
#include "qemu/bitmap.h"
#include "system/reset.h"

static struct package *packages[SILICON_PACKAGES];

void package_stop(struct package *p)
{
	p->u_ctl &= ~U_EN_ALL;
	EACH_RUNNING(p, i)
		counter_stop(&p->counter[i]);
}

void package_start(struct package *p)
{
	for (unsigned int i = 0; i < p->counters; i++)
		counter_start(&p->counter[i]);
}

static void freeze(struct package *p)
{
	p->freeze_at = CF_NEVER;
	if (!(p->u_ctl & U_EN_ALL))
		return;
	package_stop(p);
	if (reading(RD_COND) == RD_COND_FROZEN)
		p->u_status |= U_COND;
	p->freezes++;
	p->frozen = true;
	p->frozen_since = p->now;
}

/* The next cycle something happens, and a timer if the guest has to notice. */
void package_schedule(struct package *p)
{
	uint64_t wake = p->freeze_at, deadline = wake;
	uint64_t ns;

	EACH_RUNNING(p, i) {
		const struct counter *c = &p->counter[i];

		deadline = MIN(deadline, c->next_overflow);
		if (counter_pmi_enabled(c))
			wake = MIN(wake, c->next_overflow);
	}
	p->deadline = deadline;
	ns = wake == CF_NEVER ? UINT64_MAX : cf_ns(wake);
	if (ns == p->alarm)
		return;
	p->alarm = ns;
	if (ns > INT64_MAX / 2)
		timer_del(p->timer);
	else
		timer_mod(p->timer, ns);
}

uint64_t package_settle(struct package *p)
{
	uint64_t now = cf_cycle(silicon_now_ns());
	bool due = false;

	while (p->deadline <= now) {
		uint64_t next = CF_NEVER;

		due = true;
		p->now = MAX(p->now, p->deadline);
		EACH_RUNNING(p, i) {
			struct counter *c = &p->counter[i];

			if (c->next_overflow > p->now)
				continue;
			counter_settle(c);
			counter_predict(c);
		}
		if (p->freeze_at <= p->now)
			freeze(p);
		EACH_RUNNING(p, i)
			next = MIN(next, p->counter[i].next_overflow);
		p->deadline = MIN(next, p->freeze_at);
	}
	/* Two threads may have read the clock in the other order. */
	p->now = MAX(p->now, now);
	if (due)
		package_schedule(p);
	return p->now;
}

static void package_timer(void *opaque)
{
	struct package *p = opaque;

	p->alarm = UINT64_MAX;
	package_settle(p);
	package_schedule(p);
}

static void package_reset(void *opaque)
{
	struct package *p = opaque;

	p->now = cf_cycle(silicon_now_ns());
	for (unsigned int i = 0; i < p->counters; i++) {
		struct counter *c = &p->counter[i];

		counter_advance(c);	/* who would be interrupted is gone */
		c->c.running = false;
		c->next_overflow = CF_NEVER;
		c->c.value = 0;
		c->c.stopped = false;
		c->written = 0;
		c->sel = 0;
		c->tally = 0;
	}
	bitmap_zero(p->running, PACKAGE_COUNTERS_MAX);
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		for (unsigned int i = 0; i < box_types[k].instances; i++) {
			p->box[k][i].ctl = 0;
			p->box[k][i].status = 0;
			p->box[k][i].timestamp = 0;
			p->box[k][i].subreg_writes++;
		}
	}
	for (unsigned int i = 0; i < reg_count; i++)
		p->reg[i] = reg_table[i].reset;
	p->u_ctl = 0;
	p->u_status = 0;
	p->freeze_at = CF_NEVER;
	p->freeze_cause = NULL;
	p->frozen = false;
	apic_reset(p->id);
	package_schedule(p);
}

/* From overflow to en_all = 0, cycles; a signal has to cross the die. */
static uint64_t freeze_latency(void)
{
	static const uint64_t latency[] = {
		[RD_FREEZE_LATENCY_16] = 16,
		[RD_FREEZE_LATENCY_0] = 0,
		[RD_FREEZE_LATENCY_1000] = 1000,
	};

	return latency[reading(RD_FREEZE_LATENCY)];
}

/* What tests may set, as if none had. */
static void package_default(struct package *p)
{
	p->freeze_latency = freeze_latency();
	p->absent = 0;
	p->absent_reads_0 = false;
	p->uncounted = 0;
	p->gp = 0;
	p->pkt_header = 0;
	p->pkt_addr = 0;
	p->traffic_sel = 0;
	p->no_mix = false;
}

static struct package *package_new(unsigned int id, enum cpu_kind kind)
{
	struct package *p = g_new0(struct package, 1);

	spec_tables_use(kind);
	p->id = id;
	p->kind = kind;
	package_default(p);
	p->alarm = UINT64_MAX;
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		for (unsigned int i = 0; i < box_types[k].instances; i++) {
			struct box *b = &p->box[k][i];

			b->type = &box_types[k];
			b->kind = k;
			b->inst = i;
			b->pkg = p;
		}
	}
	for (unsigned int i = 0; i < reg_count; i++) {
		const struct reg_info *r = &reg_table[i];
		struct box *b = &p->box[r->box][r->inst];
		struct counter *c;

		if (r->role != ROLE_SEL && r->role != ROLE_CTR)
			continue;
		c = b->counter[r->index];
		if (!c) {
			g_assert(p->counters < PACKAGE_COUNTERS_MAX);
			c = &p->counter[p->counters];
			c->id = p->counters++;
			c->box = b;
			c->index = r->index;
			c->en = b->type->en;
			c->pmi_en = b->type->pmi_en;
			c->status_bit = c->index;
			if (b->type->init)
				b->type->init(c);
			b->counter[r->index] = c;
		}
		if (r->role == ROLE_SEL)
			c->sel_reg = r;
		else
			c->ctr_reg = r;
	}
	p->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, package_timer, p);
	package_reset(p);
	qemu_register_reset(package_reset, p);
	return p;
}

struct package *package_get(CPUState *cs)
{
	unsigned int id = silicon_package(cs);

	if (!packages[id])
		packages[id] = package_new(id, silicon_kind(cpu_env(cs)));
	return packages[id];
}

void package_reselect(struct package *p)
{
	package_settle(p);
	for (unsigned int i = 0; i < p->counters; i++) {
		if (p->counter[i].sel & p->counter[i].en)
			counter_reselect(&p->counter[i], NULL);
	}
	package_schedule(p);
}

static void reread(void)
{
	for (unsigned int id = 0; id < SILICON_PACKAGES; id++) {
		struct package *p = packages[id];

		if (!p)
			continue;
		p->freeze_latency = freeze_latency();
		for (unsigned int i = 0; i < p->counters; i++)
			p->counter[i].made.reusable = false;
	}
}

void package_inject(struct package *p, const struct packet *pkt, uint64_t n)
{
	package_settle(p);
	EACH_RUNNING(p, i) {
		struct counter *c = &p->counter[i];
		struct ctr48_delta d;

		if (c->box->kind != pkt->box || !c->box->type->packet)
			continue;
		counter_settle(c);
		d = ctr48_add(&c->c, n * c->box->type->packet(c, pkt) * shape_pulse(&c->shape));
		c->stat.events += d.events;
		if (d.overflows)
			counter_overflow(c, d.overflows);
		counter_predict(c);
	}
	package_schedule(p);
}

/* ---- statistics ---- */

static void clear(CPUState *cs)
{
	for (unsigned int id = 0; id < SILICON_PACKAGES; id++) {
		struct package *p = packages[id];

		if (!p)
			continue;
		package_settle(p);
		p->freezes = 0;
		p->frozen_cycles = 0;
		p->frozen_since = p->now;
		for (unsigned int i = 0; i < p->counters; i++) {
			struct counter *c = &p->counter[i];

			counter_settle(c);
			memset(&c->stat, 0, sizeof(c->stat));
			if (c->c.running) {
				c->stat.opened = p->now;
				c->stat.since = p->now;
				c->stat.windows = 1;
			}
		}
	}
}

static void package_json(JSONWriter *w, struct package *p)
{
	char id[16];

	snprintf(id, sizeof(id), "%u", p->id);
	json_writer_start_object(w, id);
	json_writer_uint64(w, "cycles", p->now);
	json_writer_uint64(w, "freezes", p->freezes);
	json_writer_uint64(w, "frozen_cycles", p->frozen_cycles);
	json_writer_start_object(w, "counters");
	for (unsigned int i = 0; i < p->counters; i++) {
		struct counter *c = &p->counter[i];

		counter_settle(c);
		if (!c->stat.windows)
			continue;
		json_writer_start_object(w, c->ctr_reg->name);
		json_writer_uint64(w, "msr", c->ctr_reg->msr);
		json_writer_uint64(w, "events", c->stat.events);
		json_writer_uint64(w, "value", c->c.value);
		json_writer_uint64(w, "overflows", c->stat.overflows);
		json_writer_uint64(w, "windows", c->stat.windows);
		json_writer_uint64(w, "opened", c->stat.opened);
		json_writer_uint64(w, "closed", c->stat.closed);
		json_writer_uint64(w, "enabled_cycles", c->stat.enabled +
				   (c->c.running ? p->now - c->stat.since : 0));
		json_writer_end_object(w);
	}
	json_writer_end_object(w);
	json_writer_end_object(w);
}

static void json(JSONWriter *w)
{
	json_writer_start_object(w, "packages");
	for (unsigned int id = 0; id < SILICON_PACKAGES; id++) {
		if (!packages[id])
			continue;
		package_settle(packages[id]);
		package_json(w, packages[id]);
	}
	json_writer_end_object(w);
}

static void settle(CPUState *cs)
{
	package_settle(package_get(cs));
}

static void power_on(CPUState *cs)
{
	struct package *p = package_get(cs);

	package_default(p);
	traffic_reset(p->id);
	package_reset(p);
}

PART(PART_PACKAGE, .settle = settle, .clear = clear, .power_on = power_on, .reread = reread,
     .json = json);
