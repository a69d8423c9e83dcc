/* Lines from the console: as they come (plain) or with editing, history and completion. Task context. */
#pragma once

#include "kernel/shell/state.h"

struct sh_input;

enum sh_line {
	SH_LINE,	 /* appended to the text, with its newline */
	SH_LINE_REFUSED, /* too long or no text: said so; what is pending is to be forgotten */
	SH_LINE_DROPPED, /* Ctrl-C */
	SH_LINE_END,	 /* end of file */
};

struct sh_input *sh_input_new(struct shell *sh, bool plain); /* NULL: no memory */
void sh_input_free(struct sh_input *in);
/* Printable UTF-8 and tabs only? */
bool sh_is_text(const char *line, size_t n);
/* more: the text is the beginning of an unfinished command (second prompt). */
enum sh_line sh_input_line(struct sh_input *in, struct sh_buf *text, bool more);
