// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: each value is what follows from the traffic, to the last digit; on 1 package.
 *
 * VM: --sockets 1 --cores 2
 * TIER: once
 * PERF: newest
 */
#define PACKAGES	1
#include "exact.h"

METRICS_MAIN({ "random traffic, all boxes, packages and the machine", all_values })
