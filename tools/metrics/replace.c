// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that others read while they are written anew: who reads one has the old or the new
 * one, never a part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics.h"

static char *beside(const char *path)
{
	return format("%s.%d", path, (int)getpid());
}

FILE *replace_begin(const char *path)
{
	char *new = beside(path);
	FILE *f = fopen(new, "we");

	if (!f)
		die(STATUS_FAILED, "%s: %s", new, strerror(errno));
	free(new);
	return f;
}

void replace_end(FILE *f, const char *path)
{
	char *new = beside(path);

	fchmod(fileno(f), 0644);
	if (ferror(f) | fclose(f) || rename(new, path)) {
		int err = errno;

		unlink(new);
		die(STATUS_FAILED, "%s: %s", path, strerror(err));
	}
	free(new);
}
