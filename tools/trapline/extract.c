/* trapline extract: traces out of what a machine left behind. From a serial log: the files that `send` printed there. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/serial.h"

static const char usage[] =
    "Usage: trapline extract [-o FILE] LOG\n"
    "\n"
    "Makes files again of what the shell's `send` printed on a serial console. LOG is what came "
    "over the line, with\n"
    "whatever else was printed there; - is the standard input.\n"
    "\n"
    "  -o FILE   write the only file, or the last one, there; - is the standard output. Without it "
    "each goes to its own name.\n"
    "\n"
    "Blocks that came damaged are zeros in the file, and it is said how to send them again: put "
    "that behind LOG and extract once\n"
    "more. Exit status: 0 all is there, 1 something is missing, 2 usage, 3 trouble.\n";

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

/* Says what is missing, and how to get it. */
static bool is_whole(const struct serial_file *f)
{
	struct range r;
	uint64_t at = 0, blocks = 0;

	for (; serial_missing(f, at, &r); at = r.at + r.length)
		blocks++;
	if (!blocks && f->ended)
		return true;
	if (blocks) {
		say("%s: %llu piece%s missing; in the guest, of a file that stays what it is: ",
		    f->name, (unsigned long long)blocks, blocks == 1 ? " is" : "s are");
		fputs("send -r ", stderr);
		for (at = 0; serial_missing(f, at, &r); at = r.at + r.length)
			fprintf(stderr, "%s%llx+%llx", at || r.at != at ? (at ? "," : "") : "",
			    (unsigned long long)r.at, (unsigned long long)r.length);
		fprintf(stderr, " %s\n", f->name);
	}
	if (!f->ended)
		say("%s: its end did not come", f->name);
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

int cmd_extract(int argc, char **argv)
{
	struct serial_files files;
	const char *name = NULL;
	struct in in;
	int c, status;

	while ((c = getopt(argc, argv, "+o:h")) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return EXIT_FINE;
		}
		if (c != 'o') {
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
		name = optarg;
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (!in_open(&in, argv[optind]))
		return EXIT_TROUBLE;
	serial_read(&files, in.data, in.size);
	if (files.count) {
		status = write_all(&files, name);
	} else {
		say("%s: there is no file in it", argv[optind]);
		status = EXIT_DAMAGED;
	}
	serial_free(&files);
	in_close(&in);
	return status;
}
