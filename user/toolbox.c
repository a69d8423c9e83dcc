/*
 * /bin/toolbox: the programs of user/bin in one file, which has the C library once for all of them.
 * Each of their names is a link to it; the name by which it is called chooses the program.
 */
#include "user/command.h"

#include <stdio.h>
#include <string.h>

/* The build lists the files of user/bin there, and renames their main(). */
#define PROGRAM(name) int name##_main(int argc, char **argv, char **envp);
#include TOOLBOX_PROGRAMS
#undef PROGRAM

static const struct program {
	const char *name;
	int (*main)(int argc, char **argv, char **envp);
} programs[] = {
#define PROGRAM(name) {#name, name##_main},
#include TOOLBOX_PROGRAMS
#undef PROGRAM
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static const struct program *find(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < PROGRAMS; i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

/* Called by its own name, it takes the program's from the first argument. */
int main(int argc, char **argv, char **envp)
{
	const struct program *p = argc ? find(argv[0]) : NULL;

	if (p)
		return p->main(argc, argv, envp);
	p = argc > 1 ? find(argv[1]) : NULL;
	if (p)
		return p->main(argc - 1, argv + 1, envp);
	command_begin("toolbox", "PROGRAM [ARGUMENT]...");
	if (argc > 1)
		return command_fail("no program '%s'", argv[1]);
	for (size_t i = 0; i < PROGRAMS; i++)
		puts(programs[i].name);
	return 0;
}
