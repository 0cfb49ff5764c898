// SPDX-License-Identifier: GPL-2.0-only
/*
 * relay PORT PORT COMMAND...: run a command in the virtual machine, write what it
 * prints on stdout to the first I/O port and what it prints on stderr to the second,
 * and end with its status. Who still holds its pipes then is not waited for.
 *
 * At the ports are QEMU's debug consoles. They are written with port I/O and not
 * through a driver: no interrupt and no lock of the kernel under test is involved, so
 * this neither disturbs the kernel nor depends on it. A shell cannot do that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pollfd p[3] = { 0 }, *pipes = p + 1;
	static char buf[65536];
	int fd[2][2], status, more;
	pid_t pid;

	if (argc < 4 || pipe2(fd[0], O_CLOEXEC) || pipe2(fd[1], O_CLOEXEC))
		return 125;
	pid = fork();
	if (!pid) {
		setsid();
		dup2(fd[0][1], 1);
		dup2(fd[1][1], 2);
		execvp(argv[3], &argv[3]);
		status = errno == ENOENT ? 127 : 126;
		perror(argv[3]);
		_exit(status);
	}
	for (int i = 0; i < 2; i++) {
		pipes[i] = (struct pollfd){ .fd = fd[i][0], .events = POLLIN };
		close(fd[i][1]);
		if (ioperm(strtoul(argv[1 + i], NULL, 0), 1, 1))
			return 125;
	}
	p[0] = (struct pollfd){ .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	do {
		/* It looks at the process first: once that has ended, the pipes have all it wrote. */
		more = poll(p, 3, -1) < 0 || !p[0].revents;
		for (int i = 0; i < 2; i++) {
			unsigned short port = strtoul(argv[1 + i], NULL, 0);
			ssize_t n = pipes[i].revents ? read(pipes[i].fd, buf, sizeof(buf)) : -1;
			char *from = buf;

			if (!n)
				pipes[i].fd = -1;
			if (n <= 0)
				continue;
			more = 1;
			__asm__ volatile("rep outsb" : "+S"(from), "+c"(n) : "d"(port) : "memory");
		}
	} while (more);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
