// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic file: one pattern per line, `*` for any:
 *	package box instance code bit  log2 phase active inc
 *	* C 0 0x14 0  6 0 8 1		8 of 64 cycles, C-Box 0, LLC_MISSES.S
 * or what the boxes do, all that have a part in it, and nothing else then:
 *	node 0 reads 10 GB/s from node 1, 62 % hits
 */
#include "top.h"
#include "uncore/uncore.h"

static bool parse_field(char *text, unsigned int any, unsigned int max, unsigned int *val)
{
	char *end;

	if (!strcmp(text, "*")) {
		*val = any;
		return true;
	}
	*val = strtoul(text, &end, 0);
	return *text && !*end && *val <= max;
}

static bool parse_line(char *line, struct planted *o)
{
	static const char boxes[] = "UCWSBMR";
	unsigned int f[9], any[9] = { 0xff, 0, SYN_ANY & 0xf, SYN_ANY_CODE, SYN_ANY };
	unsigned int max[9] = { SILICON_PACKAGES - 1, 0, 15, 0xffff, 0xff, CF_LOG2_MAX,
				CF_PERIOD_MAX - 1, CF_PERIOD_MAX, 0xffff };
	g_auto(GStrv) word = NULL;
	const char *box;

	g_strdelimit(g_strstrip(line), "\t", ' ');
	word = g_regex_split_simple(" +", line, 0, 0);
	if (g_strv_length(word) != 9)
		return false;
	for (unsigned int i = 0; i < 9; i++) {
		if (i != 1 && ((i > 4 && word[i][0] == '*') ||
			       !parse_field(word[i], any[i], max[i], &f[i])))
			return false;
	}
	box = strchr(boxes, word[1][0]);
	if (!word[1][0] || word[1][1] || !box)
		return false;
	o->package = word[0][0] == '*' ? -1 : (int)f[0];
	o->sel = SYN_SEL(box - boxes, f[2], f[3], f[4]);
	o->log2 = f[5];
	o->phase = f[6];
	o->active = f[7];
	o->inc = f[8];
	return true;
}

/* Share n of num of a whole: all of them together are just that. */
static unsigned int share(unsigned int whole, unsigned int n, unsigned int num)
{
	return whole * (n + 1) / num - whole * n / num;
}

/*
 * Lines of 64 bytes that cores of one node read and do not find in their LLC. The left half of
 * a package, C-Boxes 0 to 3, uses S-Box 0 and the link of port 0, the right half S-Box 1 and
 * that of port 4. False: no link or no box can do that much.
 */
static bool read_lines(unsigned int from, unsigned int to, unsigned int lines, double hits)
{
	bool far = from != to, good = true;

	for (unsigned int half = 0; half < 2; half++) {
		unsigned int misses = share(lines, half, 2), port = 4 * half;

		for (unsigned int n = 0; n < 4; n++) {
			unsigned int num = share(misses, n, 4);

			good &= activity_tell(from, LIST_C, 4 * half + n, TAG_C_CORE | TAG_C_MISS |
					      TAG_C_I | TAG_C_MAF | TAG_C_FILL_E |
					      TAG_C_FILL_WITHOUT_VICTIM, 2, num) &&
				activity_tell(from, LIST_C, 4 * half + n, TAG_C_CORE | TAG_C_HIT |
					      TAG_C_E, 2, num * hits / (100 - hits) + 0.5);
		}
		good &= activity_tell(from, LIST_S_OUT, half, TAG_S_OUT_HOM | TAG_S_OUT_REQUEST |
				      (far ? TAG_S_OUT_TO_R : TAG_S_OUT_TO_B), 1, misses) &&
			activity_tell(from, LIST_S_IN, half, TAG_S_IN_DRS |
				      (far ? TAG_S_IN_FROM_R : TAG_S_IN_FROM_B), 9, misses) &&
			activity_tell(to, LIST_B, half, TAG_B_MESSAGE | TAG_B_REQUEST | TAG_B_NON_IOH | TAG_B_RD |
				      TAG_B_MEM_RD | TAG_B_PAGE_HIT, 1, misses);
		if (far) {
			good &= activity_tell(from, LIST_R_OUT, port, TAG_R_HOM | TAG_R_HOM_VN0 |
					      TAG_R_VNA, 1, misses) &&
				activity_tell(to, LIST_R_IN, port, TAG_R_HOM | TAG_R_HOM_VN0 |
					      TAG_R_VNA, 1, misses) &&
				activity_tell(to, LIST_R_OUT, port, TAG_R_DRS | TAG_R_VNA, 9, misses) &&
				activity_tell(from, LIST_R_IN, port, TAG_R_DRS | TAG_R_VNA, 9, misses);
		}
	}
	return good;
}

static bool parse_sentence(const char *line)
{
	unsigned int from, to;
	double rate, hits;
	int end = 0;

	if (sscanf(line, "node %u reads %lf GB/s from node %u , %lf %% hits%n", &from, &rate, &to,
		   &hits, &end) != 4 || !end || line[end])
		return false;
	return from < SILICON_PACKAGES && to < SILICON_PACKAGES && rate > 0 && rate < 1000 &&
	       hits >= 0 && hits < 100 &&
	       read_lines(from, to, rate * 1e9 / 64 * CF_PERIOD_MAX * CF_HZ_DEN /
			  (CF_HZ_NUM * 1e9) + 0.5, hits);
}

static void load_file(const char *path)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct planted o;

	if (!g_file_get_contents(path, &text, NULL, NULL)) {
		fprintf(stderr, "silicon: cannot read traffic file %s\n", path);
		exit(1);
	}
	lines = g_strsplit(text, "\n", 0);
	for (unsigned int i = 0; lines[i]; i++) {
		char *hash = strchr(lines[i], '#');

		if (hash)
			*hash = 0;
		if (!*g_strstrip(lines[i]))
			continue;
		if (parse_sentence(lines[i]))
			continue;
		if (!parse_line(lines[i], &o)) {
			fprintf(stderr, "silicon: %s:%u: not a traffic line, or more than a box"
				" can do\n", path, i + 1);
			exit(1);
		}
		traffic_add(&o);
	}
}

void traffic_setup(const char *path)
{
	if (path && *path)
		load_file(path);
}
