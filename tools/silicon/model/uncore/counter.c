// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A counter: when it runs, what it counts, and its value at any time.
 */
#include "uncore.h"
#include "qemu/bitmap.h"

/* Counts up to now; returns how often it went past its end. */
uint64_t counter_advance(struct counter *c)
{
	struct ctr48_delta d = ctr48_advance(&c->c, c->box->pkg->now);

	if (!counter_uncounted(c))
		c->stat.events += d.events;
	return d.overflows;
}

/* Account what happened up to the package's present; overflows are handled. */
void counter_settle(struct counter *c)
{
	uint64_t overflows = counter_advance(c);

	if (overflows)
		counter_overflow(c, overflows);
}

/* What U_GLOBAL_CTL says of all counters. */
bool u_ctl_runs(uint64_t u_ctl)
{
	if ((u_ctl & U_RST_ALL) && reading(RD_RST_ALL) == RD_RST_ALL_LEVEL)
		return false;
	return u_ctl & U_EN_ALL;
}

static bool wants_to_run(const struct counter *c)
{
	const struct box *b = c->box;

	return (c->sel & c->en) && (b->ctl >> c->status_bit & 1) && u_ctl_runs(b->pkg->u_ctl);
}

void counter_stop(struct counter *c)
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

void counter_start(struct counter *c)
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

void counter_enable(struct counter *c)
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
void counter_select(struct counter *c, CPUState *cs)
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
	sel->once = false;
	sel->down = false;
	sel->stop_at_wrap = false;
	c->match = (struct match){ 0 };
	c->num_reads = 0;
	c->box->type->select(c, sel, cs);
	counter_make_series(c, sel);
	c->made.sel = sel_bits;
	c->made.traffic = traffic_generation();
	c->made.subregs = c->box->subreg_writes;
	c->made.reusable = cs && !sel->once && violation_count(VIOL_KINDS) == before;
}

void counter_reselect(struct counter *c, CPUState *cs)
{
	counter_settle(c);
	counter_select(c, cs);
	if (c->c.running)
		counter_predict(c);
}
