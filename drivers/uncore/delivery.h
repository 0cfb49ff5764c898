/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the PMI of the uncore gets to a CPU: IA32_DEBUGCTL bit 13 lets it in, U_GLOBAL_CTL
 * says to which cores it goes, and the local APIC makes an NMI of it. None of this is in
 * the guide in so many words, so that it has to be proved before anybody relies on it.
 */
#ifndef UNCORE_DELIVERY_H
#define UNCORE_DELIVERY_H

#include "package.h"

#define UNCORE_PROOF_TRIES		3
#define UNCORE_PROOF_UNANSWERED		(2 * UNCORE_PROOF_TRIES)	/* PMIs, if it fails */

bool uncore_delivery_listen(bool on);
bool uncore_delivery_listening(void);
void uncore_delivery_unmask(void);
int uncore_delivery_prove(struct uncore_package *pkg);
bool uncore_delivery_nmi(void);

u32 uncore_global_status(void);
void uncore_clear_global_status(u32 status);

#endif /* UNCORE_DELIVERY_H */
