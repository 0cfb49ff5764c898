// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that one CPU changes while others run it, as Linux does with static keys.
 *
 * QEMU drops its translation of the bytes before it writes them. A CPU that translates between
 * the two keeps what was there: if that is an INT3 of Linux, it stays when nobody knows of it any
 * more, and the guest dies of it. So the translation is dropped once more after the block that
 * writes, and with that before an IPI says to the others that it is done. CPUs that take turns
 * in one thread do not need it.
 *
 * A page of which nothing is translated yet is not watched while its first code is. That window is
 * left.
 */
#include "silicon.h"
#include "exec/exec-all.h"

#define SIZE_BITS	13	/* up to a page */

void __real_tb_invalidate_phys_range_fast(ram_addr_t addr, unsigned int size, uintptr_t ra);
void __wrap_tb_invalidate_phys_range_fast(ram_addr_t addr, unsigned int size, uintptr_t ra);

static void drop_again(CPUState *cs, run_on_cpu_data data)
{
	ram_addr_t addr = data.host_ulong >> SIZE_BITS;

	tb_invalidate_phys_range(addr, addr + extract64(data.host_ulong, 0, SIZE_BITS) - 1);
}

void __wrap_tb_invalidate_phys_range_fast(ram_addr_t addr, unsigned int size, uintptr_t ra)
{
	__real_tb_invalidate_phys_range_fast(addr, size, ra);
	if (qemu_tcg_mttcg_enabled())
		async_run_on_cpu(current_cpu, drop_again,
				 RUN_ON_CPU_HOST_ULONG(addr << SIZE_BITS | size));
}
