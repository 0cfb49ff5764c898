/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole terminal for something that is drawn anew after each result: see screen.c.
 */
#ifndef PERF_METRICS_SCREEN_H
#define PERF_METRICS_SCREEN_H

#include "metrics.h"

/* In the text of a view these characters set how what follows looks, up to the end of the line. */
enum style {
	STYLE_PLAIN = 1,
	STYLE_HEAD,	/* names of columns, headings */
	STYLE_QUIET,	/* what matters less */
	STYLE_WARM,	/* from 60 % of a limit on */
	STYLE_HOT,	/* from 90 % on */
	STYLE_ODD,	/* not plausible */
	STYLES,
};

/**
 * struct view - what is on the screen
 * @keys: of its own, for the help line
 * @head: so many of its first lines are not scrolled
 * @newest: the newest result, a piece of memory of @size without pointers into itself
 * @shown: a copy of it, by the screen: the one that is shown
 * @draw: writes the lines of @shown, of up to so many columns
 * @key: takes a key, or NULL
 */
struct view {
	const char *keys;
	int head;
	const void *newest;
	void *shown;
	size_t size;
	void (*draw)(struct session *session, FILE *f, int columns);
	void (*key)(struct session *session, int key);
};

/* How a value looks that is this share of what is possible. */
enum style style_of(double share);

/* Takes the terminal and its keys, for session->view. NULL, or why that is not possible. */
const char *screen_begin(struct session *session);
/* Gives both back, and says what was said meanwhile. May be called at any time, also twice. */
void screen_end(void);
/* There is a new result; time is when, in seconds from the start. */
void screen_update(struct session *session, double time);
/* Takes the keys that have been typed; true for the one that ends. */
bool screen_keys(struct session *session);
/* Some time has passed, without a new result perhaps. */
void screen_tick(struct session *session);
/* Takes a signal; false if it is none of the screen's. */
bool screen_signal(struct session *session, int signal);
/*
 * Between the two, a write may wait for a reader who never comes: a signal that ends the program
 * and is blocked then ends it after at most a second, and one of write_ends() after six.
 */
void write_begin(void);
void write_end(void);
/* This signal has been read, and ends the program once all is written; 0: there is none. */
void write_ends(int signal);
/* Can it show the blocks of UTF-8? */
bool screen_is_utf8(void);

#endif /* PERF_METRICS_SCREEN_H */
