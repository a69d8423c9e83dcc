/* The event of sample.h. It is not registered: filters ask it for its fields only. */
#include "tests/unit/trace/filter/sample.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/host_context.h"

#define FIELD(type_, name_, sign, kind_)                                                           \
	{                                                                                          \
		.type = type_, .name = #name_, .offset = offsetof(struct filter_sample, name_),    \
		.size = sizeof(((struct filter_sample *)0)->name_), .is_signed = sign,             \
		.kind = TRACE_FIELD_##kind_                                                        \
	}

static const struct trace_event_field sample_fields[] = {
    FIELD("s8", s8, true, NUMBER),
    FIELD("u8", u8, false, NUMBER),
    FIELD("s16", s16, true, NUMBER),
    FIELD("u16", u16, false, NUMBER),
    FIELD("s32", s32, true, NUMBER),
    FIELD("u32", u32, false, NUMBER),
    FIELD("s64", s64, true, NUMBER),
    FIELD("u64", u64, false, NUMBER),
    FIELD("char[8]", name, true, STRING),
    FIELD("char[4]", tight, true, STRING),
    FIELD("__data_loc char[]", dyn, true, DYN_STRING),
    FIELD("__rel_loc char[]", rel, true, REL_STRING),
    FIELD("__data_loc cpumask_t", mask, false, DYN_ARRAY),
    FIELD("const char *", ptr, false, PTR_STRING),
    FIELD("const char *", user, false, PTR_STRING),
    FIELD("unsigned long", call_site, false, NUMBER),
    FIELD("s32[3]", numbers, true, ARRAY),
    FIELD("u8", a, false, NUMBER),
    FIELD("u8", b, false, NUMBER),
    FIELD("u8", c, false, NUMBER),
    FIELD("u8", d, false, NUMBER),
    FIELD("u8", e, false, NUMBER),
    FIELD("u8", f, false, NUMBER),
    FIELD("u8", g, false, NUMBER),
    FIELD("u8", h, false, NUMBER),
    {.type = "char[]",
	.name = "rest",
	.offset = offsetof(struct filter_sample, room),
	.kind = TRACE_FIELD_STRING},
    {.name = NULL},
};

static const struct trace_event_field *fields_of(const struct trace_event_call *call __maybe_unused)
{
	return sample_fields;
}

static const struct trace_event_class sample_class = {.system = "unit", .fields = fields_of};
struct trace_event_call filter_sample_call = {.class = &sample_class, .name = "filter_sample"};

void filter_sample_set(
    struct filter_sample *rec, const char *dyn, u32 dyn_len, const char *rel, u32 rel_len, u64 mask)
{
	u32 at = offsetof(struct filter_sample, room);

	memset(rec->room, 'z', sizeof(rec->room));
	memcpy(rec->room, &mask, sizeof(mask));
	rec->mask = sizeof(mask) << 16 | at;
	memcpy(rec->room + 8, dyn, dyn_len);
	rec->dyn = dyn_len << 16 | (at + 8);
	memcpy(rec->room + 8 + dyn_len, rel, rel_len);
	rec->rel = rel_len << 16 | (at + 8 + dyn_len - offsetof(struct filter_sample, rel) - 4);
}

const struct filter_sample filter_sample_usual = {
    .ent = {.type = 7, .flags = 4, .preempt_count = 2, .pid = 42},
    .s8 = -5,
    .u8 = 200,
    .s16 = -300,
    .u16 = 40000,
    .s32 = -70000,
    .u32 = 3000000000,
    .s64 = -5000000000,
    .u64 = 0x8000000000000001,
    .name = "bash",
    .tight = "bash",
    .numbers = {1, 2, 3},
    .a = 'A',
};

struct trace_filter *filter_sample_compile(const char *text)
{
	struct trace_filter_error why = {.text = "", .pos = 0};
	struct trace_filter *f = NULL;
	int err = trace_filter_create(&filter_sample_call, text, &f, &why);

	if (err)
		ktap_fail(__FILE__, __LINE__, "refused: %s: %s at %u", text, why.text, why.pos);
	return f;
}

bool filter_sample_matches(const char *text, const struct filter_sample *rec)
{
	struct trace_filter *f = filter_sample_compile(text);
	struct host_context ctx;

	if (!f)
		return false;
	host_enter(&ctx);
	bool match = trace_filter_match(f, rec, sizeof(*rec));
	host_preempt_enable();
	trace_filter_free(f);
	return match;
}
