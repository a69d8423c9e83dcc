/* trapline convert: a trace.dat file in other forms. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/convert/convert.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"
#include "tools/trapline/trace/text.h"

static const char usage[] =
    "Usage: trapline convert --to FORM [-o OUT] TRACE.DAT\n"
    "\n"
    "  --to text      a line for each record: task, CPU, flags, time, event, each field with its "
    "name\n"
    "  --to json      Chrome's trace events, for ui.perfetto.dev or chrome://tracing\n"
    "  --to perfetto  Perfetto's protobuf: ftrace events it knows, and generic ones\n"
    "  --to ctf       Common Trace Format 1.8, a directory, for babeltrace2 and Trace Compass\n"
    "  -o, --output OUT\n"
    "                 the output file; - (and no -o) is the standard output, except for ctf\n"
    "  --progress     report progress, also if the standard error is no terminal\n"
    "\n"
    "Each form shows lost events in their place, with their number. TRACE.DAT - is the standard "
    "input.\n"
    "Exit status: 0 fine, 1 the trace is damaged (reported; the intact part was converted), 2 "
    "usage, 3 trouble.\n";

static const struct form {
	const char *name;
	void (*write)(struct trace *t, FILE *out); /* NULL: ctf */
} forms[] = {
    {"text", write_text}, {"json", write_json}, {"perfetto", write_perfetto}, {"ctf", NULL}};

static const struct form *find_form(const char *name)
{
	for (size_t i = 0; name && i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

static int convert(struct trace *t, const struct form *form, const char *name)
{
	struct out out;

	if (!form->write)
		return write_ctf(t, name) ? EXIT_FINE : EXIT_TROUBLE;
	if (!out_open(&out, name))
		return EXIT_TROUBLE;
	form->write(t, out.file);
	progress("converting", 1, 1);
	return out_finish(&out) ? EXIT_FINE : EXIT_TROUBLE;
}

/* What the command line lacks; NULL: nothing. */
static const char *lacks(const struct form *form, const char *name, int files)
{
	if (!form)
		return "--to is missing: text, json, perfetto or ctf";
	if (files != 1)
		return files ? "one TRACE.DAT at a time" : "which TRACE.DAT?";
	return !form->write && !strcmp(name, "-") ? "ctf is a directory: -o NAME" : NULL;
}

int cmd_convert(int argc, char **argv)
{
	static const struct option options[] = {{"to", required_argument, NULL, 't'},
	    {"output", required_argument, NULL, 'o'}, COMMON_OPTIONS, {0}};
	const struct form *form = NULL;
	const char *name = "-";
	struct trace t;
	int c, status;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'o')
			name = optarg;
		else if (c == 't' && !(form = find_form(optarg)))
			return bad_usage("convert", "there is no form '%s'", optarg);
		else if (c != 't' && (status = common_option("convert", c, usage)) >= 0)
			return status;
	}
	if (lacks(form, name, argc - optind))
		return bad_usage("convert", "%s", lacks(form, name, argc - optind));
	if (!trace_open(&t, argv[optind]))
		return EXIT_TROUBLE;
	status = convert(&t, form, name);
	if (status == EXIT_FINE && t.damaged)
		status = EXIT_DAMAGED;
	trace_close(&t);
	return status;
}
