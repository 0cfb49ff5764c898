// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

u64 truth(int cpu, unsigned int what, unsigned int ctr)
{
	return msr_read(cpu, SYN_TRUTH(what, ctr));
}

void wait_us(unsigned int us)
{
	struct timespec ts = { .tv_nsec = us * 1000L };

	nanosleep(&ts, NULL);
}

void start_over(int cpu)
{
	static const struct { const unsigned int *box; int boxes, ctrs; } all[] = {
		{ c_box, 8, 6 }, { s_box, 2, 4 }, { b_box, 2, 4 }, { m_box, 2, 6 }, { r_box, 2, 8 },
	};
	unsigned int i;
	int b, n;

	msr_write(cpu, U_GLOBAL_CTL, 0);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (b = 0; b < all[i].boxes; b++) {
			msr_write(cpu, all[i].box[b], 0);
			for (n = 0; n < all[i].ctrs; n++)
				msr_write(cpu, all[i].box[b] + CTL(n), 0);
			msr_write(cpu, all[i].box[b] + OVF, (1u << all[i].ctrs) - 1);
		}
	}
	for (n = 0; n < 4; n++)
		msr_write(cpu, W_GLOBAL_CTL + CTL(n), 0);
	msr_write(cpu, W_FIXED_CTR_CTL, 0);
	msr_write(cpu, W_GLOBAL_CTL, 0);
	msr_write(cpu, W_GLOBAL_OVF_CTL, 0x8000000f);
	msr_write(cpu, U_EV_SEL, 0);
	msr_write(cpu, U_GLOBAL_OVF_CTL, 0xc000000f);
	msr_write(cpu, U_GLOBAL_CTL, U_RST_ALL);
	msr_write(cpu, U_GLOBAL_CTL, 0);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	msr_write(cpu, SYN_TRAFFIC_MIX, 1);
	for (i = SYN_FAULT_LOSE; i <= SYN_FAULT_LAST; i++)
		msr_write(cpu, i, 0);
	msr_write(cpu, SYN_CLEAR, 1);
}

void set_pattern(int cpu, u64 sel, u64 pattern)
{
	msr_write(cpu, SYN_TRAFFIC_SEL, sel);
	msr_write(cpu, SYN_TRAFFIC_SET, pattern);
}

void run_for(int cpu, unsigned int us, u64 u_ctl)
{
	msr_write(cpu, U_GLOBAL_CTL, u_ctl | U_EN_ALL);
	wait_us(us);
	msr_write(cpu, U_GLOBAL_CTL, u_ctl);
}

u64 check_truth(int cpu, unsigned int ctr)
{
	u64 events = truth(cpu, SYN_EVENTS, ctr), value = msr_read(cpu, ctr);

	ktap_check(events && value == (events & M48), "0x%x: %llu, truth %llu", ctr, value, events);
	return events;
}

u64 violations(unsigned int kind)
{
	return msr_read(0, SYN_VIOLATION(kind));
}
