// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: each value is what follows from the traffic, to the last digit; on 4 packages.
 *
 * VM: --sockets 4 --cores 1 --memory 1G
 * TIER: soak once
 * PERF: newest
 */
#define PACKAGES	4
#include "exact.h"

METRICS_MAIN({ "random traffic, all boxes, packages and the machine", all_values })
