/*
 * trapline extract: traces out of what a machine left behind. From a serial log: the files that
 * `send` printed there. From its memory, or a core of it: its rings, as a trace.dat file.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/dat_write.h"
#include "tools/trapline/trace/lastboot.h"
#include "tools/trapline/machine/serial.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline extract [-i INSTANCE] [-o FILE] FROM\n"
    "\n"
    "FROM is one of these:\n"
    "  the log of a serial line (- is the standard input): restores the files that the shell's "
    "`send` printed there\n"
    "  the memory of a machine, running or not (a file of QEMU's), or an ELF core of one "
    "(dump-guest-memory): writes the rings in it\n"
    "  as a trace.dat file\n"
    "  lastboot.bin, which the loader wrote to the stick: writes the trace of the previous boot\n"
    "\n"
    "  -o, --output FILE\n"
    "                write the only file, or the last one, there; - is the standard output. "
    "Without it files from a serial line keep\n"
    "                their names, and a trace from memory is trace.dat\n"
    "  -i, --instance INSTANCE\n"
    "                of memory: the rings of this instance\n"
    "  --progress    report progress, also if the standard error is no terminal\n"
    "\n"
    "Damaged blocks become zeros, and extract prints the command that sends them again: append its "
    "output to the log and extract once\n"
    "more. Exit status: 0 complete, 1 something is missing, 2 usage, 3 trouble.\n";

/* Only a name, no path: a log may say anything. */
static bool is_plain_name(const char *name)
{
	if (!*name || name[0] == '.' || strlen(name) > 200)
		return false;
	for (const char *p = name; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ')
			return false;
	return true;
}

/*
 * The command that sends what is missing; of a file without an end what is there, and where that
 * is.
 */
static void say_again(const struct serial_file *f)
{
	const char *comma = "";
	struct range r;

	fputs("send -r ", stderr);
	for (uint64_t at = 0; serial_missing(f, at, &r); at = r.at + r.length, comma = ",")
		fprintf(stderr, "%s%llx+%llx", comma, (unsigned long long)r.at,
		    (unsigned long long)r.length);
	if (!f->ended)
		fprintf(stderr, "%s%llx+1", comma, (unsigned long long)f->size);
	fprintf(stderr, " %s\n", f->name);
}

/* Says what is missing, and how to get it. */
static bool is_whole(const struct serial_file *f)
{
	struct range r;
	uint64_t blocks = 0;

	for (uint64_t at = 0; serial_missing(f, at, &r); at = r.at + r.length)
		blocks++;
	if (f->two)
		say("%s: what came twice is not the same: two files of this name, or one that "
		    "changed meanwhile",
		    f->name);
	if (!blocks && f->ended)
		return !f->two;
	if (blocks)
		say("%s: %llu piece%s missing%s; in the guest, of a file that stays what it is: ",
		    f->name, (unsigned long long)blocks, blocks == 1 ? " is" : "s are",
		    f->ended ? "" : ", and its end");
	else
		say("%s: its end did not come; in the guest, of a file that stays what it is: ",
		    f->name);
	say_again(f);
	return false;
}

static int write_file(const struct serial_file *f, const char *name)
{
	struct out out;
	bool whole = is_whole(f);

	if (!out_open(&out, name))
		return EXIT_TROUBLE;
	fwrite(f->data, 1, f->size, out.file);
	if (!out_finish(&out))
		return EXIT_TROUBLE;
	return whole ? EXIT_FINE : EXIT_DAMAGED;
}

static int write_all(const struct serial_files *files, const char *name)
{
	int worst = EXIT_FINE;

	if (name)
		return write_file(&files->file[files->count - 1], name);
	for (size_t i = 0; i < files->count; i++) {
		const struct serial_file *f = &files->file[i];
		int status = EXIT_DAMAGED;

		if (is_plain_name(f->name))
			status = write_file(f, f->name);
		else
			say("a file with a name that is none is left out: -o");
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int from_memory(const char *file, const char *instance, const char *name)
{
	struct live l;
	struct out out;
	int status = EXIT_TROUBLE;

	if (!live_open(&l, file, instance))
		return EXIT_TROUBLE;
	if (out_open(&out, name ? name : "trace.dat")) {
		dat_write(&l, out.file);
		status = !out_finish(&out)			     ? EXIT_TROUBLE
			 : l.trace.damaged || l.guest.memory.missing ? EXIT_DAMAGED
								     : EXIT_FINE;
	}
	live_close(&l);
	return status;
}

static int from_lastboot(const char *file, const char *name)
{
	bool damaged = false;
	struct out out;

	if (!out_open(&out, name ? name : "trace.dat"))
		return EXIT_TROUBLE;
	bool fine = lastboot_write(file, out.file, &damaged);
	if (!out_finish(&out) || !fine)
		return EXIT_TROUBLE;
	return damaged ? EXIT_DAMAGED : EXIT_FINE;
}

static int from_log(const char *log, const char *name)
{
	struct serial_files files;
	struct in in;
	int status;

	if (!in_open(&in, log))
		return EXIT_TROUBLE;
	serial_read(&files, in.data, in.size);
	if (files.count) {
		status = write_all(&files, name);
	} else {
		say("%s: there is no file in it, and no rings", log);
		status = EXIT_DAMAGED;
	}
	serial_free(&files);
	in_close(&in);
	return status;
}

int cmd_extract(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
	    {"instance", required_argument, NULL, 'i'}, COMMON_OPTIONS, {0}};
	const char *name = NULL, *instance = NULL;
	int c, status;

	while ((c = getopt_long(argc, argv, "o:i:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			name = optarg;
			break;
		case 'i':
			instance = optarg;
			break;
		default:
			status = common_option("extract", c, usage);
			if (status >= 0)
				return status;
		}
	}
	if (argc - optind != 1)
		return bad_usage("extract", optind < argc ? "one FROM at a time" : "from what?");
	if (!instance && lastboot_is_in(argv[optind]))
		return from_lastboot(argv[optind], name);
	if (instance || guest_is_in(argv[optind]))
		return from_memory(argv[optind], instance ? instance : "", name);
	return from_log(argv[optind], name);
}
