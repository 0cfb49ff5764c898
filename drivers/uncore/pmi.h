/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overflows: from the PMI to the sample. pmi.c keeps its state to itself.
 *
 * Functions that take a locked package run on the CPU that serves it, with interrupts off.
 */
#ifndef UNCORE_PMI_H
#define UNCORE_PMI_H

#include "package.h"

int uncore_pmi_init(void);
void uncore_pmi_exit(void);

/* With the package locked */
void uncore_pmi_settle(struct uncore_package *pkg, struct uncore_box *box, bool program);
void uncore_pmi_deliver(struct uncore_package *pkg, struct uncore_box *box);
void uncore_pmi_poll(struct uncore_package *pkg);
void uncore_pmi_watch(struct uncore_package *pkg);
void uncore_pmi_expect(struct uncore_package *pkg, unsigned int num);
void uncore_pmi_quiesce(struct uncore_package *pkg);
void uncore_pmi_resume(struct uncore_package *pkg);

/* Without */
void uncore_pmi_cancel(struct uncore_package *pkg);

#endif /* UNCORE_PMI_H */
