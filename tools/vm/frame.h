/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest's init and the host say to each other over the third serial
 * port: the magic once, then frames of a type byte, a 32-bit little-endian
 * length and that many bytes. The guest only sends; what it has to do is in
 * CONF, which the host puts into the initramfs as NUL-terminated pairs of a
 * keyword and a value.
 */
#ifndef VM_FRAME_H
#define VM_FRAME_H

#define FRAME_MAGIC "\177VMFRAME"

enum frame {
	FRAME_LOG = 'k',	/* kernel log of the time before init */
	FRAME_OUT = 'o',	/* what the command wrote to stdout */
	FRAME_ERR = 'e',	/* what it wrote to stderr */
	FRAME_FAIL = 'f',	/* init cannot go on, and why */
	FRAME_STATUS = 'x',	/* one byte: exit status of the command */
	FRAME_FILE = 'F',	/* start of the next file to get; 32-bit mode */
	FRAME_DATA = 'D',	/* its bytes */
	FRAME_FILE_END = 'E',	/* its end; empty, or why it is not whole */
	FRAME_DONE = 'q',	/* power goes off now */
};

#define CONF "/vm.conf"
#define CONF_MODULE "module"	/* FILE PARAMETERS: load it, in this order */
#define CONF_ARG "arg"		/* of the command */
#define CONF_GET "get"		/* send this file when the command is through */
#define CONF_TTY "tty"		/* ROWS COLUMNS: the command gets a terminal */
#define CONF_ENV "env"		/* NAME=VALUE */

/* The ports of COM1, COM2 and COM3. */
#define CONSOLE_PORT 0x3f8
#define TTY_PORT 0x2f8
#define FRAME_PORT 0x3e8

#endif
