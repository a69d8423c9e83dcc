/* trapline plot: a trace as an SVG, or a page with one, that stands by itself. See plot.h. */
#include <getopt.h>
#include <unistd.h>

#include "tools/trapline/plot/plot.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline plot [-o OUT] [-b SECONDS] [-e SECONDS] TRACE.DAT\n"
    "\n"
    "Draws a trace: a lane for each CPU, and a lane for each task with its marks, its system "
    "calls, and when it ran or waited for a\n"
    "CPU; function calls (function_graph) as a flame graph of each task; latencies as histograms; "
    "the ledger. The output is one file\n"
    "that needs no other. You can zoom, pan and search a page. A long trace makes a file of some "
    "megabytes at most: intervals too\n"
    "short to be seen are merged, and the page says so.\n"
    "\n"
    "  -o, --output OUT     the output file: an SVG if the name ends in .svg, else an HTML page, "
    "which has tables, too. - (and no -o)\n"
    "                       is the standard output, if that is no terminal\n"
    "      --svg            an SVG, whatever the name\n"
    "      --icicle         flame graphs upside down: callees below their callers\n"
    "  -b, --begin SECONDS  only events from that time on, as `trace` shows it\n"
    "  -e, --end SECONDS    only events up to that time\n"
    "\n"
    "Exit status: 0 fine, 1 the trace is damaged (reported, also in the picture; the intact part "
    "was drawn), 2 usage, 3 trouble.\n";

/* ---- words and places ---- */

const char *plot_duration(char buf[32], const struct plot *p, uint64_t n)
{
	if (p->trace->in_ns)
		return duration_text(buf, n, "\xc2\xb5");
	snprintf(buf, 32, "%llu", (unsigned long long)n);
	return buf;
}

const char *plot_time(char buf[32], const struct plot *p, uint64_t time, uint64_t step)
{
	unsigned digits = 9;
	uint64_t ns = time % 1000000000;

	if (!p->trace->in_ns) {
		snprintf(buf, 32, "%llu", (unsigned long long)time);
		return buf;
	}
	for (; digits > 0 && step >= 10; step /= 10, digits--)
		ns /= 10;
	snprintf(buf, 32, digits ? "%llu.%0*llu" : "%llu", (unsigned long long)(time / 1000000000),
	    (int)digits, (unsigned long long)ns);
	return buf;
}

const char *plot_lost(char buf[32], uint64_t lost, bool unknown)
{
	if (unknown && !lost)
		return "some";
	snprintf(buf, 32, unknown ? "%llu or more" : "%llu", (unsigned long long)lost);
	return buf;
}

double plot_x(const struct plot *p, uint64_t time)
{
	if (time <= p->begin)
		return LANES_LEFT;
	if (time >= p->end)
		return LANES_LEFT + COLUMNS;
	return LANES_LEFT + (double)(time - p->begin) * COLUMNS / (p->end - p->begin);
}

void put_string(const struct plot *p, const char *text)
{
	xml_put(p->out, text, strlen(text));
}

void put_task(const struct plot *p, int32_t pid)
{
	put_string(p, trace_comm(p->trace, pid));
	fprintf(p->out, "-%d", pid);
}

unsigned plot_colour(const struct plot *p, int32_t pid)
{
	const char *name = trace_comm(p->trace, pid);
	unsigned i = 0;

	while (i < COLOURS && (!p->top[i].name || strcmp(p->top[i].name, name)))
		i++;
	return i;
}

const char *plot_class(unsigned colour)
{
	static const char *const classes[COLOURS + 1] = {
	    "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "tx"};

	return classes[colour];
}

/* ---- the whole ---- */

static int longest_first(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->ran != y->ran)
		return x->ran > y->ran ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void find_top(struct plot *p)
{
	struct words names = {.count = 0};
	struct family *family = xmalloc(p->model.tasks * sizeof(*family)),
		      *others = &p->top[COLOURS];

	for (size_t i = 0; i < p->model.tasks; i++) {
		const struct task *task = &p->model.task[i];
		const char *name = trace_comm(p->trace, task->pid);
		if (!task->pid)
			continue;
		struct family *f = &family[words_add(&names, name, strlen(name))];
		f->name = name;
		f->ran += task->ran;
		f->tasks++;
	}
	qsort(family, names.count, sizeof(*family), longest_first);
	for (uint32_t i = 0; i < names.count; i++) {
		if (i < COLOURS) {
			p->top[i] = family[i];
			continue;
		}
		others->name = "all others";
		others->ran += family[i].ran;
		others->tasks += family[i].tasks;
	}
	words_free(&names);
	free(family);
}

/* ---- the whole ---- */

/* False, said: there is nothing of the trace in the span that is wanted. */
static bool is_inside(const struct plot *p, const struct window *w)
{
	char first[32], last[32];

	if ((!w->has_begin || w->begin <= p->model.last) &&
	    (!w->has_end || w->end >= p->model.first))
		return true;
	say("%s: the span lies outside the trace, which goes from %s to %s", p->trace->file,
	    plot_time(first, p, p->model.first, 1), plot_time(last, p, p->model.last, 1));
	return false;
}

/* False, said: there is nothing to draw. */
static bool read_trace(struct plot *p, const struct window *w)
{
	uint64_t from = w->has_begin ? w->begin : 0, to = w->has_end ? w->end : UINT64_MAX;
	struct record r;

	model_begin(&p->model, p->trace);
	model_part(&p->model, from, to);
	while (trace_next(p->trace, &r)) {
		progress("reading", p->trace->pages_done, p->trace->pages_all + 1);
		model_record(&p->model, &r);
		if (!r.is_gap && r.time >= from && r.time <= to)
			rate_add(&p->rate, r.time);
	}
	model_end(&p->model);
	progress("reading", 1, 1);
	if (!is_inside(p, w))
		return false;
	p->begin = w->has_begin ? w->begin : p->model.first;
	p->end = w->has_end ? w->end : p->model.last;
	if (p->end < p->begin || p->end - p->begin < COLUMNS)
		p->end = p->begin + COLUMNS;
	return true;
}

static void plot_free(struct plot *p)
{
	model_free(&p->model);
	map_clear(&p->lane_at);
	free(p->lane);
	free(p);
}

static bool ends_in_svg(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && !strcmp(name + n - 4, ".svg");
}

bool write_plot(struct trace *t, const struct window *w, FILE *out, bool svg, bool icicle)
{
	struct plot *p = xmalloc(sizeof(*p));
	bool drawn;

	*p = (struct plot){.trace = t,
	    .out = out,
	    .svg = svg,
	    .part = w->has_begin || w->has_end,
	    .icicle = icicle};
	drawn = read_trace(p, w);
	if (drawn) {
		find_top(p);
		plot_find_lanes(p);
		(svg ? plot_svg : plot_page)(p);
	}
	plot_free(p);
	return drawn;
}

struct options {
	const char *name;
	bool svg, icicle;
	struct window window;
};

static int plot(struct trace *t, const struct options *o)
{
	bool svg = o->svg || ends_in_svg(o->name);
	struct out out;

	if (!out_open(&out, o->name))
		return EXIT_TROUBLE;
	if (!write_plot(t, &o->window, out.file, svg, o->icicle)) {
		out_drop(&out);
		return EXIT_USAGE;
	}
	return !out_finish(&out) ? EXIT_TROUBLE : t->damaged ? EXIT_DAMAGED : EXIT_FINE;
}

enum { OPTION_SVG = OPTION_FIRST_FREE, OPTION_ICICLE };

/* -1: done; else the exit status to end with. */
static int take_option(struct options *o, int c)
{
	switch (c) {
	case 'o':
		o->name = optarg;
		return -1;
	case OPTION_SVG:
		o->svg = true;
		return -1;
	case OPTION_ICICLE:
		o->icicle = true;
		return -1;
	case 'b':
		o->window.has_begin = true;
		return parse_seconds(optarg, &o->window.begin)
			   ? -1
			   : bad_usage("plot", "--begin: '%s' is no time", optarg);
	case 'e':
		o->window.has_end = true;
		return parse_seconds(optarg, &o->window.end)
			   ? -1
			   : bad_usage("plot", "--end: '%s' is no time", optarg);
	default:
		return common_option("plot", c, usage);
	}
}

int cmd_plot(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
	    {"svg", no_argument, NULL, OPTION_SVG}, {"icicle", no_argument, NULL, OPTION_ICICLE},
	    {"begin", required_argument, NULL, 'b'}, {"end", required_argument, NULL, 'e'},
	    COMMON_OPTIONS, {0}};
	struct options o = {.name = "-"};
	struct trace t;
	int c, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv, "o:b:e:h", options, NULL)) != -1)
		status = take_option(&o, c);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return bad_usage(
		    "plot", argc > optind ? "one TRACE.DAT at a time" : "which TRACE.DAT?");
	if (o.window.has_begin && o.window.has_end && o.window.end <= o.window.begin)
		return bad_usage("plot", "the end is not after the beginning");
	if (!strcmp(o.name, "-") && isatty(STDOUT_FILENO))
		return bad_usage(
		    "plot", "a picture is not for a terminal: -o trace.html, or a pipe");
	if (!trace_open(&t, argv[optind]))
		return EXIT_TROUBLE;
	status = plot(&t, &o);
	trace_close(&t);
	return status;
}
