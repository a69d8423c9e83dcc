/*
 * The data of a page's timeline, as JSON for its script (page.js): names, and a track for each
 * kind of thing of each CPU and task. A track is one array of numbers, for each item
 *
 *     begin (after the one before), duration, id, how many; and if that is not 1, the time that
 *     they fill
 *
 * Times are from the beginning of the picture on. The page stays small whatever the trace: with
 * more than ITEMS_MOST items, those shorter than a resolution are put together with their
 * neighbours. See plot.h.
 */
#include "tools/trapline/plot/plot.h"
#include "tools/trapline/model/semantics.h"

#define ITEMS_MOST  100000
#define RATE_POINTS 400
#define LABEL_MOST  120
#define IRQ_TRACKS  4
#define BAR_TRACKS  6

enum { CPU_RUN, CPU_GAPS, CPU_IRQ, CPU_TRACKS = CPU_IRQ + IRQ_TRACKS };
enum { TASK_RUN, TASK_WAIT, TASK_CALL, TASK_MARKS, TASK_BAR, TASK_TRACKS = TASK_BAR + BAR_TRACKS };

struct item {
	uint64_t begin, end, busy;
	uint32_t id, count;
};

struct track {
	struct item *item; /* in the order of their times */
	size_t count, place;
};

struct page_data {
	const struct plot *p;
	struct track *track; /* CPU_TRACKS for each CPU, then TASK_TRACKS for each lane */
	size_t tracks, items;
	struct item *all;
	uint64_t resolution; /* 0: nothing is put together */
	struct words labels, lost;
};

/* ---- items into tracks ---- */

static struct track *cpu_track(struct page_data *d, unsigned cpu, unsigned which)
{
	return &d->track[cpu * CPU_TRACKS + which];
}

/* NULL: the task has no lane. */
static struct track *task_track(struct page_data *d, int32_t pid, unsigned which)
{
	unsigned lane = plot_lane_of(d->p, pid);

	return lane == LANE_NONE
		   ? NULL
		   : &d->track[d->p->trace->cpus * CPU_TRACKS + lane * TASK_TRACKS + which];
}

/* Items are counted first, and put where there is room for them then: `all` is NULL, and not. */
static void add(struct page_data *d, struct track *track, uint64_t begin, uint64_t end, uint32_t id)
{
	const struct plot *p = d->p;

	if (!track || end < p->begin || begin > p->end)
		return;
	begin = begin < p->begin ? p->begin : begin;
	end = end > p->end ? p->end : end;
	if (d->all)
		track->item[track->place++] = (struct item){begin, end, end - begin, id, 1};
	else
		track->count++;
}

static void add_interval(struct page_data *d, uint32_t i)
{
	const struct interval *v = &d->p->model.interval[i];

	if (v->kind == INTERVAL_IRQ && v->depth < IRQ_TRACKS)
		add(d, cpu_track(d, v->cpu, CPU_IRQ + v->depth), v->begin, v->end, v->word);
	else if (v->kind == INTERVAL_SYSCALL)
		add(d, task_track(d, v->pid, TASK_CALL), v->begin, v->end, v->word);
	else if (v->kind == INTERVAL_MARK && v->depth < BAR_TRACKS)
		add(d, task_track(d, v->pid, TASK_BAR + v->depth), v->begin, v->end, i);
}

static void add_all(struct page_data *d)
{
	const struct model *m = &d->p->model;

	for (size_t i = 0; i < m->states; i++) {
		const struct state *s = &m->state[i];
		if (!s->pid)
			continue;
		add(d, cpu_track(d, s->cpu, CPU_RUN), s->begin, s->end, plot_lane_of(d->p, s->pid));
		add(d, task_track(d, s->pid, TASK_RUN), s->begin, s->end, s->cpu);
	}
	for (size_t i = 0; i < m->waitings; i++) {
		const struct state *s = &m->waiting[i];
		add(d, task_track(d, s->pid, TASK_WAIT), s->begin, s->end, s->cpu);
	}
	for (size_t i = 0; i < m->intervals; i++)
		add_interval(d, i);
	for (size_t i = 0; i < m->marks; i++) {
		const struct record *r = &m->mark[i].record;
		if (!m->mark[i].paired)
			add(d, task_track(d, r->pid, TASK_MARKS), r->time, r->time, i);
	}
	for (size_t i = 0; i < m->gaps; i++)
		add(d, cpu_track(d, m->gap[i].cpu, CPU_GAPS), m->gap[i].begin, m->gap[i].end, i);
}

static void build_tracks(struct page_data *d)
{
	add_all(d);
	for (size_t i = 0; i < d->tracks; i++)
		d->items += d->track[i].count;
	d->all = xmalloc(d->items * sizeof(*d->all));
	struct item *at = d->all;
	for (size_t i = 0; i < d->tracks; i++) {
		d->track[i].item = at;
		at += d->track[i].count;
	}
	add_all(d);
}

/* ---- what is put together ---- */

/*
 * The item at *i, with those after it that are too short and share its stretch of time; *i is the
 * next one then.
 */
static struct item next_item(const struct page_data *d, const struct track *t, size_t *i)
{
	struct item item = t->item[(*i)++];
	uint64_t most = 0;

	if (item.end - item.begin >= d->resolution)
		return item;
	uint64_t stretch = (item.begin - d->p->begin) / d->resolution;
	most = item.end - item.begin;
	for (; *i < t->count; (*i)++) {
		const struct item *next = &t->item[*i];
		uint64_t length = next->end - next->begin;
		if (length >= d->resolution ||
		    (next->begin - d->p->begin) / d->resolution != stretch)
			break;
		item.end = next->end > item.end ? next->end : item.end;
		item.busy += length;
		item.count++;
		if (length > most) {
			most = length;
			item.id = next->id;
		}
	}
	return item;
}

static size_t items_at_resolution(const struct page_data *d)
{
	size_t items = 0;

	for (size_t k = 0; k < d->tracks; k++)
		for (size_t i = 0; i < d->track[k].count; items++)
			next_item(d, &d->track[k], &i);
	return items;
}

static void find_resolution(struct page_data *d)
{
	uint64_t next = (d->p->end - d->p->begin) >> 20;

	if (d->items <= ITEMS_MOST)
		return;
	do {
		d->resolution = next ? next : 1;
		next = d->resolution + d->resolution / 4 + 1;
	} while (items_at_resolution(d) > ITEMS_MOST && next < d->p->end - d->p->begin);
}

/* ---- the text ---- */

static void put_text(const struct page_data *d, const char *text)
{
	putc('"', d->p->out);
	json_put(d->p->out, text, strlen(text));
	putc('"', d->p->out);
}

static uint32_t label_of(struct page_data *d, const struct track *t, uint32_t id)
{
	const struct model *m = &d->p->model;
	size_t which = (t - d->track - d->p->trace->cpus * CPU_TRACKS) % TASK_TRACKS;
	char text[LABEL_MOST];

	if (which == TASK_MARKS) {
		semantics_mark_text(d->p->trace, &m->mark[id].record, text, sizeof(text));
		return words_add(&d->labels, text, strlen(text));
	}
	const char *name = model_name(m, &m->interval[id]);
	return words_add(&d->labels, name, strnlen(name, LABEL_MOST));
}

static uint32_t lost_of(struct page_data *d, uint32_t id)
{
	const struct gap *g = &d->p->model.gap[id];
	char text[32];
	const char *lost = plot_lost(text, g->lost, g->unknown);

	return words_add(&d->lost, lost, strlen(lost));
}

enum track_ids { IDS_PLAIN, IDS_LABELS, IDS_GAPS };

static void put_track(struct page_data *d, const struct track *t, enum track_ids ids)
{
	uint64_t at = d->p->begin;
	FILE *out = d->p->out;

	putc('[', out);
	for (size_t i = 0; i < t->count;) {
		struct item item = next_item(d, t, &i);
		uint32_t id = ids == IDS_LABELS ? label_of(d, t, item.id)
			      : ids == IDS_GAPS ? lost_of(d, item.id)
						: item.id;
		fprintf(out, "%s%lld,%llu,%d,%u", i == item.count ? "" : ",",
		    (long long)(item.begin - at), (unsigned long long)(item.end - item.begin),
		    (int)id, item.count);
		if (item.count > 1)
			fprintf(out, ",%llu", (unsigned long long)item.busy);
		at = item.begin;
	}
	putc(']', out);
}

/* A list of tracks, without those at its end that are empty. */
static void put_depths(
    struct page_data *d, const struct track *t, unsigned most, enum track_ids ids)
{
	while (most && !t[most - 1].count)
		most--;
	putc('[', d->p->out);
	for (unsigned i = 0; i < most; i++) {
		fputs(i ? "," : "", d->p->out);
		put_track(d, &t[i], ids);
	}
	putc(']', d->p->out);
}

static void put_cpus(struct page_data *d)
{
	const struct plot *p = d->p;
	const char *comma = "";

	fputs(",\n\"cpus\":[", p->out);
	for (unsigned cpu = 0; cpu < p->trace->cpus; cpu++) {
		const struct track *t = cpu_track(d, cpu, 0);
		uint64_t busy = 0;
		if (!model_seen(&p->model, cpu))
			continue;
		for (size_t i = 0; i < t[CPU_RUN].count; i++)
			busy += t[CPU_RUN].item[i].busy;
		fprintf(p->out, "%s\n{\"cpu\":%u,\"busy\":\"%.3g %%\",\"run\":", comma, cpu,
		    100.0 * busy / (p->end - p->begin));
		put_track(d, &t[CPU_RUN], IDS_PLAIN);
		fputs(",\"gaps\":", p->out);
		put_track(d, &t[CPU_GAPS], IDS_GAPS);
		fputs(",\"irq\":", p->out);
		put_depths(d, &t[CPU_IRQ], IRQ_TRACKS, IDS_PLAIN);
		putc('}', p->out);
		comma = ",";
	}
	putc(']', p->out);
}

static void put_tasks(struct page_data *d)
{
	const struct plot *p = d->p;

	fputs(",\n\"tasks\":[", p->out);
	for (unsigned i = 0; i < p->lanes; i++) {
		const struct lane *lane = &p->lane[i];
		const struct track *t = task_track(d, lane->pid, 0);
		fprintf(p->out, "%s\n{\"pid\":%d,\"rank\":%u,\"colour\":%u,\"comm\":", i ? "," : "",
		    lane->pid, lane->rank, plot_colour(p, lane->pid));
		put_text(d, trace_comm(p->trace, lane->pid));
		fputs(",\"run\":", p->out);
		put_track(d, &t[TASK_RUN], IDS_PLAIN);
		fputs(",\"wait\":", p->out);
		put_track(d, &t[TASK_WAIT], IDS_PLAIN);
		fputs(",\"call\":", p->out);
		put_track(d, &t[TASK_CALL], IDS_PLAIN);
		fputs(",\"marks\":", p->out);
		put_track(d, &t[TASK_MARKS], IDS_LABELS);
		fputs(",\"bars\":", p->out);
		put_depths(d, &t[TASK_BAR], BAR_TRACKS, IDS_LABELS);
		putc('}', p->out);
	}
	fprintf(p->out, "],\n\"more\":%zu", p->lanes_missing);
}

static void put_words(const struct page_data *d, const char *name, const struct words *words)
{
	fprintf(d->p->out, ",\n\"%s\":[", name);
	for (uint32_t i = 0; i < words->count; i++) {
		fputs(i ? "," : "", d->p->out);
		put_text(d, words->word[i]);
	}
	putc(']', d->p->out);
}

static void put_rate(const struct page_data *d)
{
	const struct plot *p = d->p;
	uint64_t point[RATE_POINTS] = {0};

	for (unsigned i = 0; i < RATE_BINS; i++) {
		uint64_t time = p->rate.first + ((uint64_t)i << p->rate.shift);
		if (p->rate.bin[i] && time >= p->begin && time <= p->end)
			point[(uint64_t)((double)(time - p->begin) * (RATE_POINTS - 1) /
					 (p->end - p->begin))] += p->rate.bin[i];
	}
	fputs(",\n\"rate\":[", p->out);
	for (unsigned i = 0; i < RATE_POINTS; i++)
		fprintf(p->out, "%s%llu", i ? "," : "", (unsigned long long)point[i]);
	putc(']', p->out);
}

uint64_t plot_data(const struct plot *p)
{
	struct page_data d = {
	    .p = p, .tracks = p->trace->cpus * CPU_TRACKS + p->lanes * TASK_TRACKS};
	d.track = xmalloc(d.tracks * sizeof(*d.track));

	build_tracks(&d);
	find_resolution(&d);
	fprintf(p->out, "{\"base\":\"%llu\",\"range\":%llu,\"ns\":%s,\"resolution\":%llu",
	    (unsigned long long)p->begin, (unsigned long long)(p->end - p->begin),
	    p->trace->in_ns ? "true" : "false", (unsigned long long)d.resolution);
	put_cpus(&d);
	put_tasks(&d);
	put_words(&d, "names", &p->model.pairing.words);
	put_words(&d, "labels", &d.labels);
	put_words(&d, "lost", &d.lost);
	put_rate(&d);
	plot_calls_data(p);
	fputs("}\n", p->out);
	words_free(&d.labels);
	words_free(&d.lost);
	free(d.all);
	free(d.track);
	return d.resolution;
}
