/* SPDX-License-Identifier: GPL-2.0-only */
/* Just enough of the kernel for unit tests of its pure logic. */
#ifndef SELFTESTS_LINUX_TYPES_H
#define SELFTESTS_LINUX_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long s64;

#endif
