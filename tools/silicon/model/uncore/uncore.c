// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all boxes share: registers with the access rights of the spec, the
 * three levels of enable, overflow on its way up, freeze.
 *
 * Time. Nothing ticks. A package remembers up to which cycle everything is
 * settled, and the first cycle at which anything can happen by itself: an
 * overflow or a freeze (the deadline). An access first settles all that came
 * due before it, in the order of cycles; when the deadline lies ahead that is
 * one comparison. A timer runs only for what the guest would notice without
 * looking: an overflow with pmi_en, which may interrupt it or stop counters.
 *
 * Choices where the guide leaves one open:
 * - [rst_all] clears all counters once, when it is written 1. To set en_all while it is 1
 *   would tell this from holding them and is a violation. [rst_all_start]: a value written
 *   then is taken; where it would be lost, to write it is a violation.
 * - [summary_clear] A summary bit in the U-Box goes up with an overflow below it, and
 *   down either through U OVF_CTL or when the last STATUS bit below is cleared.
 * - [cbox_sides] Westmere-EX: S-Box 0 has C-Boxes 0 to 4, S-Box 1 has 5 to 9, as the
 *   names of its unit mask bits say; the fifth of a side has summary bit 1.
 * - [wex_core_sel] pmi_core_sel has eight bits there, too.
 * - [cond] goes up when hardware clears en_all.
 * - [pmi_while_ov] A PMI goes out when a STATUS bit goes up, not when it is up already.
 * - [refreeze] While the STATUS bit that caused the last freeze is up, no freeze happens
 *   in the package, whatever overflows. [freeze_latency]: 16 cycles.
 * - [must_be_0] Such bits are dropped and reported; no #GP, which the guide
 *   promises for the S-Box match lock only. Access against the access class,
 *   and an address with no register, do raise #GP.
 * - [status_write] Writing STATUS does nothing.
 * - [uncore_clock] It never stops.
 */
#include "uncore.h"
#include "qemu/bitmap.h"
#include "system/reset.h"

#define U_EN		(1u << 0)
#define U_CORE_SEL(ctl)	((ctl) >> 1 & 0xff)
#define U_EN_ALL	(1u << 28)
#define U_RST_ALL	(1u << 29)
#define U_FRZ_ALL	(1u << 31)

#define U_COND		(1u << 31)
#define U_PMI		(1u << 30)
#define U_OV_S0		(1u << 3)
#define U_OV_S1		(1u << 2)
#define U_OV_W		(1u << 1)
#define U_OV_U		(1u << 0)
#define U_OV_BELOW	(U_OV_S0 | U_OV_S1 | U_OV_W)

static struct package *packages[SILICON_PACKAGES];

static void package_timer(void *opaque);
static void package_schedule(struct package *p);

/* ---- finding things ---- */

struct counter *counter_find(struct package *p, uint32_t ctr_msr)
{
	int i = reg_find(ctr_msr);

	if (i < 0 || reg_table[i].role != ROLE_CTR)
		return NULL;
	return p->box[reg_table[i].box][reg_table[i].inst].counter[reg_table[i].index];
}

uint64_t box_reg(const struct box *b, enum reg_role role, unsigned int index, unsigned int alt)
{
	int i = reg_of(b->kind, b->inst, role, index, alt);

	g_assert(i >= 0);
	return b->pkg->reg[i];
}

uint64_t counter_reg(struct counter *c, enum reg_role role, unsigned int index, unsigned int alt,
		     uint64_t bits)
{
	g_assert(c->num_reads < COUNTER_READS);
	c->reads[c->num_reads].reg = reg_of(c->box->kind, c->box->inst, role, index, alt);
	c->reads[c->num_reads++].bits = bits;
	return box_reg(c->box, role, index, alt) & bits;
}

/* SYN_UNCOUNTED */
static bool uncounted(const struct counter *c)
{
	uint64_t sel = c->box->pkg->uncounted;

	return sel && (c->sel & ~(c->en | c->pmi_en | SYN_UNCOUNTED_ANY)) == sel;
}

/* Counts up to now; returns how often it went past its end. */
static uint64_t counter_advance(struct counter *c)
{
	struct ctr48_delta d = ctr48_advance(&c->c, c->box->pkg->now);

	if (!uncounted(c))
		c->stat.events += d.events;
	return d.overflows;
}

static void package_reset(void *opaque)
{
	struct package *p = opaque;

	p->now = cf_cycle(silicon_now_ns());
	for (unsigned int i = 0; i < p->counters; i++) {
		struct counter *c = &p->counter[i];

		counter_advance(c);	/* who would be interrupted is gone */
		c->c.running = false;
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
	traffic_set_sel(p, 0);
}

void uncore_power_on(struct package *p)
{
	package_default(p);
	package_reset(p);
	traffic_reset(p);
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
			c->next_overflow = CF_NEVER;
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

struct package *package_by_id(unsigned int id)
{
	return id < SILICON_PACKAGES ? packages[id] : NULL;
}

struct package *package_get(CPUState *cs)
{
	unsigned int id = silicon_package(cs);

	if (!packages[id])
		packages[id] = package_new(id, silicon_kind(cpu_env(cs)));
	return packages[id];
}

/* ---- counters ---- */

static void counter_overflow(struct counter *c, uint64_t times);

/* Account what happened up to the package's present; overflows are handled. */
void counter_settle(struct counter *c)
{
	uint64_t overflows = counter_advance(c);

	if (overflows)
		counter_overflow(c, overflows);
}

static void counter_predict(struct counter *c)
{
	c->next_overflow = ctr48_next_overflow(&c->c);
}

/* What U_GLOBAL_CTL says of all counters. */
static bool runs(uint64_t u_ctl)
{
	if ((u_ctl & U_RST_ALL) && reading(RD_RST_ALL) == RD_RST_ALL_LEVEL)
		return false;
	return u_ctl & U_EN_ALL;
}

static bool wants_to_run(const struct counter *c)
{
	const struct box *b = c->box;

	return (c->sel & c->en) && (b->ctl >> c->status_bit & 1) && runs(b->pkg->u_ctl);
}

static void counter_stop(struct counter *c)
{
	struct package *p = c->box->pkg;

	if (!c->c.running)
		return;
	counter_settle(c);
	c->c.running = false;
	clear_bit(c->id, p->running);
	c->stat.closed = p->now;
	c->stat.enabled += p->now - c->stat.since;
	c->next_overflow = CF_NEVER;
}

static void counter_start(struct counter *c)
{
	struct package *p = c->box->pkg;

	if (c->c.running || !wants_to_run(c))
		return;
	c->c.at = p->now;
	c->c.running = true;
	set_bit(c->id, p->running);
	c->stat.opened = p->now;
	c->stat.since = p->now;
	c->stat.closed = 0;
	c->stat.windows++;
	counter_predict(c);
}

static void counter_enable(struct counter *c)
{
	if (wants_to_run(c))
		counter_start(c);
	else
		counter_stop(c);
}

static void counter_free_series(struct counter *c)
{
	if (c->truth != c->series)
		series_free(c->truth);
	series_free(c->series);
	c->series = NULL;
	c->truth = NULL;
}

static void counter_make_series(struct counter *c, const struct selection *sel)
{
	g_autofree struct pattern *p = g_memdup2(&sel->pattern, sizeof(sel->pattern));

	counter_free_series(c);
	if (sel->tally) {
		for (unsigned int i = 0; i < 1u << p->log2; i++)
			p->inc[i] = (p->inc[i] + sel->tally) & 0x7f;
		pattern_shape(p, &sel->shape);
		c->series = series_new(p, sel->div);
		*p = sel->pattern;
	}
	pattern_shape(p, &sel->shape);
	c->truth = series_new(p, sel->div);
	if (!c->series)
		c->series = c->truth;
	c->c.series = c->series;
	c->c.truth = c->truth;
	c->c.down = sel->down;
	c->c.stop_at_wrap = sel->stop_at_wrap;
	c->shape = sel->shape;
}

/*
 * Find out what a settled counter counts from here on. A disabled counter keeps
 * its series: the same event often comes back.
 */
static void counter_select(struct counter *c, CPUState *cs)
{
	uint64_t sel_bits = c->sel & ~c->pmi_en, before = violation_count(VIOL_KINDS);
	g_autofree struct selection *sel = NULL;

	if (!(c->sel & c->en) ||
	    (c->made.reusable && c->made.sel == sel_bits &&
	     c->made.traffic == traffic_generation() && c->made.subregs == c->box->subreg_writes))
		return;
	sel = g_new(struct selection, 1);
	pattern_zero(&sel->pattern);
	sel->shape = (struct shape){ 0 };
	sel->div = 1;
	sel->tally = 0;
	sel->down = false;
	sel->stop_at_wrap = false;
	c->match = (struct match){ 0 };
	c->num_reads = 0;
	c->box->type->select(c, sel, cs);
	counter_make_series(c, sel);
	c->made.sel = sel_bits;
	c->made.traffic = traffic_generation();
	c->made.subregs = c->box->subreg_writes;
	c->made.reusable = cs && violation_count(VIOL_KINDS) == before;
}

static void counter_reselect(struct counter *c, CPUState *cs)
{
	counter_settle(c);
	counter_select(c, cs);
	if (c->c.running)
		counter_predict(c);
}

/* ---- overflow and freeze ---- */

/* C-Boxes of an S-Box, in a row, and which summary bit each of them has. */
static unsigned int side_of(const struct box *b)
{
	if (b->kind != BOX_C)
		return b->inst;
	if (b->pkg->kind == KIND_XEON7500)
		return b->inst / 4;
	if (reading(RD_CBOX_SIDES) == RD_CBOX_SIDES_BY_EIGHT)
		return b->inst < 8 ? b->inst / 4 : b->inst - 8;
	return b->inst / 5;
}

static unsigned int summary_bit(const struct box *b)
{
	static const uint8_t of_four[] = { 2, 2, 0, 0 }, of_five[] = { 2, 2, 0, 0, 1 };

	if (b->pkg->kind == KIND_XEON7500)
		return of_four[b->inst % 4];
	if (reading(RD_CBOX_SIDES) == RD_CBOX_SIDES_BY_EIGHT)
		return b->inst < 8 ? of_four[b->inst % 4] : 2;
	return of_five[b->inst % 5];
}

static uint64_t summary(const struct package *p, unsigned int side)
{
	uint64_t v = 0;

	if (p->box[BOX_R][side].status)
		v |= 1u << 19;
	if (p->box[BOX_S][side].status)
		v |= 1u << 18;
	if (p->box[BOX_M][side].status || p->box[BOX_B][side].status)
		v |= 1u << 16;
	for (unsigned int i = 0; i < box_types[BOX_C].instances; i++) {
		const struct box *b = &p->box[BOX_C][i];

		if (b->status && side_of(b) == side)
			v |= 1u << summary_bit(b);
	}
	return v;
}

static uint64_t u_bit(const struct box *b)
{
	switch (b->kind) {
	case BOX_U:
		return U_OV_U;
	case BOX_W:
		return U_OV_W;
	default:
		return side_of(b) ? U_OV_S1 : U_OV_S0;
	}
}

static void clear_status(struct box *b, uint64_t bits)
{
	struct package *p = b->pkg;
	struct counter *cause = p->freeze_cause;

	b->status &= ~bits;
	if (cause && cause->box == b && !(b->status >> cause->status_bit & 1))
		p->freeze_cause = NULL;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		struct counter *c = b->counter[i];

		if (c->c.stopped && (bits >> c->status_bit & 1)) {
			c->c.stopped = false;
			counter_predict(c);
		}
	}
	if (reading(RD_SUMMARY_CLEAR) == RD_SUMMARY_CLEAR_LATCH)
		return;
	if (b->kind == BOX_W) {
		if (!b->status)
			p->u_status &= ~U_OV_W;
	} else if (b->kind != BOX_U && !summary(p, side_of(b))) {
		p->u_status &= ~u_bit(b);
	}
}

/* The control register asks for a PMI, and there is one. */
static bool pmi_enabled(const struct counter *c)
{
	return (c->sel & c->pmi_en) && !(c->box->type->no_pmi && c->box->type->no_pmi(c));
}

/* May an overflow of this counter freeze, as far as the last cause is concerned? */
static bool may_freeze(const struct package *p, const struct counter *c)
{
	if (!p->freeze_cause)
		return true;
	return reading(RD_REFREEZE) == RD_REFREEZE_COUNTER && p->freeze_cause != c &&
	       p->freeze_at == CF_NEVER;
}

static void counter_overflow(struct counter *c, uint64_t times)
{
	struct box *b = c->box;
	struct package *p = b->pkg;
	bool pmi_en = pmi_enabled(c);
	bool counted = !uncounted(c);
	bool was_set = b->status >> c->status_bit & 1;
	bool no_edge = reading(RD_SUMMARY_CLEAR) == RD_SUMMARY_CLEAR_OR &&
		       (p->u_status & u_bit(b) & U_OV_BELOW);

	if (counted) {
		c->stat.overflows += times;
		c->stat.overflowed = p->now;
	}
	b->status |= 1ull << c->status_bit;
	p->u_status |= u_bit(b);
	if (reading(RD_COND) == RD_COND_OVERFLOW)
		p->u_status |= U_COND;
	if (was_set) {
		c->stat.skipped += counted;
		if (pmi_en && counted)
			apic_count(p->id, SYN_PMI_SKIPPED);
		if (reading(RD_PMI_WHILE_OV) == RD_PMI_WHILE_OV_NONE)
			return;
	}
	if (!pmi_en)
		return;
	if (no_edge) {
		apic_count(p->id, SYN_PMI_NO_EDGE);
		return;
	}
	p->u_status |= U_PMI;
	if (counted)
		apic_count(p->id, SYN_PMI_REQUESTED);
	if (p->u_ctl & U_FRZ_ALL) {
		if (may_freeze(p, c)) {
			p->freeze_cause = c;
			p->freeze_at = p->now + p->freeze_latency;
		} else if (p->freeze_at == CF_NEVER) {
			apic_count(p->id, SYN_PMI_REFREEZE);
		}
	}
	if (U_CORE_SEL(p->u_ctl))
		apic_uncore_pmi(p->id, U_CORE_SEL(p->u_ctl));
}

static void stop_all(struct package *p)
{
	unsigned long i;

	p->u_ctl &= ~U_EN_ALL;
	for (i = find_first_bit(p->running, PACKAGE_COUNTERS_MAX); i < PACKAGE_COUNTERS_MAX;
	     i = find_next_bit(p->running, PACKAGE_COUNTERS_MAX, i + 1))
		counter_stop(&p->counter[i]);
}

static void start_all(struct package *p)
{
	for (unsigned int i = 0; i < p->counters; i++) {
		counter_start(&p->counter[i]);
	}
}

static void freeze(struct package *p)
{
	p->freeze_at = CF_NEVER;
	if (!(p->u_ctl & U_EN_ALL))
		return;
	stop_all(p);
	if (reading(RD_COND) == RD_COND_FROZEN)
		p->u_status |= U_COND;
	p->freezes++;
	p->frozen = true;
	p->frozen_since = p->now;
}

/* The next cycle something happens, and a timer if the guest has to notice. */
static void package_schedule(struct package *p)
{
	uint64_t wake = p->freeze_at, deadline = wake;
	unsigned long i;
	uint64_t ns;

	for (i = find_first_bit(p->running, PACKAGE_COUNTERS_MAX); i < PACKAGE_COUNTERS_MAX;
	     i = find_next_bit(p->running, PACKAGE_COUNTERS_MAX, i + 1)) {
		const struct counter *c = &p->counter[i];

		deadline = MIN(deadline, c->next_overflow);
		if (pmi_enabled(c))
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
		unsigned long i;

		due = true;
		p->now = MAX(p->now, p->deadline);
		for (i = find_first_bit(p->running, PACKAGE_COUNTERS_MAX);
		     i < PACKAGE_COUNTERS_MAX;
		     i = find_next_bit(p->running, PACKAGE_COUNTERS_MAX, i + 1)) {
			struct counter *c = &p->counter[i];

			if (c->next_overflow > p->now)
				continue;
			counter_settle(c);
			counter_predict(c);
		}
		if (p->freeze_at <= p->now)
			freeze(p);
		for (i = find_first_bit(p->running, PACKAGE_COUNTERS_MAX);
		     i < PACKAGE_COUNTERS_MAX;
		     i = find_next_bit(p->running, PACKAGE_COUNTERS_MAX, i + 1))
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

void package_reselect(struct package *p)
{
	package_settle(p);
	for (unsigned int i = 0; i < p->counters; i++) {
		if (p->counter[i].sel & p->counter[i].en)
			counter_reselect(&p->counter[i], NULL);
	}
	package_schedule(p);
}

void uncore_reread(void)
{
	for (unsigned int id = 0; id < SILICON_PACKAGES; id++) {
		struct package *p = packages[id];

		if (!p)
			continue;
		p->freeze_latency = freeze_latency();
		for (unsigned int i = 0; i < p->counters; i++)
			p->counter[i].made.reusable = false;
		package_reselect(p);
	}
}

void package_inject(struct package *p, const struct packet *pkt, uint64_t n)
{
	unsigned long i;

	package_settle(p);
	for (i = find_first_bit(p->running, PACKAGE_COUNTERS_MAX); i < PACKAGE_COUNTERS_MAX;
	     i = find_next_bit(p->running, PACKAGE_COUNTERS_MAX, i + 1)) {
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

/* ---- registers ---- */

static void write_u_ctl(struct package *p, uint64_t val, CPUState *cs)
{
	uint64_t old = p->u_ctl;
	struct box *u = &p->box[BOX_U][0];

	if ((val & U_RST_ALL) && (val & U_EN_ALL))
		silicon_violation(VIOL_RST_ALL, cs, "en_all set while rst_all is 1");
	if (!runs(val) && runs(old))
		stop_all(p);
	if (val & U_RST_ALL) {
		for (unsigned int i = 0; i < p->counters; i++) {
			counter_settle(&p->counter[i]);
			p->counter[i].c.value = 0;
			p->counter[i].written = 0;
			p->counter[i].c.stopped = false;
			counter_predict(&p->counter[i]);
		}
	}
	p->u_ctl = val;
	u->ctl = val & U_EN;
	counter_enable(u->counter[0]);
	if ((val & U_EN_ALL) && !(old & U_EN_ALL)) {
		if (p->frozen)
			p->frozen_cycles += p->now - p->frozen_since;
		p->frozen = false;
	}
	if (runs(val) && !runs(old))
		start_all(p);
}

static void write_u_ovf(struct package *p, uint64_t val)
{
	unsigned int clear = reading(RD_SUMMARY_CLEAR);

	p->u_status &= ~(clear == RD_SUMMARY_CLEAR_OR ? val & ~U_OV_BELOW : val);
	if (val & U_OV_U)
		clear_status(&p->box[BOX_U][0], 1);
	if (clear != RD_SUMMARY_CLEAR_DOWN)
		return;
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		for (unsigned int i = 0; i < box_types[k].instances; i++) {
			struct box *b = &p->box[k][i];

			if (b->status && (val & u_bit(b) & U_OV_BELOW))
				clear_status(b, b->status);
		}
	}
}

static void write_status(struct box *b, const struct reg_info *r, uint64_t val)
{
	uint64_t *status = r->role == ROLE_U_STATUS ? &b->pkg->u_status : &b->status;

	switch (reading(RD_STATUS_WRITE)) {
	case RD_STATUS_WRITE_CLEARS:
		break;
	case RD_STATUS_WRITE_PLAIN:
		*status |= val & r->ro;
		val = ~val;
		break;
	default:
		return;
	}
	if (r->role == ROLE_U_STATUS)
		*status &= ~val;
	else
		clear_status(b, val);
}

static void write_box_ctl(struct box *b, uint64_t val)
{
	b->ctl = val;
	for (unsigned int i = 0; i < b->type->counters; i++)
		counter_enable(b->counter[i]);
}

static void write_sel(struct counter *c, uint64_t val, CPUState *cs)
{
	const struct box_type *type = c->box->type;

	/* Bits that can change without a new window. */
	if (!((c->sel ^ val) & ~(c->pmi_en | type->quiet))) {
		c->sel = val;
		if (type->quiet_write && type->quiet_write(c))
			counter_reselect(c, NULL);
		return;
	}
	counter_stop(c);
	if (type->leave && (c->sel & c->en))
		type->leave(c, c->box->pkg->now);
	c->sel = val;
	counter_select(c, cs);
	counter_start(c);
}

static void write_ctr(struct counter *c, uint64_t val, CPUState *cs)
{
	bool lost = (c->box->pkg->u_ctl & U_RST_ALL) &&
		    reading(RD_RST_ALL_START) == RD_RST_ALL_START_LOST;

	if (lost)
		silicon_violation(VIOL_RST_ALL, cs, "%s written while rst_all is 1",
				  c->ctr_reg->name);
	if (c->box->type->write)
		c->box->type->write(c, val, cs);
	if (lost)
		return;
	counter_settle(c);
	c->c.value = val;
	c->written = val;
	c->c.stopped = false;
	counter_predict(c);
}

static uint64_t counter_reads(const struct counter *c, unsigned int reg)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < c->num_reads; i++) {
		if (c->reads[i].reg == reg)
			bits |= c->reads[i].bits;
	}
	return bits;
}

static enum msr_rc write_subreg(struct box *b, unsigned int reg, uint64_t val, CPUState *cs)
{
	const struct reg_info *r = &reg_table[reg];
	uint64_t changed = b->pkg->reg[reg] ^ val;
	uint64_t used = 0;

	if (b->type->guard && b->type->guard(b, r, cs) == MSR_GP)
		return MSR_GP;
	if (!changed)
		return MSR_OK;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		struct counter *c = b->counter[i];

		if (!(c->sel & c->en) || !(counter_reads(c, reg) & changed))
			continue;
		counter_settle(c);
		used |= 1u << i;
		/* Switching the S-Box and M-Box match on is the documented last step. */
		if (c->c.running && !(r->role == ROLE_MM_CFG && val >> 63))
			silicon_violation(VIOL_SUBREG, cs, "%s changed while %s runs on it",
					  r->name, c->ctr_reg->name);
	}
	b->pkg->reg[reg] = val;
	b->subreg_writes++;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		if (used >> i & 1)
			counter_reselect(b->counter[i], cs);
	}
	return MSR_OK;
}

static bool absent(const struct package *p, const struct reg_info *r)
{
	return p->absent & SYN_ABSENT_BOX(r->box, r->inst);
}

/* #GP though the register is there. */
static bool gone(const struct package *p, const struct reg_info *r, bool write)
{
	return (absent(p, r) && !p->absent_reads_0) ||
	       p->gp == (write ? SYN_GP_WRITE(r->msr) : SYN_GP_READ(r->msr));
}

enum msr_rc uncore_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	struct package *p = package_get(cs);
	int i = reg_find(msr);
	const struct reg_info *r = &reg_table[i];
	struct box *b;

	if (i < 0) {
		silicon_violation(VIOL_NO_REGISTER, cs, "read of 0x%x: no register", msr);
		return MSR_GP;
	}
	if (r->access == ACC_WO) {
		silicon_violation(VIOL_ACCESS, cs, "read of write-only %s", r->name);
		return MSR_GP;
	}
	if (gone(p, r, false))
		return MSR_GP;
	*val = 0;
	if (absent(p, r))
		return MSR_OK;
	b = &p->box[r->box][r->inst];
	package_settle(p);
	switch (r->role) {
	case ROLE_CTR:
		counter_settle(b->counter[r->index]);
		*val = b->counter[r->index]->c.value;
		if (b->type->read)
			*val = b->type->read(b->counter[r->index], *val);
		break;
	case ROLE_SEL:
		*val = b->counter[r->index]->sel;
		break;
	case ROLE_U_CTL:
		*val = p->u_ctl;
		break;
	case ROLE_U_STATUS:
		*val = p->u_status;
		break;
	case ROLE_BOX_CTL:
		*val = b->ctl;
		break;
	case ROLE_BOX_STATUS:
		*val = b->status;
		break;
	case ROLE_SUMMARY:
		*val = summary(p, b->inst);
		break;
	case ROLE_U_OVF:
	case ROLE_BOX_OVF:
		*val = 0;
		break;
	case ROLE_TIMESTAMP:
		*val = (p->now + b->timestamp) & 0xffff;
		break;
	default:
		*val = p->reg[i];
	}
	return MSR_OK;
}

/* Bits that are there by a reading only. */
static uint64_t more_bits(const struct reg_info *r)
{
	bool u_sel = r->box == BOX_U && r->role == ROLE_SEL;

	return u_sel && reading(RD_U_CODES) == RD_U_CODES_NINE ? U_NINTH_BIT : 0;
}

enum msr_rc uncore_wrmsr(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct package *p = package_get(cs);
	int i = reg_find(msr);
	const struct reg_info *r = &reg_table[i];
	enum msr_rc rc = MSR_OK;
	uint64_t all = val;
	struct box *b;

	if (i < 0) {
		silicon_violation(VIOL_NO_REGISTER, cs, "write of 0x%x: no register", msr);
		return MSR_GP;
	}
	if (r->access == ACC_RO) {
		silicon_violation(VIOL_ACCESS, cs, "write of read-only %s", r->name);
		return MSR_GP;
	}
	if (val & r->rsv)
		silicon_violation(VIOL_RESERVED, cs, "%s = %#" PRIx64 ": bits %#" PRIx64
				  " must be 0", r->name, val, val & r->rsv);
	if ((val & r->rsv) && reading(RD_MUST_BE_0) == RD_MUST_BE_0_GP)
		return MSR_GP;
	if (val & r->ro)
		silicon_violation(VIOL_READ_ONLY, cs, "%s = %#" PRIx64 ": bits %#" PRIx64
				  " are read-only", r->name, val, val & r->ro);
	val &= r->rw | r->w1c | more_bits(r);
	if (gone(p, r, true))
		return MSR_GP;
	if (absent(p, r))
		return MSR_OK;
	b = &p->box[r->box][r->inst];
	package_settle(p);
	switch (r->role) {
	case ROLE_CTR:
		write_ctr(b->counter[r->index], val, cs);
		break;
	case ROLE_SEL:
		write_sel(b->counter[r->index], val, cs);
		break;
	case ROLE_U_CTL:
		write_u_ctl(p, val, cs);
		break;
	case ROLE_BOX_CTL:
		write_box_ctl(b, val);
		break;
	case ROLE_U_OVF:
		write_u_ovf(p, val);
		break;
	case ROLE_BOX_OVF:
		clear_status(b, val);
		break;
	case ROLE_U_STATUS:
	case ROLE_BOX_STATUS:
		if (r->access == ACC_RW)
			write_status(b, r, all);
		break;
	case ROLE_TIMESTAMP:
		b->timestamp = val - p->now;
		return MSR_OK;
	default:
		rc = write_subreg(b, i, val, cs);
	}
	package_schedule(p);
	return rc;
}

/* ---- statistics ---- */

void uncore_clear_truth(void)
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

void uncore_stats_json(JSONWriter *w)
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
