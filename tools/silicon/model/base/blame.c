// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Violations: what the manual forbids or leaves undefined. Who does it is counted by kind and
 * told.
 */
#include "silicon.h"

#define VIOLATION_TEXTS	100	/* kept and printed; the counts go on */

static const char * const violation_names[VIOL_KINDS] = {
	[VIOL_RESERVED] = "reserved",
	[VIOL_READ_ONLY] = "read_only",
	[VIOL_NO_REGISTER] = "no_register",
	[VIOL_ACCESS] = "access",
	[VIOL_EV_SEL] = "ev_sel",
	[VIOL_UMASK] = "umask",
	[VIOL_UNDEFINED] = "undefined",
	[VIOL_COUNTER] = "counter",
	[VIOL_START_VALUE] = "start_value",
	[VIOL_RST_ALL] = "rst_all",
	[VIOL_OCCUPANCY] = "occupancy",
	[VIOL_LOCKED] = "locked",
	[VIOL_SUBREG] = "subreg",
	[VIOL_CORE] = "core",
};

static uint64_t violations[VIOL_KINDS];
static char *texts[VIOLATION_TEXTS];
static unsigned int text_count;

void silicon_violation(enum violation v, CPUState *cs, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (!cs)
		return;
	violations[v]++;
	if (text_count == VIOLATION_TEXTS)
		return;
	va_start(ap, fmt);
	text = g_strdup_vprintf(fmt, ap);
	va_end(ap);
	texts[text_count] = g_strdup_printf("%s: cpu%d: %s", violation_names[v], cs->cpu_index,
					    text);
	fprintf(stderr, "silicon: violation: %s\n", texts[text_count]);
	text_count++;
	g_free(text);
}

uint64_t violation_count(unsigned int kind)
{
	uint64_t sum = 0;

	if (kind < VIOL_KINDS)
		return violations[kind];
	for (unsigned int i = 0; i < VIOL_KINDS; i++)
		sum += violations[i];
	return sum;
}

static void clear(CPUState *cs)
{
	memset(violations, 0, sizeof(violations));
	for (unsigned int i = 0; i < text_count; i++)
		g_free(texts[i]);
	text_count = 0;
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	if (msr == SYN_VIOLATIONS)
		*val = violation_count(VIOL_KINDS);
	else if (msr - SYN_VIOLATION(0) < VIOL_KINDS)
		*val = violation_count(msr - SYN_VIOLATION(0));
	else
		return false;
	return true;
}

static void json(JSONWriter *w)
{
	json_writer_start_object(w, "violations");
	json_writer_uint64(w, "total", violation_count(VIOL_KINDS));
	for (unsigned int i = 0; i < VIOL_KINDS; i++)
		json_writer_uint64(w, violation_names[i], violations[i]);
	json_writer_end_object(w);
	json_writer_start_array(w, "violation_texts");
	for (unsigned int i = 0; i < text_count; i++)
		json_writer_str(w, NULL, texts[i]);
	json_writer_end_array(w);
}

PART(PART_BLAME, .synth_rd = synth_rd, .clear = clear, .json = json);
