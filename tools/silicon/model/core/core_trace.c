// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Retirement: what the guest's instructions do to the counters.
 *
 * An instruction counts when it starts and is taken back if it faults. The
 * countdown says how many more may start before somebody must look: the one
 * that makes a counter overflow, and the one after it. At the start of that
 * next instruction the state is what it was after the first, so there the block
 * is left, with exact registers and flags, and PEBS records and interrupts are
 * made; then it starts again. The same is done whenever the ring changes, since
 * the next instruction may not be reported at all.
 */
#include "core.h"
#include "qemu/main-loop.h"
#include "qemu/plugin.h"
#include "exec/cpu-common.h"
#include "exec/translation-block.h"
#include "accel/tcg/getpc.h"
#include "tcg/helper-tcg.h"
#include "tcg/insn-start-words.h"

#define FAR_AWAY	(1ull << 62)

static uint64_t *left(struct core *k)
{
	return &core_env(k)->TRACE_LEFT;
}

/* ---- the countdown ---- */

void trace_settle(struct core *k)
{
	uint64_t n = k->t.armed - *left(k);	/* -1 after a fault */

	if (!n || k->t.class == CLASS_NONE)
		return;
	k->t.armed = *left(k);
	k->t.retired += n;
	k->stat[SYN_CORE_S_INSNS] += n;
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_INSN && (c->rings & core_ring(k))) {
			c->val += n;
			c->truth.events += n;
		}
	}
}

static void arm(struct core *k)
{
	uint64_t n = k->t.due ? 1 : FAR_AWAY;

	for (int i = 0; i < CORE_COUNTERS; i++) {
		const struct core_counter *c = &k->ctr[i];

		if (!c->running || !(c->rings & core_ring(k)))
			continue;
		if (c->ev.src == SRC_INSN)
			n = MIN(n, core_mask(k) + 1 - MIN(c->val, core_mask(k)));
		if (k->t.skid >> i & 1)
			n = MIN(n, MAX(k->t.skid_until[i], k->t.retired + 1) - k->t.retired);
	}
	k->t.armed = *left(k) = n;
}

/* Look at the start of the next instruction. */
static void pull_in(struct core *k)
{
	k->t.armed += 1 - *left(k);
	*left(k) = 1;
}

static uint64_t sequence(struct core *k)
{
	return k->t.retired + k->t.armed - *left(k);
}

/* ---- events ---- */

static void hit(struct core *k, unsigned int i, const struct core_sample *s)
{
	uint32_t bit = 1u << i;

	if (k->t.wait & bit) {
		k->t.wait &= ~bit;
		k->t.ready |= bit;
	} else if (k->ctr[i].val <= core_mask(k) || (k->t.due & bit)) {
		return;
	}
	k->t.due |= bit;
	k->t.sample[i] = *s;
}

void trace_count(struct core *k, unsigned int i, const struct core_sample *s)
{
	struct core_counter *c = &k->ctr[i];

	c->val++;
	c->truth.events++;
	hit(k, i, s);
}

/* The same, by an instruction that may yet fault. */
static void count_pending(struct core *k, unsigned int i, const struct core_sample *s)
{
	k->t.pending[i]++;
	trace_count(k, i, s);
	if (k->t.due)
		pull_in(k);
}

static void open_pending(struct core *k)
{
	uint64_t seq = sequence(k);

	if (k->t.pending_seq == seq)
		return;
	k->t.pending_seq = seq;
	memset(k->t.pending, 0, sizeof(k->t.pending));
	memset(k->t.pending_level, 0, sizeof(k->t.pending_level));
}

/* The instruction in flight has faulted, or will be started again. */
static void take_back(struct core *k, bool events)
{
	if (k->t.class == CLASS_NONE)
		return;
	if (k->t.class & CLASS_INSN(core_ring(k)))
		++*left(k);
	trace_settle(k);
	if (events && k->t.pending_seq == sequence(k) + 1) {
		for (int i = 0; i < CORE_COUNTERS; i++) {
			k->ctr[i].val -= k->t.pending[i];
			k->ctr[i].truth.events -= k->t.pending[i];
		}
		for (int i = 0; i < SYN_LEVELS; i++)
			k->served[i] -= k->t.pending_level[i];
	}
	k->t.pending_seq = -1;
	/* Whatever it made due will come due again. */
	for (int i = 0; i < CORE_COUNTERS; i++) {
		uint32_t bit = 1u << i;

		if (!(k->t.due & bit))
			continue;
		if (k->t.ready & bit) {
			k->t.skid |= bit;
			k->t.skid_until[i] = k->t.retired + 1;
			k->t.due &= ~bit;
			k->t.ready &= ~bit;
		} else if (k->ctr[i].val <= core_mask(k)) {
			k->t.due &= ~bit;
		}
	}
	arm(k);
}

void trace_boundary(struct core *k)
{
	uint32_t due, ready;
	bool locked = bql_locked();

	if (!locked)
		bql_lock();
	core_catch_up(k);
	trace_settle(k);
	due = k->t.due;
	ready = k->t.ready;
	k->t.due = k->t.ready = 0;
	for (int i = 0; i < CORE_COUNTERS; i++) {
		if (!(due >> i & 1))
			continue;
		if (ready >> i & 1) {
			pebs_write(k, i, &k->t.sample[i]);
			continue;
		}
		k->ctr[i].val &= core_mask(k);
		core_overflow(k, i, &k->t.sample[i]);
	}
	if (due & DUE_BTS)
		core_interrupt(k);
	core_apply(k);
	if (!locked)
		bql_unlock();
}

/*
 * Leave translated code before the instruction at its start, settle what is
 * due, and go on with that instruction. It will report itself again.
 */
static G_NORETURN void leave(struct core *k, uintptr_t ra, uint64_t info, bool counted)
{
	CPUX86State *env = core_env(k);

	if (counted)
		++*left(k);
	cpu_restore_state(k->cs, ra);
	/* The translator forgets the flags of repeated string instructions here. */
	if (INFO_CC_OP(info) != CC_OP_DYNAMIC)
		env->cc_op = INFO_CC_OP(info);
	k->cs->neg.can_do_io = true;
	trace_boundary(k);
	cpu_loop_exit_noexc(k->cs);
}

void trace_countdown(CPUX86State *env, uint64_t ip, uint64_t info)
{
	struct core *k = core_peek(env_cpu(env)->cpu_index);
	struct core_sample s = { .ip = ip };

	if (k->t.due)
		leave(k, GETPC(), info, true);
	trace_settle(k);
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];
		uint32_t bit = 1u << i;

		if (!c->running || !(c->rings & core_ring(k)))
			continue;
		if ((k->t.skid & bit) && k->t.retired >= k->t.skid_until[i]) {
			k->t.skid &= ~bit;
			k->t.wait |= bit;
			/* Clocks have no event of their own to wait for. */
			if (c->ev.src == SRC_INSN || core_event_timed(&c->ev))
				hit(k, i, &s);
		} else if (c->ev.src == SRC_INSN && !((k->t.skid | k->t.wait) & bit)) {
			hit(k, i, &s);
		}
	}
	arm(k);
}

void trace_op(CPUX86State *env, uint64_t ip, uint64_t info)
{
	struct core *k = core_peek(env_cpu(env)->cpu_index);
	struct core_sample s = { .ip = ip };
	uint32_t ops = INFO_OPS(info);

	if (ops & OP_BRANCHES)
		k->t.br = (struct core_branch){ ip, INFO_LEN(info), ops & OP_BRANCHES };
	open_pending(k);
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_OP && (c->ev.what & ops) &&
		    (c->rings & core_ring(k)))
			count_pending(k, i, &s);
	}
}

/* The first instruction of a block: the one place a branch can lead to. */
void trace_block(CPUX86State *env, uint64_t ip, uint64_t info)
{
	struct core *k = core_peek(env_cpu(env)->cpu_index);

	branch_resolve(k, ip, core_ring(k));
	if (k->t.due)
		leave(k, GETPC(), info, false);
}

static bool physical(uint32_t meminfo, uint64_t va, uint64_t *pa)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(meminfo, va);

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return false;
	*pa = qemu_plugin_hwaddr_phys_addr(hw);
	return true;
}

void trace_mem(unsigned int cpu, uint32_t meminfo, uint64_t va, void *insn)
{
	uint64_t word = (uintptr_t)insn;
	struct core *k = core_peek(cpu);
	struct mem_access a = {
		.va = va,
		.store = qemu_plugin_mem_is_store(meminfo),
		.size = 1u << qemu_plugin_mem_size_shift(meminfo),
		.locked = word & MEM_INSN_LOCK,
		.seq = sequence(k),
		.space = core_env(k)->cr[3],
		.threshold = k->pebs_ld_lat,
	};
	struct core_sample s = {
		.ip = (int64_t)(word << 16) >> 16, .va = va,
		.store = a.store, .locked = a.locked,
	};
	uint32_t need = 0, is;

	for (int i = 0; i < CORE_COUNTERS; i++) {
		const struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_MEM && (c->rings & core_ring(k)))
			need |= c->ev.what;
	}
	if (!need)
		return;
	if (need & MEM_NEED_CACHE)
		a.cacheable = physical(meminfo, va, &a.pa);
	is = mem_access(k->mem, cpu, &a, need, &s.mem);
	open_pending(k);
	if ((need & MEM_NEED_CACHE) && !a.store) {
		k->served[s.mem.level]++;
		k->t.pending_level[s.mem.level]++;
	}
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_MEM && (c->ev.what & is) &&
		    (c->rings & core_ring(k)))
			count_pending(k, i, &s);
	}
}

/* ---- what runs ---- */

static uint8_t wanted(const struct core *k)
{
	uint8_t class = 0;

	for (int i = 0; i < CORE_COUNTERS; i++) {
		const struct core_counter *c = &k->ctr[i];

		if (!c->running)
			continue;
		if ((k->t.skid | k->t.wait | k->t.due) >> i & 1)
			class |= CLASS_INSN(c->rings);
		switch (c->ev.src) {
		case SRC_INSN:
			class |= CLASS_INSN(c->rings);
			break;
		case SRC_OP:
		case SRC_BRANCH:
			class |= CLASS_INSN(c->rings) | CLASS_OP(c->rings);
			break;
		case SRC_MEM:
			class |= CLASS_INSN(c->rings) | CLASS_MEM(c->rings);
			break;
		default:
			break;
		}
	}
	if (branch_lbr_on(k) || bts_on(k))
		class |= CLASS_INSN(3) | CLASS_OP(3);
	return class ? class : CLASS_NONE;
}

static void class_work(CPUState *cs, run_on_cpu_data data)
{
	trace_apply(core_peek(cs->cpu_index));
}

void trace_apply(struct core *k)
{
	uint32_t stopped = 0;
	uint8_t class;

	k->t.clocks = false;
	for (int i = 0; i < CORE_COUNTERS; i++) {
		const struct core_counter *c = &k->ctr[i];

		if (!c->running || !pebs_on(k, i))
			stopped |= 1u << i;
		if (c->running && core_event_timed(&c->ev) && c->rings != (RING_OS | RING_USR))
			k->t.clocks = true;
		if (c->running && c->ev.src == SRC_IRQ)
			k->t.clocks = true;
	}
	/* Records that nobody will make any more. */
	for (uint32_t lost = stopped & (k->t.skid | k->t.wait | k->t.ready); lost; lost &= lost - 1) {
		k->ctr[ctz32(lost)].truth.lost++;
		k->stat[SYN_CORE_S_LOST_STOP]++;
	}
	k->t.skid &= ~stopped;
	k->t.wait &= ~stopped;
	k->t.due &= ~(stopped & k->t.ready);
	k->t.ready &= ~stopped;

	class = wanted(k);
	if (class == k->t.class) {
		if (class != CLASS_NONE)
			arm(k);
		return;
	}
	if (k->in_rdmsr) {
		async_run_on_cpu(k->cs, class_work, RUN_ON_CPU_NULL);
		return;
	}
	k->t.class = class;
	k->t.br.kind = 0;
	k->t.pending_seq = -1;
	emit_set_class(k, class);
	arm(k);
}

/* ---- changes of ring ---- */

static struct core *traced(CPUState *cs)
{
	struct core *k = core_peek(cs->cpu_index);

	return k && (k->t.class != CLASS_NONE || k->t.clocks) ? k : NULL;
}

/* State and instruction pointer are exact, and may be those of another ring. */
static void arrived(struct core *k)
{
	CPUX86State *env = core_env(k);
	bool user = env->hflags & HF_CPL_MASK;

	branch_resolve(k, env->eip, user ? RING_USR : RING_OS);
	if (k->t.due)
		trace_boundary(k);
	if (user == k->clock.ring)
		return;
	trace_settle(k);
	if (k->t.clocks)
		core_clock_update(k);
	k->clock.ring = user;
	if (k->t.class != CLASS_NONE)
		arm(k);
	if (k->t.clocks)
		core_clock_arm(k);
}

void __real_helper_syscall(CPUX86State *env, int next_eip_addend);
void __wrap_helper_syscall(CPUX86State *env, int next_eip_addend);
void __real_helper_sysret(CPUX86State *env, int dflag);
void __wrap_helper_sysret(CPUX86State *env, int dflag);
void __real_helper_sysenter(CPUX86State *env);
void __wrap_helper_sysenter(CPUX86State *env);
void __real_helper_sysexit(CPUX86State *env, int dflag);
void __wrap_helper_sysexit(CPUX86State *env, int dflag);
void __real_helper_iret_protected(CPUX86State *env, int shift, int next_eip);
void __wrap_helper_iret_protected(CPUX86State *env, int shift, int next_eip);
void __real_helper_lret_protected(CPUX86State *env, int shift, int addend);
void __wrap_helper_lret_protected(CPUX86State *env, int shift, int addend);
void __real_do_interrupt_x86_hardirq(CPUX86State *env, int intno, int is_hw);
void __wrap_do_interrupt_x86_hardirq(CPUX86State *env, int intno, int is_hw);
void __real_x86_cpu_do_interrupt(CPUState *cs);
void __wrap_x86_cpu_do_interrupt(CPUState *cs);
G_NORETURN void __real_cpu_loop_exit_atomic(CPUState *cs, uintptr_t pc);
G_NORETURN void __wrap_cpu_loop_exit_atomic(CPUState *cs, uintptr_t pc);

/*
 * These helpers find the guest's instruction through their return address when
 * they fault, and below the wrapper they find nothing: so put what they would
 * find into env before.
 */
static void exact_state(struct core *k, uintptr_t ra)
{
	CPUX86State *env = core_env(k);
	uint64_t data[TARGET_INSN_START_WORDS];

	if (!cpu_unwind_state_data(k->cs, ra, data))
		return;
	if (k->t.class == CLASS_NONE)
		env->eip = (env->eip & TARGET_PAGE_MASK) | data[0];	/* CF_PCREL */
	else
		env->eip = data[0] - env->segs[R_CS].base;
	if (data[1] != CC_OP_DYNAMIC)
		env->cc_op = data[1];
}

/* The IRET that ends an NMI. */
static void __attribute__((noinline)) nmi_ends(CPUX86State *env, uintptr_t ra)
{
	if (!(env->hflags2 & HF2_NMI_MASK) || !kind_is_ex(silicon_kind(env)))
		return;
	silicon_at_io(env_cpu(env), ra);
	bql_lock();
	apic_nmi_end(env_cpu(env));
	bql_unlock();
}

#define RING_CHANGE_AFTER(first, name, params, args) \
void __wrap_##name params \
{ \
	struct core *k = traced(env_cpu(env)); \
\
	first; \
	if (!k) { \
		__real_##name args; /* a jump, which leaves the return address */ \
		return; \
	} \
	exact_state(k, GETPC()); \
	__real_##name args; \
	arrived(k); \
}

#define RING_CHANGE(name, params, args) RING_CHANGE_AFTER(, name, params, args)

RING_CHANGE(helper_syscall, (CPUX86State *env, int addend), (env, addend))
RING_CHANGE(helper_sysret, (CPUX86State *env, int dflag), (env, dflag))
RING_CHANGE(helper_sysenter, (CPUX86State *env), (env))
RING_CHANGE(helper_sysexit, (CPUX86State *env, int dflag), (env, dflag))
RING_CHANGE_AFTER(nmi_ends(env, GETPC()),
		  helper_iret_protected, (CPUX86State *env, int shift, int next), (env, shift, next))
RING_CHANGE(helper_lret_protected, (CPUX86State *env, int shift, int addend), (env, shift, addend))

static void irq_events(struct core *k)
{
	struct core_sample s = { .ip = core_env(k)->eip };

	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_IRQ && (c->rings & core_ring(k)))
			trace_count(k, i, &s);
	}
}

void __wrap_do_interrupt_x86_hardirq(CPUX86State *env, int intno, int is_hw)
{
	struct core *k = traced(env_cpu(env));

	if (intno == EXCP02_NMI)
		apic_nmi_begin(env_cpu(env));
	if (k) {
		irq_events(k);
		arrived(k);	/* what was under way is over */
	}
	__real_do_interrupt_x86_hardirq(env, intno, is_hw);
	if (k)
		arrived(k);
}

static bool string_at(CPUState *cs, uint64_t ip)
{
	uint8_t b[4];
	unsigned int n = 0;

	if (cpu_memory_rw_debug(cs, ip, b, sizeof(b), false))
		return false;
	while (n < 3 && (b[n] == 0x66 || b[n] == 0x67 || b[n] == 0xf2 || b[n] == 0xf3 ||
			 (b[n] & 0xf0) == 0x40))
		n++;
	return decode_insn(b, n + 1, true) & OP_STRING;
}

void __wrap_x86_cpu_do_interrupt(CPUState *cs)
{
	CPUX86State *env = &X86_CPU(cs)->env;
	struct core *k = traced(cs);
	int nr = cs->exception_index;

	if (k && !env->exception_is_int && nr != EXCP01_DB) {
		/* An instruction that could not be fetched never started. */
		bool started = nr != EXCP0E_PAGE || !(env->error_code & PG_ERROR_I_D_MASK);

		if (k->t.br.kind && k->t.br.ip == env->eip && started)
			k->t.br.kind = 0;
		/* A string instruction has done some of its work, and goes on later. */
		if (started && !string_at(cs, env->eip))
			take_back(k, true);
		arrived(k);
	}
	__real_x86_cpu_do_interrupt(cs);
	if (k)
		arrived(k);
}

/* QEMU starts the instruction again, alone. */
void __wrap_cpu_loop_exit_atomic(CPUState *cs, uintptr_t pc)
{
	struct core *k = traced(cs);

	if (k)
		take_back(k, true);
	__real_cpu_loop_exit_atomic(cs, pc);
}
