// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics map: what was planted is drawn where it belongs; a screen of 80 x 24 that is
 * redrawn and given back.
 *
 * VM: --sockets 2 --cores 2
 * TEST: 6.1:newest
 * SOAK: 6.1 newest newest:6.1
 */
#include <ctype.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>

#include "silicon.h"

#define PACKAGES	2
#define TOPOLOGY	"/tmp/map.topology"

static int cpu_of[PACKAGES];
static char answer[1 << 18];

static const char topology[] =
	"# an example\n"
	"link S0.qpi0 S1.qpi2\n"
	"link S1.qpi3 S0.qpi1\n"
	"link S0.qpi2 IOH0\n"
	"node 4 S0\n"
	"node 9 S1\n"
	"node 10 S1\n";

/* Of 256 flits, those that are not idle: each link has its own. */
static const unsigned int busy[PACKAGES][4] = { { 26, 51, 77, 3 }, { 102, 128, 205, 13 } };

static void plant(void)
{
	static const int port[4] = { 1, 0, 4, 5 };
	FILE *f = fopen(TOPOLOGY, "w");
	int p, i;

	ktap_require(f && fputs(topology, f) >= 0 && !fclose(f), "%m");
	silicon_start();
	for (p = 0; p < PACKAGES; p++) {
		int cpu = cpu_of[p] = need_package(p);

		msr_write(cpu, SYN_TRAFFIC_MIX, 0);
		for (i = SYN_BOX_U; i <= (int)SYN_BOX_R; i++)
			traffic_silence(cpu, i, SYN_ANY);
		/* No two alike, nor near to each other. */
		for (i = 0; i < 8; i++)
			traffic_rate(cpu, SYN_SEL(SYN_BOX_C, i, 0x14, 0), p ? 32 * i : 256 - 32 * i);
		for (i = 0; i < 2; i++) {
			traffic_rate(cpu, SYN_SEL(SYN_BOX_M, i, SYN_CODE_M_FVC(5), 0), 10 << (2 * p + i));
			traffic_rate(cpu, SYN_SEL(SYN_BOX_B, i, SYN_CODE_B(1, 0x0c), SYN_ANY),
				     3 << (2 * p + i));
		}
		for (i = 0; i < 4; i++) {
			traffic_rate(cpu, SYN_SEL(SYN_BOX_R, port[i], SYN_CODE_R_IPERF(31), SYN_ANY), 256);
			traffic_rate(cpu, SYN_SEL(SYN_BOX_R, port[i], SYN_CODE_R_IPERF(30), SYN_ANY),
				     256 - busy[p][i]);
		}
	}
}

static void run(const char *args)
{
	char command[500];
	size_t len;
	FILE *f;

	snprintf(command, sizeof(command), "perf metrics map --topology " TOPOLOGY " %s", args);
	f = popen(command, "r");
	ktap_require(f, "%s", command);
	len = fread(answer, 1, sizeof(answer) - 1, f);
	answer[len] = 0;
	ktap_require(!pclose(f), "%s: %s", command, answer);
}

/* This line of the block of package p, of which 1 is the first one; they are 40 columns wide. */
static const char *block(int line, int p)
{
	static char text[41];
	const char *at = strstr(answer, "== S0 ");

	ktap_require(at, "%s", answer);
	while (--line > 0) {
		at = strchr(at, '\n');
		ktap_require(at, "%s", answer);
		at++;
	}
	ktap_require(strcspn(at, "\n") >= 40u * p + 20, "%s", answer);
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(at + 40 * p, "\n"), at + 40 * p);
	return text;
}

/* 36.3G in units of one, also with the mark of what is not plausible */
static double number(const char *text)
{
	static const char prefixes[] = "kMGT";
	const char *prefix;
	char *end;
	double value;

	text += strspn(text, " ");
	value = strtod(text + (*text == '!'), &end);
	prefix = *end ? strchr(prefixes, *end) : NULL;
	return prefix ? value * pow(1000, prefix - prefixes + 1) : value;
}

/* Rates are of a time that is not known here to the last digit. */
static void check_rate(const char *text, unsigned int active, double each)
{
	double hz = 1e9 * msr_read(0, SYN_HZ_NUM) / msr_read(0, SYN_HZ_DEN);
	double wanted = active / 256.0 * hz * each;

	ktap_check(fabs(number(text) - wanted) < 0.2 * wanted, "%s, and not %g", text, wanted);
}

/* How dark a C-Box is: 8 steps from 10 k/s to 100 M/s. */
static int shade(double rate)
{
	return fmin(8 * log10(fmax(rate, 1e4) / 1e4) / 4, 8) + 0.5;
}

static void check_cell(char cell, unsigned int active)
{
	static const char levels[] = ".:-=+*#%@";
	double hz = 1e9 * msr_read(0, SYN_HZ_NUM) / msr_read(0, SYN_HZ_DEN);
	const char *at = strchr(levels, cell);
	double wanted = active / 256.0 * hz;

	ktap_check(cell && at && at - levels >= shade(0.8 * wanted) && at - levels <= shade(1.2 * wanted),
		   "%c is not %g", cell, wanted);
}

static void places(void)
{
	static const char * const peer[PACKAGES][4] = {
		{ "S1", "S1", "IOH0", "?" }, { "?", "?", "S0", "S0" },
	};
	int p, i, sum = 0;

	plant();
	run("-- sleep 0.1");
	ktap_note("%s", answer);
	ktap_check(strstr(answer, "Busiest links: S1 q2>S0 80%,"), "no such link");
	for (p = 0; p < PACKAGES; p++) {
		for (i = sum = 0; i < 8; i++) {
			int active = p ? 32 * i : 256 - 32 * i;

			check_cell(block(2, p)[2 + i], active);
			sum += active;
		}
		check_rate(block(2, p) + 11, sum, 1);
		for (i = 0; i < 2; i++) {
			const char *text = block(3 + i, p);
			char start[8];

			snprintf(start, sizeof(start), "M%d r", i);
			ktap_check(!strncmp(text, start, 4), "%s", text);
			check_rate(text + 4, 10 << (2 * p + i), 64);
			check_rate(text + 12, 3 << (2 * p + i), 64);
		}
		for (i = 0; i < 4; i++) {
			const char *text = block(5 + i, p);
			char start[20], full[8];

			snprintf(start, sizeof(start), "q%d>%-7s ", i, peer[p][i]);
			ktap_check(!strncmp(text, start, 11), "%s, and not to %s", text, peer[p][i]);
			/* Shares are exact, and so are the bars. */
			snprintf(full, sizeof(full), "%3.0f%%", busy[p][i] / 2.56);
			ktap_check(!strncmp(text + 27, full, 4), "%s, and not %s", text, full);
			ktap_check((int)strspn(text + 11, "#") == (int)(16 * busy[p][i] / 256.0 + 0.5),
				   "%s is of the wrong length", text);
			check_rate(text + 31, busy[p][i], 8);
			ktap_check((text[38] == '<') == (p == 1 && i == 2), "%s", text);
		}
	}
}

/* There is such a file while the command of the matrix runs. */
#define STARTED	"/tmp/map.started"

/* Home requests that leave by any link, to each node; other packets do not count. */
static void matrix(void)
{
	static const struct {
		int from, port, class, node, num;
	} packets[] = {
		{ 0, 1, 0, 9, 100 }, { 0, 5, 0, 10, 200 }, { 1, 4, 0, 4, 4000 }, { 1, 0, 0, 9, 20000 },
		{ 0, 1, 3, 4, 30000 }, { 1, 4, 0, 3, 30000 },
	};
	double to[PACKAGES][PACKAGES];
	unsigned int i, p;
	size_t len;
	char *at;
	FILE *f;

	plant();
	unlink(STARTED);
	f = popen("perf metrics map --matrix --topology " TOPOLOGY
		  " -- sh -c '>" STARTED "; while [ -e " STARTED " ]; do sleep 0.1; done'", "r");
	ktap_require(f);
	/* Until then it says nothing, unless it fails. */
	while (access(STARTED, F_OK) && !poll(&(struct pollfd){ fileno(f), POLLIN, 0 }, 1, 1))
		;
	/* Three nodes need two turns, which the kernel gives to each many times meanwhile. */
	for (p = 0; p < 100; p++) {
		for (i = 0; i < ARRAY_SIZE(packets); i++) {
			int cpu = cpu_of[packets[i].from];

			msr_write(cpu, SYN_PKT_HEADER, SYN_PKT_BOX(SYN_BOX_R) |
				  SYN_PKT_INSTANCE(packets[i].port) | SYN_PKT_CLASS(packets[i].class) |
				  SYN_PKT_DNID(packets[i].node));
			msr_write(cpu, SYN_PKT_ADDR, 0);
			msr_write(cpu, SYN_PKT_SEND, packets[i].num);
		}
		usleep(4000);
	}
	unlink(STARTED);
	len = fread(answer, 1, sizeof(answer) - 1, f);
	answer[len] = 0;
	ktap_require(!pclose(f), "%s", answer);
	ktap_note("%s", answer);
	at = strstr(answer, "Home requests/s     S0     S1\n");
	ktap_require(at, "%s", answer);
	for (p = 0; p < PACKAGES; p++) {
		at = strchr(at, '\n') + 1;
		for (i = 0; i < PACKAGES; i++) {
			/* They took turns, and that is said. */
			len = strspn(at + 15 + 7 * i, " ");
			ktap_check(at[15 + 7 * i + len] == '~', "%s", at);
			to[p][i] = number(at + 15 + 7 * i + len + 1);
		}
	}
	ktap_check(to[0][0] == 0, "S0 to S0: %g", to[0][0]);
	ktap_check(to[0][1] > 0 && to[1][0] > 5 * to[0][1] && to[1][1] > 2 * to[1][0],
		   "%g, %g, %g", to[0][1], to[1][0], to[1][1]);
}

/* Absent is not 0, and a sum is of what is there. */
static void absent(void)
{
	int p;

	for (p = 0; p < PACKAGES; p++)
		cpu_of[p] = need_package(p);
	ktap_require(!system("modprobe -r xeon7500_uncore"));
	msr_write(cpu_of[0], SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_C, 3));
	msr_write(cpu_of[1], SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_M, 1));
	ktap_require(!system("modprobe xeon7500_uncore"));
	plant();
	run("-- sleep 0.05");
	for (p = 0; p < 8; p++)
		ktap_check((block(2, 0)[2 + p] == ' ') == (p == 3), "%s", block(2, 0));
	ktap_check(!strncmp(block(4, 1), "M1 r     - w", 12), "%s", block(4, 1));
	ktap_check(!strncmp(block(4, 0), "M1 r 11.", 8), "%s", block(4, 0));
	run("-o /tmp/map.svg -- sleep 0.05");
	ktap_check(!*answer, "%s", answer);
	ktap_check(!system("[ $(grep -c 'fill=\"#c8c8c8\"' /tmp/map.svg) = 2 ]"),
		   "not a C-Box and the legend are grey");
	for (p = 0; p < PACKAGES; p++)
		msr_write(cpu_of[p], SYN_ABSENT, 0);
	silicon_forgive();
	ktap_require(!system("modprobe -r xeon7500_uncore && modprobe xeon7500_uncore"));
}

/* ---- the screen ---- */

static int screen;
static size_t filled;

static pid_t start_on_screen(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	pid_t pid = forkpty(&screen, NULL, NULL, &size);

	ktap_require(pid >= 0, "%m");
	if (!pid) {
		setenv("TERM", "xterm", 1);
		execlp("perf-metrics", "perf-metrics", "map", "--matrix", "-I", "100", "--topology",
		       TOPOLOGY, NULL);
		_exit(127);
	}
	filled = 0;
	answer[0] = 0;
	return pid;
}

/* Reads what comes next; false if that is nothing. */
static bool more(void)
{
	struct pollfd fd = { .fd = screen, .events = POLLIN };
	ssize_t len;

	if (poll(&fd, 1, 60000) <= 0)
		return false;
	len = read(screen, answer + filled, sizeof(answer) - 1 - filled);
	filled += len > 0 ? len : 0;
	answer[filled] = 0;
	return len > 0;
}

/* How it ends: by a key, or a signal to the program. */
static void ends_by(int key, int sig)
{
	struct termios before, after;
	pid_t pid = start_on_screen();
	int status;

	/* As it was before the program had been there. */
	ktap_require(!tcgetattr(screen, &before));
	before.c_lflag |= ICANON | ECHO | ISIG;
	/* The last line of the matrix, and something of the next interval */
	while (!strstr(answer, "from S1 to") && more())
		;
	ktap_check(more(), "%s", answer);
	ktap_check(strstr(answer, "\033[?1049h") && strstr(answer, "\033[?25l"),
		   "it has not taken the screen");
	ktap_check(strstr(answer, "Busiest links: S1 q2>S0 80%"), "%s", answer);
	ktap_check(strstr(answer, "\033[33mq2>S0"), "the link from 60 %% on is not in yellow");
	ktap_check(strstr(answer, "from S1 to"), "there is no matrix");
	if (key)
		ktap_require(write(screen, &(char){ key }, 1) == 1);
	else
		kill(pid, sig);
	while (more())
		;
	ktap_require(waitpid(pid, &status, 0) == pid);
	ktap_check(key ? WIFEXITED(status) && !WEXITSTATUS(status) :
		   WIFSIGNALED(status) && WTERMSIG(status) == sig, "status %#x", status);
	ktap_check(strstr(answer, "\033[?25h") && strstr(answer, "\033[?1049l"),
		   "it has not given the screen back");
	ktap_check(!tcgetattr(screen, &after) && after.c_lflag == before.c_lflag &&
		   after.c_iflag == before.c_iflag, "the terminal is not as it was");
	close(screen);
}

static void redrawn(void)
{
	plant();
	ends_by('q', 0);
	ends_by(3, 0);
	ends_by(0, SIGTERM);
	ends_by(0, SIGINT);
}

METRICS_MAIN({ "each value is in its place", places },
	{ "who talks to whom", matrix },
	{ "the map shows absent boxes as absent, not 0", absent },
	{ "redrawn on 80 x 24, and given back", redrawn })
