// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that others read while they are written anew: who reads one has the old or the new
 * one, never a part. The directory may belong to another user, who must not be able to lead
 * the writer, root perhaps, to a file elsewhere: so it is opened once, and for root without a
 * link in its path; the new file has a name that did not exist; and what is not a regular file
 * is neither replaced nor followed. Until the end all is in memory and then in a file without a
 * name, so that nobody has to clean up behind a writer that was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"

/* The descriptor that a path stands for, or -1. */
static int descriptor(const char *path)
{
	int fd, len = 0;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	if ((sscanf(path, "/dev/fd/%d%n", &fd, &len) == 1 ||
	     sscanf(path, "/proc/self/fd/%d%n", &fd, &len) == 1) && !path[len])
		return fd;
	return -1;
}

/*
 * The directory of a file, part by part: RESOLVE_NO_SYMLINKS of openat2() would do it, but
 * systemd's RestrictSUIDSGID lets no program call that.
 */
static int open_dir(const char *path, int len)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (geteuid() ? 0 : O_NOFOLLOW);
	char *left = format("%.*s", len, path), *part;
	int dir = open(*path == '/' ? "/" : ".", flags), next;

	while (dir >= 0 && (part = strsep(&left, "/"))) {
		next = openat(dir, *part ? part : ".", flags);
		close(dir);
		dir = next;
	}
	return dir;
}

/*
 * A file that has no name yet, or where there are none such, one that no other writer has: in
 * another container its PID may be the same.
 */
static int new_file(struct target *target)
{
	int fd = openat(target->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(target->new, sizeof(target->new), "%.200s.%d.%lx%lx", target->name, (int)getpid(),
		 (long)now.tv_sec, now.tv_nsec);
	target->named = fd < 0;
	return fd >= 0 ? fd :
	       openat(target->dir, target->new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* It gets a name, by which it takes the place of the old one. 0, or an errno. */
static int put_in_place(const struct target *target)
{
	if (fchmod(target->fd, target->mode) || fsync(target->fd))
		return errno;
	if (!target->named && linkat(AT_FDCWD, format("/proc/self/fd/%d", target->fd), target->dir,
				     target->new, AT_SYMLINK_FOLLOW))
		return errno;
	return renameat(target->dir, target->new, target->dir, target->name) ? errno : 0;
}

/* 0, or an errno. */
static int open_target(struct target *target, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat old, dir;
	int fd = descriptor(path);
	mode_t mask = umask(0);

	umask(mask);
	target->mode = 0666 & ~mask;
	target->dir = target->fd = -1;
	if (fd >= 0) {
		target->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return target->fd < 0 ? errno :
		       (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0;
	}
	target->name = slash ? slash + 1 : path;
	if (!*target->name)
		return *path ? EISDIR : ENOENT;
	target->dir = open_dir(path, target->name - path);
	if (target->dir < 0)
		return errno;
	if (fstatat(target->dir, target->name, &old, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			return errno;
	} else if (S_ISLNK(old.st_mode)) {
		return ELOOP;
	} else if (S_ISDIR(old.st_mode)) {
		return EISDIR;
	} else if (!S_ISREG(old.st_mode)) {
		target->fd = openat(target->dir, target->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK |
				    O_NOCTTY | O_CLOEXEC);
		if (target->fd < 0)
			return errno;
		return fstat(target->fd, &old) || S_ISREG(old.st_mode) ? EEXIST : 0;
	} else if (!fstat(target->dir, &dir) && dir.st_mode & S_ISVTX && geteuid() &&
		   geteuid() != old.st_uid && geteuid() != dir.st_uid) {
		/* As in /tmp: only its owner may take it away. */
		return EPERM;
	} else if (old.st_uid == geteuid()) {
		target->mode = old.st_mode & 0777;
	}
	fd = new_file(target);
	if (fd < 0)
		return errno;
	close(fd);
	if (target->named)
		unlinkat(target->dir, target->new, 0);
	return 0;
}

int replace_begin(struct session *session, const char *path)
{
	struct target *target = &session->target;
	int err;

	if (session->file)
		return 0;
	err = open_target(target, path);
	/* The collector is another user. */
	if (session->options.openmetrics)
		target->mode = 0644;
	if (!err) {
		session->file = open_memstream(&target->text, &target->size);
		return session->file ? 0 : fail(STATUS_FAILED, "no memory");
	}
	replace_cancel(session);
	return fail(STATUS_FAILED, "%s: %s", path,
		    err == ELOOP ? "it is a link; name the file itself" :
		    err == ENOTDIR && !geteuid() ? "not in a directory, or behind a link, which root "
		    "does not follow" : err == ENXIO ? "no program reads this pipe" : strerror(err));
}

static int write_all(int fd, const char *text, size_t size)
{
	ssize_t num;

	for (; size; text += num, size -= num) {
		num = write(fd, text, size);
		/* A pipe whose reader is slow */
		if (num < 0 && errno == EAGAIN)
			num = poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, -1) < 0 && errno != EINTR ? -1 : 0;
		if (num < 0)
			return errno;
	}
	return 0;
}

/* Has another program replaced or deleted what is being written? */
static bool is_gone(const struct target *target)
{
	struct stat ours, there;

	return target->name && (fstat(target->fd, &ours) ||
				fstatat(target->dir, target->name, &there, AT_SYMLINK_NOFOLLOW) ||
				ours.st_dev != there.st_dev || ours.st_ino != there.st_ino);
}

int replace_flush(struct session *session, const char *path)
{
	struct target *target = &session->target;
	bool new = target->fd < 0;
	int err = fclose(session->file) ? errno : 0;

	session->file = NULL;
	if (new)
		target->fd = new_file(target);
	if (!err)
		err = target->fd < 0 ? errno : write_all(target->fd, target->text, target->size);
	if (new && !err)
		err = put_in_place(target);
	if (new && err && err != EEXIST)
		unlinkat(target->dir, target->new, 0);
	free(target->text);
	target->text = NULL;
	if (!err && is_gone(target)) {
		replace_cancel(session);
		return fail(STATUS_FAILED, "%s: another program has replaced or deleted it: what "
			    "was written is lost", path);
	}
	if (!err) {
		session->file = open_memstream(&target->text, &target->size);
		return session->file ? 0 : fail(STATUS_FAILED, "no memory");
	}
	replace_cancel(session);
	return fail(STATUS_FAILED, "%s: %s", path, strerror(err));
}

int replace_end(struct session *session, const char *path)
{
	int status = replace_flush(session, path);

	replace_cancel(session);
	return status;
}

void replace_cancel(struct session *session)
{
	struct target *target = &session->target;

	if (session->file)
		fclose(session->file);
	session->file = NULL;
	free(target->text);
	if (target->fd >= 0)
		close(target->fd);
	if (target->dir >= 0)
		close(target->dir);
	*target = (struct target){ .dir = -1, .fd = -1 };
}
