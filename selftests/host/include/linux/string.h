/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_LINUX_STRING_H
#define SELFTESTS_LINUX_STRING_H

#include <string.h>

#endif
