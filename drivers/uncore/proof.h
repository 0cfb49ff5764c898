/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether PMIs can be relied on.
 */
#ifndef UNCORE_PROOF_H
#define UNCORE_PROOF_H

#include "package.h"

int uncore_proof_init(void);
int uncore_proof_require(struct uncore_package *pkg, bool sampling);
enum uncore_proof_state uncore_proof_worst(void);

/* With the package locked, on the CPU that serves it */
void uncore_proof_repeat(struct uncore_package *pkg);

#endif /* UNCORE_PROOF_H */
