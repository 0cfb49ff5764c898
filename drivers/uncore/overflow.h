/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overflows: from U_GLOBAL_STATUS to the sample.
 */
#ifndef UNCORE_OVERFLOW_H
#define UNCORE_OVERFLOW_H

#include "package.h"

void uncore_overflow_init(void);
bool uncore_overflow_samples(void);

/* With the package locked, on the CPU that serves it */
bool uncore_overflow_handle(struct uncore_package *pkg, struct pt_regs *regs, unsigned int *pmis);
bool uncore_overflow_deliver(struct uncore_package *pkg, struct uncore_box *box);

#endif /* UNCORE_OVERFLOW_H */
