/*
 * Updates a histogram when its event fires: the key, the entry, sums, variables, actions. Any
 * context, between host_enter() and host_preempt_enable(); no lock, no allocation. Records are
 * untrusted: a string that points outside of its record counts as empty.
 */
/* hot: runs with each event */
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/hist/hist.h"
#include "trace/host_context.h"
#include "trace/host_stack.h"

/* The event as fields see it. */
struct hit {
	struct hist *h;
	const struct host_context *ctx;
	const char *rec;
	u32 len;
	u32 *after;
	const u64 *refs;
	struct hist_entry *entry; /* NULL while the key is made */
};

/* ---- values ---- */

static u64 timestamp(const struct hist *h)
{
	u64 t = trace_clock_now(h->file->tr);

	return h->usecs && h->file->tr->clock->in_ns ? t / 1000 : t;
}

/* The exponent of the next power of two: 0 and 1 are 2^0, 5 to 8 are 2^3. */
static u64 log2_up(u64 v)
{
	return v <= 1 ? 0 : 64 - __builtin_clzl(v - 1);
}

static const char *comm_of(const struct hit *hit)
{
	return hit->entry ? hist_text(hit->h->map, hit->entry) : "";
}

static u64 hist_eval_field(const struct hist_field *f, const struct hit *hit);

static __noinline u64 hist_eval_expr(const struct hist_field *f, const struct hit *hit)
{
	u64 a = hist_eval_field(f->a, hit), b = f->b ? hist_eval_field(f->b, hit) : 0;

	switch (f->op) {
	case HIST_OP_LOG2:
		return log2_up(a);
	case HIST_OP_BUCKET:
		return a / f->number * f->number;
	case HIST_OP_ADD:
		return a + b;
	case HIST_OP_SUB:
		return a - b;
	case HIST_OP_MUL:
		return a * b;
	case HIST_OP_DIV:
		return b ? a / b : ~0UL;
	default: /* HIST_OP_NEG */
		return -a;
	}
}

static __noinline u64 hist_eval_special(const struct hist_field *f, const struct hit *hit)
{
	switch (f->op) {
	case HIST_OP_STRING:
	case HIST_OP_DYN_STRING:
	case HIST_OP_REL_STRING:
		return (u64)(hit->rec + f->at); /* as a number: an address */
	case HIST_OP_CONST:
		return f->number;
	case HIST_OP_ONE:
		return 1;
	case HIST_OP_TIMESTAMP:
		return timestamp(hit->h);
	case HIST_OP_CPU:
		return hit->ctx->cpu;
	case HIST_OP_REF:
		return hit->refs[f->ref_index];
	case HIST_OP_EXECNAME:
		return (u64)comm_of(hit);
	default:
		return hist_eval_expr(f, hit);
	}
}

#define LOAD(type) ((u64)(*(const type##_at_4 *)at))
typedef u64 u64_at_4 __aligned(1);
typedef u32 u32_at_4 __aligned(1);
typedef s32 s32_at_4 __aligned(1);
typedef u16 u16_at_4 __aligned(1);
typedef s16 s16_at_4 __aligned(1);

static inline __attribute__((always_inline)) u64 load(const struct hist_field *f, const char *at)
{
	if (likely(f->op == HIST_OP_U64))
		return LOAD(u64);
	switch (f->op) {
	case HIST_OP_S32:
		return (u64)(s64) * (const s32_at_4 *)at;
	case HIST_OP_U32:
		return LOAD(u32);
	case HIST_OP_U16:
		return LOAD(u16);
	case HIST_OP_S16:
		return (u64)(s64) * (const s16_at_4 *)at;
	case HIST_OP_U8:
		return *(const u8 *)at;
	default: /* HIST_OP_S8 */
		return (u64)(s64) * (const s8 *)at;
	}
}

static inline __attribute__((always_inline)) u64 value_at(
    const struct hist_field *f, const struct hit *hit)
{
	if (unlikely(f->op > HIST_OP_S32))
		return hist_eval_special(f, hit);
	if (unlikely(f->at + (u32)f->size > hit->len))
		return 0;
	return load(f, hit->rec + f->at);
}

static u64 hist_eval_field(const struct hist_field *f, const struct hit *hit)
{
	return value_at(f, hit);
}

/* A string and its bytes at most, a NUL or not. */
static const char *hist_eval_string(const struct hist_field *f, const struct hit *hit, u32 *size)
{
	u32 at = f->at, loc;

	*size = f->size;
	if (f->op == HIST_OP_REF || f->op == HIST_OP_EXECNAME) {
		u64 text = hist_eval_special(f, hit);
		*size = text ? (f->op == HIST_OP_REF ? HIST_STRING : HIST_COMM) : 0;
		return (const char *)text;
	}
	if (f->op != HIST_OP_STRING && at + sizeof(loc) <= hit->len) {
		memcpy(&loc, hit->rec + at, sizeof(loc));
		at = (loc & 0xffff) + (f->op == HIST_OP_REL_STRING ? at + sizeof(loc) : 0);
		*size = loc >> 16;
	}
	if (at >= hit->len || *size > hit->len - at)
		*size = 0;
	return hit->rec + at;
}

/* The stack in a synthetic event's record: a count, then the frames. */
static void read_record_stack(const struct hist_field *f, const struct hit *hit, u64 *frames)
{
	u32 loc;

	if (f->at + sizeof(loc) > hit->len)
		return;
	memcpy(&loc, hit->rec + f->at, sizeof(loc));
	u32 at = (loc & 0xffff) + sizeof(u64), end = (loc & 0xffff) + (loc >> 16);
	if (at < end && end <= hit->len)
		memcpy(frames, hit->rec + at, MIN(end - at, HIST_FRAMES * 8U));
}

/* HIST_FRAMES of them, of which the caller has made all 0. */
static void hist_eval_stack(const struct hist_field *f, const struct hit *hit, u64 *frames)
{
	if (f->op == HIST_OP_STACK) {
		host_stack(frames, HIST_FRAMES);
	} else if (f->op == HIST_OP_REC_STACK) {
		read_record_stack(f, hit, frames);
	} else { /* HIST_OP_REF */
		u64 kept = hist_eval_special(f, hit);
		if (kept)
			memcpy(frames, (const void *)kept, HIST_FRAMES * sizeof(u64));
	}
}

/* ---- the key ---- */

/* The place is zeroed and keeps a NUL at its end. */
static void key_text(char *to, u32 room, const char *from, u32 size)
{
	size = MIN(size, room - 1);
	memcpy(to, from, strnlen(from, size));
}

static void key_part(const struct hist_field *f, const struct hit *hit, u64 *key)
{
	u32 size;

	if (f->flags & HIST_STACKTRACE) {
		hist_eval_stack(f, hit, key);
	} else if (f->flags & HIST_IS_STRING) {
		const char *text = hist_eval_string(f, hit, &size);
		key_text((char *)key, f->key_words * sizeof(u64), text, size);
	} else {
		*key = hist_eval_field(f, hit);
	}
}

static void make_key(const struct hit *hit, u64 *key)
{
	const struct hist *h = hit->h;

	memset(key, 0, h->key_words * sizeof(u64));
	for (u32 i = h->n_vals; i < h->n_fields; i++)
		key_part(h->fields[i], hit, key + h->fields[i]->key_at);
}

/* A new entry's task, before anybody finds it. */
static void hist_save_comm(void *arg, struct hist_entry *e)
{
	const struct hit *hit = arg;
	char *comm = hist_text(hit->h->map, e);

	if (hit->ctx->pid)
		host_current_comm(comm);
	else
		strscpy(comm, "<idle>", HIST_COMM);
}

static struct hist_entry *find_entry(struct hit *hit, const u64 *key)
{
	const struct hist *h = hit->h;

	return hist_map_insert(
	    h->map, key, hit->ctx->cpu, h->needs_comm ? hist_save_comm : NULL, hit);
}

/* ---- references ---- */

/*
 * The entry whose key is the first part of ours, all of it if there are as many keys; NULL: it has
 * more keys, or no such entry.
 */
static struct hist_entry *find_owners_entry(
    const struct hist *h, const struct hist *owner, const u64 *key)
{
	return owner->map->shape.key_words <= h->key_words ? hist_map_find(owner->map, key) : NULL;
}

/*
 * Variables of our own entry, which only actions name, or of other histograms' entries: all must
 * have a value. One that an expression uses is used up, so that it counts once.
 */
static bool hist_resolve_refs(const struct hit *hit, const u64 *key, u64 *refs, bool own)
{
	const struct hist *h = hit->h;

	for (u32 i = 0; i < h->n_refs; i++) {
		const struct hist_field *ref = h->refs[i];
		const struct hist_map *map = ref->owner->map;
		struct hist_entry *e = hit->entry;
		if ((ref->owner == h) != own)
			continue;
		if (!own)
			e = find_owners_entry(h, ref->owner, key);
		if (!e || !hist_var_is_set(e, ref->var))
			return false;
		refs[i] = hist_var(map, e, ref->var);
		if (ref->once)
			atomic_store_relaxed(&e->is_set[ref->var], 0);
	}
	return true;
}

/* ---- storing ---- */

static char *place_of(const struct hit *hit, u32 place)
{
	const struct hist *h = hit->h;

	return hist_text(h->map, hit->entry) + (h->needs_comm ? HIST_COMM : 0) +
	       place * HIST_STRING;
}

/* The word after the frames is never written: a reader meanwhile finds an end. */
static u64 store_stack(const struct hit *hit, const struct hist_field *val, u32 place)
{
	u64 frames[HIST_FRAMES] = {0};
	char *to = place_of(hit, place);

	hist_eval_stack(val, hit, frames);
	memcpy(to, frames, sizeof(frames));
	return (u64)to;
}

/* The last byte of its place is never written: a reader meanwhile finds an end. */
static u64 store_text(const struct hit *hit, const struct hist_field *val, u32 place)
{
	char *to = place_of(hit, place);
	u32 size;
	const char *from = hist_eval_string(val, hit, &size);
	u32 n = size ? strnlen(from, MIN(size, HIST_STRING - 1U)) : 0;

	memcpy(to, from, n);
	to[n] = '\0';
	return (u64)to;
}

static void hist_store_var(
    const struct hit *hit, const struct hist_field *var, const struct hist_field *val)
{
	u64 v = var->flags & HIST_STACKTRACE  ? store_stack(hit, val, var->text)
		: var->flags & HIST_IS_STRING ? store_text(hit, val, var->text)
					      : hist_eval_field(val, hit);

	hist_set_var(hit->h->map, hit->entry, var->index, v);
}

static void store_params(const struct hit *hit, struct hist_param_var *const *vars, u32 n)
{
	for (u32 i = 0; i < n; i++)
		hist_store_var(hit, vars[i]->var, vars[i]->val);
}

void hist_store_params(struct hist *h, struct hist_entry *e, struct hist_param_var *const *vars,
    u32 n, const struct host_context *ctx, const void *rec, u32 len)
{
	struct hit hit = {.h = h, .ctx = ctx, .rec = rec, .len = len, .entry = e};

	store_params(&hit, vars, n);
}

static void store_values(const struct hit *hit)
{
	const struct hist *h = hit->h;

	for (u32 i = 0; i < h->n_vals; i++) {
		const struct hist_field *f = h->fields[i];
		if (f->flags & HIST_VAR)
			hist_store_var(hit, f, f);
		else
			hist_add(h->map, hit->entry, f->index, hist_eval_field(f, hit));
	}
	store_params(hit, h->field_vars, h->n_field_vars);
}

/* ---- a hit ---- */

static __noinline void hist_update_slow(struct hit *hit)
{
	u64 key[HIST_KEY_WORDS], refs[HIST_REFS_MAX];
	struct hist *h = hit->h;

	make_key(hit, key);
	hit->refs = refs;
	if (!hist_resolve_refs(hit, key, refs, false))
		return;
	hit->entry = find_entry(hit, key);
	if (!hit->entry)
		return;
	store_values(hit);
	if (h->n_actions && hist_resolve_refs(hit, key, refs, true))
		hist_run_actions(h, hit->entry, hit->ctx, hit->rec, hit->len, refs, hit->after);
}

/* What is not where it is looked for first: elsewhere, or new. */
static __noinline struct hist_entry *hist_find_entry_fast(
    struct hist *h, const struct host_context *ctx, const u64 *key, u64 hash)
{
	struct host_context here;
	struct hit hit = {.h = h, .ctx = ctx ? ctx : &here};

	if (!ctx)
		host_context(&here);
	return hist_map_insert_hashed(
	    h->map, key, hash, hit.ctx->cpu, h->needs_comm ? hist_save_comm : NULL, &hit);
}

/* Plain numbers of the record, or the time, to their sums and variables. */
static __noinline void hist_store_vars_fast(
    const struct hist *h, struct hist_entry *e, const char *rec)
{
	for (u32 i = 1; i < h->n_vals; i++) {
		const struct hist_field *f = h->fields[i];
		u64 v = f->op == HIST_OP_TIMESTAMP ? timestamp(h) : load(f, rec + f->at);
		if (f->flags & HIST_VAR)
			hist_set_var(h->map, e, f->index, v);
		else
			hist_add(h->map, e, f->index, v);
	}
}

/* n_keys keys, a constant, that are plain numbers of the record; the record is long enough. */
static inline __attribute__((always_inline)) void update_simple(
    struct hist *h, u32 cpu, const struct host_context *ctx, const char *rec, const u32 n_keys)
{
	struct hist_field *const *keys = &h->fields[h->n_vals];
	u64 key[HIST_KEYS_MAX];

	for (u32 i = 0; i < n_keys; i++)
		key[i] = load(keys[i], rec + keys[i]->at);
	u64 hash = hist_hash(key, n_keys);
	struct hist_entry *e = hist_map_hit(h->map, key, n_keys, hash, cpu);
	if (unlikely(!e)) {
		e = hist_find_entry_fast(h, ctx, key, hash);
		if (!e)
			return;
	}
	hist_add(h->map, e, 0, 1);
	if (unlikely(h->n_vals > 1) && h->more_than_sums)
		return hist_store_vars_fast(h, e, rec);
	for (u32 i = 1; unlikely(i < h->n_vals); i++)
		hist_add(h->map, e, i, load(h->fields[i], rec + h->fields[i]->at));
}

void hist_update(
    struct hist *h, const struct host_context *ctx, const void *rec, u32 len, u32 *after)
{
	if (unlikely(READ_ONCE(h->stopped)))
		return;
	if (likely(h->simple == 1 && len >= h->simple_len)) {
		update_simple(h, ctx->cpu, ctx, rec, 1);
	} else if (h->simple == 2 && len >= h->simple_len) {
		update_simple(h, ctx->cpu, ctx, rec, 2);
	} else {
		struct hit hit = {.h = h, .ctx = ctx, .rec = rec, .len = len, .after = after};
		hist_update_slow(&hit);
	}
}

void hist_update_from_fields(struct hist *h, const void *rec)
{
	if (unlikely(READ_ONCE(h->stopped)))
		return;
	if (likely(h->simple == 1))
		update_simple(h, host_cpu(), NULL, rec, 1);
	else
		update_simple(h, host_cpu(), NULL, rec, 2);
}
