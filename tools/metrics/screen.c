// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal as a screen: a view writes text, of which here becomes what is seen, with
 * scrolling, a pause and a line of help. ncurses knows the terminals.
 *
 * Ctrl-C and Ctrl-Z are keys: as signals they would end or stop perf(1), which waits for us,
 * before us. perf stat is in a process group of its own and goes on counting meanwhile.
 */
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "screen.h"

static bool ours, utf8, colours, paused;
static int top;			/* the first line below the head that is shown */
static int page;		/* so many are */
static double now, shown;	/* when the newest result was, and the one that is shown */
static double came;		/* the newest one, by the clock */
static struct termios before;	/* how the terminal was */
/* Where what is said meanwhile is kept, also by perf, for the screen would take it along */
static int said = -1, err = -1;
static off_t told;
static int ending;		/* a signal that has been read, and ends the program; or 0 */
static int late;		/* seconds that the write has taken */

enum style style_of(double share)
{
	return share >= 0.9 ? STYLE_HOT : share >= 0.6 ? STYLE_WARM : STYLE_PLAIN;
}

bool screen_is_utf8(void)
{
	return utf8;
}

/* ---- what is seen ---- */

/* Without colours, what is hot is seen all the same. */
static void set_style(enum style style)
{
	static const attr_t attributes[STYLES] = {
		[STYLE_HEAD] = A_BOLD, [STYLE_WARM] = A_BOLD, [STYLE_HOT] = A_REVERSE,
		[STYLE_ODD] = A_REVERSE | A_BOLD,
	};

	if (colours && style > STYLE_HEAD)
		attr_set(style == STYLE_HOT || style == STYLE_ODD ? A_BOLD : A_NORMAL, style, NULL);
	else
		attr_set(attributes[style], 0, NULL);
}

/* Puts a line where it belongs, without what has no room; returns what is behind it. */
static const char *put_line(int row, const char *text)
{
	int column = 0, len, width;
	wchar_t wide[2] = {};

	move(row, 0);
	set_style(STYLE_PLAIN);
	for (; *text && *text != '\n'; text += len) {
		len = 1;
		if (*text > 0 && *text < STYLES) {
			set_style(*text);
			continue;
		}
		len = mbtowc(wide, text, MB_CUR_MAX);
		if (len < 1) {
			/* A locale that does not have it */
			for (len = 1; (text[len] & 0xc0) == 0x80; len++)
				;
			wide[0] = '?';
		}
		width = wcwidth(wide[0]);
		if (width < 0 || column + width > COLS)
			continue;
		column += width;
		addwstr(wide);
	}
	set_style(STYLE_PLAIN);
	clrtoeol();
	return text + !!*text;
}

static double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void put_help(const struct session *session, int lines)
{
	double silent = clock_now() - came;
	char *at = lines > page ? format(" arrows %d-%d/%d", top + 1, top + page, lines) : "";
	char *text = format("q quit  p pause  %s", session->view->keys);
	int room = COLS - 1 - (int)strlen(at);

	if (paused)
		text = format("PAUSED %.3f s, now %.3f s: p goes on", shown, now);
	else if (silent > 3e-3 * session->options.interval && silent > 1)
		text = format("no result for %.0f s  %s", silent, text);
	move(LINES - 1, 0);
	attr_set(A_REVERSE, 0, NULL);
	/* The last column of the last line scrolls some terminals. */
	printw("%-*.*s%s", room, room, text, at);
}

/*
 * The signals that end the program wait to be read while it counts, but a write whose reader does
 * not read, or to a terminal that is stopped, never comes to an end. Then they end it here; the
 * terminal gets its settings back.
 */
static void look(int sig)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending, one;
	unsigned int i;

	(void)sig;
	alarm(1);
	late++;
	/* On a busy machine it is us who are late, but some terminals take a little while they are stopped. */
	if (ours && late <= 5 && poll(&(struct pollfd){ STDOUT_FILENO, POLLOUT, 0 }, 1, 0) > 0)
		return;
	sigpending(&pending);
	/* The last result, which comes after it, has a little time for a slow reader or disk. */
	if (ending && (ours || late > 5))
		sigaddset(&pending, ending);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!sigismember(&pending, ends[i]))
			continue;
		if (ours)
			tcsetattr(STDIN_FILENO, TCSANOW, &before);
		/* In place of ncurses' own, which would write */
		signal(ends[i], SIG_DFL);
		raise(ends[i]);
		sigemptyset(&one);
		sigaddset(&one, ends[i]);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
}

void write_ends(int sig)
{
	ending = sig;
}

void write_begin(void)
{
	late = 0;
	signal(SIGALRM, look);
	alarm(1);
}

void write_end(void)
{
	alarm(0);
}

static void written(int (*write)(void))
{
	write_begin();
	write();
	write_end();
}

static void redraw(struct session *session)
{
	const struct view *view = session->view;
	const void *before = mark();
	int row = 0, lines = -view->head, line;
	char *drawn = NULL;
	const char *text;
	size_t size;
	FILE *f = open_memstream(&drawn, &size);

	view->draw(session, f, COLS);
	fclose(f);
	for (text = drawn; *text; text++)
		lines += *text == '\n';
	page = LINES - 1 - view->head > 0 ? LINES - 1 - view->head : 0;
	top = top > lines - page ? lines - page : top;
	top = top < 0 ? 0 : top;
	for (text = drawn, line = 0; row < LINES - 1; line++) {
		if (!*text || line < view->head || line >= view->head + top)
			text = put_line(row++, text);
		else
			text += strcspn(text, "\n") + 1;
	}
	put_help(session, lines);
	written(refresh);
	free(drawn);
	free_from(before);
}

static void show_newest(const struct view *view)
{
	shown = now;
	memcpy(view->shown, view->newest, view->size);
}

void screen_update(struct session *session, double time)
{
	now = time;
	came = clock_now();
	/* Nothing more once it has been given back. */
	if (!ours)
		return;
	if (!paused)
		show_newest(session->view);
	redraw(session);
}

void screen_tick(struct session *session)
{
	if (ours)
		redraw(session);
}

/* ---- the terminal ---- */

void screen_end(void)
{
	char text[1024];
	ssize_t len;

	write_begin();
	if (ours) {
		endwin();
		ours = false;
		dup2(err, STDERR_FILENO);
	}
	/* perf, which has the old stderr, may say more until it has ended. */
	while ((len = pread(said, text, sizeof(text), told)) > 0 && write(err, text, len) == len)
		told += len;
	write_end();
}

/* Its size as it is now; what terminfo or the environment has may be of another day. */
static void fit(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

static void set_up(void)
{
	static const short pairs[STYLES] = {
		[STYLE_QUIET] = COLOR_CYAN, [STYLE_WARM] = COLOR_YELLOW, [STYLE_HOT] = COLOR_RED,
		[STYLE_ODD] = COLOR_MAGENTA,
	};
	int i;

	raw();
	noecho();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(25);
	curs_set(0);
	/* https://no-color.org: any text but an empty one */
	colours = has_colors() && !*(getenv("NO_COLOR") ?: "");
	if (colours) {
		start_color();
		use_default_colors();
		for (i = STYLE_QUIET; i < STYLES; i++)
			init_pair(i, pairs[i], -1);
	}
	fit();
}

const char *screen_begin(struct session *session)
{
	const char *type = getenv("TERM") ?: "";
	void (*stops)(int sig);
	bool known;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "stdin and stdout are no terminal";
	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	fflush(stdout);
	tcgetattr(STDIN_FILENO, &before);
	/* Signals are held from here on, and the first of it may be more than the terminal takes. */
	write_begin();
	ours = true;
	/* ncurses leaves it alone then; otherwise what is pending would be lost in each refresh. */
	stops = signal(SIGTSTP, SIG_IGN);
	known = newterm(NULL, stdout, stdin);
	signal(SIGTSTP, stops);
	if (!known || !tigetstr("cup")) {
		if (known)
			endwin();
		ours = false;
		write_end();
		return format(known ? "the terminal TERM=%s has no screen" :
				      "the terminal TERM=%s is not known", type);
	}
	err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	said = memfd_create("stderr", MFD_CLOEXEC);
	dup2(said, STDERR_FILENO);
	atexit(screen_end);
	set_up();
	write_end();
	came = clock_now();
	session->view->shown = allocate(session->view->size);
	show_newest(session->view);
	redraw(session);
	return NULL;
}

/* Until somebody brings us to the foreground again, the terminal is as it was. */
static void stop(struct session *session)
{
	sigset_t tstp, blocked;

	written(endwin);
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &tstp, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	reset_prog_mode();
	fit();
	clearok(curscr, true);
	redraw(session);
}

bool screen_signal(struct session *session, int sig)
{
	if (sig != SIGWINCH && sig != SIGTSTP && sig != SIGCONT)
		return false;
	if (!ours)
		return sig != SIGTSTP;
	if (sig == SIGTSTP) {
		stop(session);
		return true;
	}
	if (sig == SIGCONT)
		reset_prog_mode();
	fit();
	clearok(curscr, true);
	redraw(session);
	return true;
}

static void take_key(struct session *session, int key)
{
	switch (key) {
	case 'p':
	case ' ':
		paused = !paused;
		if (!paused)
			show_newest(session->view);
		break;
	case KEY_UP:
	case 'k':
		top--;
		break;
	case KEY_DOWN:
	case 'j':
		top++;
		break;
	case KEY_PPAGE:
		top -= page;
		break;
	case KEY_NPAGE:
		top += page;
		break;
	case KEY_HOME:
	case 'g':
		top = 0;
		break;
	case KEY_END:
	case 'G':
		top = INT_MAX / 2;
		break;
	case CTRL('L'):
		clearok(curscr, true);
		break;
	default:
		if (session->view->key)
			session->view->key(session, key);
	}
}

bool screen_keys(struct session *session)
{
	int key;

	while (ours && (key = getch()) != ERR) {
		if (key == 'q' || key == CTRL('C')) {
			screen_end();
			return true;
		}
		if (key == CTRL('Z') || key == KEY_SUSPEND)
			kill(0, SIGTSTP);
		else
			take_key(session, key);
	}
	if (ours)
		redraw(session);
	return false;
}
