/*
 * Function calls: draws a flame graph of each task, or icicles, which hang down; or writes the data
 * of all of them for the script of a page (calls.js). A frame is as wide as its calls took,
 * and stands on the frame of its caller. See plot.h.
 */
#include "tools/trapline/plot/track.h"

#define DRAWN_CALLERS 8 /* in a drawing */
#define FRAME_HEIGHT  17
#define DEEPEST	      250   /* functions one within the other: deeper ones are not drawn */
#define FRAMES_MOST   40000 /* in a page */
#define PALETTE	      8
#define NARROWEST     0.5 /* units of the drawing */

static const struct call_node *node_at(const struct plot *p, uint32_t node)
{
	return &p->model.calls.node[node];
}

bool plot_has_calls(const struct plot *p)
{
	return node_at(p, CALL_ROOT)->total > 0;
}

static const char *caller_name(const struct plot *p, uint32_t caller, char buf[48])
{
	if (caller & CALLER_IDLE)
		snprintf(buf, 48, "idle on CPU %u", caller & ~CALLER_IDLE);
	else
		snprintf(
		    buf, 48, "%.32s-%d", trace_comm(p->trace, (int32_t)caller), (int32_t)caller);
	return buf;
}

static const char *function_name(const struct plot *p, const struct call_node *n)
{
	return p->model.pairing.call_words.word[n->what];
}

/* A function has one colour wherever it is. */
static unsigned palette_of(const char *name)
{
	unsigned hash = 0;

	for (; *name; name++)
		hash = hash * 31 + (unsigned char)*name;
	return hash % PALETTE;
}

/* ---- a drawing ---- */

struct flame {
	struct plot *p;
	double scale;		  /* units for a nanosecond */
	unsigned top, height;	  /* y; rows */
	uint64_t at[DEEPEST + 2]; /* where the next frame of a depth begins */
};

/* True if the drawing has the frame. Its children begin at *at, too. */
static bool place(struct flame *f, const struct call_walk *w, uint64_t *at)
{
	const struct call_node *n = node_at(f->p, w->node);

	*at = f->at[w->depth];
	f->at[w->depth] += n->total;
	f->at[w->depth + 1] = *at;
	return n->total * f->scale >= NARROWEST;
}

static bool is_deepest(const struct call_walk *w)
{
	return w->depth == DEEPEST;
}

static void put_frame(const struct flame *f, const struct call_walk *w, uint64_t at)
{
	const struct plot *p = f->p;
	const struct call_node *n = node_at(p, w->node);
	unsigned row = p->icicle ? w->depth : f->height - 1 - w->depth;
	double x = LANES_LEFT + at * f->scale, width = n->total * f->scale,
	       y = f->top + row * FRAME_HEIGHT;
	char total[32], self[32], caller[48];
	const char *name = w->depth ? function_name(p, n) : caller_name(p, n->what, caller);

	fprintf(p->out, "<rect class='frame f%c' x='%.1f' y='%g' width='%.1f' height='%u'><title>",
	    w->depth ? '0' + palette_of(name) : 'x', x, y, width, FRAME_HEIGHT - 1);
	put_string(p, name);
	fprintf(p->out, "\n%s in all, %s of its own", plot_duration(total, p, n->total),
	    plot_duration(self, p, n->total - n->inside));
	if (n->calls)
		fprintf(
		    p->out, ", %llu call%s", (unsigned long long)n->calls, n->calls > 1 ? "s" : "");
	fputs("</title></rect>", p->out);
	plot_label(p, "on small", name, x + 3, y + FRAME_HEIGHT - 5, width - 6);
}

static unsigned rows_of(struct flame *f, uint32_t caller)
{
	unsigned deepest = 0;
	struct call_walk w;
	uint64_t at;

	call_walk_begin(&w, &f->p->model.calls, caller);
	for (bool drawn; w.node; call_walk_next(&w, drawn && !is_deepest(&w))) {
		drawn = place(f, &w, &at);
		if (drawn && w.depth > deepest)
			deepest = w.depth;
	}
	return deepest + 1;
}

static void put_flame(struct plot *p, uint32_t caller)
{
	const struct call_node *n = node_at(p, caller);
	struct flame f = {.p = p, .scale = (double)COLUMNS / n->total};
	struct call_walk w;
	char total[32], name[48];
	uint64_t at;

	f.height = rows_of(&f, caller);
	f.at[0] = 0;
	f.top = p->y;
	fputs("<g class='flame'>", p->out);
	call_walk_begin(&w, &p->model.calls, caller);
	for (bool drawn; w.node; call_walk_next(&w, drawn && !is_deepest(&w)))
		if ((drawn = place(&f, &w, &at)))
			put_frame(&f, &w, at);
	p->y += f.height * FRAME_HEIGHT;
	unsigned y = p->icicle ? f.top + FRAME_HEIGHT - 5 : p->y - 5;
	fprintf(p->out, "<text class='end' x='%u' y='%u'>", LANES_LEFT - 10, y);
	put_string(p, caller_name(p, n->what, name));
	fprintf(p->out, " <tspan class='dim small'>%s</tspan></text></g>\n",
	    plot_duration(total, p, n->total));
	p->y += 16;
}

static void put_note(struct plot *p)
{
	const struct calltree *t = &p->model.calls;

	fprintf(p->out,
	    "<text class='dim small' x='%u' y='%u'>Functions within those that called "
	    "them; a frame is as wide as its calls took, sleep included.",
	    LANES_LEFT, p->y + 4);
	if (t->headless)
		fprintf(p->out, " %llu calls have no entry in the trace and are missing here.",
		    (unsigned long long)t->headless);
	if (t->folded)
		fprintf(p->out, " %llu calls are part of their callers: there are too many ways.",
		    (unsigned long long)t->folded);
	fputs("</text>\n", p->out);
	p->y += 16;
}

void plot_calls(struct plot *p)
{
	unsigned drawn = 0, left = 0;

	if (!plot_has_calls(p))
		return;
	p->y += 22;
	fprintf(p->out, "<text class='head' x='20' y='%u'>Function calls</text>\n", p->y);
	put_note(p);
	for (uint32_t i = node_at(p, CALL_ROOT)->child; i; i = node_at(p, i)->next) {
		if (!node_at(p, i)->total)
			continue;
		if (drawn == DRAWN_CALLERS)
			left++;
		else {
			put_flame(p, i);
			drawn++;
		}
	}
	if (left)
		fprintf(p->out, "<text class='dim' x='%u' y='%u'>and %u more task%s</text>\n",
		    LANES_LEFT, p->y + 8, left, left > 1 ? "s" : "");
	p->y += left ? 22 : 0;
}

/* ---- the data of a page ---- */

/*
 * Writes a caller's frames of at least `least`, as numbers: depth, word, calls and time of each,
 * before its children. Returns how many; out NULL: counts only.
 */
static size_t put_frames(const struct plot *p, uint32_t caller, uint64_t least, FILE *out)
{
	size_t frames = 0;
	struct call_walk w;

	call_walk_begin(&w, &p->model.calls, caller);
	call_walk_next(&w, true);
	for (bool put; w.node; call_walk_next(&w, put && !is_deepest(&w))) {
		const struct call_node *n = node_at(p, w.node);
		put = n->total >= least;
		if (put && out)
			fprintf(out, "%s%u,%u,%llu,%llu", frames ? "," : "", w.depth, n->what,
			    (unsigned long long)n->calls, (unsigned long long)n->total);
		frames += put;
	}
	return frames;
}

static size_t count_frames(const struct plot *p, uint64_t least)
{
	size_t frames = 0;

	for (uint32_t i = node_at(p, CALL_ROOT)->child; i; i = node_at(p, i)->next)
		frames += put_frames(p, i, least, NULL);
	return frames;
}

static void put_callers(const struct plot *p, uint64_t least)
{
	uint32_t first = node_at(p, CALL_ROOT)->child;
	char name[48];

	for (uint32_t i = first; i; i = node_at(p, i)->next) {
		const struct call_node *n = node_at(p, i);
		fprintf(p->out, "%s\n{\"name\":\"", i == first ? "" : ",");
		caller_name(p, n->what, name);
		json_put(p->out, name, strlen(name));
		fprintf(p->out, "\",\"total\":%llu,\"tree\":[", (unsigned long long)n->total);
		put_frames(p, i, least, p->out);
		fputs("]}", p->out);
	}
}

void plot_calls_data(const struct plot *p)
{
	const struct words *words = &p->model.pairing.call_words;
	uint64_t least = 0;

	if (!plot_has_calls(p))
		return;
	while (least < UINT64_MAX && count_frames(p, least) > FRAMES_MOST)
		least = least * 2 + 1;
	fprintf(p->out, ",\n\"calls\":{\"icicle\":%s,\"least\":%llu,\"names\":[",
	    p->icicle ? "true" : "false", (unsigned long long)least);
	for (uint32_t i = 0; i < words->count; i++) {
		fputs(i ? ",\"" : "\"", p->out);
		json_put(p->out, words->word[i], strlen(words->word[i]));
		putc('"', p->out);
	}
	fputs("],\"callers\":[", p->out);
	put_callers(p, least);
	fputs("]}", p->out);
}
