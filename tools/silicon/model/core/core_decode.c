// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kinds of instructions, as far as events ask for them. The bytes are those of
 * one whole instruction that QEMU has decoded before us, so nothing is checked.
 */
#include "core.h"

struct insn {
	bool rep, lock;
	uint8_t map;		/* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a */
	uint8_t op, modrm;
};

static bool vex(const uint8_t *b, unsigned int len, bool code64)
{
	/* C4 and C5 are LES and LDS in old code unless ModRM says register. */
	return len > 2 && (b[0] == 0xc4 || b[0] == 0xc5) && (code64 || b[1] >= 0xc0);
}

static struct insn split(const uint8_t *b, unsigned int len, bool code64)
{
	struct insn i = { 0 };

	for (; len > 1; b++, len--) {
		if (*b == 0xf2 || *b == 0xf3)
			i.rep = true;
		else if (*b == 0xf0)
			i.lock = true;
		else if (*b != 0x66 && *b != 0x67 && *b != 0x26 && *b != 0x2e && *b != 0x36 &&
			 *b != 0x3e && *b != 0x64 && *b != 0x65 && !(code64 && (*b & 0xf0) == 0x40))
			break;
	}
	if (vex(b, len, code64)) {
		unsigned int skip = *b == 0xc5 ? 2 : 3;

		i.map = *b == 0xc5 ? 1 : b[1] & 0x1f;
		b += skip;
		len -= MIN(len, skip);
	} else if (len > 1 && *b == 0x0f) {
		i.map = 1;
		b++, len--;
		if (len > 1 && (*b == 0x38 || *b == 0x3a)) {
			i.map = *b == 0x38 ? 2 : 3;
			b++, len--;
		}
	}
	i.op = len ? b[0] : 0;
	i.modrm = len > 1 ? b[1] : 0;
	return i;
}

static uint32_t one_byte(const struct insn *i, bool code64)
{
	unsigned int reg = i->modrm >> 3 & 7;
	bool mem = i->modrm < 0xc0;

	switch (i->op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return OP_JCC;
	case 0xe9:
	case 0xeb:
		return OP_JMP_REL;
	case 0xe8:
		return OP_CALL_REL;
	case 0xc2:
	case 0xc3:
		return OP_RET;
	case 0x9a:
	case 0xea:
	case 0xca ... 0xce:
		return OP_FAR | OP_MICROCODE;
	case 0xcf:
		return OP_FAR | OP_MICROCODE;
	case 0xf4:
		return OP_MICROCODE;
	case 0x86:
	case 0x87:
		return mem ? OP_LOCK : 0;	/* XCHG locks by itself */
	case 0x6c ... 0x6f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return (i->rep ? OP_STRING : 0) | OP_MICROCODE;
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
		return OP_MICROCODE;
	case 0xf6:
	case 0xf7:
		return reg >= 6 ? OP_IDIV : 0;
	case 0xd8:
	case 0xdc:
	case 0xde:
		return reg >= 6 ? OP_FPDIV : 0;
	case 0xda:
		return mem && reg >= 6 ? OP_FPDIV : 0;
	case 0xff:
		switch (reg) {
		case 2:
			return OP_CALL_IND;
		case 4:
			return OP_JMP_IND;
		case 3:
		case 5:
			return mem ? OP_FAR | OP_MICROCODE : 0;
		}
		return 0;
	}
	return 0;
}

static uint32_t two_byte(const struct insn *i)
{
	switch (i->op) {
	case 0x80 ... 0x8f:
		return OP_JCC;
	case 0x05:			/* SYSCALL, SYSRET, SYSENTER, SYSEXIT */
	case 0x07:
	case 0x34:
	case 0x35:
		return OP_FAR | OP_MICROCODE;
	case 0x5e:
		return OP_FPDIV;
	case 0x00:
	case 0x01:
	case 0x06:
	case 0x08:
	case 0x09:
	case 0x20 ... 0x23:
	case 0x30 ... 0x33:
	case 0xa2:
	case 0xae:
	case 0xc7:
		return OP_MICROCODE;
	}
	return 0;
}

uint32_t decode_insn(const uint8_t *b, unsigned int len, bool code64)
{
	struct insn i = split(b, len, code64);
	uint32_t ops = 0;

	if (i.map == 0)
		ops = one_byte(&i, code64);
	else if (i.map == 1)
		ops = two_byte(&i);
	return i.lock ? ops | OP_LOCK : ops;
}
