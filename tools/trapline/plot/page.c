/* An SVG, or a page with some of them, the timeline, and tables. See plot.h. */
#include "tools/trapline/plot/plot.h"

/* ---- drawings ---- */

typedef void plot_part(struct plot *p);

static const char hatch[] = "<defs><pattern id='lost' width='6' height='6' "
			    "patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
			    "<rect class='hatch' width='6' height='6'/><path class='hatched' d='M0 "
			    "0v6'/></pattern></defs>\n";

/* Some parts, one below the other. How high they are is known when they are drawn. */
static void draw(struct plot *p, const char *class, plot_part *const *parts, bool styled)
{
	char *body;
	size_t size;
	FILE *out = p->out;

	if (!(p->out = open_memstream(&body, &size)))
		die(EXIT_TROUBLE, "out of memory");
	for (p->y = 0; *parts; parts++)
		(*parts)(p);
	fclose(p->out);
	p->out = out;
	p->y += 10;
	fprintf(out,
	    "<svg xmlns='http://www.w3.org/2000/svg' class='%s' viewBox='0 0 %u %u' "
	    "width='%u' height='%u' role='img'>\n<title>",
	    class, DRAWING_WIDTH, p->y, DRAWING_WIDTH, p->y);
	put_string(p, p->trace->file);
	fputs("</title>\n", out);
	if (styled)
		fprintf(out, "<style>%s</style>\n%s", plot_style, hatch);
	fprintf(out, "<rect class='back' width='%u' height='%u'/>\n", DRAWING_WIDTH, p->y);
	fwrite(body, 1, size, out);
	fputs("</svg>\n", out);
	free(body);
}

void plot_svg(struct plot *p)
{
	static plot_part *const parts[] = {plot_heading, plot_axis, plot_cpus, plot_tasks,
	    plot_calls, plot_legend, plot_histograms, plot_ledger, NULL};

	draw(p, "trapline", parts, true);
}

/* ---- the page ---- */

/* What the script fills; without it the lanes are a drawing. */
static const char timeline[] =
    "<div class='timeline'>\n<div class='tools'><input id='search' type='search' "
    "placeholder='Search tasks, calls, interrupts, marks' aria-label='Search'/>"
    "<button id='before' title='the one before'>\xe2\x80\xb9</button>"
    "<button id='after' title='the next one'>\xe2\x80\xba</button><span id='found'></span>"
    "<span class='room'></span><span id='span'></span>"
    "<button id='out' title='zoom out'>\xe2\x88\x92</button><button id='in' title='zoom "
    "in'>+</button>"
    "<button id='all' title='the whole trace'>All</button></div>\n"
    "<canvas id='head'></canvas>\n<div id='scroller'><div id='spacer'></div><canvas "
    "id='tracks'></canvas></div>\n"
    "<p id='chosen'></p>\n<p class='keys'><kbd>Ctrl</kbd>+wheel or <kbd>W</kbd> <kbd>S</kbd> zoom "
    "\xc2\xb7 drag or "
    "<kbd>A</kbd> <kbd>D</kbd> pan \xc2\xb7 <kbd>Shift</kbd>+drag zooms to a span \xc2\xb7 double "
    "click zooms to a thing \xc2\xb7 "
    "<kbd>/</kbd> search, <kbd>Enter</kbd> the next \xc2\xb7 <kbd>0</kbd> all</p>\n</div>\n<div "
    "id='tip' hidden='hidden'></div>\n";

/* The same for function calls. */
static const char frames[] =
    "<div class='timeline' id='calls'>\n<h2>Function calls</h2><div class='tools'><select "
    "id='caller' "
    "aria-label='Task'></select><button id='turn'></button><button id='whole'>All</button>"
    "<input id='function' type='search' placeholder='Search functions' aria-label='Search "
    "functions'/><span id='share'></span></div>\n<canvas id='frames'></canvas>\n<p "
    "id='frame'></p><p class='keys'>A frame is as wide as its calls took, sleep included. Click "
    "a frame to see it alone, the one below it to go back.</p>\n</div>\n";

static void put_resolution(const struct plot *p, uint64_t resolution)
{
	char least[32];

	if (!resolution)
		return;
	fprintf(p->out,
	    "<p class='detail'>There is more in the trace than a page can hold: what is shorter "
	    "than %s is put together "
	    "with its neighbours, and says how many there are. For each by itself draw a shorter "
	    "span: "
	    "<code>trapline plot -b FROM -e TO</code>.</p>\n",
	    plot_duration(least, p, resolution));
}

/* HTML that is XML as well. The policy lets it load nothing. */
void plot_page(struct plot *p)
{
	static plot_part *const heading[] = {plot_heading, NULL},
				*const lanes[] = {plot_axis, plot_cpus, plot_tasks, NULL},
				*const calls[] = {plot_calls, NULL},
				*const charts[] = {plot_legend, plot_histograms, NULL};
	uint64_t resolution;

	fputs("<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml' "
	      "lang='en'>\n<head>\n<meta charset='utf-8'/>\n"
	      "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n<title>",
	    p->out);
	put_string(p, p->trace->file);
	fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n", plot_page_style);
	draw(p, "trapline", heading, true);
	fputs(timeline, p->out);
	draw(p, "trapline lanes", lanes, false);
	if (plot_has_calls(p)) {
		fputs(frames, p->out);
		draw(p, "trapline lanes", calls, false);
	}
	fputs("<script type='application/json' id='data'>", p->out);
	resolution = plot_data(p);
	fputs("</script>\n", p->out);
	put_resolution(p, resolution);
	draw(p, "trapline", charts, false);
	plot_tables(p);
	fprintf(p->out, "<script>//<![CDATA[\n%s//]]></script>\n</body>\n</html>\n", plot_script);
}
