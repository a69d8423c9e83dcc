/* The table of commands, made from commands.def. Read-only. */
#include "kernel/shell/command.h"

#include "kernel/abi/shell_names.h"

const struct sh_command sh_commands[] = {
#define COMMAND(name, fn, min, max, flags, usage, help)                                            \
	{name, min, max, flags, usage, help, sh_cmd_##fn},
#include "kernel/shell/commands.def"
};
const size_t sh_command_count = ARRAY_SIZE(sh_commands);

/* Nobody in the kernel reads it. */
__attribute__((used)) static const char sh_command_names[] = SHELL_NAMES_MAGIC
#define COMMAND(name, fn, min, max, flags, usage, help) name "\n"
#include "kernel/shell/commands.def"
    ;
