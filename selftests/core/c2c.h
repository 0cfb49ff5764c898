/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report of perf c2c about selftests/programs/sharer.c: the row of its shared line.
 */
#ifndef SELFTESTS_CORE_C2C_H
#define SELFTESTS_CORE_C2C_H

#include "ext.h"

struct c2c_row {
	unsigned int number;	/* from 1; 0: there is none */
	unsigned int rows;	/* of the table */
	unsigned int hitm, local, remote;
};

/* The report asks it for source lines; perf 6.1 dies when there is none. */
static inline void addr2line(bool there)
{
	ktap_require(!shell(there ? "printf '#!/bin/sh\nwhile read -r a; do echo ??; echo ??:0; done\n' >/bin/addr2line && chmod +x /bin/addr2line" :
				    "rm /bin/addr2line"));
}

/* Leaves the report in /tmp/report. */
static inline struct c2c_row c2c_report(const char *file)
{
	unsigned int index, total, local, remote;
	unsigned long line, addr;
	struct c2c_row row = {};
	char text[1024];
	double share;
	FILE *f;

	snprintf(text, sizeof(text), "perf c2c report -i %s --stdio >/tmp/report 2>/tmp/err", file);
	ktap_check(!shell(text), "%d", shell("cat /tmp/err"));
	f = fopen("/tmp/where", "r");
	ktap_require(f && fscanf(f, "%lx", &line) == 1, "/tmp/where");
	fclose(f);
	f = fopen("/tmp/report", "r");
	ktap_require(f);
	while (fgets(text, sizeof(text), f)) {
		/* The node of a page is N/A where the kernel cannot tell it. */
		if (sscanf(text, "%u %lx %*s %*u %lf%% %u %u %u", &index, &addr, &share, &total,
			   &local, &remote) != 6)
			continue;
		row.rows++;
		if (addr == line)
			row = (struct c2c_row){ index + 1, row.rows, total, local, remote };
	}
	fclose(f);
	return row;
}

#endif
