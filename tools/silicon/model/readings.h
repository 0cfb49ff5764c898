/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made from spec/readings.json by tools/readings --header. */
#ifndef READINGS_H
#define READINGS_H

enum reading {
	RD_SUMMARY_CLEAR,
	RD_PMI_WHILE_OV,
	RD_STATUS_WRITE,
	RD_RST_ALL,
	RD_RST_ALL_START,
	RD_FREEZE_LATENCY,
	RD_REFREEZE,
	RD_COND,
	RD_MUST_BE_0,
	RD_PMI_CORE_SEL,
	RD_PMI_MASK_0,
	RD_PMI_NO_DEBUGCTL,
	RD_DEBUGCTL_13,
	RD_OVF_UNCORE,
	RD_CBOX_SIDES,
	RD_U_CODES,
	RD_B_MASK,
	RD_B_MATCH_PARTS,
	RD_S_INVERT,
	RD_S_CODES,
	RD_S_MATCH,
	RD_S_RESET_FULL,
	RD_TO_R_FULL,
	RD_C_INVERT,
	RD_M_MASK,
	RD_M_ADDR,
	RD_M_LOCK,
	RD_R_QLX_PLAIN,
	RD_R_MATCH_FLITS,
	RD_R_MATCH_PORT,
	RD_FLITS_SENT,
	RD_W_INVERT,
	RD_W_FIXED_PMI,
	RD_W_ERRATUM,
	RD_W_ERRATUM_WHICH,
	READINGS
};

enum { RD_SUMMARY_CLEAR_BOTH, RD_SUMMARY_CLEAR_LATCH, RD_SUMMARY_CLEAR_OR, RD_SUMMARY_CLEAR_DOWN };
enum { RD_PMI_WHILE_OV_NONE, RD_PMI_WHILE_OV_SENT };
enum { RD_STATUS_WRITE_IGNORED, RD_STATUS_WRITE_CLEARS, RD_STATUS_WRITE_PLAIN };
enum { RD_RST_ALL_PULSE, RD_RST_ALL_LEVEL };
enum { RD_RST_ALL_START_TAKEN, RD_RST_ALL_START_LOST };
enum { RD_FREEZE_LATENCY_16, RD_FREEZE_LATENCY_0, RD_FREEZE_LATENCY_1000 };
enum { RD_REFREEZE_PACKAGE, RD_REFREEZE_COUNTER };
enum { RD_COND_FROZEN, RD_COND_OVERFLOW, RD_COND_NEVER };
enum { RD_MUST_BE_0_DROPPED, RD_MUST_BE_0_GP };
enum { RD_PMI_CORE_SEL_CORE_ID, RD_PMI_CORE_SEL_APIC_ID };
enum { RD_PMI_MASK_0_NONE, RD_PMI_MASK_0_IGNORED };
enum { RD_PMI_NO_DEBUGCTL_DROPPED, RD_PMI_NO_DEBUGCTL_KEPT };
enum { RD_DEBUGCTL_13_PRESENT, RD_DEBUGCTL_13_STUCK, RD_DEBUGCTL_13_NEEDLESS };
enum { RD_OVF_UNCORE_SET, RD_OVF_UNCORE_NONE };
enum { RD_CBOX_SIDES_BY_FIVE, RD_CBOX_SIDES_BY_EIGHT };
enum { RD_U_CODES_EIGHT, RD_U_CODES_NINE };
enum { RD_B_MASK_COMPARE, RD_B_MASK_IGNORE };
enum { RD_B_MATCH_PARTS_NAMED, RD_B_MATCH_PARTS_ALL };
enum { RD_S_INVERT_BELOW, RD_S_INVERT_ABOVE };
enum { RD_S_CODES_DETAILS, RD_S_CODES_TABLE };
enum { RD_S_MATCH_ADDR_LOW, RD_S_MATCH_CLASS_LOW };
enum { RD_S_RESET_FULL_TRUE, RD_S_RESET_FULL_FROM_ZERO_WRAPS, RD_S_RESET_FULL_FROM_ZERO_STICKS };
enum { RD_TO_R_FULL_ANY, RD_TO_R_FULL_NONE, RD_TO_R_FULL_FIRST };
enum { RD_C_INVERT_BELOW, RD_C_INVERT_ABOVE };
enum { RD_M_MASK_COMPARE, RD_M_MASK_IGNORE };
enum { RD_M_ADDR_BYTE, RD_M_ADDR_LINE };
enum { RD_M_LOCK_NO, RD_M_LOCK_GP };
enum { RD_R_QLX_PLAIN_NO, RD_R_QLX_PLAIN_YES };
enum { RD_R_MATCH_FLITS_HEADER, RD_R_MATCH_FLITS_RAW };
enum { RD_R_MATCH_PORT_EXIT, RD_R_MATCH_PORT_ENTRY };
enum { RD_FLITS_SENT_DATA, RD_FLITS_SENT_ALL };
enum { RD_W_INVERT_BELOW, RD_W_INVERT_ABOVE };
enum { RD_W_FIXED_PMI_BIT_2, RD_W_FIXED_PMI_NONE };
enum { RD_W_ERRATUM_EVERY, RD_W_ERRATUM_COUNTED, RD_W_ERRATUM_NONE };
enum { RD_W_ERRATUM_WHICH_ALL, RD_W_ERRATUM_WHICH_EVENTS, RD_W_ERRATUM_WHICH_FIXED };

#define READING_ANSWERS	4	/* at most */

struct reading_names {
	const char *name;
	const char *answers[READING_ANSWERS];
	unsigned char xeon;	/* a doubt of the Xeon 7500; else of another machine */
};

static const struct reading_names reading_names[] __attribute__((unused)) = {
	[RD_SUMMARY_CLEAR] = { "summary_clear", { "both", "latch", "or", "down" }, 1 },
	[RD_PMI_WHILE_OV] = { "pmi_while_ov", { "none", "sent" }, 1 },
	[RD_STATUS_WRITE] = { "status_write", { "ignored", "clears", "plain" }, 1 },
	[RD_RST_ALL] = { "rst_all", { "pulse", "level" }, 1 },
	[RD_RST_ALL_START] = { "rst_all_start", { "taken", "lost" }, 1 },
	[RD_FREEZE_LATENCY] = { "freeze_latency", { "16", "0", "1000" }, 1 },
	[RD_REFREEZE] = { "refreeze", { "package", "counter" }, 1 },
	[RD_COND] = { "cond", { "frozen", "overflow", "never" }, 1 },
	[RD_MUST_BE_0] = { "must_be_0", { "dropped", "gp" }, 1 },
	[RD_PMI_CORE_SEL] = { "pmi_core_sel", { "core_id", "apic_id" }, 1 },
	[RD_PMI_MASK_0] = { "pmi_mask_0", { "none", "ignored" }, 1 },
	[RD_PMI_NO_DEBUGCTL] = { "pmi_no_debugctl", { "dropped", "kept" }, 1 },
	[RD_DEBUGCTL_13] = { "debugctl_13", { "present", "stuck", "needless" }, 1 },
	[RD_OVF_UNCORE] = { "ovf_uncore", { "set", "none" }, 1 },
	[RD_CBOX_SIDES] = { "cbox_sides", { "by_five", "by_eight" }, 0 },
	[RD_U_CODES] = { "u_codes", { "eight", "nine" }, 1 },
	[RD_B_MASK] = { "b_mask", { "compare", "ignore" }, 1 },
	[RD_B_MATCH_PARTS] = { "b_match_parts", { "named", "all" }, 1 },
	[RD_S_INVERT] = { "s_invert", { "below", "above" }, 1 },
	[RD_S_CODES] = { "s_codes", { "details", "table" }, 1 },
	[RD_S_MATCH] = { "s_match", { "addr_low", "class_low" }, 1 },
	[RD_S_RESET_FULL] = { "s_reset_full", { "true", "from_zero_wraps", "from_zero_sticks" }, 1 },
	[RD_TO_R_FULL] = { "to_r_full", { "any", "none", "first" }, 1 },
	[RD_C_INVERT] = { "c_invert", { "below", "above" }, 1 },
	[RD_M_MASK] = { "m_mask", { "compare", "ignore" }, 1 },
	[RD_M_ADDR] = { "m_addr", { "byte", "line" }, 1 },
	[RD_M_LOCK] = { "m_lock", { "no", "gp" }, 1 },
	[RD_R_QLX_PLAIN] = { "r_qlx_plain", { "no", "yes" }, 1 },
	[RD_R_MATCH_FLITS] = { "r_match_flits", { "header", "raw" }, 1 },
	[RD_R_MATCH_PORT] = { "r_match_port", { "exit", "entry" }, 1 },
	[RD_FLITS_SENT] = { "flits_sent", { "data", "all" }, 1 },
	[RD_W_INVERT] = { "w_invert", { "below", "above" }, 1 },
	[RD_W_FIXED_PMI] = { "w_fixed_pmi", { "bit_2", "none" }, 1 },
	[RD_W_ERRATUM] = { "w_erratum", { "every", "counted", "none" }, 1 },
	[RD_W_ERRATUM_WHICH] = { "w_erratum_which", { "all", "events", "fixed" }, 1 },
};

#endif
