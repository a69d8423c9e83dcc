/* trapline: what is done with traces on the host. A row per command. */
#include <string.h>

#include "tools/trapline/trapline.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
    {"convert", cmd_convert, "gives a trace.dat file another form: text, json, perfetto, ctf"},
    {"live", cmd_live, "follows the events of a running machine, out of its memory"},
    {"extract", cmd_extract, "takes traces out of a serial log"},
};

static void help(FILE *f)
{
	fputs("Usage: trapline COMMAND [ARGUMENT]...\n\n", f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n`trapline COMMAND -h` says more; so does man trapline.\n", f);
}

int main(int argc, char **argv)
{
	if (argc > 1 &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))) {
		help(stdout);
		return EXIT_FINE;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc > 1)
		say("there is no command '%s'", argv[1]);
	help(stderr);
	return EXIT_USAGE;
}
