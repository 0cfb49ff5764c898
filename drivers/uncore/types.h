/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What box types are made of: constant tables, one type for each kind of box.
 *
 * A type says where the counters are, which fields the user's config words have, where
 * the value of each field goes, and which events there are. It knows nothing of boxes,
 * packages or perf's scheduling. With these tables decode.c finds the registers that a user's
 * event needs, and sysfs.c makes the files in sysfs.
 */
#ifndef UNCORE_TYPES_H
#define UNCORE_TYPES_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "claims.h"

#define UNCORE_COUNTER_MASK	GENMASK_ULL(47, 0)
#define UNCORE_MAX_COUNTERS	8
#define UNCORE_MAX_SUBREGS	36	/* R-Box: four ports with nine each */

/* No sampling period is shorter: the counter must not pass it while it is written. */
#define UNCORE_MIN_PERIOD	3

/* Every box but U has these two behind its GLOBAL_CTL. */
#define UNCORE_STATUS		1
#define UNCORE_OVF_CTL		2

struct perf_event;

/* One number for each box instance of a package, of whatever model. */
enum uncore_box_id {
	UNCORE_UBOX,
	UNCORE_CBOX,
	UNCORE_WBOX = UNCORE_CBOX + 10,
	UNCORE_SBOX,
	UNCORE_BBOX = UNCORE_SBOX + 2,
	UNCORE_MBOX = UNCORE_BBOX + 2,
	UNCORE_RBOX = UNCORE_MBOX + 2,
	UNCORE_NUM_BOXES = UNCORE_RBOX + 2,
};

/* The models of the CPU that a row of a table is for; 0 is for all of them. */
#define UNCORE_NEHALEM_EX	BIT(0)
#define UNCORE_WESTMERE_EX	BIT(1)

/**
 * struct uncore_model - what differs with the model of the CPU, beside rows of tables
 * @identifier: its name in sysfs
 * @bit: its bit in rows of tables
 * @boxes: the boxes it can have, bit n for box n
 * @sides: those whose overflows S-Box 0 and S-Box 1 pass on
 */
struct uncore_model {
	const char *identifier;
	u8 bit;
	u32 boxes;
	u32 sides[2];
};

extern const struct uncore_model uncore_nehalem_ex;
extern const struct uncore_model uncore_westmere_ex;

/* The one we run on, from load on. */
extern const struct uncore_model *uncore_model;

/* Is a row of a table for this model? */
static inline bool uncore_for_this(u8 models)
{
	return !models || models & uncore_model->bit;
}

/* Where the value of a field goes. */
enum uncore_dest {
	UNCORE_TO_NOWHERE,	/* to no register: what it means is told elsewhere */
	UNCORE_TO_CTL,		/* to the control register */
	UNCORE_TO_UMASK,	/* likewise; it chooses among the sub-events of the event */
	UNCORE_TO_COUNTER,	/* it is the number of the counter */
	UNCORE_TO_SLOT,		/* to a slot */
};

/**
 * struct uncore_field - one field of the user's config words
 * @name: name of the format attribute
 * @word: 0 for config, 1 for config1, 2 for config2
 * @lo: lowest bit
 * @hi: highest bit
 * @to: where its value goes
 * @slot: which slot that is
 * @reg: which register of the slot, counted from its first one
 * @invert: the hardware has the opposite sense
 * @bits: the bits of that register, or of the control register
 * @valid: the valid values, bit n for n and the last bit for all from 63 on; 0 if all are
 * @within: another field, in which all bits that are set in this one must be set; 0 if
 *	    there is none
 * @if_field: another field. With the wrong value of it, this one is not taken
 * @if_values: its right values, as in @valid
 * @if_adds: another field, that needs a value with this one where the event can add more
 *	     than 1 in a clock; 0 if there is none
 * @models: the models that have it
 *
 * The only place where a field is described. The format attribute, the checks, the
 * claims and the control register all come from here. Field 0 of a box is always the
 * code of the event.
 */
struct uncore_field {
	const char *name;
	u8 word;
	u8 lo;
	u8 hi;
	enum uncore_dest to;
	u8 slot;
	u8 reg;
	bool invert;
	u64 bits;
	u64 valid;
	u8 within;
	u8 if_field;
	u64 if_values;
	u8 if_adds;
	u8 models;
};

#define UNCORE_CTL(_bits)		.to = UNCORE_TO_CTL, .bits = (_bits)
#define UNCORE_SLOT(_slot, _reg, _bits)	\
	.to = UNCORE_TO_SLOT, .slot = (_slot), .reg = (_reg), .bits = (_bits)

/**
 * struct uncore_umask - one named sub-event
 * @name: name after the dot, lower case
 * @umask: value of the umask field; 0 when @terms says it all
 * @terms: other config terms in perf's syntax, or NULL
 * @models: the models that have it
 */
struct uncore_umask {
	const char *name;
	u8 umask;
	const char *terms;
	u8 models;
};

#define UNCORE_UMASKS(...) \
	((const struct uncore_umask[]){ __VA_ARGS__, {} })

/* When an event can add more than 1 in a clock. */
enum uncore_adds {
	UNCORE_ADDS_ONE,	/* never */
	UNCORE_ADDS_UMASK,	/* with more than one bit of umask: each adds up to 1 */
	UNCORE_ADDS_MANY,	/* always: entries of a queue */
};

/**
 * struct uncore_event_desc - one event of the manual
 * @name: the manual's name, lower case
 * @code: value of the event field
 * @umasks: the sub-events, ended by an empty entry; NULL if it has none
 * @terms: config terms that come with every use of the event, or NULL
 * @counters: the counters that have it, bit n for counter n; 0 if all do
 * @ctl: bits of the control register that come with every use of the event
 * @filters: the fields it takes beyond those every event of the box takes, bit n for
 *	     field n
 * @slots: the slots it needs, whether or not a field goes there, bit n for slot n
 * @val: bits of the first register of @slots that come with every use of the event
 * @one_umask: the sub-events cannot be combined
 * @adds: when it can add more than 1 in a clock
 * @scale: contents of the .scale attribute, or NULL
 * @unit: contents of the .unit attribute, or NULL
 * @models: the models that have it
 * @inferred: the models on which its code or sub-events are not certain
 *
 * Where events share a code (and a counter), the first one says what it takes; the
 * others are further names.
 */
struct uncore_event_desc {
	const char *name;
	u16 code;
	const struct uncore_umask *umasks;
	const char *terms;
	u32 counters;
	u32 ctl;
	u64 filters;
	u32 slots;
	u64 val;
	bool one_umask;
	enum uncore_adds adds;
	const char *scale;
	const char *unit;
	u8 models;
	u8 inferred;
};

/* An event that one source has, for one model. */
#define UNCORE_WESTMERE_ONLY	\
	.models = UNCORE_WESTMERE_EX, .inferred = UNCORE_WESTMERE_EX

/**
 * struct uncore_slot_desc - the place of a slot (see claims.h)
 * @reg: first sub-register; word n of the slot goes to sub-register @reg + n
 * @num_regs: number of words
 * @alike: this slot and those behind it that can serve in its place; 0 for itself only
 * @shift: how much higher than in the first of those the contents are
 * @guarded: the first register switches the others on; these must not be written while it
 *           is on: write 0 to it, then the others, then its value
 * @inferred: no page of the manual confirms where it is and what it means
 * @ctl: bits of the control register that come with the use of this slot
 *
 * Several slots may share a register, each with bits of its own.
 */
struct uncore_slot_desc {
	u8 reg;
	u8 num_regs;
	u8 alike;
	u8 shift;
	bool guarded;
	bool inferred;
	u64 ctl;
};

/**
 * struct uncore_subregs - the sub-registers that counters of a box share
 * @slots: what can be set independently of each other
 * @num_slots: number of @slots
 * @num_regs: number of sub-registers behind @slots
 * @msr: address of a sub-register
 */
struct uncore_subregs {
	const struct uncore_slot_desc *slots;
	unsigned int num_slots;
	unsigned int num_regs;
	unsigned int (*msr)(unsigned int instance, unsigned int reg);
};

/**
 * struct uncore_counter_row - one counter
 * @ctl: offset of its control register
 * @ctr: offset of the counter
 * @bit: its bit in GLOBAL_CTL, STATUS and OVF_CTL of the box
 * @enable: the enable bit of the control register
 * @pmi_en: the PMI enable bit of the control register
 * @pmi_inferred: no page of the manual confirms @pmi_en
 * @clock: bits of the control register with which it counts every clock, with invert or without;
 *	   0 if there are none
 *
 * Offsets are from the base of the instance.
 */
struct uncore_counter_row {
	u16 ctl;
	u16 ctr;
	u32 bit;
	u64 enable;
	u64 pmi_en;
	bool pmi_inferred;
	u64 clock;
};

/* Rows of counters that differ in their number only; @_ctl and @_ctr take it. */
#define UNCORE_COUNTER(n, _ctl, _ctr, en, pmi, clk)				\
	{ .ctl = _ctl(n##U), .ctr = _ctr(n##U), .bit = BIT(n##U),		\
	  .enable = (en), .pmi_en = (pmi), .clock = (clk) }
#define UNCORE_COUNTERS_4(...)							\
	[0] = UNCORE_COUNTER(0, __VA_ARGS__), [1] = UNCORE_COUNTER(1, __VA_ARGS__),	\
	[2] = UNCORE_COUNTER(2, __VA_ARGS__), [3] = UNCORE_COUNTER(3, __VA_ARGS__)
#define UNCORE_COUNTERS_6(...)							\
	[4] = UNCORE_COUNTER(4, __VA_ARGS__), [5] = UNCORE_COUNTER(5, __VA_ARGS__),	\
	UNCORE_COUNTERS_4(__VA_ARGS__)
#define UNCORE_COUNTERS_8(...)							\
	[6] = UNCORE_COUNTER(6, __VA_ARGS__), [7] = UNCORE_COUNTER(7, __VA_ARGS__),	\
	UNCORE_COUNTERS_6(__VA_ARGS__)

/**
 * struct uncore_quirks - registers that need a correction; most types have none
 * @read: correct a value read from a counter, which was @before at the last read; or NULL
 * @start: the nearest start value that may be written; or NULL
 * @ctl_unsure: bits of the control registers that need not read as they were written
 */
struct uncore_quirks {
	u64 (*read)(u64 count, u64 before);
	u64 (*start)(u64 start);
	u64 ctl_unsure;
};

/**
 * struct uncore_config - the registers and values that an event needs
 * @claim: the counters and sub-registers that can serve it
 * @ctl: its control register, less the bits of the counter's row and those that come
 *	 with the slots it gets, see uncore_config_ctl()
 * @freeze: its overflow stops the whole package until it is handled
 */
struct uncore_config {
	struct uncore_claim claim;
	u64 ctl;
	bool freeze;
};

/**
 * struct uncore_box_type - what boxes of one kind have in common
 * @name: as in xeon7500_<name>
 * @first: id of instance 0
 * @num_boxes: number of instances per package
 * @base: address of each instance
 * @box_ctl: offset of GLOBAL_CTL; STATUS and OVF_CTL follow it. Unused with
 *           @enabled_by_package
 * @enabled_by_package: the box-level enable is U_GLOBAL_CTL.en
 * @counters: the counters
 * @num_counters: number of @counters
 * @fields: the config fields, ended by one without name
 * @instance_fields: for each instance, fields beside @fields; NULL if there are none
 * @common: the fields that every event takes, bit n for field n
 * @events: the events, ended by one without name
 * @finish: checks the event and completes the config beyond the tables. May be NULL
 * @subregs: its sub-registers; NULL if it has none
 * @quirks: registers that need a correction
 */
struct uncore_box_type {
	const char *name;
	enum uncore_box_id first;
	unsigned int num_boxes;
	const u16 *base;
	u16 box_ctl;
	bool enabled_by_package;
	const struct uncore_counter_row *counters;
	unsigned int num_counters;
	const struct uncore_field *fields;
	const struct uncore_field * const *instance_fields;
	u64 common;
	const struct uncore_event_desc *events;
	int (*finish)(const struct perf_event *event, const struct uncore_event_desc *desc,
		      struct uncore_config *cfg);
	const struct uncore_subregs *subregs;
	struct uncore_quirks quirks;
};

/* One file for each of them. */
extern const struct uncore_box_type ubox_type;
extern const struct uncore_box_type cbox_type;
extern const struct uncore_box_type wbox_type;
extern const struct uncore_box_type sbox_type;
extern const struct uncore_box_type bbox_type;
extern const struct uncore_box_type mbox_type;
extern const struct uncore_box_type rbox_type;

#endif /* UNCORE_TYPES_H */
