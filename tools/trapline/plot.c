/* trapline plot: a trace as an SVG, or a page with one, that stands by itself. See plot.h. */
#include <getopt.h>

#include "tools/trapline/plot.h"

static const char usage[] =
    "Usage: trapline plot [-o OUT] [-b SECONDS] [-e SECONDS] TRACE.DAT\n"
    "\n"
    "Draws a trace: a lane for each CPU with the tasks that ran, interrupts, system calls, what "
    "programs marked, and gaps where events\n"
    "were lost; latencies as histograms; the ledger. It is one file that needs nothing else, as "
    "large for a long trace as for a short one.\n"
    "\n"
    "  -o, --output OUT     where to: an SVG if the name ends in .svg, else a page of HTML, which "
    "has tables, too. - (and no -o)\n"
    "                       is the standard output\n"
    "      --svg            an SVG, whatever the name\n"
    "  -b, --begin SECONDS  only events from then on; times as `trace` has them\n"
    "  -e, --end SECONDS    only events up to then\n"
    "\n"
    "Exit status: 0 fine, 1 the trace is damaged (said where, and in the picture; what is whole "
    "was drawn), 2 usage, 3 trouble.\n";

/* ---- words and places ---------------------------------------------------------------------------------------------- */

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

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

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
	struct family *family = xmalloc(p->survey.tasks * sizeof(*family)),
		      *others = &p->top[COLOURS];

	for (size_t i = 0; i < p->survey.tasks; i++) {
		const struct task *task = &p->survey.task[i];
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

static void draw(struct plot *p)
{
	char *body;
	size_t size;
	FILE *out = p->out;

	if (!(p->out = open_memstream(&body, &size)))
		die(EXIT_TROUBLE, "out of memory");
	plot_heading(p);
	plot_lanes(p);
	plot_legend(p);
	plot_histograms(p);
	if (p->svg)
		plot_ledger(p);
	fclose(p->out);
	p->out = out;
	p->y += 10;
	fprintf(out,
	    "<svg xmlns='http://www.w3.org/2000/svg' class='trapline' viewBox='0 0 %u %u' "
	    "width='%u' height='%u' role='img'>\n"
	    "<title>",
	    DRAWING_WIDTH, p->y, DRAWING_WIDTH, p->y);
	put_string(p, p->trace->file);
	fprintf(out, "</title>\n<style>%s</style>\n", plot_style);
	fputs("<defs><pattern id='lost' width='6' height='6' patternUnits='userSpaceOnUse' "
	      "patternTransform='rotate(45)'>"
	      "<rect class='hatch' width='6' height='6'/><path class='hatched' d='M0 "
	      "0v6'/></pattern></defs>\n",
	    out);
	fprintf(out, "<rect class='back' width='%u' height='%u'/>\n", DRAWING_WIDTH, p->y);
	fwrite(body, 1, size, out);
	fputs("</svg>\n", out);
	free(body);
}

/* HTML that is XML as well. */
static void draw_page(struct plot *p)
{
	fputs("<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml' "
	      "lang='en'>\n<head>\n<meta charset='utf-8'/>\n<title>",
	    p->out);
	put_string(p, p->trace->file);
	fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n", plot_page_style);
	draw(p);
	plot_tables(p);
	fputs("</body>\n</html>\n", p->out);
}

static void read_trace(struct plot *p, const struct window *w)
{
	uint64_t from = w->has_begin ? w->begin : 0, to = w->has_end ? w->end : UINT64_MAX;
	struct record r;

	survey_begin(&p->survey, p->trace);
	survey_part(&p->survey, from, to);
	while (trace_next(p->trace, &r)) {
		progress("reading", p->trace->pages_done, p->trace->pages_all + 1);
		survey_record(&p->survey, &r);
		if (!r.is_gap && r.time >= from && r.time <= to)
			rate_add(&p->rate, r.time);
	}
	survey_end(&p->survey);
	progress("reading", 1, 1);
	p->begin = w->has_begin ? w->begin : p->survey.first;
	p->end = w->has_end ? w->end : p->survey.last;
	if (p->end < p->begin || p->end - p->begin < COLUMNS)
		p->end = p->begin + COLUMNS;
}

void write_plot(struct trace *t, const struct window *w, FILE *out, bool svg)
{
	struct plot *p = xmalloc(sizeof(*p));

	*p = (struct plot){.trace = t, .out = out, .svg = svg};
	read_trace(p, w);
	find_top(p);
	(svg ? draw : draw_page)(p);
	survey_free(&p->survey);
	free(p);
}

static bool ends_in_svg(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && !strcmp(name + n - 4, ".svg");
}

static int plot(struct trace *t, const struct window *w, const char *name, bool svg)
{
	struct out out;

	if (!out_open(&out, name))
		return EXIT_TROUBLE;
	write_plot(t, w, out.file, svg);
	return !out_finish(&out) ? EXIT_TROUBLE : t->damaged ? EXIT_DAMAGED : EXIT_FINE;
}

struct options {
	const char *name;
	bool svg;
	struct window window;
};

enum { OPTION_SVG = OPTION_FIRST_FREE };

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
	    {"svg", no_argument, NULL, OPTION_SVG}, {"begin", required_argument, NULL, 'b'},
	    {"end", required_argument, NULL, 'e'}, COMMON_OPTIONS, {0}};
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
		return bad_usage("plot", "the end is not behind the beginning");
	if (!trace_open(&t, argv[optind]))
		return EXIT_TROUBLE;
	status = plot(&t, &o.window, o.name, o.svg || ends_in_svg(o.name));
	trace_close(&t);
	return status;
}
