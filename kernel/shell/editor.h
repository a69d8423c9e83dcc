/* The interactive line: prompt, editing, history, completion, for a VT100 terminal. Task context. */
#pragma once

#include "kernel/shell/input.h"

struct sh_editor;

struct sh_editor *sh_editor_new(struct shell *sh); /* NULL: no memory */
void sh_editor_free(struct sh_editor *e);
enum sh_line sh_editor_line(struct sh_editor *e, struct sh_buf *text, bool more);
