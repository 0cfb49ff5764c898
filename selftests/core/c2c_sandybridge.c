// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --cores 2
 * TEST: 6.1 debug
 * PUT: programs/sharer.c
 *
 * perf c2c on Sandy Bridge, whose records hold the data source: the kernel alone is enough, and
 * with the module it is the same.
 */
#define _GNU_SOURCE
#include "c2c.h"
#include "sample.h"

/* HITMs in records on both CPUs, whatever line they are about. */
static unsigned int sampled(void)
{
	return msr_read(0, SYN_CORE_SAMPLED(SYN_LEVEL_HITM)) +
	       msr_read(1, SYN_CORE_SAMPLED(SYN_LEVEL_HITM));
}

/* HITMs of the shared line, which are all there are; what the C library shares is a rest. */
static unsigned int record(const char *events, unsigned int rounds)
{
	unsigned int truth = sampled();
	struct c2c_row row;
	char command[160];

	snprintf(command, sizeof(command), "perf c2c record -u %s -m 8M -o /tmp/c2c -- -c 97 "
		 "./sharer %u >/tmp/err 2>&1", events, rounds);
	ktap_require(!shell(command), "%d", shell("cat /tmp/err"));
	truth = sampled() - truth;
	row = c2c_report("/tmp/c2c");
	ktap_note("%u rounds: %u rows, the shared line has %u of %u HITMs", rounds, row.rows,
		  row.hitm, truth);
	/* Local: the last-level cache tells of it. */
	ktap_check(row.number <= 1 && row.local == row.hitm && row.hitm <= truth &&
		   truth - row.hitm <= 10,
		   "row %u of %u, %u HITMs, %u local, truth %u", row.number, row.rows, row.hitm,
		   row.local, truth);
	return row.hitm;
}

static void shared_line(const char *parameters)
{
	unsigned int rounds, hitm = 0;

	run_on(0);
	perf_unlimited();
	perf_unnamed();
	ext_load(parameters);
	addr2line(true);
	/* Each turn finds the other's stores. */
	ktap_check(record("-e ldlat-loads", 10000) >= 100);
	/*
	 * Stores want the same counter, and how much of the program is left to the loads is the
	 * host's affair. It runs until they have had some.
	 */
	for (rounds = 10000; hitm < 10 && rounds < 1000000; rounds *= 4)
		hitm = record("", rounds);
	ktap_check(hitm >= 10);
	addr2line(false);
}

KTAP_CALL(alone, shared_line(NULL))
KTAP_CALL(enforced, shared_line("enforce=1"))

CORE_MAIN("2a 2d",
	{ "the kernel alone", alone },
	{ "with the module", enforced })
