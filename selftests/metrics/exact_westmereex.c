// SPDX-License-Identifier: GPL-2.0-only
/*
 * What exact.c proves, with the ten C-Boxes of Westmere-EX.
 *
 * VM: --machine westmereex --sockets 2 --cores 2
 * TIER: once
 * PERF: newest
 */
#include "exact.c"
