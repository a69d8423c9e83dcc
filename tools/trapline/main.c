/*
 * trapline, the program for traces on the host. A row per command below; a folder per subject:
 *
 *   lib/      what all of it uses: messages, numbers, files that appear whole or not at all
 *             (output.c), words, XML
 *   trace/    a trace is read: dat.c opens a file, page.c walks records, format.c knows fields,
 *             trace.c merges CPUs, text.c prints a record. The same out of a machine's memory
 *             (memory.c, guest.c, live.c), with no help from inside, or of lastboot.bin
 *   model/    what the records mean: semantics.c and mark.c for one, pairing.c for intervals,
 *             model.c and timeline.c for what each task did, calltree.c for function calls
 *   convert/  report, convert, extract: a trace in another form, a file per form
 *   strace/   system calls as strace prints them, and what record's probes keep of arguments
 *   diff/, plot/, explain/
 *             two traces compared; a trace drawn; a span of it taken apart
 *   machine/  a machine: args.c makes QEMU's command line, qemu.c starts it, machine.c is its life
 *             (one loop over ports, signals and times), archive.c packs what comes along
 *   record/   run, record, list, replay: boot.c puts a machine, a script and a trace together,
 *             steps.c writes what the guest's shell runs, origin.c what the file tells of it
 *   goto/     a machine that runs to an event, or to any instruction, and stops there (seek.c, with
 *             a plugin in QEMU, tools/stop_plugin.c, and gdb.c, which speaks to QEMU's gdbstub)
 *   explore/  one schedule recorded after another, until one fails
 *
 * Nothing that is read is trusted.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/version.h"
#include "tools/trapline/trapline.h"
#include "tools/trapline/lib/output.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
    {"run", cmd_run, "boots the kernel, runs commands or a program, and writes the trace"},
    {"record", cmd_record, "the same with events enabled, as trace-cmd record does"},
    {"list", cmd_list, "lists the events that can be recorded, tracers, clocks, functions"},
    {"report", cmd_report, "prints a trace.dat file: a line for each record"},
    {"live", cmd_live, "follows the events of a running machine, from its memory"},
    {"extract", cmd_extract, "takes traces out of a machine's memory, a core, or a serial log"},
    {"convert", cmd_convert, "converts a trace.dat file to text, json, perfetto or ctf"},
    {"diff", cmd_diff,
	"compares two trace.dat files: order, counts, values, times, latencies, losses"},
    {"explain", cmd_explain,
	"shows where the time went: running, waiting for whom, or without a CPU"},
    {"replay", cmd_replay, "runs the machine of a trace.dat file again, and compares"},
    {"goto", cmd_goto, "stops at an event: registers, stack, memory; forwards and backwards"},
    {"explore", cmd_explore, "runs a program under one schedule after another, until it fails"},
    {"plot", cmd_plot, "draws a trace.dat file: a page to zoom and search, or an SVG"},
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
	fputs("\n`trapline --version` prints the version, `trapline help COMMAND` explains a "
	      "command; so "
	      "does the man page, "
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

static int version(void)
{
	puts("trapline " KERNEL_RELEASE);
	return EXIT_FINE;
}

/*
 * Keeps files that are opened later away from the numbers of standard files that the caller closed.
 * The stand-ins cannot be used: reading and writing fail as they do on a closed file.
 */
static bool hold_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return false;
	return true;
}

static int run_command(int argc, char **argv)
{
	static const char *const helps[] = {"help", "--help", "-h"};
	const struct command *c;

	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		return version();
	for (size_t i = 0; argc > 1 && i < sizeof(helps) / sizeof(helps[0]); i++)
		if (!strcmp(argv[1], helps[i]))
			return help_on(argc, argv);
	c = argc > 1 ? find(argv[1]) : NULL;
	if (c)
		return c->run(argc - 1, argv + 1);
	help(stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int status;

	if (!hold_standard_files())
		return EXIT_TROUBLE;
	unfinished_watch();
	status = run_command(argc, argv);
	if (fflush(stdout) && status == EXIT_FINE) {
		say_errno("standard output");
		return EXIT_TROUBLE;
	}
	return status;
}
