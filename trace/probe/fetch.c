/*
 * Fetches and records the arguments when a probe, or the event that it probes, is hit. Any context:
 * no lock, no allocation. Memory reads may fault: a number is then 0, a string "(fault)", stored as
 * a string of length 0.
 */
/* hot: runs with each event */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/event/options.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"
#include "trace/host_probe.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"
#include "trace/probe/probe.h"

#define CHUNK	    64 /* bytes of a string read at a time */
#define IMAGE_WORDS 20 /* of an image on the stack */

struct hit {
	const struct trace_probe *tp;
	const void *regs;
	u64 ip, ret;	  /* ret: of a return */
	const u64 *entry; /* of a return: values of the entry; of a watchpoint: probe_watch_word */
	const void *rec;  /* of the event that is probed, and its length */
	u32 len;
};

static inline u64 reg_at(const void *regs, u32 at)
{
	return *(const u64 *)((const char *)regs + at);
}

/* What is not memory of the kernel may be memory of ring 3: the two never overlap. */
static int read_memory(void *to, u64 from, size_t n, bool user)
{
	if (!user && !host_copy_kernel(to, (const void *)from, n))
		return 0;
	return host_copy_user(to, from, n);
}

/* ---- fields of another event's record: nothing in it is believed ---- */

static u64 field_number(const struct hit *h, const struct trace_event_field *f)
{
	u32 size = MIN(f->size, (u16)8);
	u64 v = 0;

	if (f->offset + size > h->len)
		return 0;
	memcpy(&v, (const char *)h->rec + f->offset, size);
	if (f->is_signed && size < 8)
		v = (u64)((s64)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return v;
}

/* The text of a string and the bytes it may take; NULL: it does not lie in the record. */
static const char *probe_field_string(
    const struct hit *h, const struct trace_event_field *f, u32 *room)
{
	u32 loc = field_number(h, f), at = f->offset;

	*room = f->size;
	switch (f->kind) {
	case TRACE_FIELD_STRING:
		break;
	case TRACE_FIELD_REL_STRING:
		at += sizeof(loc) + (loc & 0xffff);
		*room = loc >> 16;
		break;
	case TRACE_FIELD_DYN_STRING:
		at = loc & 0xffff;
		*room = loc >> 16;
		break;
	default:
		return NULL;
	}
	return *room && at <= h->len && *room <= h->len - at ? (const char *)h->rec + at : NULL;
}

static u64 field_value(const struct hit *h, const struct trace_event_field *f)
{
	u32 room;
	const char *text = probe_field_string(h, f, &room);

	return text ? (u64)text : field_number(h, f);
}

/* Copies a string as probe_read_string() does. */
static int read_field(const struct hit *h, const struct trace_event_field *f, char *to, u32 room)
{
	u32 size;
	const char *text = probe_field_string(h, f, &size);

	if (!text)
		return -1;
	u32 n = strnlen(text, MIN(size, room - 1));
	if (to) {
		memcpy(to, text, n);
		to[n] = '\0';
	}
	return n + 1;
}

/* ---- values ---- */

static int probe_fetch_source(const struct hit *h, const struct probe_fetch *f, u64 *value)
{
	switch (f->source) {
	case PROBE_FROM_REG:
		*value = reg_at(h->regs, f->param);
		return 0;
	case PROBE_FROM_SP:
		*value = reg_at(h->regs, h->tp->sp);
		return 0;
	case PROBE_FROM_STACK:
		return read_memory(value, reg_at(h->regs, h->tp->sp) + 8 * (u64)f->param, 8, false);
	case PROBE_FROM_RET:
		*value = h->ret;
		return 0;
	case PROBE_FROM_FIELD:
		*value = field_value(h, f->field);
		return 0;
	case PROBE_FROM_ENTRY:
		*value = h->entry[f->param];
		return 0;
	default:
		*value = f->imm;
		return 0;
	}
}

/* The value after `steps` of the steps: before the last it is an address. */
static int probe_fetch_value(
    const struct hit *h, const struct probe_fetch *f, unsigned steps, u64 *value)
{
	int err = probe_fetch_source(h, f, value);

	for (unsigned i = 0; i < steps && !err; i++)
		err = read_memory(value, *value + f->deref[i], sizeof(*value), f->user >> i & 1);
	return err;
}

/* A string in the record itself, not a pointer to one. */
static bool is_field_text(const struct probe_fetch *f)
{
	return f->source == PROBE_FROM_FIELD && !f->derefs &&
	       (f->field->kind == TRACE_FIELD_STRING || f->field->kind == TRACE_FIELD_DYN_STRING ||
		   f->field->kind == TRACE_FIELD_REL_STRING);
}

static bool last_is_user(const struct probe_fetch *f)
{
	return f->derefs && f->user >> (f->derefs - 1) & 1;
}

/* The address that the last step reads. */
static int place_of(const struct hit *h, const struct probe_fetch *f, u64 *addr)
{
	int err = probe_fetch_value(h, f, f->derefs - 1, addr);

	*addr += f->deref[f->derefs - 1];
	return err;
}

/* By shifts of a register as wide as the type. */
static u64 bitfield(const struct probe_arg *arg, u64 value)
{
	unsigned unused = 64 - arg->type->size * 8;

	value <<= arg->fetch.lshift + unused;
	if (arg->type->is_signed) /* a declared one */
		return (u64)((s64)value >> (arg->fetch.rshift + unused));
	return value >> (arg->fetch.rshift + unused);
}

static void put_number(const struct probe_arg *arg, char *at, u64 value)
{
	if (unlikely(arg->fetch.lshift | arg->fetch.rshift))
		value = bitfield(arg, value);
	memcpy(at, &value, arg->type->size);
}

static void put_numbers(const struct hit *h, const struct probe_arg *arg, char *at)
{
	const struct probe_fetch *f = &arg->fetch;
	u32 size = arg->type->size, n = arg->count ? arg->count : 1;
	u64 value = 0;

	if (!f->derefs) {
		put_number(arg, at, probe_fetch_source(h, f, &value) ? 0 : value);
		return;
	}
	int err = place_of(h, f, &value);
	for (u32 i = 0; i < n; i++) {
		u64 word = 0;
		if (!err && read_memory(&word, value + i * size, size, last_is_user(f)))
			word = 0;
		put_number(arg, at + i * size, word);
	}
}

/* ---- strings ---- */

/*
 * Copies up to and with the NUL, at most `room` bytes, always ended; the length with the NUL, or
 * -1. `to` NULL: only counts.
 */
static int probe_read_string(char *to, u32 room, u64 from, bool user)
{
	char chunk[CHUNK];

	for (u32 done = 0; done < room;) {
		u32 n =
		    MIN((u64)MIN((u32)CHUNK, room - done), PAGE_SIZE - (from + done) % PAGE_SIZE);
		if (read_memory(chunk, from + done, n, user))
			return -1;
		const char *end = memchr(chunk, '\0', n);
		u32 take = end ? (u32)(end - chunk) + 1 : n;
		if (to)
			memcpy(to + done, chunk, take);
		done += take;
		if (end)
			return done;
	}
	if (to)
		to[room - 1] = '\0';
	return room;
}

/*
 * Of element i: where its text is, in ring 3 or not; -1: out of reach. Elements of an array are
 * addressed by pointers.
 */
static int string_place(const struct hit *h, const struct probe_arg *arg, u32 i, u64 *addr)
{
	const struct probe_fetch *f = &arg->fetch;

	if (!f->derefs)
		return probe_fetch_source(h, f, addr);
	int err = place_of(h, f, addr);
	if (!err && arg->count)
		err = read_memory(addr, *addr + 8 * (u64)i, 8, last_is_user(f));
	return err;
}

/* The text of an argument's element to `to`, as probe_read_string(). */
static int probe_fetch_string(
    const struct hit *h, const struct probe_arg *arg, u32 i, char *to, u32 room)
{
	const struct probe_fetch *f = &arg->fetch;
	bool user = arg->type->text == PROBE_USTRING || last_is_user(f);
	char word[160];
	u64 addr;

	if (arg->count > 1 && !f->derefs)
		return -1; /* one string lies there, not an array of pointers to strings */
	if (f->source == PROBE_FROM_COMM) {
		host_current_comm(word);
		word[15] = '\0';
	} else if (arg->type->text == PROBE_SYMSTR) {
		if (probe_fetch_value(h, f, f->derefs, &addr))
			return -1;
		host_sym_print(word, sizeof(word), addr, true);
	} else if (is_field_text(f) && !user) {
		return read_field(h, f->field, to, room);
	} else if (!f->derefs) { /* a text of the probe's own, or an address that was given */
		return probe_fetch_source(h, f, &addr) ? -1
						       : probe_read_string(to, room, addr, user);
	} else {
		return string_place(h, arg, i, &addr) ? -1
						      : probe_read_string(to, room, addr, user);
	}
	u32 n = MIN((u32)strlen(word) + 1, room);
	if (to) {
		memcpy(to, word, n);
		to[n - 1] = '\0';
	}
	return n;
}

static inline u32 elements(const struct probe_arg *arg)
{
	return arg->count ? arg->count : 1;
}

/* Bytes that all texts take: as many as a record has room for, at most. */
static u32 probe_strings_size(const struct hit *h)
{
	u32 room = RB_MAX_DATA - h->tp->event->size, total = 0;

	for (u32 k = 0; k < h->tp->n_args; k++) {
		const struct probe_arg *arg = &h->tp->args[k];
		for (u32 i = 0; probe_is_string(arg->type) && i < elements(arg); i++) {
			int n = probe_fetch_string(h, arg, i, NULL, room);
			total += n > 0 ? n : 0;
		}
	}
	return MIN(total, room);
}

/* What has grown since it was counted is cut. */
static void put_strings(
    const struct hit *h, const struct probe_arg *arg, char *rec, u32 *at, u32 end)
{
	for (u32 i = 0; i < elements(arg); i++) {
		u32 room = end - *at;
		int n = room ? probe_fetch_string(h, arg, i, rec + *at, room) : -1;
		u32 loc = *at | (n > 0 ? n : 0) << 16;
		memcpy(rec + arg->offset + 4 * i, &loc, sizeof(loc));
		*at += n > 0 ? n : 0;
	}
}

/* ---- records ---- */

static void put_head(const struct hit *h, char *rec, const struct host_context *ctx)
{
	const struct trace_probe *tp = h->tp;
	trace_word_t *word = (trace_word_t *)(rec + (tp->old ? 16 : 8));

	if (tp->old)
		*(trace_word_t *)(rec + 8) = (u32)host_tgid(ctx->pid);
	*word++ = h->ip;
	if (tp->is_return)
		*word++ = h->ret;
	if (tp->old)
		*word = tp->n_args;
}

static void probe_store_args(const struct hit *h, char *rec, u32 end)
{
	const struct trace_probe *tp = h->tp;
	u32 at = tp->event->size;

	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_arg *arg = &tp->args[i];
		if (unlikely(probe_is_string(arg->type)))
			put_strings(h, arg, rec, &at, end);
		else
			put_numbers(h, arg, rec + arg->offset);
	}
}

/* Of an event of today whose arguments are all registers: the last one first. */
static inline __attribute__((always_inline)) void put_regs(
    const struct trace_probe *tp, const void *regs, u64 ip, const u64 *ret, trace_word_t *to)
{
	const u16 *reg = tp->reg;
	u64 i = tp->n_args;

	*++to = ip; /* after the common fields */
	if (ret)
		*++to = *ret;
	for (; i; i--)
		to[i] = reg_at(regs, reg[i - 1]);
}

/* Any event, by way of an image. */
static void probe_record_any(
    const struct hit *h, struct trace_event_file *file, const struct host_context *ctx)
{
	struct probe_event *ev = h->tp->event;
	u32 size = ev->size + (ev->n_strings ? probe_strings_size(h) : 0);
	char *image = trace_image(size);

	if (image) {
		put_head(h, image, ctx);
		probe_store_args(h, image, size);
	}
	trace_gate_in(file, ctx, image, size);
	if (image)
		trace_image_end(size);
}

static __noinline void probe_record_general(
    const struct hit *h, struct trace_event_file *file, const struct host_context *ctx)
{
	host_preempt_disable();
	probe_record_any(h, file, ctx);
	host_preempt_enable();
}

void probe_event_hit(const struct trace_probe *tp, struct trace_event_file *file,
    const struct host_context *ctx, const void *rec, u32 len)
{
	const struct hit h = {.tp = tp, .rec = rec, .len = len};
	struct probe_event *ev = tp->event;
	u32 size = ev->size + (ev->n_strings ? probe_strings_size(&h) : 0);
	char *image = trace_image(size);

	if (image)
		probe_store_args(&h, image, size);
	trace_gate_in_one(file, ctx, image, size);
	if (image)
		trace_image_end(size);
}

void probe_keep(void *arg, const void *regs, u64 *kept)
{
	const struct trace_probe *tp = arg;

	for (u32 i = 0; i < tp->n_entry; i++) {
		s16 place = tp->entry[i];
		if (place >= 0)
			kept[i] = reg_at(regs, place);
		else if (read_memory(
			     &kept[i], reg_at(regs, tp->sp) + 8 * (u64)(-1 - place), 8, false))
			kept[i] = 0;
	}
}

int probe_return_hit(void *arg, const void *regs, u64 ip, u64 ret, const u64 *kept)
{
	struct trace_probe *tp = arg;
	const struct hit h = {.tp = tp, .regs = regs, .ip = ip, .ret = ret, .entry = kept};
	struct host_context ctx;

	atomic_add(&tp->hits, 1);
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);
	if (unlikely(!file))
		return 0;
	host_context_probed(&ctx, regs);
	probe_record_general(&h, file, &ctx);
	return 0;
}

void probe_watch_hit(struct trace_probe *tp, const void *regs, u64 ip, const u64 *words)
{
	const struct hit h = {.tp = tp, .regs = regs, .ip = ip, .entry = words};
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);
	struct host_context ctx;

	if (unlikely(!file))
		return;
	host_enter(&ctx);
	probe_record_general(&h, file, &ctx);
	host_preempt_enable();
}

/* `regs` are those of the code that was probed, or a tracepoint's arguments. */
static inline __attribute__((always_inline)) void probe_read_context(
    struct host_context *ctx, const void *regs, bool tracepoint)
{
	if (tracepoint)
		TRACE_HOST_CONTEXT(ctx);
	else
		host_context_probed(ctx, regs);
}

/* Records a hit that the fast path cannot. The caller has not asked if the event is idle. */
static __noinline int probe_record_slow(
    const struct trace_probe *tp, const void *regs, u64 ip, u64 ret, struct trace_event_file *file)
{
	const struct hit h = {.tp = tp, .regs = regs, .ip = ip, .ret = ret};
	struct host_context ctx;

	if (trace_record_idle(file))
		return 0;
	probe_read_context(&ctx, regs, tp->tracepoint);
	probe_record_general(&h, file, &ctx);
	return 0;
}

/* The same of a simple probe: by way of an image. */
static __noinline int probe_record_asked(
    const struct trace_probe *tp, const void *regs, u64 ip, u64 ret, struct trace_event_file *file)
{
	trace_word_t image[IMAGE_WORDS];
	struct host_context ctx;

	if (unlikely(tp->event->size > sizeof(image)))
		return probe_record_slow(tp, regs, ip, ret, file);
	if (trace_record_idle(file))
		return 0;
	probe_read_context(&ctx, regs, tp->tracepoint);
	host_preempt_disable();
	put_regs(tp, regs, ip, tp->is_return ? &ret : NULL, image);
	trace_gate_in(file, &ctx, image, tp->event->size);
	host_preempt_enable();
	return 0;
}

/* The ring was full the last time. */
static TRACE_DISPATCH __noinline int probe_record_retry(
    const struct trace_probe *tp, const void *regs, u64 ip, u64 ret, struct trace_event_file *file)
{
	return trace_drop_full(file, tp->event->size) ? 0
						      : probe_record_asked(tp, regs, ip, ret, file);
}

/* A simple probe's event is asked something. */
static TRACE_DISPATCH __noinline int probe_record_dispatch(
    const struct trace_probe *tp, const void *regs, u64 ip, u64 ret, struct trace_event_file *file)
{
	return READ_ONCE(file->way) == TRACE_WAY_FULL ? probe_record_retry(tp, regs, ip, ret, file)
						      : probe_record_asked(tp, regs, ip, ret, file);
}

/* The fast path builds the record in the ring. */
static inline __attribute__((always_inline)) int probe_record_fast(const struct trace_probe *tp,
    const void *regs, u64 ip, u64 ret, struct trace_event_file *file, bool tracepoint)
{
	struct host_context ctx;
	struct trace_slot slot;

	if (unlikely(!trace_record_sized(&slot, file, tp->simple, tp->simple_size)))
		return probe_record_asked(tp, regs, ip, ret, file);
	probe_read_context(&ctx, regs, tracepoint);
	put_regs(tp, regs, ip, !tracepoint && tp->is_return ? &ret : NULL,
	    trace_record_sized_open(&slot, file, &ctx, tp->simple));
	trace_record_sized_end(&slot);
	return 0;
}

static __noinline int probe_record_regs(
    const struct trace_probe *tp, const void *regs, u64 ip, u64 ret, struct trace_event_file *file)
{
	return probe_record_fast(tp, regs, ip, ret, file, false);
}

static __noinline void probe_record_args(
    const struct trace_probe *tp, const u64 *args, struct trace_event_file *file)
{
	probe_record_fast(tp, args, tp->addr, 0, file, true);
}

/* Has no stack frame for a simple probe: dropping a hit costs no more than the check. */
static TRACE_DISPATCH int probe_hit_simple(void *arg, const void *regs, u64 ip, u64 ret)
{
	struct trace_probe *tp = arg;
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);

	atomic_add(&tp->hits, 1);
	if (unlikely(!file))
		return 0;
	return likely(!READ_ONCE(file->way)) ? probe_record_regs(tp, regs, ip, ret, file)
					     : probe_record_dispatch(tp, regs, ip, ret, file);
}

static TRACE_DISPATCH int probe_hit_any(void *arg, const void *regs, u64 ip, u64 ret)
{
	struct trace_probe *tp = arg;
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);

	atomic_add(&tp->hits, 1);
	return likely(file) ? probe_record_slow(tp, regs, ip, ret, file) : 0;
}

probe_hit_fn probe_hit_of(const struct trace_probe *tp)
{
	return tp->simple ? probe_hit_simple : probe_hit_any;
}

static const struct trace_probe *probe_of(const struct trace_consumer *consumer)
{
	return container_of(consumer, struct trace_probe, consumer);
}

static TRACE_DISPATCH void probe_tracepoint_simple(struct trace_consumer *consumer, const u64 *args)
{
	const struct trace_probe *tp = probe_of(consumer);
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);

	if (unlikely(!file))
		return;
	if (likely(!READ_ONCE(file->way)))
		probe_record_args(tp, args, file);
	else
		probe_record_dispatch(tp, args, tp->addr, 0, file);
}

static void probe_tracepoint_any(struct trace_consumer *consumer, const u64 *args)
{
	const struct trace_probe *tp = probe_of(consumer);
	struct trace_event_file *file = READ_ONCE(tp->event->call.live);

	if (likely(file))
		probe_record_slow(tp, args, tp->addr, 0, file);
}

probe_consume_fn probe_consume_of(const struct trace_probe *tp)
{
	return tp->simple ? probe_tracepoint_simple : probe_tracepoint_any;
}
