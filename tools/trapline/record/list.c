/*
 * trapline list: the events that can be recorded. It asks a machine, because each kernel has its
 * own.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/trapline/record/boot.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline list [OPTION]... [PATTERN]...\n"
    "\n"
    "Lists the kernel's events, or what an option below names. PATTERN: only lines that contain "
    "it, or that match it if it has *, ?\n"
    "or []; SYSTEM and SYSTEM:EVENT work, too.\n"
    "\n"
    "  -e, --events     events (for record -e); the default\n"
    "  -F, --formats    the fields of events, one event a line (for record -f and -R)\n"
    "  -f, --functions  functions that can be probed (for record --define 'p:NAME FUNCTION')\n"
    "  -p, --tracers    tracers (for record -p)\n"
    "  -C, --clocks     clocks (for record -C)\n"
    "  -O, --options    trace options (for record -O)\n"
    "  -P, --programs   the guest's programs (for record PROGRAM)\n"
    "\n";

static const char statuses[] =
    "\n"
    "Exit status: 0 something was listed, 1 nothing matches a PATTERN, 123 the machine ended "
    "before it answered, 124 --timeout, 125\n"
    "trapline failed, 128+N signal N ended it.\n";

#define EXIT_NOTHING 1

/* What the guest's shell runs; it begins in tracefs. */
static const struct kind {
	int option;
	const char *commands;
} kinds[] = {
    {'e', "cat available_events"},
    {'F', "grep 'field:' events/*/*/format | grep -v '[ *]common_' | "
	  "sed 's,^events/\\([^/]*\\)/\\([^/]*\\)/format:.field:\\([^;]*\\);.*,\\1:\\2 \\3,'"},
    {'f', "cut -d ' ' -f 3 /proc/kallsyms | sort -u > /tmp/all; "
	  "sed 's/.*\\t//' /sys/kernel/debug/kprobes/blacklist | sort -u > /tmp/not; "
	  "sort /tmp/all /tmp/not /tmp/not | uniq -u"},
    {'p', "tr ' ' '\\n' < available_tracers | grep ."},
    {'C', "tr ' ' '\\n' < trace_clock | tr -d '[]' | grep ."},
    {'O', "sed 's/^no//' trace_options"},
    {'P', "ls -1 /bin"},
};

static void help(void)
{
	fputs(usage, stdout);
	fputs(machine_usage, stdout);
	fputs(statuses, stdout);
}

static const struct kind *find_kind(int option)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].option == option)
			return &kinds[i];
	return NULL;
}

/* SYSTEM stands for all of its events. */
static bool is_like(const char *line, const char *pattern)
{
	size_t n = strlen(pattern);

	if (!strpbrk(pattern, "*?["))
		return strstr(line, pattern);
	if (!fnmatch(pattern, line, 0))
		return true;
	const char *colon = strchr(line, ':');
	return colon && !memchr(pattern, ':', n) && !fnmatch(pattern, colon + 1, 0);
}

static bool is_wanted(const char *line, char *const *patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (is_like(line, *patterns))
			return true;
	return false;
}

static int put_lines(char *text, char *const *patterns)
{
	bool any = false;

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (!*line || !is_wanted(line, patterns))
			continue;
		printf("%s\n", line);
		any = true;
	}
	if (fflush(stdout)) {
		say_errno("standard output");
		return EXIT_OWN;
	}
	return any ? EXIT_FINE : EXIT_NOTHING;
}

/* All that the machine said is there before anything is printed. */
static int put_answer(int fd, char *const *patterns)
{
	struct in in;
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!in_open(&in, name))
		return EXIT_OWN;
	char *text = xstrndup((const char *)in.data, in.size);
	int status = put_lines(text, patterns);
	free(text);
	in_close(&in);
	return status;
}

static int list(struct boot *b, const struct kind *kind, char *const *patterns)
{
	struct bytes script = {.data = NULL};
	int status = EXIT_OWN, out = memfd_create("list", MFD_CLOEXEC);

	if (out < 0) {
		say_errno("the list");
		return status;
	}
	if (boot_copies(b) && boot_begin_script(b, &script)) {
		b->program.one_output = false;
		script_put(&script, "cd /sys/kernel/tracing\n");
		script_sh(&script, &b->program, kind->commands);
		script_put(&script, "\nstatus=0\n");
		boot_end_script(b, &script);
		status = boot_text(b, &script, out);
	}
	if (!status)
		status = put_answer(out, patterns);
	close(out);
	bytes_free(&script);
	return status;
}

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {{"events", no_argument, NULL, 'e'},
	    {"formats", no_argument, NULL, 'F'}, {"functions", no_argument, NULL, 'f'},
	    {"tracers", no_argument, NULL, 'p'}, {"clocks", no_argument, NULL, 'C'},
	    {"options", no_argument, NULL, 'O'}, {"programs", no_argument, NULL, 'P'},
	    MACHINE_OPTIONS, {0}};
	const struct kind *kind = &kinds[0];
	struct boot b;
	int c, status = -1;

	boot_begin(&b);
	while (status < 0 && (c = getopt_long(argc, argv, "eFfpCOPh", options, NULL)) != -1) {
		if (find_kind(c)) {
			kind = find_kind(c);
		} else if (c == OPTION_HELP) {
			help();
			status = EXIT_FINE;
		} else {
			status = machine_option(&b.options, "list", c, optarg);
		}
	}
	if (status < 0)
		status = list(&b, kind, argv + optind);
	boot_end(&b);
	return status;
}
