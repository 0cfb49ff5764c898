// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the guest's instructions meet the model: the linker puts these in
 * front of QEMU's own helpers.
 */
#include "top.h"
#include "qemu/main-loop.h"
#include "system/cpu-timers.h"
#include "accel/tcg/getpc.h"
#include "tcg/helper-tcg.h"

void __real_helper_rdmsr(CPUX86State *env);
void __real_helper_wrmsr(CPUX86State *env);
G_NORETURN void __real_helper_rdpmc(CPUX86State *env);
void __real_cpu_x86_cpuid(CPUX86State *env, uint32_t index, uint32_t count,
			  uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
void __wrap_helper_rdmsr(CPUX86State *env);
void __wrap_helper_wrmsr(CPUX86State *env);
G_NORETURN void __wrap_helper_rdpmc(CPUX86State *env);
void __wrap_cpu_x86_cpuid(CPUX86State *env, uint32_t index, uint32_t count,
			  uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

static bool __attribute__((noinline)) do_rdmsr(CPUX86State *env, uintptr_t ra)
{
	CPUState *cs = env_cpu(env);
	uint32_t msr = env->regs[R_ECX];
	enum msr_rc rc;
	const struct part *p;
	uint64_t val = 0;

	if (silicon_kind(env) == KIND_NONE)
		return false;
	p = part_of(cs, msr);
	if (!p && !synth_owns(msr))
		return false;
	silicon_at_io(cs, ra);
	bql_lock();
	if (p) {
		rc = p->rdmsr(cs, msr, &val);
		stats_access(cs, p, msr, false, val, rc);
	} else {
		rc = MSR_OK;
		val = synth_rdmsr(cs, msr);
	}
	bql_unlock();
	if (rc == MSR_GP)
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	if (rc == MSR_PASS)
		return false;
	env->regs[R_EAX] = (uint32_t)val;
	env->regs[R_EDX] = val >> 32;
	return true;
}

static bool __attribute__((noinline)) do_wrmsr(CPUX86State *env, uintptr_t ra)
{
	CPUState *cs = env_cpu(env);
	uint32_t msr = env->regs[R_ECX];
	uint64_t val = (uint32_t)env->regs[R_EAX] | (uint64_t)env->regs[R_EDX] << 32;
	enum msr_rc rc = MSR_OK;
	const struct part *p;

	if (silicon_kind(env) == KIND_NONE)
		return false;
	p = part_of(cs, msr);
	if (p ? !p->wrmsr : !synth_owns(msr))
		return false;
	silicon_at_io(cs, ra);
	bql_lock();
	if (p) {
		rc = p->wrmsr(cs, msr, val);
		stats_access(cs, p, msr, true, val, rc);
	} else {
		synth_wrmsr(cs, msr, val);
	}
	bql_unlock();
	if (rc == MSR_GP)
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	return rc == MSR_OK;
}

/*
 * The real helpers take their own return address to find the guest
 * instruction, so they must be reached by a jump: nothing here may have an
 * address that escapes, or the compiler would make it a call.
 */
void __wrap_helper_rdmsr(CPUX86State *env)
{
	if (!do_rdmsr(env, GETPC()))
		__real_helper_rdmsr(env);
}

void __wrap_helper_wrmsr(CPUX86State *env)
{
	if (!do_wrmsr(env, GETPC()))
		__real_helper_wrmsr(env);
}

void __wrap_helper_rdpmc(CPUX86State *env)
{
	uintptr_t ra = GETPC();
	CPUState *cs = env_cpu(env);
	uint32_t index = env->regs[R_ECX];
	uint64_t val = 0;
	bool ok = false;

	if (silicon_kind(env) == KIND_NONE)
		__real_helper_rdpmc(env);
	if (!(env->cr[4] & CR4_PCE_MASK) && (env->hflags & HF_CPL_MASK))
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	silicon_at_io(cs, ra);
	bql_lock();
	EACH_PART(p, rdpmc)
		ok = p->rdpmc(cs, index, &val);
	stats_rdpmc(cs, index, val, !ok);
	bql_unlock();
	if (!ok)
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	env->regs[R_EAX] = (uint32_t)val;
	env->regs[R_EDX] = val >> 32;
	/* QEMU has no RDPMC that returns, so step over its two bytes ourselves. */
	env->eip += 2;
	cs->exception_index = -1;
	cpu_loop_exit(cs);
}

void __wrap_cpu_x86_cpuid(CPUX86State *env, uint32_t index, uint32_t count,
			  uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
	__real_cpu_x86_cpuid(env, index, count, eax, ebx, ecx, edx);
	if (silicon_kind(env) == KIND_NONE)
		return;
	EACH_PART(p, cpuid)
		p->cpuid(env, index, count, eax, ebx, ecx, edx);
}

G_NORETURN void __real_helper_pause(CPUX86State *env);
G_NORETURN void __wrap_helper_pause(CPUX86State *env);

static bool others_sleep(CPUState *cs)
{
	CPUState *other;

	CPU_FOREACH(other)
		if (other != cs && (!other->halted || cpu_has_work(other)))
			return false;
	return true;
}

/*
 * At each PAUSE QEMU leaves the CPU, to let another one run, and comes back to where it was.
 * With --icount and --one-thread all CPUs take turns in one thread. There that is for nothing as
 * long as there is no other, and a kernel that boots waits for a fifth of a second in such loops.
 * Otherwise each CPU has a thread, and whoever is waited for may need the processor that we are on.
 */
void __wrap_helper_pause(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);

	if ((env->eflags & TF_MASK) || (!qemu_tcg_mttcg_enabled() && !others_sleep(cs)))
		__real_helper_pause(env);
	if (qemu_tcg_mttcg_enabled())
		sched_yield();
	do_end_instruction(env);
	cpu_loop_exit_noexc(cs);
}
