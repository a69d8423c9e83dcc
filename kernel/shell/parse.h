/*
 * Text to tree. A script is counted: tasks that run parts of it in the background, and functions defined in it, keep it
 * alive; once parsed it is only read. Task context.
 */
#pragma once

#include "kernel/shell/arena.h"
#include "kernel/shell/ast.h"

struct sh_script {
	u32 refs; /* atomic */
	struct sh_arena arena;
	struct sh_node *root; /* NULL: nothing to do */
};

enum sh_parse_result { SH_PARSE_OK, SH_PARSE_MORE, SH_PARSE_ERROR };

/*
 * Parses one complete line (or a compound command of several) at `text`. OK: *script is it and *used the bytes taken
 * (0 at the end of the text). MORE: the text ends inside something. ERROR: the reason is in `message`.
 */
enum sh_parse_result sh_parse(
    const char *text, struct sh_script **script, size_t *used, char message[128]);
struct sh_script *sh_script_get(struct sh_script *s);
void sh_script_put(struct sh_script *s);
