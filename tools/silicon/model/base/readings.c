// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the sources leave open: which of its answers each reading of spec/readings.json has.
 * The first of each unless tools/vm/run --reading or SYN_READING() says otherwise. The boxes
 * ask where it matters.
 */
#include "silicon.h"

static unsigned int at_power_on[READINGS], now[READINGS];

unsigned int reading(enum reading r)
{
	return now[r];
}

static unsigned int answers(enum reading r)
{
	unsigned int n = 0;

	while (n < READING_ANSWERS && reading_names[r].answers[n])
		n++;
	return n;
}

bool reading_set(unsigned int r, uint64_t answer)
{
	if (r >= READINGS || answer >= answers(r))
		return false;
	now[r] = answer;
	return true;
}

void readings_power_on(void)
{
	memcpy(now, at_power_on, sizeof(now));
}

static bool take(const char *name, const char *answer)
{
	for (unsigned int r = 0; r < READINGS; r++) {
		if (strcmp(name, reading_names[r].name))
			continue;
		for (unsigned int a = 0; a < answers(r); a++) {
			if (!strcmp(answer, reading_names[r].answers[a])) {
				at_power_on[r] = a;
				return true;
			}
		}
	}
	return false;
}

void readings_setup(const char *text)
{
	char name[64], answer[64];
	int len;

	while (text && *text) {
		if (sscanf(text, "%63[^=,]=%63[^=,]%n", name, answer, &len) != 2 ||
		    !take(name, answer)) {
			fprintf(stderr, "silicon: no such reading: %s (tools/readings has them)\n",
				text);
			exit(1);
		}
		text += len;
		text += *text == ',';
	}
	readings_power_on();
}
