// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf_event_open() answers to offcore and precise requests: without the
 * module, with it, and with enforce. The rules are written down here a second
 * time, from the manual: SDM, sections 18.7.1.2 and 18.7.2 for Goldmont, 18.6.1.1 to
 * 18.6.3 for Silvermont, 18.9.5 for Sandy Bridge.
 *
 * TEST: 6.1
 * SOAK: 6.1 newest
 * VM: --machine goldmont
 * TEST: 6.1 newest
 * VM: --machine silvermont
 * VM: --machine sandybridge --cores 2 --threads 2
 * VM: --machine sandybridge --model 2d
 */
#define _GNU_SOURCE
#include "kmsg.h"
#include "sample.h"

#define BIT(n)		(1ull << (n))
#define BITS(hi, lo)	((BIT((hi) - (lo) + 1) - 1) << (lo))

struct rules {
	const char *models;
	uint16_t select[2];
	u64 request;	/* request bits that are not reserved */
	u64 not_in[2];	/* of those: not in this register */
	u64 supplier;
	u64 snoop;
	bool both;		/* supplier and snoop are needed, not one of them */
	bool outstanding[2];	/* the register has bit 38 */
	const uint16_t *exact;	/* the precise events, closed by 0 */
	int exact_from;		/* the lowest precise_ip that is for those alone; 0: 3 */
};

static const uint16_t goldmont_exact[] = {
	0x0103, 0x0203, 0x0403, 0x0803, 0x1003, 0x0213, 0x0413, 0x00c0, 0x00c2, 0x01c2, 0x08c2,
	0x10c2, 0x00c4, 0x7ec4, 0x80c4, 0xbfc4, 0xebc4, 0xf7c4, 0xf9c4, 0xfbc4, 0xfdc4, 0xfec4,
	0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5, 0x11d0, 0x12d0, 0x13d0, 0x21d0, 0x41d0,
	0x42d0, 0x43d0, 0x81d0, 0x82d0, 0x83d0, 0x01d1, 0x02d1, 0x08d1, 0x10d1, 0x20d1, 0x40d1,
	0x80d1, 0
};

static const uint16_t silvermont_exact[] = {
	0x0103, 0x0803, 0x0204, 0x0404, 0x0804, 0x2004, 0x00c4, 0x7ec4, 0xbfc4, 0xebc4, 0xf7c4,
	0xf9c4, 0xfbc4, 0xfdc4, 0xfec4, 0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5, 0
};

static const struct rules machines[] = {
	{
		.models = GOLDMONT,
		.select = { 0x01b7, 0x02b7 },
		.request = 0xffbf,
		.not_in = { 0, BIT(3) },
		.supplier = BIT(18),
		.snoop = BIT(33) | BIT(34) | BIT(36) | BIT(37),
		.outstanding = { true, false },
		.exact = goldmont_exact,
	},
	{
		.models = SILVERMONT,
		.select = { 0x01b7, 0x02b7 },
		.request = 0xffff,
		.supplier = BIT(18),
		.snoop = BIT(31) | BIT(33) | BIT(34) | BIT(36) | BIT(37),
		.outstanding = { true, false },
		.exact = silvermont_exact,
		.exact_from = 1,
	},
	/* There is no precise_ip=3 here. */
	{
		.models = "2a",
		.select = { 0x01b7, 0x01bb },
		.request = BITS(11, 0) | BIT(15),
		.supplier = BITS(22, 17),
		.snoop = BITS(37, 31),
		.both = true,
	},
	/* The server: any of eight bits is remote memory. */
	{
		.models = "2d",
		.select = { 0x01b7, 0x01bb },
		.request = BITS(11, 0) | BIT(15),
		.supplier = BITS(30, 17),
		.snoop = BITS(37, 31),
		.both = true,
	},
};

/* That of the CPU at hand */
static const struct rules *rules;

void ktap_begin(void)
{
	/* One is, or no case would run. */
	for (rules = machines; !cpu_is(rules->models); rules++)
		;
}

static bool offcore_counts(int reg, u64 val)
{
	u64 response = rules->supplier | rules->snoop | BIT(16);

	if (!(val & rules->request) || val & rules->not_in[reg])
		return false;
	if (val & BIT(38))
		return rules->outstanding[reg] && !(val & response);
	if (val & BIT(16))
		return true;
	if (rules->both)
		return val & rules->supplier && val & rules->snoop;
	return val & (rules->supplier | rules->snoop);
}

/*
 * Offcore selections: each bit alone and with others, and each pair of a supplier and a
 * snoop.
 */
#define NUM_REQUESTS	20
#define MAX_RESPONSES	(24 + 23 + 4 + 14 * 7)
#define MAX_OFFCORE	(NUM_REQUESTS * MAX_RESPONSES * 2)

static u64 responses[MAX_RESPONSES];
static unsigned int num_responses, num_offcore;

static void offcore_responses(void)
{
	int i, supplier, snoop;

	num_responses = 0;
	responses[num_responses++] = 0;
	for (i = 16; i < 39; i++)
		responses[num_responses++] = BIT(i);
	for (i = 16; i < 39; i++)
		responses[num_responses++] = BIT(i) | BIT(i % 2 ? 18 : 33);
	responses[num_responses++] = rules->supplier;
	responses[num_responses++] = rules->snoop;
	responses[num_responses++] = rules->supplier | rules->snoop;
	responses[num_responses++] = BITS(37, 16);
	for (supplier = 16; supplier < 38; supplier++) {
		for (snoop = 16; snoop < 38; snoop++) {
			if (rules->supplier & BIT(supplier) && rules->snoop & BIT(snoop))
				responses[num_responses++] = BIT(supplier) | BIT(snoop);
		}
	}
	ktap_require(num_responses <= MAX_RESPONSES);
	num_offcore = NUM_REQUESTS * num_responses * 2;
}

static u64 offcore_value(unsigned int n)
{
	unsigned int req = n % NUM_REQUESTS;
	u64 val = n / NUM_REQUESTS / num_responses ? BIT(38) : 0;

	if (req < 16)
		val |= BIT(req);
	else
		val |= (u64[]){ 0, BIT(0) | BIT(1), rules->request, 0xffff }[req - 16];
	return val | responses[n / NUM_REQUESTS % num_responses];
}

/*
 * A selection has a register, a request, a response and bit 38. All combinations are for
 * "make soak". Here it is those in which every two values meet, as offcore_pairs() shows:
 * each request with each response, without bit 38, on the one or the other register; and
 * with bit 38 each response with some request, on both.
 */
static bool offcore_asked(unsigned int reg, unsigned int n)
{
	unsigned int req = n % NUM_REQUESTS, rsp = n / NUM_REQUESTS % num_responses;

	if (soak())
		return true;
	if (n / NUM_REQUESTS / num_responses)
		return req == rsp % NUM_REQUESTS;
	return (req + rsp) % 2 == reg;
}

#define NUM_VALUES	(2 + NUM_REQUESTS + MAX_RESPONSES + 2)

static void offcore_pairs(void)
{
	static bool met[NUM_VALUES][NUM_VALUES];
	unsigned int reg, n, a, b, missing = 0, asked = 0;

	offcore_responses();
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < num_offcore; n++) {
			/* The values of the four, numbered through. */
			const unsigned int value[] = {
				reg, 2 + n % NUM_REQUESTS,
				2 + NUM_REQUESTS + n / NUM_REQUESTS % num_responses,
				2 + NUM_REQUESTS + num_responses + n / NUM_REQUESTS / num_responses,
			};

			if (!offcore_asked(reg, n))
				continue;
			asked++;
			for (a = 0; a < 4; a++) {
				for (b = 0; b < 4; b++)
					met[value[a]][value[b]] = true;
			}
		}
	}
	/* Two values of the same parameter do not meet. */
	for (a = 0; a < 2 + NUM_REQUESTS + num_responses; a++) {
		unsigned int from = a < 2 ? 2 : a < 2 + NUM_REQUESTS ? 2 + NUM_REQUESTS :
				    2 + NUM_REQUESTS + num_responses;

		for (b = from; b < 2 + NUM_REQUESTS + num_responses + 2; b++)
			missing += !met[a][b];
	}
	ktap_note("%u of %u selections", asked, 2 * num_offcore);
	ktap_check(!missing, "%u pairs", missing);
}

static int kernel_says[2][MAX_OFFCORE];

/* With a threshold it is the same selection. */
static int offcore_open(int reg, unsigned int n)
{
	return try_open(rules->select[reg] | (u64)!(n % 3) << 24, offcore_value(n), 0);
}

static void offcore_ask_kernel(void)
{
	unsigned int n, refused = 0, taken = 0;
	int reg;

	ext_load(NULL);
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < num_offcore; n++) {
			if (!offcore_asked(reg, n))
				continue;
			kernel_says[reg][n] = offcore_open(reg, n);
			refused += kernel_says[reg][n] < 0;
			taken += !kernel_says[reg][n];
		}
	}
	ktap_note("the kernel takes %u and refuses %u", taken, refused);
	ktap_check(refused && taken);
}

static void offcore_unenforced(void)
{
	unsigned int n;
	int reg;

	ext_load("");
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < num_offcore; n++) {
			int says;

			if (!offcore_asked(reg, n))
				continue;
			says = offcore_open(reg, n);
			ktap_check(says == kernel_says[reg][n], "%#x,%#llx: %d, kernel %d",
				   rules->select[reg], offcore_value(n), says, kernel_says[reg][n]);
		}
	}
}

static void offcore_enforced(void)
{
	unsigned int n, refused = 0, taken = 0;
	int reg;

	ext_needed();
	ext_load("enforce=1");
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < num_offcore; n++) {
			u64 val = offcore_value(n);
			int want = offcore_counts(reg, val) ? kernel_says[reg][n] : -EINVAL;
			int says;

			if (!offcore_asked(reg, n))
				continue;
			says = offcore_open(reg, n);
			ktap_check(says == want, "%#x,%#llx: %d", rules->select[reg], val, says);
			refused += want && !kernel_says[reg][n];
			taken += !want;
		}
	}
	ktap_note("%u taken, %u more than the kernel's refused", taken, refused);
	ktap_check(refused && taken);
}

/* Does it count, to the last request, with the value in a response register? */
static bool offcore_count(int reg, u64 val)
{
	struct perf_event_attr attr = core_attr(rules->select[reg], val, 0);
	u64 count, truth, rsp[2];
	int fd = open_task(&attr, -1);
	volatile int i;

	if (!ktap_check(fd >= 0, "%#x,%#llx: %s", rules->select[reg], val, strerror(-fd)))
		return false;
	truth = core_truth(0, SYN_CORE_EVENTS);
	perf_enable(fd);
	for (i = 0; i < 1000; i++)
		;
	rsp[0] = msr_read(0, 0x1a6);
	rsp[1] = msr_read(0, 0x1a7);
	perf_disable(fd);
	truth = core_truth(0, SYN_CORE_EVENTS) - truth;
	count = perf_count(fd).value;
	close(fd);
	return ktap_check(count && count == truth && (rsp[0] == val || rsp[1] == val),
			  "%#x,%#llx: %llu, truth %llu, registers %#llx and %#llx",
			  rules->select[reg], val, count, truth, rsp[0], rsp[1]);
}

/* Every request type with every response that means something, and with the pairs. */
static void offcore_counted(void)
{
	unsigned int num = 0, n;
	bool counts = true;
	u64 rate[16];
	int reg, bit;

	run_on(0);
	ext_load("enforce=1");
	/* Of each type one in every cycle, so that the rarest response comes at once. */
	for (bit = 0; bit < 16; bit++) {
		rate[bit] = msr_read(0, SYN_OFF_RATE(bit));
		if (rules->request & BIT(bit))
			msr_write(0, SYN_OFF_RATE(bit), 65536);
	}
	for (reg = 0; reg < 2; reg++) {
		for (n = 0; n < num_offcore && counts; n++) {
			u64 val = offcore_value(n);

			if (!offcore_asked(reg, n) || !offcore_counts(reg, val) ||
			    kernel_says[reg][n])
				continue;
			counts = offcore_count(reg, val);
			num++;
		}
	}
	/* Who comes after us has others. */
	for (bit = 0; bit < 16; bit++)
		msr_write(0, SYN_OFF_RATE(bit), rate[bit]);
	ktap_note("%u counted", num);
	/* No fewer than each request type with each response once. */
	ktap_check(num >= 13 * 7);
}

/*
 * Everything that is not offcore is let through. The code of an offcore event with a umask
 * of no register is not: nobody would look at config1. Other codes come with the umasks of
 * the registers and one more, or with all of them in "make soak".
 */
static void others_enforced(void)
{
	static const uint8_t umask[] = { 0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 255 };
	static int says[256][sizeof(umask)];
	unsigned int code, i;
	int pass;

	ext_needed();
	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (code = 0; code < 256; code++) {
			bool offcore = code == (rules->select[0] & 0xff) ||
				       code == (rules->select[1] & 0xff);

			for (i = 0; i < sizeof(umask); i++) {
				unsigned int config = code | umask[i] << 8;
				int now, want = offcore ? -EINVAL : says[code][i];

				if (config == rules->select[0] || config == rules->select[1])
					continue;
				if (!soak() && !offcore && umask[i] != 1 && umask[i] != 2 &&
				    i != code % sizeof(umask))
					continue;
				now = try_open(config, 0x12345, 0);
				if (pass)
					ktap_check(now == want, "%#x: %d, want %d", config, now, want);
				says[code][i] = now;
			}
		}
	}
}

static bool exact(u64 config)
{
	const uint16_t *e = rules->exact;

	for (; e && *e; e++) {
		if (*e == config)
			return true;
	}
	return false;
}

/*
 * All codes with those umasks that are in the list of some code. What the kernel takes from
 * exact_from on stays only for the events of the list; nothing else changes.
 */
static void precise_enforced(void)
{
	static const uint8_t umask[] = {
		0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x40, 0x41, 0x42,
		0x43, 0x7e, 0x80, 0x81, 0x82, 0x83, 0xbf, 0xeb, 0xf7, 0xf9, 0xfb, 0xfd, 0xfe,
	};
	static int8_t says[256][sizeof(umask)][4];
	unsigned int code, i, refused = 0, taken = 0, want_taken = 0;
	int pass, precise, from = rules->exact_from ?: 3, top = from < 2 ? 2 : 3;

	while (rules->exact && rules->exact[want_taken])
		want_taken++;
	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (code = 0; code < 256; code++) {
			/* Of these the offcore rules speak. */
			if (code == (rules->select[0] & 0xff) || code == (rules->select[1] & 0xff))
				continue;
			for (i = 0; i < sizeof(umask); i++) {
				u64 config = code | umask[i] << 8;

				for (precise = soak() ? 0 : 2; precise < 4; precise++) {
					int now = try_open(config, 0, precise);
					int want = says[code][i][precise];

					if (!pass) {
						says[code][i][precise] = now;
						continue;
					}
					if (!want && precise >= from && !exact(config))
						want = -EOPNOTSUPP;
					ktap_check(now == want, "%#llx at %d: %d, want %d", config,
						   precise, now, want);
					refused += precise == top && now == -EOPNOTSUPP;
					taken += precise == top && !now;
				}
			}
		}
	}
	ktap_note("%u taken at %d, %u refused", taken, top, refused);
	ktap_check(taken == want_taken && refused);
}

/* These bits turn reduced skid off; the kernel refuses them with all of PEBS. */
static void precise_bits(void)
{
	const u64 config = rules->exact ? rules->exact[0] : 0xc0;
	int pass, bit, precise, says[32][4];

	for (pass = 0; pass < 3; pass++) {
		ext_load(pass == 0 ? NULL : pass == 1 ? "" : "enforce=1");
		for (bit = 16; bit < 32; bit++) {
			for (precise = 0; precise < 4; precise++) {
				int now = try_open(config | BIT(bit), 0, precise);

				if (pass)
					ktap_check(now == says[bit][precise],
						   "bit %d at %d: %d, kernel %d", bit, precise, now,
						   says[bit][precise]);
				says[bit][precise] = now;
				/* EDGE, ANY, INV, CMASK */
				ktap_check(!precise || now || !(BIT(bit) & 0xffa40000), "bit %d", bit);
			}
		}
	}
}

/* Generic events are no exception, and perf's :P takes what it gets. */
static void precise_generic(void)
{
	struct perf_event_attr attr;
	unsigned int config;
	int fd, want;

	/* perf record asks for a rate that must not become too high just then. */
	perf_unlimited();
	ext_load("enforce=1");
	for (config = PERF_COUNT_HW_CPU_CYCLES; config <= PERF_COUNT_HW_INSTRUCTIONS; config++) {
		attr = core_attr(config, 0, 3);
		attr.type = PERF_TYPE_HARDWARE;
		want = exact(0xc0) && config == PERF_COUNT_HW_INSTRUCTIONS ? 0 : -EOPNOTSUPP;
		fd = open_task(&attr, -1);
		if (fd >= 0)
			close(fd);
		ktap_check((fd < 0 ? fd : 0) == want, "%u: %d, want %d", config, fd, want);
	}
	ktap_check(!shell("perf record -q -o /tmp/p -e cycles:P true"), "cycles:P");
	ktap_check(!shell(rules->exact_from == 1 ?
			  "! perf evlist -v -i /tmp/p | grep 'precise_ip: [123]'" :
			  "perf evlist -v -i /tmp/p | grep -q 'precise_ip: 2'"), "cycles:P");
}

/* The generic cache events use the offcore registers, too. */
static void generic_enforced(void)
{
	unsigned int config;
	int pass, says[8][3][2];

	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (config = 0; config < 8 * 3 * 2; config++) {
			unsigned int cache = config / 6, op = config / 2 % 3, result = config % 2;
			struct perf_event_attr attr = core_attr(cache | op << 8 | result << 16, 0, 0);
			int fd;

			attr.type = PERF_TYPE_HW_CACHE;
			fd = open_task(&attr, -1);
			if (fd >= 0)
				close(fd);
			if (fd >= 0)
				fd = 0;
			if (pass)
				ktap_check(fd == says[cache][op][result], "%#x: %d, kernel %d",
					   config, fd, says[cache][op][result]);
			says[cache][op][result] = fd;
		}
	}
}

/* The kernel offers an event whose type it does not know to all PMUs: it is not for us to judge. */
static void types_enforced(void)
{
	static const uint32_t types[] = { PERF_TYPE_SOFTWARE, 0x7fff0000 };
	unsigned int i;
	int pass, err;

	for (pass = 0; pass < 2; pass++) {
		ext_load(pass ? "enforce=1" : NULL);
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			struct perf_event_attr attr = core_attr(rules->select[0], 0, 0);

			attr.type = types[i];
			err = open_task(&attr, -1);
			ktap_check(err == -ENOENT, "type %#x: %d", types[i], err);
		}
	}
}

/* An event from before the module is no reason for fork() to fail. */
static void inherited_enforced(void)
{
	struct perf_event_attr attr = core_attr(rules->select[0], 0, 0);
	pid_t child;
	int fd;

	ext_needed();
	ext_load(NULL);
	attr.disabled = 0;
	attr.inherit = 1;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	ext_load("enforce=1");
	ktap_check(try_open(rules->select[0], 0, 0) == -EINVAL);
	child = fork();
	if (!child)
		_exit(0);
	if (ktap_check(child > 0, "fork: %s", strerror(errno)))
		waitpid(child, NULL, 0);
	close(fd);
}

static void reason_given(void)
{
	ext_needed();
	ext_load("enforce=1");
	ktap_require(!shell("echo 'module intel_core_ext +p' >/proc/dynamic_debug/control"));
	kmsg_mark();
	ktap_check(try_open(rules->select[0], 0, 0) == -EINVAL);
	ktap_check(kmsg_count("offcore: no request type") == 1);
	ktap_check(try_open(rules->select[0], 1, 0) == -EINVAL);
	ktap_check(kmsg_count("response") == 1);
}

MACHINE_MAIN(GOLDMONT " " SILVERMONT " " SANDYBRIDGE,
	     { "offcore: every two values meet", offcore_pairs },
	     { "offcore: what the kernel takes", offcore_ask_kernel, KTAP_SAME_PROCESS },
	     { "offcore: the module alone changes nothing", offcore_unenforced, KTAP_SAME_PROCESS },
	     { "offcore: enforce refuses what counts nothing", offcore_enforced, KTAP_SAME_PROCESS },
	     { "offcore: whatever else counts, and is the truth", offcore_counted, KTAP_SAME_PROCESS },
	     { "other events under enforce", others_enforced },
	     { "generic cache events under enforce", generic_enforced },
	     { "events of other types under enforce", types_enforced },
	     { "precision under enforce", precise_enforced },
	     { "precision and the bits that exclude it", precise_bits },
	     { "precision of generic events under enforce", precise_generic },
	     { "inheriting under enforce", inherited_enforced },
	     { "a refusal has a reason", reason_given })
