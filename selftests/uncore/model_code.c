// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that one CPU changes and another one runs: once it has been told of the change and has
 * serialized, it runs what is there now (SDM volume 3, "Handling Self- and Cross-Modifying Code").
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 1 --cores 2
 */
#include <cpuid.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "model.h"
#include "perf.h"

#define CHANGES	5000

/* A page of code, of which not all changes, and one of what is told. */
struct pages {
	/* mov $n, %eax; ret. The number is aligned and so changes at once. */
	unsigned char nop[3], mov;
	unsigned int n;
	unsigned char ret, pad[7], other;
	unsigned int told __attribute__((aligned(4096)));
	unsigned int ran, stale;
};

/* How often it was not the change that had been told, and what it has run. */
static void run_it(struct pages *pages)
{
	unsigned int (*changed)(void) = (void *)pages, (*other)(void) = (void *)&pages->other;
	unsigned int told, a = 0, b, c, d;

	do {
		told = __atomic_load_n(&pages->told, __ATOMIC_ACQUIRE);
		__cpuid(0, a, b, c, d);
		pages->stale += changed() < told;
		other();
		__atomic_store_n(&pages->ran, told, __ATOMIC_RELEASE);
	} while (told < CHANGES);
	_exit(0);
}

static void cross_modifying(void)
{
	struct pages *pages = mmap(NULL, sizeof(*pages), PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int n;
	pid_t child;

	ktap_require(pages != MAP_FAILED, "%m");
	*pages = (struct pages){ .nop = { 0x90, 0x90, 0x90 }, .mov = 0xb8, .ret = 0xc3,
				 .other = 0xc3 };
	child = fork();
	ktap_require(child >= 0, "%m");
	run_on(!child);
	if (!child)
		run_it(pages);
	for (n = 1; n <= CHANGES; n++) {
		__atomic_store_n(&pages->n, n, __ATOMIC_RELEASE);
		/* In QEMU, the end of the block of instructions that writes */
		sched_yield();
		__atomic_store_n(&pages->told, n, __ATOMIC_RELEASE);
		while (__atomic_load_n(&pages->ran, __ATOMIC_ACQUIRE) != n)
			;
	}
	waitpid(child, NULL, 0);
	ktap_check(!pages->stale, "%u of %d changes not seen", pages->stale, CHANGES);
}

KTAP_MAIN({ "a CPU runs what another one has written", cross_modifying })
