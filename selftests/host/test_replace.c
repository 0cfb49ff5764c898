// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file is replaced in a directory that belongs to somebody else, who plants links under every
 * name that he can guess or see: no file elsewhere is touched. Devices are not replaced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "tools/metrics/metrics.h"

#define ATTEMPTS	1000

static char dir[] = "/tmp/replace-XXXXXX";
static struct session session = { .target = { .dir = -1, .fd = -1 } };
static bool dies, no_tmpfile;
static mode_t created;	/* the last file that had a name from the beginning */

/* In place of those of the C library: a disk that hangs, a file system of another kind. */
int fsync(int fd)
{
	if (dies)
		kill(getpid(), SIGKILL);
	return syscall(SYS_fsync, fd);
}

int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT || unnamed ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (flags & O_CREAT)
		created = mode;
	if (no_tmpfile && unnamed) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return syscall(SYS_openat, at, path, flags, mode);
}

static char *in_dir(const char *name)
{
	static char path[2][300];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ktap_require(f && fputs(text, f) >= 0 && !fclose(f), "%s: %m", path);
}

static bool holds(const char *path, const char *text)
{
	char got[100] = "";
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	got[fread(got, 1, sizeof(got) - 1, f)] = 0;
	fclose(f);
	return !strcmp(got, text);
}

static int replace(const char *path)
{
	int status = replace_begin(&session, path);

	if (status)
		return status;
	fputs("new", session.file);
	return replace_end(&session, path);
}

/* Links under the name with the PID of the writer, and in the place of each new file. */
static void __attribute__((noreturn)) attack(pid_t writer, const char *victim)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/m.prom.%d", dir, (int)writer);
	while (true) {
		DIR *d = opendir(dir);
		struct dirent *entry;

		unlink(name);
		symlink(victim, name);
		while ((entry = readdir(d))) {
			char *path = in_dir(entry->d_name);

			if (!strncmp(entry->d_name, "m.prom", 6) && !unlink(path))
				symlink(victim, path);
		}
		closedir(d);
	}
}

static void links(void)
{
	char victim[300];
	struct stat st;
	pid_t child;
	int i, good = 0;

	snprintf(victim, sizeof(victim), "%s-victim", dir);
	put(victim, "old");
	ktap_require(!chmod(victim, 0600));
	child = fork();
	if (!child)
		attack(getppid(), victim);
	/* What the writer says when its file has gone is no matter. */
	for (i = 0; i < ATTEMPTS; i++)
		good += !replace(in_dir("m.prom"));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ktap_note("%d of %d were written", good, ATTEMPTS);
	ktap_check(holds(victim, "old"), "the file elsewhere was written");
	ktap_check(!stat(victim, &st) && (st.st_mode & 0777) == 0600, "its mode is %o",
		   st.st_mode & 0777);
	unlink(victim);
}

/* Who owns the directory above makes that of the file a link, and back, all the time. */
static void __attribute__((noreturn)) swap(const char *elsewhere)
{
	while (true) {
		char *sub = in_dir("sub"), *away = in_dir("away");

		rename(sub, away);
		symlink(elsewhere, sub);
		unlink(sub);
		rename(away, sub);
		usleep(50);
	}
}

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int num = 0;

	ktap_require(d, "%s: %m", path);
	while (readdir(d))
		num++;
	closedir(d);
	return num;
}

static void above(void)
{
	char elsewhere[300], path[300];
	pid_t child;
	int i, good = 0;

	if (geteuid())
		ktap_skip("who is not root follows links");
	snprintf(elsewhere, sizeof(elsewhere), "%s-elsewhere", dir);
	snprintf(path, sizeof(path), "%s/sub/m.prom", dir);
	ktap_require(!mkdir(elsewhere, 0755) && !mkdir(in_dir("sub"), 0755));
	child = fork();
	if (!child)
		swap(elsewhere);
	/* A busy machine may leave the link there for as long as many attempts take. */
	for (i = 0; i < ATTEMPTS || (!good && i < 20 * ATTEMPTS); i++)
		good += !replace(path);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* Whichever state it was killed in. */
	unlink(in_dir("sub"));
	rename(in_dir("away"), in_dir("sub"));
	ktap_note("%d of %d were written", good, i);
	ktap_check(good, "none was written");
	ktap_check(entries(elsewhere) == 2, "there is something elsewhere");
	ktap_check(entries(in_dir("sub")) == 3, "%d files are left", entries(in_dir("sub")) - 2);
	ktap_require(!rmdir(elsewhere));
}

/* A writer that is killed before its end leaves nothing, nor does one that writes to the disk. */
static void killed(void)
{
	int before = entries(dir), late;

	for (late = 0; late < 2; late++) {
		pid_t child = fork();

		if (!child) {
			dies = true;
			if (late)
				replace(in_dir("killed.prom"));
			else if (!replace_begin(&session, in_dir("killed.prom")))
				kill(getpid(), SIGKILL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		ktap_check(entries(dir) == before, "%d files are left", entries(dir) - before);
	}
}

/* Another writer, in a container where its PID is ours. */
static void same_pid(void)
{
	char name[50];

	snprintf(name, sizeof(name), "m.prom.%d", (int)getpid());
	put(in_dir(name), "other");
	unlink(in_dir("m.prom"));
	ktap_require(!replace(in_dir("m.prom")));
	ktap_check(holds(in_dir(name), "other"), "the other one's file is gone");
	unlink(in_dir(name));
}

/* Of a new file, or one that was there; as the user wants it, or as the collector needs it. */
static void its_mode(void)
{
	static const struct { mode_t mask, old, new; const char *collector; } cases[] = {
		{ 022, 0, 0644 }, { 077, 0, 0600 }, { 002, 0, 0664 }, { 022, 0600, 0600 },
		{ 077, 0640, 0640 }, { 077, 04755, 0755 }, { 077, 0, 0644, "m" },
		{ 0, 0600, 0644, "m" },
	};
	mode_t before = umask(022);
	struct stat st;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unlink(in_dir("mode"));
		if (cases[i].old)
			put(in_dir("mode"), "old");
		ktap_require(!cases[i].old || !chmod(in_dir("mode"), cases[i].old));
		session.options.openmetrics = cases[i].collector;
		umask(cases[i].mask);
		ktap_check(!replace(in_dir("mode")) && !stat(in_dir("mode"), &st) &&
			   (st.st_mode & 07777) == cases[i].new, "case %u: mode %o", i, st.st_mode);
		ktap_check(umask(022) == cases[i].mask, "case %u: another umask", i);
	}
	session.options.openmetrics = NULL;
	umask(before);
	ktap_require(!unlink(in_dir("mode")));
}

/* What is written step by step is still there after each step, or else that is an error. */
static void taken(void)
{
	int way;

	for (way = 0; way < 3; way++) {
		ktap_require(!replace_begin(&session, in_dir("taken")));
		fputs("1", session.file);
		ktap_check(!replace_flush(&session, in_dir("taken")), "the first step");
		fputs("2", session.file);
		ktap_check(!replace_flush(&session, in_dir("taken")), "the second step");
		fputs("3", session.file);
		if (way)
			ktap_require(!unlink(in_dir("taken")));
		if (way == 2)
			put(in_dir("taken"), "other");
		ktap_check(replace_end(&session, in_dir("taken")) == (way ? STATUS_FAILED : 0),
			   "way %d: the last step", way);
		ktap_check(way == 1 || holds(in_dir("taken"), way ? "other" : "123"), "way %d",
			   way);
		unlink(in_dir("taken"));
	}
}

static void plain(void)
{
	unlink(in_dir("m.prom"));
	ktap_require(!replace(in_dir("m.prom")));
	ktap_check(holds(in_dir("m.prom"), "new"), "it is not the new one");
	ktap_require(!replace_begin(&session, in_dir("m.prom")));
	replace_cancel(&session);
	ktap_check(holds(in_dir("m.prom"), "new"), "what was not ended is there");
}

static void no_tmpfiles(void)
{
	int before = entries(dir);

	no_tmpfile = true;
	plain();
	no_tmpfile = false;
	ktap_check(created == 0600, "it can be read before it is whole: mode %o", created);
	ktap_check(entries(dir) == before, "%d files are left", entries(dir) - before);
}

/* As in /tmp: it is known before anything is counted that another's file stays. */
static void sticky(void)
{
	if (geteuid())
		ktap_skip("only root has files of others");
	put(in_dir("other.prom"), "old");
	ktap_require(!chmod(dir, 01777) && !seteuid(65534));
	ktap_check(replace_begin(&session, in_dir("other.prom")) == STATUS_FAILED, "it has begun");
	replace_cancel(&session);
	ktap_check(!replace(in_dir("mine.prom")), "a new one is not written");
	ktap_check(!replace(in_dir("mine.prom")), "one's own is not replaced");
	ktap_require(!seteuid(0) && !chmod(dir, 0700));
}

/* Devices of our own: if the program is wrong, those of the machine stay what they are. */
static void others(void)
{
	struct stat before, after;

	if (mknod(in_dir("null"), S_IFCHR | 0666, makedev(1, 3)) ||
	    mknod(in_dir("full"), S_IFCHR | 0666, makedev(1, 7)))
		ktap_skip("only root can make devices");
	ktap_check(!replace(in_dir("null")), "a device is not written");
	ktap_check(!lstat(in_dir("null"), &before) && S_ISCHR(before.st_mode), "it is no device now");
	ktap_check(replace(in_dir("full")) == STATUS_FAILED, "a full one takes all");
	ktap_require(!symlink("null", in_dir("link")) && !lstat(in_dir("link"), &before));
	ktap_check(replace(in_dir("link")) == STATUS_FAILED, "a link to a device was followed");
	put(in_dir("file"), "old");
	ktap_require(!symlink("file", in_dir("file-link")));
	ktap_check(replace(in_dir("file-link")) == STATUS_FAILED, "a link to a file was replaced");
	ktap_check(holds(in_dir("file"), "old"), "a link to a file was followed");
	ktap_check(!lstat(in_dir("link"), &after) && before.st_ino == after.st_ino, "it was replaced");
	ktap_require(!mkfifo(in_dir("fifo"), 0600));
	ktap_check(replace(in_dir("fifo")) == STATUS_FAILED, "a pipe without reader was written");
	ktap_check(replace(dir) == STATUS_FAILED, "a directory was replaced");
}

static void made(void)
{
	ktap_require(mkdtemp(dir), "%s: %m", dir);
}

static void removed(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ktap_require(!system(command));
}

/* A room of less than nothing is no memory, not a small piece. */
static void less_than_nothing(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!allocate((size_t)-8));
	ktap_check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		   WEXITSTATUS(status) == STATUS_FAILED, "status %#x", status);
}

KTAP_MAIN({ "a negative size", less_than_nothing },
	  { "a directory", made },
	  { "links under every name", links, KTAP_SAME_PROCESS },
	  { "a link in place of its directory", above, KTAP_SAME_PROCESS },
	  { "a writer that is killed", killed, KTAP_SAME_PROCESS },
	  { "another writer with this PID", same_pid, KTAP_SAME_PROCESS },
	  { "a file is replaced", plain, KTAP_SAME_PROCESS },
	  { "its mode", its_mode, KTAP_SAME_PROCESS },
	  { "a file that is taken away meanwhile", taken, KTAP_SAME_PROCESS },
	  { "where each file has a name", no_tmpfiles, KTAP_SAME_PROCESS },
	  { "a directory such as /tmp", sticky, KTAP_SAME_PROCESS },
	  { "devices, pipes, directories", others, KTAP_SAME_PROCESS },
	  { "the directory goes", removed, KTAP_SAME_PROCESS })
