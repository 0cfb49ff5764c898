// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kinds of box, in the order of enum box_kind.
 */
#include "uncore.h"

#define EN_HIGH		(1u << 22)
#define PMI_HIGH	(1u << 20)
#define EN_LOW		(1u << 0)

const struct box_type box_types[BOX_KINDS] = {
	[BOX_U] = {
		.instances = 1, .counters = 1,
		.en = EN_HIGH, .pmi_en = PMI_HIGH, .select = select_u,
	},
	[BOX_C] = {
		.instances = 10, .counters = 6,
		.en = EN_HIGH, .pmi_en = PMI_HIGH, .select = select_c,
	},
	[BOX_W] = {
		.instances = 1, .counters = 5,
		.en = EN_HIGH, .pmi_en = PMI_HIGH, .select = select_w,
		.init = w_init, .no_pmi = w_no_pmi, .read = w_read, .write = w_write,
	},
	[BOX_S] = {
		.instances = 2, .counters = 4,
		.en = EN_HIGH, .pmi_en = PMI_HIGH, .select = select_s,
		.guard = s_guard, .packet = s_packet,
		.quiet = S_RESET_OCC, .quiet_write = s_quiet_write, .leave = s_leave,
	},
	[BOX_B] = {
		.instances = 2, .counters = 4,
		.en = EN_LOW, .pmi_en = PMI_HIGH, .select = select_b,
		.packet = b_packet,
	},
	[BOX_M] = {
		.instances = 2, .counters = 6,
		.en = EN_LOW, .pmi_en = 1u << 1, .select = select_m,
		.guard = m_guard, .packet = m_packet,
	},
	[BOX_R] = {
		.instances = 2, .counters = 8,
		.en = EN_LOW, .pmi_en = 1u << 6, .select = select_r,
		.packet = r_packet,
	},
};
