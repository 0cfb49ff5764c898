// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen that the map is redrawn on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "map.h"

static struct termios before;
static bool ours;
/* Where what is said meanwhile is kept, also by perf, for the screen would take it along */
static int said = -1, err = -1;
static off_t told;

void terminal_end(void)
{
	char text[1024];
	ssize_t len;

	if (ours) {
		ours = false;
		/* The cursor again, and the screen as it was. */
		printf("\033[?25h\033[?1049l");
		fflush(stdout);
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
		dup2(err, STDERR_FILENO);
	}
	/* perf, which has the old stderr, may say more until it has ended. */
	while ((len = pread(said, text, sizeof(text), told)) > 0 && write(err, text, len) == len)
		told += len;
}

bool terminal_begin(void)
{
	struct termios keys;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return false;
	keys = before;
	keys.c_lflag &= ~(ICANON | ECHO | ISIG);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &keys))
		return false;
	ours = true;
	atexit(terminal_end);
	err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	said = memfd_create("stderr", MFD_CLOEXEC);
	dup2(said, STDERR_FILENO);
	printf("\033[?1049h\033[?25l\033[2J\033[H");
	printf("perf metrics map: the first interval is under way. q ends it.\n");
	fflush(stdout);
	return true;
}

int terminal_rows(void)
{
	struct winsize size;

	if (!ours)
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 2 ? 24 : size.ws_row;
}

void terminal_show(const char *text)
{
	int rows = terminal_rows();

	printf("\033[H");
	while (*text && rows-- > 0) {
		int len = strcspn(text, "\n");

		/* The rest of a line that was longer; and no new line after the last one. */
		printf("%.*s\033[K", len, text);
		text += len;
		text += !!*text;
		if (*text && rows > 0)
			printf("\n");
	}
	printf("\033[J");
	fflush(stdout);
}
