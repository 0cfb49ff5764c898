/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extensions of the core x86 PMU: what the files of this directory share.
 *
 * A *model* is constant data: the names, rules and meanings of one kind of CPU.
 * Whatever differs between CPUs is in its tables, the code is the same for all.
 */
#ifndef CORE_EXT_H
#define CORE_EXT_H

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/* The fields of config1, which is what MSR_OFFCORE_RSPx holds. */
enum core_ext_field_id {
	CORE_EXT_LDLAT,
	CORE_EXT_OCR_REQ,
	CORE_EXT_OCR_RSP,
	CORE_EXT_OCR_OUTSTANDING,
	CORE_EXT_NUM_FIELDS
};

/**
 * struct core_ext_field - one of them: all that is known of it is here
 * @name: in sysfs
 * @lo: its lowest bit
 * @hi: its highest bit
 */
struct core_ext_field {
	const char *name;
	unsigned int lo;
	unsigned int hi;
};

/* In the header, so that the compiler can fold the shifts into constants. */
static const struct core_ext_field core_ext_fields[CORE_EXT_NUM_FIELDS] = {
	[CORE_EXT_LDLAT] = { "ldlat", 0, 15 },
	[CORE_EXT_OCR_REQ] = { "ocr_req", 0, 15 },
	[CORE_EXT_OCR_RSP] = { "ocr_rsp", 16, 37 },
	[CORE_EXT_OCR_OUTSTANDING] = { "ocr_outstanding", 38, 38 },
};

static inline u64 core_ext_field_get(enum core_ext_field_id id, u64 config1)
{
	const struct core_ext_field *f = &core_ext_fields[id];

	return (config1 & GENMASK_ULL(f->hi, f->lo)) >> f->lo;
}

/**
 * struct core_ext_event - an event with a name, on an Atom a precise one
 * @name: in sysfs
 * @select: umask in the second byte, event code in the first
 * @source: what the event itself says about the access it samples, as in
 *	PERF_SAMPLE_DATA_SRC; 0 if nothing
 */
struct core_ext_event {
	const char *name;
	u16 select;
	u64 source;
};

/**
 * struct core_ext_bits - what a part of an offcore event's name stands for
 * @name: last part of the name: a response; or last two parts, of a published event that is no
 *	product of request and response
 * @bits: of MSR_OFFCORE_RSPx
 */
struct core_ext_bits {
	const char *name;
	u64 bits;
};

/**
 * struct core_ext_request - one kind of offcore request, and its events
 * @name: middle part of the event's name
 * @bits: request bits of MSR_OFFCORE_RSPx
 * @responses: bit n: there is an event with response n of the model
 * @latency: there is a pair of events that gives the average latency
 */
struct core_ext_request {
	const char *name;
	u64 bits;
	u32 responses;
	bool latency;
};

/**
 * struct core_ext_offcore - what MSR_OFFCORE_RSPx must hold to count anything
 * @select: event select that goes with the register
 * @request: request bits that the register has, one is needed
 * @any: the bit that stands for every response
 * @supplier: response bits that tell who supplied the data
 * @snoop: response bits that tell what the snoop said
 * @both: a supplier needs a snoop bit and the other way round
 * @outstanding: the bit that counts cycles times requests in flight, 0 if the
 *	register has none. It excludes all response bits.
 */
struct core_ext_offcore {
	u16 select;
	u64 request;
	u64 any;
	u64 supplier;
	u64 snoop;
	bool both;
	u64 outstanding;
};

/**
 * struct core_ext_model - one kind of CPU
 * @name: for messages
 * @fields: bit n: field n means something
 * @events: named events, closed by an empty one
 * @responses: offcore responses
 * @requests: offcore requests, closed by an empty one
 * @selections: further offcore events, closed by an empty one; NULL: there are none
 * @available: bit n: the CPU has response n
 * @always: bit n: there are events of every request with response n
 * @offcore: the two offcore registers
 * @precise: selects of the precise events without a name, closed by 0
 * @precise_from: from this precise_ip on, only events in @events and @precise are accepted. 0: all
 *	events are, there is no @precise, and the kernel has the data source
 * @no_address: a record has no address of the access
 * @pdir: event select of the event whose precise use tolerates no other
 *	programmable counter in the core, 0 if there is none
 * @guarded: the CPU reports a PEBS index out of bounds, and the DS buffer guard can repair it
 */
struct core_ext_model {
	const char *name;
	unsigned int fields;
	const struct core_ext_event *events;
	const struct core_ext_bits *responses;
	const struct core_ext_request *requests;
	const struct core_ext_bits *selections;
	u32 available;
	u32 always;
	struct core_ext_offcore offcore[2];
	const u16 *precise;
	u8 precise_from;
	bool no_address;
	u16 pdir;
	bool guarded;
};

extern const struct core_ext_model core_ext_goldmont;
extern const struct core_ext_model core_ext_goldmont_plus;
extern const struct core_ext_model core_ext_sandybridge;
extern const struct core_ext_model core_ext_sandybridge_x;
extern const struct core_ext_model core_ext_silvermont;

#define CORE_EXT_SELECT_MASK	0xffff

/* The first event with this select, or the empty one at the end */
static inline const struct core_ext_event *
core_ext_find_event(const struct core_ext_model *model, u64 select)
{
	const struct core_ext_event *event = model->events;

	while (event->name && event->select != select)
		event++;
	return event;
}

/* Has the event anything to do with the offcore registers? */
static inline bool core_ext_is_offcore(const struct core_ext_model *model,
				       const struct perf_event *event)
{
	u8 code = event->attr.config;

	return code == (u8)model->offcore[0].select || code == (u8)model->offcore[1].select;
}

/* Undo the event_init of the core PMU for an event that is refused here. */
static inline int core_ext_undo_init(struct perf_event *event, int err)
{
	if (event->destroy)
		event->destroy(event);
	event->destroy = NULL;
	return err;
}

/* discovery.c: names in sysfs */
int core_ext_discovery_start(struct device *dev, const struct core_ext_model *model);
void core_ext_discovery_stop(struct device *dev);

/*
 * Replace a function of the core PMU by ours. The original must be saved before ours can be
 * called.
 */
#define core_ext_hook(_slot, _found, _ours)				\
do {									\
	typeof(_slot) __slot = (_slot);					\
	typeof(_found) __found = (_found);				\
									\
	*__found = READ_ONCE(*__slot);					\
	while (!try_cmpxchg(__slot, __found, _ours))			\
		;							\
} while (0)

/* Puts the original back, if it was replaced. Waits for a module that has hooked on top of us. */
#define core_ext_unhook(_slot, _found, _ours)				\
do {									\
	typeof(_slot) __slot = (_slot);					\
	typeof(_found) __found = (_found), __ours = (_ours);		\
									\
	while (__found && cmpxchg(__slot, __ours, __found) != __ours) {	\
		pr_warn_once("another module has hooked the core PMU on top of us, waiting\n"); \
		msleep(100);						\
	}								\
} while (0)

/* rules.c: what an event may ask for */
int core_ext_refuse(const struct perf_event *event, int err, const char *why);
int core_ext_check_offcore(const struct core_ext_model *model, const struct perf_event *event);
int core_ext_check_latency(const struct core_ext_model *model, struct perf_event *event);
int core_ext_check_precise(const struct core_ext_model *model, struct perf_event *event);

/* pdir.c: nothing beside PDIR */
int core_ext_pdir_start(struct pmu *core, const struct core_ext_model *model);
void core_ext_pdir_stop(void);
int core_ext_pdir_check_group(struct perf_event *event);

/* How often an event came to run beside PDIR */
extern atomic_long_t core_ext_pdir_disturbed;

/* data_src.c: what an event says about the access */
int core_ext_data_src_start(const struct core_ext_model *model);
int core_ext_data_src_init(struct perf_event *event, int (*event_init)(struct perf_event *event));

/* ds_guard.c: PEBS index out of bounds */
int core_ext_ds_guard_start(void);
void core_ext_ds_guard_stop(void);

/* How often the guard had to act */
extern atomic_long_t core_ext_ds_repairs;

#endif /* CORE_EXT_H */
