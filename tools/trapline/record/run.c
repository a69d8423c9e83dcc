/*
 * trapline run: boots a kernel, lets it run what is asked for, and takes its trace out of its
 * memory.
 */
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/record/boot.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline run [OPTION]... [-c COMMANDS | [--] PROGRAM [ARGUMENT]...]\n"
    "\n"
    "Boots the kernel in QEMU, runs shell commands or a program there, and writes what the rings "
    "hold at the end to a trace.dat file.\n"
    "Without -c and PROGRAM, the guest's shell reads the standard input; at a terminal you get the "
    "guest's console (`poweroff` or\n"
    "Ctrl-A x leaves).\n"
    "\n"
    "A PROGRAM with a slash that is a file of this host is copied into the machine and runs in a "
    "directory of the same name as the\n"
    "current one. It is an ELF program, whose shared libraries are copied, too, or a script for "
    "sh. Other names are programs of the\n"
    "guest (`trapline list -P`). The program's output is printed, and its exit status passed on. "
    "It reads our standard input. The\n"
    "first Ctrl-C goes to the program, a second one ends the machine. The kernel's error_log is "
    "shown after COMMANDS.\n"
    "\n"
    "  -o, --output FILE    the trace (trace.dat); - is the standard output\n"
    "  -c, --commands TEXT  commands for the guest's shell, which starts in /sys/kernel/tracing\n"
    "  -i, --instance NAME  the trace of this instance\n"
    "  -q, --quiet          do not print the number of events\n"
    "\n";

static const char statuses[] = "\n"
			       "Exit status: that of the program, or of the last command; 123 the "
			       "machine ended before it, by a panic for example; 124 --timeout;\n"
			       "125 trapline failed; 127 there is no such program; 128+N signal N "
			       "ended it, or trapline. With 123, 124 and 128+N, too, the\n"
			       "trace is written.\n";

static void help(void)
{
	fputs(usage, stdout);
	fputs(machine_usage, stdout);
	fputs(statuses, stdout);
}

/* What there is to do comes from -c, or the standard input. */
static bool put_commands(struct boot *b, const char *text)
{
	struct in in;

	if (text) {
		archive_put(&b->archive, SCRIPT_COMMANDS, S_IFREG | 0644, text, strlen(text));
		return true;
	}
	if (b->program.argv || b->options.console)
		return true;
	if (!in_open(&in, "-"))
		return false;
	archive_put(&b->archive, SCRIPT_COMMANDS, S_IFREG | 0644, in.data, in.size);
	in_close(&in);
	return true;
}

static int run(struct boot *b, const char *commands, char **argv)
{
	struct bytes script = {.data = NULL};
	int status = EXIT_OWN;

	b->options.console = !commands && !*argv && isatty(STDIN_FILENO);
	b->takes_input = commands || *argv;
	machine_settle(&b->options, b->options.console);
	if (boot_program(b, argv) && boot_copies(b) && put_commands(b, commands) &&
	    boot_begin_script(b, &script)) {
		script_tell_ready(&script);
		script_program(&script, &b->program, NULL);
		if (!*argv)
			script_log(&script);
		boot_end_script(b, &script);
		status = boot_run(b, &script, false, 0);
	} else if (b->refusal) {
		status = b->refusal;
	}
	bytes_free(&script);
	return status;
}

int cmd_run(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
	    {"commands", required_argument, NULL, 'c'}, {"instance", required_argument, NULL, 'i'},
	    {"quiet", no_argument, NULL, 'q'}, MACHINE_OPTIONS, {0}};
	const char *commands = NULL;
	struct boot b;
	int c, status = -1;

	boot_begin(&b);
	while (status < 0 && (c = getopt_long(argc, argv, "+o:c:i:qh", options, NULL)) != -1) {
		if (c == 'o') {
			b.out_name = optarg;
		} else if (c == 'c') {
			commands = optarg;
		} else if (c == 'i') {
			b.instance = optarg;
		} else if (c == 'q') {
			b.options.quiet = true;
		} else if (c == OPTION_HELP) {
			help();
			status = EXIT_FINE;
		} else {
			status = machine_option(&b.options, "run", c, optarg);
		}
	}
	if (status < 0 && commands && optind < argc) {
		bad_usage("run", "-c or a PROGRAM, not both");
		status = EXIT_OWN;
	}
	if (status < 0)
		status = run(&b, commands, argv + optind);
	boot_end(&b);
	return status;
}
