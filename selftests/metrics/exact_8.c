// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: each value is what follows from the traffic, to the last digit; on 8 packages.
 *
 * VM: --sockets 8 --cores 1 --memory 1G
 * TIER: once
 * PERF: newest
 */
#define PACKAGES	8
#include "exact.h"

METRICS_MAIN({ "random traffic, all boxes, packages and the machine", all_values })
