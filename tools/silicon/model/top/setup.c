// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What tools/vm/run asks of the model. QEMU knows no option of ours, so these are environment
 * variables. Before main(): who has misspelt a reading or a line of traffic wants no machine.
 */
#include "top.h"

static void __attribute__((constructor)) setup(void)
{
	readings_setup(getenv("SILICON_READING"));
	stats_setup(getenv("SILICON_TRACE"), getenv("SILICON_STATS"));
	traffic_setup(getenv("SILICON_TRAFFIC"));
}
