/*
 * Records of synthetic events. Any context, but for what is said in synth_record.h: no lock, no
 * allocation. Foreign strings are read as memory that may not be there.
 */
/* hot: runs with each event */
#include "trace/dynevent/synth_record.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"

#define FAULT_TEXT "(fault)"

/* What a record of these values takes: dynamic strings with their NULs, stacks with their count. */
struct layout {
	u32 size;
	u16 text[SYNTH_FIELDS_MAX]; /* bytes of each dynamic string, of each stack */
};

/* Copies text and its NUL, at most `room` bytes; `to` NULL: only counts. Bytes, or -EFAULT. */
static int synth_read_string(char *to, u32 room, u64 from)
{
	u32 n = 0;
	char c;

	for (; n < room - 1; n++) {
		if (host_copy_kernel(&c, (const void *)(from + n), 1))
			return -EFAULT;
		if (to)
			to[n] = c;
		if (!c)
			return n + 1;
	}
	if (to)
		to[n] = '\0';
	return n + 1;
}

/* Copies a stack as a record has it; `to` NULL: only counts. Bytes; 0: it is empty or not there. */
static int synth_read_stack(char *to, u32 room, u64 from)
{
	u64 n = 0, frame;

	for (; n + 1 < room / sizeof(u64); n++) {
		const void *at = (const u64 *)from + n;
		if (host_copy_kernel(&frame, at, sizeof(frame)) || !frame)
			break;
		if (to)
			memcpy(to + (n + 1) * sizeof(u64), &frame, sizeof(frame));
	}
	if (to && room)
		memcpy(to, &n, sizeof(n));
	return n ? (n + 1) * sizeof(u64) : 0;
}

static void put_text(char *to, u32 room, u64 from)
{
	if (room && synth_read_string(to, room, from) < 0)
		strscpy(to, FAULT_TEXT, room);
}

static void synth_record_layout(const struct synth_event *ev, const u64 *vals, struct layout *lay)
{
	lay->size = ev->size;
	for (u32 i = 0; i < ev->n_fields && ev->n_dynamic; i++) {
		if (!synth_is_dynamic(&ev->fields[i]))
			continue;
		int n = ev->fields[i].is_stack
			    ? synth_read_stack(NULL, SYNTH_STACK_MAX * sizeof(u64), vals[i])
			    : synth_read_string(NULL, SYNTH_STRING_MAX, vals[i]);
		lay->text[i] = n < 0 ? (int)sizeof(FAULT_TEXT) : n;
		lay->size += lay->text[i];
	}
}

static inline __attribute__((always_inline)) void synth_record_store_fixed(
    char *rec, const struct synth_field *f, u64 val)
{
	char *to = rec + f->offset;

	if (unlikely(!f->type))
		put_text(to, f->size, val);
	else if (likely(f->type->size == sizeof(u64)))
		*(trace_word_t *)to = val;
	else
		memcpy(to, &val, f->type->size);
}

/* What lies between fields is part of the record. */
static inline void synth_record_clear(const struct synth_event *ev, char *rec)
{
	for (u32 at = sizeof(struct trace_entry); at < ev->size; at += sizeof(u32)) {
		*(u32 *)(rec + at) = 0;
		barrier(); /* or the compiler makes a call of it */
	}
}

static void synth_record_fill(
    const struct synth_event *ev, char *rec, const u64 *vals, const struct layout *lay)
{
	u32 at = ev->size;

	synth_record_clear(ev, rec);
	for (u32 i = 0; i < ev->n_fields; i++) {
		const struct synth_field *f = &ev->fields[i];
		if (!synth_is_dynamic(f)) {
			synth_record_store_fixed(rec, f, vals[i]);
			continue;
		}
		u32 loc = (u32)lay->text[i] << 16 | at;
		memcpy(rec + f->offset, &loc, sizeof(loc));
		if (f->is_stack)
			synth_read_stack(rec + at, lay->text[i], vals[i]);
		else
			put_text(rec + at, lay->text[i], vals[i]);
		at += lay->text[i];
	}
}

/* The values of an event of whole words, the last one first. */
static inline __attribute__((always_inline)) void synth_record_words(
    const struct synth_event *ev, trace_word_t *rec, const u64 *vals)
{
	for (u64 i = ev->n_fields; i; i--)
		rec[i] = vals[i - 1];
}

/* synth_event_record_values() of such an event. */
static __noinline void synth_event_record_words(struct synth_event *ev,
    struct trace_event_file *file, const struct host_context *ctx, const u64 *vals, bool all)
{
	u64 image[1 + SYNTH_FIELDS_MAX];
	struct trace_slot slot;
	const u32 size = ev->size;

	trace_word_t *rec = trace_record_in(&slot, file, ctx, size);
	if (likely(rec)) {
		synth_record_words(ev, rec, vals);
		trace_record_end(&slot);
		return;
	}
	synth_record_words(ev, (trace_word_t *)image, vals);
	if (all)
		trace_gate_in(file, ctx, image, size);
	else
		trace_gate_in_one(file, ctx, image, size);
}

#define SMALL_IMAGE 64 /* bytes of an image on the stack */

static __noinline void synth_event_record_any(struct synth_event *ev, struct trace_event_file *file,
    const struct host_context *ctx, const u64 *vals, bool all)
{
	u64 small[SMALL_IMAGE / sizeof(u64)];
	struct trace_slot slot;
	struct layout lay;

	synth_record_layout(ev, vals, &lay);
	char *rec = trace_record_in(&slot, file, ctx, lay.size);
	if (likely(rec)) {
		synth_record_fill(ev, rec, vals, &lay);
		trace_record_end(&slot);
		return;
	}
	if (trace_record_full(file, lay.size))
		return;
	small[(MIN(lay.size, (u32)sizeof(small)) - 1) / sizeof(u64)] =
	    0; /* a ring has whole words */
	rec = lay.size <= sizeof(small) ? (char *)small : trace_image(lay.size);
	if (rec)
		synth_record_fill(ev, rec, vals, &lay);
	if (all)
		trace_gate_in(file, ctx, rec, lay.size);
	else
		trace_gate_in_one(file, ctx, rec, lay.size);
	if (rec && rec != (char *)small)
		trace_image_end(lay.size);
}

/* In each instance that wants it, of which `file` is the first; or in this one alone. */
static inline __attribute__((always_inline)) void synth_event_record_values(struct synth_event *ev,
    struct trace_event_file *file, const struct host_context *ctx, const u64 *vals, bool all)
{
	if (unlikely(trace_record_idle(file)))
		return;
	if (!ev->n_dynamic && unlikely(trace_record_full(file, ev->size)))
		return;
	if (likely(ev->words))
		synth_event_record_words(ev, file, ctx, vals, all);
	else
		synth_event_record_any(ev, file, ctx, vals, all);
}

void synth_event_record(struct synth_event *ev, const struct host_context *ctx, const u64 *vals)
{
	struct trace_event_file *file = READ_ONCE(ev->call.live);

	if (file)
		synth_event_record_values(ev, file, ctx, vals, true);
}

/* ---- for kernel code ---- */

static bool is_synthetic(const struct trace_event_file *file)
{
	return file->call->class->fields == synth_event_table;
}

static bool is_live(const struct trace_event_file *file)
{
	return READ_ONCE(file->flags) & TRACE_FILE_LIVE;
}

int synth_event_trace_array(struct trace_event_file *file, const u64 *vals, unsigned n_vals)
{
	struct host_context ctx;

	if (!is_synthetic(file) || n_vals != synth_event_of(file->call)->n_fields)
		return -EINVAL;
	if (!is_live(file))
		return 0;
	host_enter(&ctx);
	synth_event_record_values(synth_event_of(file->call), file, &ctx, vals, false);
	host_preempt_enable();
	return 0;
}

int synth_event_trace_list(
    struct trace_event_file *file, unsigned n_vals, const u64 *vals, unsigned n_given)
{
	return n_vals == n_given ? synth_event_trace_array(file, vals, n_vals) : -EINVAL;
}

int synth_event_trace_start(struct trace_event_file *file, struct synth_event_trace_state *state)
{
	if (!state)
		return -EINVAL;
	memset(state, 0, sizeof(*state));
	if (!is_synthetic(file))
		return -EINVAL;
	struct synth_event *ev = synth_event_of(file->call);
	if (ev->n_dynamic)
		return -EOPNOTSUPP;
	if (!is_live(file))
		return 0;
	atomic_add(&ev->open, 1);
	state->file = file;
	host_enter(&state->ctx);
	state->rec = trace_image(ev->size);
	if (state->rec)
		memset(state->rec + sizeof(struct trace_entry), 0,
		    ev->size - sizeof(struct trace_entry));
	return 0;
}

static int add(const struct synth_field *f, u64 val, struct synth_event_trace_state *state)
{
	if (!f->type && !val)
		return -EINVAL;
	if (state->rec)
		synth_record_store_fixed(state->rec, f, val);
	return 0;
}

int synth_event_add_next_val(u64 val, struct synth_event_trace_state *state)
{
	if (!state || state->add_name)
		return -EINVAL;
	state->add_next = true;
	if (!state->file)
		return 0;
	const struct synth_event *ev = synth_event_of(state->file->call);
	if (state->cur_field == ev->n_fields)
		return -EINVAL;
	return add(&ev->fields[state->cur_field++], val, state);
}

int synth_event_add_val(const char *field_name, u64 val, struct synth_event_trace_state *state)
{
	if (!state || !field_name || state->add_next)
		return -EINVAL;
	state->add_name = true;
	if (!state->file)
		return 0;
	const struct synth_event *ev = synth_event_of(state->file->call);
	for (u32 i = 0; i < ev->n_fields; i++)
		if (!strcmp(ev->fields[i].name, field_name))
			return add(&ev->fields[i], val, state);
	return -EINVAL;
}

int synth_event_trace_end(struct synth_event_trace_state *state)
{
	if (!state)
		return -EINVAL;
	if (!state->file)
		return 0;
	struct synth_event *ev = synth_event_of(state->file->call);
	trace_gate_in_one(state->file, &state->ctx, state->rec, ev->size);
	if (state->rec)
		trace_image_end(ev->size);
	host_preempt_enable();
	state->file = NULL;
	atomic_sub(&ev->open, 1);
	return 0;
}
