// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --cores 2
 * TIER: once debug
 * PUT: lib/sharer.c
 *
 * perf c2c on Sandy Bridge, whose records hold the data source: the kernel alone is enough, and
 * with the module it is the same.
 */
#define _GNU_SOURCE
#include "c2c.h"
#include "sample.h"

static void shared_line(const char *parameters)
{
	struct c2c_row row;

	on_cpu(0);
	perf_unlimited();
	perf_unnamed();
	ext_load(parameters);
	addr2line(true);
	ktap_check(!shell("perf c2c record -u -m 8M -o /tmp/c2c -- -c 97 ./sharer 10000 >/tmp/err 2>&1"),
		   "%d", shell("cat /tmp/err"));
	row = c2c_report("/tmp/c2c");
	addr2line(false);
	ktap_note("%u rows, the shared line has %u HITMs", row.rows, row.hitm);
	/* Local: the last-level cache tells of it. */
	ktap_check(row.number == 1 && row.hitm >= 100 && row.local == row.hitm,
		   "row %u of %u, %u HITMs, %u local", row.number, row.rows, row.hitm, row.local);
}

static void alone(void)
{
	shared_line(NULL);
}

static void enforced(void)
{
	shared_line("enforce=1");
}

CORE_MAIN("2a 2d",
	{ "the kernel alone", alone },
	{ "with the module", enforced })
