// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that others read while they are written anew: who reads one has the old or the new
 * one, never a part. The directory may belong to another user, who must not be able to lead
 * the writer, root perhaps, to a file elsewhere: so the new file has a name that did not exist,
 * and what is not a regular file is neither replaced nor followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics.h"

int replace_begin(struct session *session, const char *path)
{
	struct stat old;
	int fd;

	if (session->file)
		return 0;
	if (!lstat(path, &old) && (S_ISCHR(old.st_mode) || S_ISFIFO(old.st_mode))) {
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd >= 0 && (fstat(fd, &old) || S_ISREG(old.st_mode))) {
			close(fd);
			fd = -1;
			errno = EEXIST;
		}
	} else if (!stat(path, &old) && !S_ISREG(old.st_mode)) {
		return fail(STATUS_FAILED, "%s: it is no regular file", path);
	} else {
		session->file_new = format("%s.XXXXXX", path);
		fd = mkostemp(session->file_new, O_CLOEXEC);
		if (fd < 0)
			session->file_new = NULL;
	}
	session->file = fd < 0 ? NULL : fdopen(fd, "w");
	return session->file ? 0 : fail(STATUS_FAILED, "%s: %s", path, strerror(errno));
}

int replace_end(struct session *session, const char *path)
{
	FILE *f = session->file;
	char *new = session->file_new;
	int err = 0;

	session->file = NULL;
	errno = 0;
	if (fflush(f) || ferror(f) || (new && (fchmod(fileno(f), 0644) || fsync(fileno(f)))))
		err = errno ?: EIO;
	if ((fclose(f) || (!err && new && rename(new, path))) && !err)
		err = errno;
	if (err && new)
		unlink(new);
	session->file_new = NULL;
	return err ? fail(STATUS_FAILED, "%s: %s", path, strerror(err)) : 0;
}

void replace_cancel(struct session *session)
{
	if (session->file)
		fclose(session->file);
	if (session->file_new)
		unlink(session->file_new);
	session->file = NULL;
	session->file_new = NULL;
}
