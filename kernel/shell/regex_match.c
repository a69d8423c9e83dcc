/*
 * Runs a compiled expression over a text: all ways it can go are followed at once, a list of threads per character. Threads stand
 * in order of preference; those that began further left come first. Pure; uses the expression's own memory.
 */
#include "kernel/lib/string.h"
#include "kernel/shell/regex_prog.h"

struct run {
	struct sh_regex *re;
	const char *text;
	size_t len, at;
	bool matched;
	s32 from, to; /* the best match so far */
	s32 place[2 * SH_REGEX_GROUPS];
};

static bool word_at(const struct run *r, size_t i)
{
	return i < r->len && (is_alnum(r->text[i]) || r->text[i] == '_');
}

static bool holds(const struct run *r, u8 op)
{
	bool left = r->at && word_at(r, r->at - 1), right = word_at(r, r->at);

	switch (op) {
	case SH_RX_BOL:
		return r->at == 0;
	case SH_RX_EOL:
		return r->at == r->len;
	case SH_RX_WORD_EDGE:
		return left != right;
	case SH_RX_NO_EDGE:
		return left == right;
	case SH_RX_WORD_START:
		return !left && right;
	default:
		return left && !right;
	}
}

/* Adds the thread at pc, and whatever it leads to without a character, to the list. `place` is scratch. */
static void add(struct run *r, struct sh_rx_list *list, s32 pc, s32 *place)
{
	struct sh_regex *re = r->re;
	unsigned n = 0;

	re->todo[n++] = (struct sh_rx_todo){.pc = pc};
	while (n) {
		struct sh_rx_todo todo = re->todo[--n];
		const struct sh_rx_inst *in;

		if (todo.pc < 0) {
			place[todo.place] = todo.value;
			continue;
		}
		if (re->seen[todo.pc] == re->step)
			continue;
		re->seen[todo.pc] = re->step;
		in = &re->prog[todo.pc];
		switch (in->op) {
		case SH_RX_SPLIT:
			re->todo[n++] = (struct sh_rx_todo){.pc = todo.pc + in->y};
			re->todo[n++] = (struct sh_rx_todo){.pc = todo.pc + in->x};
			break;
		case SH_RX_JUMP:
			re->todo[n++] = (struct sh_rx_todo){.pc = todo.pc + in->x};
			break;
		case SH_RX_SAVE:
			re->todo[n++] =
			    (struct sh_rx_todo){.pc = -1, .place = in->c, .value = place[in->c]};
			place[in->c] = r->at;
			re->todo[n++] = (struct sh_rx_todo){.pc = todo.pc + 1};
			break;
		case SH_RX_CHAR:
		case SH_RX_ANY:
		case SH_RX_CLASS:
		case SH_RX_MATCH:
			list->t[list->n].pc = todo.pc;
			memcpy(list->t[list->n].place, place, sizeof(list->t[0].place));
			list->n++;
			break;
		default:
			if (holds(r, in->op))
				re->todo[n++] = (struct sh_rx_todo){.pc = todo.pc + 1};
		}
	}
}

static void start_thread(struct run *r)
{
	s32 place[2 * SH_REGEX_GROUPS];

	memset(place, -1, sizeof(place));
	place[0] = r->at;
	add(r, &r->re->now, 0, place);
}

/* Leftmost first, then longest; of equal ones the first found, which is the preferred. */
static void take_match(struct run *r, const struct sh_rx_thread *t)
{
	if (r->matched &&
	    (t->place[0] > r->from || (t->place[0] == r->from && (s32)r->at <= r->to)))
		return;
	r->matched = true;
	r->from = t->place[0];
	r->to = r->at;
	memcpy(r->place, t->place, sizeof(r->place));
}

/* One character for all threads; the new list becomes the present one. */
static void advance(struct run *r)
{
	struct sh_regex *re = r->re;
	struct sh_rx_list swap = re->now;
	bool more = r->at < r->len;
	u8 c = more ? r->text[r->at] : 0, folded = re->icase && is_alpha(c) ? c | 32 : c;

	re->next.n = 0;
	re->step++;
	for (unsigned i = 0; i < re->now.n; i++) {
		struct sh_rx_thread *t = &re->now.t[i];
		const struct sh_rx_inst *in = &re->prog[t->pc];

		if (r->matched && t->place[0] > r->from)
			break;
		if (in->op == SH_RX_MATCH) {
			take_match(r, t);
			continue;
		}
		if (!more || (in->op == SH_RX_CHAR && in->c != folded) ||
		    (in->op == SH_RX_CLASS && !sh_rx_has(re->classes[in->c], c)))
			continue;
		r->at++;
		add(r, &re->next, t->pc + 1, t->place);
		r->at--;
	}
	re->now = re->next;
	re->next = swap;
}

/* To the next place where a match can begin; false: there is none. */
static bool skip(struct run *r)
{
	const struct sh_regex *re = r->re;

	if (re->anchored)
		return r->at == 0;
	if (!re->filter)
		return true;
	while (r->at < r->len && !sh_rx_has(re->first, r->text[r->at]))
		r->at++;
	return r->at < r->len;
}

static void fill(const struct run *r, struct sh_match *m)
{
	for (int i = 0; i < SH_REGEX_GROUPS; i++) {
		bool set = i && r->place[2 * i] >= 0 && r->place[2 * i + 1] >= 0;

		m->from[i] = set ? r->place[2 * i] : -1;
		m->to[i] = set ? r->place[2 * i + 1] : -1;
	}
	m->from[0] = r->from;
	m->to[0] = r->to;
}

bool sh_regex_match(
    struct sh_regex *re, const char *text, size_t len, size_t start, struct sh_match *m)
{
	struct run r = {.re = re, .text = text, .len = len, .at = start};

	re->now.n = 0;
	re->step++;
	for (;; r.at++) {
		if (!r.matched && !re->now.n) {
			if (!skip(&r))
				break;
			re->step++; /* what was seen at an earlier place counts no more */
		}
		if (!r.matched)
			start_thread(&r); /* after those that began before it */
		if (!re->now.n && r.matched)
			break;
		advance(&r);
		if (r.at >= r.len || (r.matched && (!re->now.n || !m)))
			break;
	}
	if (r.matched && m)
		fill(&r, m);
	return r.matched;
}
