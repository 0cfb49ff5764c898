// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What QEMU's translator adds to guest code so that the model sees it retire.
 *
 * Each CPU runs translated code of a class. The class sits in bits of the
 * translation flags that a machine without CPU clusters leaves alone; QEMU keeps
 * code of different flags apart, so changing the class is one store, takes
 * effect with the next block, and an idle PMU costs nothing at all: its class
 * is the code QEMU always makes. Only rings that somebody counts are reported.
 *
 * At the start of an instruction the code counts down one field of env and
 * calls trace_countdown() at zero. Branches and other instructions of interest
 * call trace_op(), and blocks trace_block(), where somebody wants those;
 * accesses go through QEMU's plugin interface, which follows them into helpers.
 */
#include "core.h"
#include "qemu/plugin.h"
#include "tcg/tcg.h"
#include "tcg/tcg-op-common.h"
#include "tcg/tcg-temp-internal.h"
#include "tcg/helper-info.h"
#include "exec/helper-head.h.inc"
#include "exec/translation-block.h"
#include "exec/translator.h"
#include "exec/plugin-gen.h"

bool __real_plugin_gen_tb_start(CPUState *cs, const DisasContextBase *db);
bool __wrap_plugin_gen_tb_start(CPUState *cs, const DisasContextBase *db);
void __real_plugin_gen_insn_start(CPUState *cs, const DisasContextBase *db);
void __wrap_plugin_gen_insn_start(CPUState *cs, const DisasContextBase *db);
void __wrap_qemu_plugin_tb_trans_cb(CPUState *cs, struct qemu_plugin_tb *tb);
void __real_qemu_plugin_tb_trans_cb(CPUState *cs, struct qemu_plugin_tb *tb);

/* The flags of each instruction, before the translator changes its mind. */
static __thread uint16_t cc_ops[TCG_MAX_INSNS];

static unsigned int class_of(const TranslationBlock *tb)
{
	return tb_cflags(tb) >> CF_CLUSTER_SHIFT;
}

static uint8_t ring_of(const TranslationBlock *tb)
{
	return tb->flags & HF_CPL_MASK ? RING_USR : RING_OS;
}

/*
 * Only where translated code does not carry on: a block of the old class must
 * not be chained to one of the new.
 */
void emit_set_class(struct core *k, uint8_t class)
{
	CPUState *cs = k->cs;
	uint32_t cflags = cs->tcg_cflags & ~CF_CLUSTER_MASK;

	/* The trace wants addresses, so blocks must not be shared between them. */
	if (class == CLASS_NONE)
		cflags |= CF_PCREL;
	else
		cflags &= ~CF_PCREL;
	cs->tcg_cflags = cflags | (uint32_t)class << CF_CLUSTER_SHIFT;
	set_bit(QEMU_PLUGIN_EV_VCPU_TB_TRANS, cs->plugin_state->event_mask);
}

bool __wrap_plugin_gen_tb_start(CPUState *cs, const DisasContextBase *db)
{
	unsigned int class = class_of(db->tb);
	uint8_t r = ring_of(db->tb);

	if (class != CLASS_NONE &&
	    (class & (CLASS_INSN(r) | CLASS_OP(r) | CLASS_MEM(r))))
		return __real_plugin_gen_tb_start(cs, db);
	/* A fault during the last translation may have left these behind. */
	tcg_ctx->plugin_db = NULL;
	tcg_ctx->plugin_insn = NULL;
	return false;
}

void __wrap_plugin_gen_insn_start(CPUState *cs, const DisasContextBase *db)
{
	cc_ops[db->num_insns - 1] = tcg_get_insn_start_param(db->insn_start, 1);
	__real_plugin_gen_insn_start(cs, db);
}

static void call(TCGHelperInfo *info, void *func, uint64_t ip, uint64_t word)
{
	tcg_gen_call3(func, info, NULL, tcgv_ptr_temp(tcg_env),
		      tcgv_i64_temp(tcg_constant_i64(ip)),
		      tcgv_i64_temp(tcg_constant_i64(word)));
}

/* These read the guest's registers and may leave the block, but write nothing. */
#define TRACE_HELPER(f) { \
	.func = f, .name = #f, .flags = TCG_CALL_NO_WG, \
	.typemask = dh_typemask(void, 0) | dh_typemask(env, 1) | \
		    dh_typemask(i64, 2) | dh_typemask(i64, 3), \
}

static void emit_countdown(uint64_t ip, uint64_t word)
{
	static TCGHelperInfo info = TRACE_HELPER(trace_countdown);
	TCGv_i64 left = tcg_temp_ebb_new_i64();
	TCGLabel *skip = gen_new_label();

	tcg_gen_ld_i64(left, tcg_env, offsetof(CPUX86State, TRACE_LEFT));
	tcg_gen_subi_i64(left, left, 1);
	tcg_gen_st_i64(left, tcg_env, offsetof(CPUX86State, TRACE_LEFT));
	tcg_gen_brcondi_i64(TCG_COND_NE, left, 0, skip);
	call(&info, trace_countdown, ip, word);
	gen_set_label(skip);
	tcg_temp_free_i64(left);
}

static void emit_insn(const TranslationBlock *tb, unsigned int n, uint64_t ip,
		      unsigned int len, uint32_t ops)
{
	static TCGHelperInfo op_info = TRACE_HELPER(trace_op);
	static TCGHelperInfo block_info = TRACE_HELPER(trace_block);
	unsigned int class = class_of(tb);
	uint8_t r = ring_of(tb);
	uint64_t word = INFO(len, cc_ops[n], ops);

	/* QEMU repeats this one, for the clock; its start has been counted. */
	if (tb_cflags(tb) & CF_MEMI_ONLY)
		return;
	if (n == 0 && (class & CLASS_OP(r)))
		call(&block_info, trace_block, ip, word);
	/*
	 * A string instruction that was interrupted comes back with RF set: it
	 * is still the same one.
	 */
	if ((ops & OP_STRING) && (tb->flags & HF_RF_MASK))
		return;
	if (class & CLASS_INSN(r))
		emit_countdown(ip, word);
	if ((class & CLASS_OP(r)) && (ops & OP_REPORTED))
		call(&op_info, trace_op, ip, word);
}

/* The block is translated; put our code in. */
void __wrap_qemu_plugin_tb_trans_cb(CPUState *cs, struct qemu_plugin_tb *ptb)
{
	const TranslationBlock *tb = tcg_ctx->gen_tb;
	bool mem = class_of(tb) & CLASS_MEM(ring_of(tb));
	unsigned int n = 0;
	TCGOp *op, *next;

	tcg_temp_ebb_reset_freed(tcg_ctx);
	QTAILQ_FOREACH_SAFE(op, &tcg_ctx->ops, link, next) {
		struct qemu_plugin_insn *insn;
		uint8_t bytes[16];
		unsigned int len;
		uint32_t ops;

		if (op->opc != INDEX_op_insn_start)
			continue;
		insn = qemu_plugin_tb_get_insn(ptb, n);
		len = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
		ops = decode_insn(bytes, len, tb->flags & HF_CS64_MASK);
		tcg_ctx->emit_before_op = next;
		emit_insn(tb, n, insn->vaddr, len, ops);
		tcg_ctx->emit_before_op = NULL;
		if (mem) {
			uint64_t word = insn->vaddr & (MEM_INSN_LOCK - 1);

			if (ops & OP_LOCK)
				word |= MEM_INSN_LOCK;
			qemu_plugin_register_vcpu_mem_cb(insn, trace_mem,
							 QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW,
							 (void *)(uintptr_t)word);
		}
		n++;
	}
	/* Plugins of the user's, if there are any. */
	__real_qemu_plugin_tb_trans_cb(cs, ptb);
}
