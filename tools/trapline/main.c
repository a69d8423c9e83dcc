/* trapline: what is done with traces on the host. A row per command. */
#include <string.h>

#include "tools/trapline/trapline.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
    {"run", cmd_run, "boots a kernel with your commands or program, and gets the trace"},
    {"record", cmd_record, "the same with events switched on, as trace-cmd record does"},
    {"live", cmd_live, "follows the events of a running machine, out of its memory"},
    {"extract", cmd_extract, "takes traces out of a machine's memory, a core, or a serial log"},
    {"convert", cmd_convert, "gives a trace.dat file another form: text, json, perfetto, ctf"},
    {"diff", cmd_diff,
	"compares two trace.dat files: order, counts, values, times, latencies, losses"},
    {"plot", cmd_plot, "draws a trace.dat file: an SVG, or a page that stands by itself"},
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	say("there is no command '%s'", name);
	return NULL;
}

static void help(FILE *f)
{
	fputs("Usage: trapline COMMAND [ARGUMENT]...\n\n", f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n`trapline help COMMAND` says more; so does the man page, "
	      "tools/trapline/trapline.1.\n",
	    f);
}

/* trapline help, --help, -h; trapline help COMMAND. */
static int help_on(int argc, char **argv)
{
	const struct command *c = argc > 2 ? find(argv[2]) : NULL;

	if (c)
		return c->run(2, (char *[]){argv[2], "--help", NULL});
	help(argc > 2 ? stderr : stdout);
	return argc > 2 ? EXIT_USAGE : EXIT_FINE;
}

int main(int argc, char **argv)
{
	static const char *const helps[] = {"help", "--help", "-h"};
	const struct command *c;

	unfinished_watch();
	for (size_t i = 0; argc > 1 && i < sizeof(helps) / sizeof(helps[0]); i++)
		if (!strcmp(argv[1], helps[i]))
			return help_on(argc, argv);
	c = argc > 1 ? find(argv[1]) : NULL;
	if (c)
		return c->run(argc - 1, argv + 1);
	help(stderr);
	return EXIT_USAGE;
}
