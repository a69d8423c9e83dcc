/*
 * A histogram as an object: allocating, starting, clearing, comparing and freeing it. Task context
 * under host_lock.
 */
#include "trace/hist/hist.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

/* ---- memory and errors ---- */

#define BLOCK_BYTES 4000

struct hist_block {
	struct hist_block *next;
	size_t used, size;
	char data[] __aligned(8);
};

void *hist_alloc(struct hist *h, size_t size)
{
	struct hist_block *b = h->blocks;

	size = ALIGN_UP(size, 8UL);
	if (!b || size > b->size - b->used) {
		size_t room = MAX(size, (size_t)BLOCK_BYTES);
		b = host_alloc(sizeof(*b) + room);
		if (!b) {
			h->no_memory = true;
			return NULL;
		}
		b->size = room;
		b->next = h->blocks;
		h->blocks = b;
	}
	b->used += size;
	return b->data + b->used - size;
}

char *hist_copy(struct hist *h, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = hist_alloc(h, size);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}

int hist_fail(struct hist *h, const char *text, const char *word)
{
	const char *found = word ? strstr(h->cmd, word) : NULL;

	trace_error_log(h->file->tr, h->where, h->cmd, text, found ? found - h->cmd : 0);
	return -EINVAL;
}

const char hist_string_refused[] = "Expecting numeric field";

int hist_refuse_string(struct hist *h, const char *word)
{
	trace_error_log(
	    h->file->tr, h->where, h->cmd, hist_string_refused, h->text_at + (word - h->text));
	return -EINVAL;
}

/* ---- running ---- */

struct list_head hists = LIST_HEAD_INIT(hists);

static bool needs_comm(const struct hist *h)
{
	for (u32 i = 0; i < h->n_fields; i++)
		if (h->fields[i]->flags & HIST_EXECNAME)
			return true;
	return false;
}

/*
 * One or two keys that are numbers of the record; sums and variables of such, or of the time:
 * hist_update() has a short way.
 */
static void find_short_way(struct hist *h)
{
	if (h->n_refs || h->n_actions || h->n_keys > 2)
		return;
	for (u32 i = 1; i < h->n_fields; i++) {
		const struct hist_field *f = h->fields[i];
		bool time = i < h->n_vals && f->op == HIST_OP_TIMESTAMP;
		h->more_than_sums |= time || (f->flags & HIST_VAR);
		if (time)
			continue;
		if (f->op > HIST_OP_S32)
			return;
		h->simple_len = MAX(h->simple_len, (u32)f->at + f->size);
		h->common |= f->at < sizeof(struct trace_entry);
	}
	h->simple = h->n_keys;
}

int hist_start(struct hist *h)
{
	int err = hist_start_actions(h);

	if (err)
		return h->no_memory ? -ENOMEM : err;
	if (h->n_texts > HIST_PARAMS_MAX)
		return -EINVAL;
	h->needs_comm = needs_comm(h);
	find_short_way(h);
	struct hist_map_shape shape = {.size = h->size,
	    .key_words = h->key_words,
	    .sums = h->n_sums,
	    .vars = h->n_var_places,
	    .text_words = (h->needs_comm ? HIST_COMM / 8 : 0) + h->n_texts * (HIST_STRING / 8)};
	h->map = hist_map_create(&shape);
	if (!h->map)
		return -ENOMEM;
	list_add_tail(&h->node, &hists);
	return 0;
}

void hist_clear(struct hist *h)
{
	WRITE_ONCE(h->stopped, true);
	host_synchronize();
	hist_map_clear(h->map);
	hist_clear_actions(h);
	WRITE_ONCE(h->stopped, false);
}

void hist_free(struct hist *h)
{
	struct hist_block *next;

	list_del(&h->node);
	hist_stop_actions(h);
	hist_map_free(h->map);
	for (struct hist_block *b = h->blocks; b; b = next) {
		next = b->next;
		host_free(b);
	}
	host_free(h);
}

/* ---- comparing ---- */

static bool hist_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_event_field(const struct trace_event_field *a, const struct trace_event_field *b)
{
	if (a == b)
		return true;
	return a && b && !strcmp(a->name, b->name) && !strcmp(a->type, b->type) &&
	       a->size == b->size && a->is_signed == b->is_signed;
}

static bool same_field(const struct hist_field *a, const struct hist_field *b)
{
	return a->flags == b->flags && same_event_field(a->field, b->field) &&
	       a->key_at == b->key_at && a->size == b->size && a->is_signed == b->is_signed &&
	       a->number == b->number && hist_same_text(a->label, b->label) &&
	       hist_same_text(a->var_name, b->var_name);
}

bool hist_matches(const struct hist *a, const struct hist *b)
{
	if (a->n_vals != b->n_vals || a->n_fields != b->n_fields || a->n_sorts != b->n_sorts)
		return false;
	for (u32 i = 0; i < a->n_fields; i++)
		if (!same_field(a->fields[i], b->fields[i]))
			return false;
	for (u32 i = 0; i < a->n_sorts; i++)
		if (!hist_same_text(a->sort[i].field->label, b->sort[i].field->label) ||
		    a->sort[i].descending != b->sort[i].descending)
			return false;
	return hist_same_actions(a, b);
}
