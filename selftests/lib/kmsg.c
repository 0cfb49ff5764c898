// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>

#include "kmsg.h"
#include "sampling.h"

static int kmsg_fd = -1;
/* When kmsg_next() stops waiting, ns; 0: it has not begun. */
static u64 give_up;

int kmsg_level;

void kmsg_mark(void)
{
	if (kmsg_fd < 0)
		kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ktap_require(kmsg_fd >= 0, "/dev/kmsg: %s", strerror(errno));
	lseek(kmsg_fd, 0, SEEK_END);
	give_up = 0;
}

bool kmsg_next(char *line, int size)
{
	struct pollfd more = { .fd = kmsg_fd, .events = POLLIN };
	char rec[2048], *text;
	ssize_t n;

	while ((n = read(kmsg_fd, rec, sizeof(rec) - 1)) < 0) {
		u64 now = clock_ns();

		if (errno == EPIPE)
			continue;
		give_up = give_up ?: now + 100000000;
		if (errno != EAGAIN || now >= give_up) {
			give_up = 0;
			return false;
		}
		poll(&more, 1, (give_up - now) / 1000000 + 1);
	}
	if (n <= 0)
		return false;
	rec[n] = 0;
	kmsg_level = atoi(rec) & 7;
	text = strchr(rec, ';');
	text = text ? text + 1 : rec;
	text[strcspn(text, "\n")] = 0;
	snprintf(line, size, "%.*s", size - 1, text);
	return true;
}

int kmsg_count(const char *what)
{
	char line[1024];
	int num = 0;

	while (kmsg_next(line, sizeof(line)))
		num += !!strstr(line, what);
	return num;
}

void kmsg_no_unknown_nmi(void)
{
	char line[1024];

	while (kmsg_next(line, sizeof(line)))
		ktap_check(!strstr(line, "NMI received for unknown reason"), "%s", line);
}
