/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_LINUX_ERRNO_H
#define SELFTESTS_LINUX_ERRNO_H

#define ENOSPC	28

#endif
