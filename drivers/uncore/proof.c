// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether PMIs can be relied on. It is tried when the first event is opened that needs
 * them, and once more on each CPU that a package moves to.
 *
 *	cat /sys/bus/event_source/devices/xeon7500_package/caps/pmi
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>

#include "delivery.h"
#include "overflow.h"
#include "pmi.h"
#include "proof.h"

static char *pmi = "auto";
module_param(pmi, charp, 0444);
MODULE_PARM_DESC(pmi, "sampling by interrupts: auto (if they are proved to arrive) or off");

static void uncore_proof_try(struct uncore_package *pkg)
{
	int err = uncore_delivery_prove(pkg);

	if (err == -EBUSY)
		return;
	pkg->proof = err ? UNCORE_PROOF_NO : UNCORE_PROOF_YES;
	if (err)
		pr_info("CPU %u: overflows do not interrupt\n", smp_processor_id());
	/* NMIs of the proof may come any time from now on, if they were only too late. */
	uncore_pmi_expect(pkg, err ? UNCORE_PROOF_UNANSWERED : 1);
}

static void uncore_proof_try_locked(void *info)
{
	struct uncore_package *pkg = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	if (pkg->proof != UNCORE_PROOF_YES)
		uncore_proof_try(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/**
 * uncore_proof_require() - can overflows of this package interrupt?
 * @pkg: the package
 * @sampling: and be handed to perf?
 *
 * The first time, this tries it.
 *
 * Return: 0; -EOPNOTSUPP if not, -EBUSY if it cannot be tried now, -ENODEV without CPU.
 */
int uncore_proof_require(struct uncore_package *pkg, bool sampling)
{
	int err;

	if (!strcmp(pmi, "off") || (sampling && !uncore_overflow_samples()))
		return -EOPNOTSUPP;
	if (pkg->proof == UNCORE_PROOF_YES)
		return 0;
	err = uncore_package_call(pkg, uncore_proof_try_locked);
	if (err)
		return err;
	switch (pkg->proof) {
	case UNCORE_PROOF_YES:
		return 0;
	case UNCORE_PROOF_UNTESTED:
		return -EBUSY;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * uncore_proof_repeat() - prove on this CPU what has been proved on another
 * @pkg: the package, locked; nothing interrupts
 *
 * If it proves wrong here, the watch is all that the events have that are there already.
 */
void uncore_proof_repeat(struct uncore_package *pkg)
{
	if (pkg->proof == UNCORE_PROOF_YES)
		uncore_proof_try(pkg);
}

/** uncore_proof_worst() - the worst that is known of any package */
enum uncore_proof_state uncore_proof_worst(void)
{
	enum uncore_proof_state proof = UNCORE_PROOF_UNTESTED;
	struct uncore_package *pkg;

	if (!strcmp(pmi, "off"))
		return UNCORE_PROOF_OFF;
	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg)) {
		if (pkg->proof == UNCORE_PROOF_NO)
			return UNCORE_PROOF_NO;
		proof = max(proof, pkg->proof);
	}
	return proof;
}

/** uncore_proof_init() - look at the parameter. Returns 0 or -EINVAL */
int uncore_proof_init(void)
{
	if (!strcmp(pmi, "auto") || !strcmp(pmi, "off"))
		return 0;
	pr_err("pmi=%s: neither auto nor off\n", pmi);
	return -EINVAL;
}
