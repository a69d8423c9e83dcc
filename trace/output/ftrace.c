/*
 * The table of the events ftrace:*, their fields and texts. Printing runs in task context, under
 * tp_printk and at the end of the kernel in any. Records may be made by hand (inject): nothing in
 * them is trusted beyond their length.
 */
#include "trace/output/ftrace.h"
#include "kernel/lib/string.h"
#include "trace/event/comm.h"
#include "trace/event/event.h"
#include "trace/event/options.h"
#include "trace/host_copy.h"
#include "trace/output/bprintf.h"
#include "trace/output/graph.h"
#include "trace/output/output.h"
#include "trace/output/print.h"

/* ---- texts ---- */

/* Up to the record's end or the NUL. */
static void put_text(struct trace_out *out, const char *text, const void *rec, u32 len)
{
	u32 at = text - (const char *)rec;

	if (at < len)
		seq_write(out->seq, text, strnlen(text, len - at));
}

static bool is_short(const void *rec __maybe_unused, u32 len, u32 need)
{
	return len < need;
}

/*
 * A text of the kernel's that a record points at. Another boot's record may be damaged, and point
 * anywhere.
 */
static const char *trace_print_text_at(
    const struct trace_out *out, const char *p, char *copy, size_t size)
{
	size_t n = 0;

	if (!out->past)
		return p;
	while (n + 1 < size && !host_copy_kernel(&copy[n], p + n, 1) && copy[n])
		n++;
	copy[n] = '\0';
	return copy;
}

bool trace_ftrace_message(struct trace_out *out, const void *data, u32 len)
{
	const struct trace_entry *ent = data;
	const struct rec_print *print = data;
	const struct rec_bprint *bprint = data;
	const struct rec_bputs *bputs = data;

	char copy[256];

	switch (ent->type) {
	case TRACE_PRINT:
		put_text(out, print->buf, print, len);
		return true;
	case TRACE_BPRINT:
		if (!is_short(data, len, sizeof(*bprint)))
			bprintf_decode(out->seq,
			    trace_print_text_at(out, bprint->fmt, copy, sizeof(copy)), bprint->buf,
			    (len - sizeof(*bprint)) / 4);
		return true;
	case TRACE_BPUTS:
		if (!is_short(data, len, sizeof(*bputs)))
			seq_puts(
			    out->seq, trace_print_text_at(out, bputs->str, copy, sizeof(copy)));
		return true;
	default:
		return false;
	}
}

/* All three begin with the same fields. */
static void trace_print_message(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *rec, u32 len)
{
	trace_print_ip(out, ((const struct rec_print *)rec)->ip);
	seq_write(out->seq, ": ", 2);
	trace_ftrace_message(out, rec, len);
}

static void trace_print_mark_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *rec, u32 len)
{
	seq_printf(out->seq, "# %lx ", ((const struct rec_print *)rec)->ip);
	trace_ftrace_message(out, rec, len);
}

static void trace_print_message_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *rec, u32 len)
{
	seq_printf(out->seq, ": %lx : ", ((const struct rec_print *)rec)->ip);
	trace_ftrace_message(out, rec, len);
}

static void trace_print_stack(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_stack *rec = data;

	seq_puts(out->seq, "<stack trace>\n");
	for (u32 i = 0; offsetof(struct rec_stack, caller[i + 1]) <= len; i++) {
		if ((s32)i >= rec->size)
			break;
		seq_puts(out->seq, " => ");
		trace_print_ip(out, rec->caller[i]);
		seq_putc(out->seq, '\n');
	}
}

static void trace_print_user_stack(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_user_stack *rec = data;

	seq_puts(out->seq, "<user stack trace>\n");
	for (u32 i = 0; offsetof(struct rec_user_stack, caller[i + 1]) <= len; i++) {
		if (i == TRACE_USER_FRAMES || !rec->caller[i])
			break;
		seq_puts(out->seq, " =>  <");
		seq_hex(out->seq, rec->caller[i], 16);
		seq_puts(out->seq, ">\n");
	}
}

static void trace_print_raw_data(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_raw_data *rec = data;

	seq_printf(out->seq, "# %x buf:", rec->id);
	for (u32 i = 0; offsetof(struct rec_raw_data, buf) + i < len; i++) {
		seq_putc(out->seq, ' ');
		seq_hex(out->seq, rec->buf[i], 2);
	}
	seq_putc(out->seq, '\n');
}

static void trace_print_call(struct trace_out *out, u64 ip, u64 parent_ip)
{
	trace_print_ip(out, ip);
	if ((out->options & TRACE_OPT_PRINT_PARENT) && parent_ip) {
		seq_puts(out->seq, " <-");
		trace_print_ip(out, parent_ip);
	}
}

static void trace_print_function(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_function *rec = data;

	if (is_short(rec, len, sizeof(*rec)))
		return;
	trace_print_call(out, rec->ip, rec->parent_ip);
	seq_putc(out->seq, '\n');
}

static void trace_print_function_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_function *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "%lx %lx\n", rec->ip, rec->parent_ip);
}

static void trace_put_function(struct seq *s, const void *data, u32 len,
    void (*put)(struct seq *s, const void *field, size_t bytes))
{
	const struct rec_function *rec = data;

	if (is_short(rec, len, sizeof(*rec)))
		return;
	put(s, &rec->ip, sizeof(rec->ip));
	put(s, &rec->parent_ip, sizeof(rec->parent_ip));
}

static u64 trace_repeats_delta(const struct rec_func_repeats *rec)
{
	return (u64)rec->top_delta_ts << 32 | rec->bottom_delta_ts;
}

static void trace_print_repeats(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_func_repeats *rec = data;

	if (is_short(rec, len, sizeof(*rec)))
		return;
	trace_print_call(out, rec->ip, rec->parent_ip);
	seq_printf(out->seq, " (repeats: %u, last_ts:", rec->count);
	trace_print_stamp(out, trace_repeats_delta(rec));
	seq_puts(out->seq, ")\n");
}

static void trace_print_repeats_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_func_repeats *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "%lx %lx %u %lu\n", rec->ip, rec->parent_ip, rec->count,
		    trace_repeats_delta(rec));
}

static void trace_print_hwlat(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_hwlat *rec = data;

	if (is_short(rec, len, offsetof(struct rec_hwlat, smi_count)))
		return;
	seq_printf(out->seq, "#%-5u inner/outer(us): %4lu/%-5lu ts:%ld.%09ld count:%d", rec->seqnum,
	    rec->duration, rec->outer_duration, rec->tv_sec, rec->tv_nsec, (int)rec->count);
	if (rec->nmi_count)
		seq_printf(
		    out->seq, " nmi-total:%lu nmi-count:%u", rec->nmi_total_ts, rec->nmi_count);
	if (!is_short(rec, len, sizeof(*rec)) && rec->smi_count)
		seq_printf(out->seq, " smi-count:%u", rec->smi_count);
	seq_putc(out->seq, '\n');
}

static void trace_print_hwlat_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_hwlat *rec = data;

	if (!is_short(rec, len, offsetof(struct rec_hwlat, smi_count)))
		seq_printf(out->seq, "%lu %ld %ld %09ld %u\n", rec->duration,
		    (s64)rec->outer_duration, rec->tv_sec, rec->tv_nsec, rec->seqnum);
}

static void trace_print_osnoise(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_osnoise *rec = data;

	if (is_short(rec, len, sizeof(*rec)))
		return;
	/* Of the CPU's time the part that was left, in percent and its 100,000ths. */
	u64 left = rec->runtime ? (rec->runtime - rec->noise) * 10000000 / rec->runtime : 0;
	seq_printf(out->seq, "%lu %10lu %3lu.%05lu %7lu %6u %6u %6u %6u %6u\n", rec->runtime,
	    rec->noise, left / 100000, left % 100000, rec->max_sample, rec->hw_count,
	    rec->nmi_count, rec->irq_count, rec->softirq_count, rec->thread_count);
}

static void trace_print_osnoise_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_osnoise *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "%lu %lu %lu %u %u %u %u %u\n", rec->runtime, rec->noise,
		    rec->max_sample, rec->hw_count, rec->nmi_count, rec->irq_count,
		    rec->softirq_count, rec->thread_count);
}

static void trace_print_timerlat(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_timerlat *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "#%-5u context %6s timer_latency %9lu ns\n", rec->seqnum,
		    rec->context ? "thread" : "irq", rec->timer_latency);
}

static void trace_print_timerlat_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_timerlat *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "%u %d %lu\n", rec->seqnum, rec->context, rec->timer_latency);
}

static char state_letter(u8 state)
{
	return state < 9 ? "RSDTtXZPI"[state] : '?';
}

static void trace_print_context_switch(
    struct trace_out *out, const struct trace_event_call *call, const void *data, u32 len)
{
	const struct rec_context_switch *rec = data;
	char comm[16];

	if (is_short(rec, len, sizeof(*rec)))
		return;
	trace_comm_find(rec->next_pid, comm);
	seq_printf(out->seq, " %7d:%3d:%c %s [%03d] %7d:%3d:%c %s\n", rec->prev_pid, rec->prev_prio,
	    state_letter(rec->prev_state), call->id == TRACE_CTX ? "==>" : "  +", rec->next_cpu,
	    rec->next_pid, rec->next_prio, state_letter(rec->next_state), comm);
}

/* The state of the task that a switch leaves; Linux shows a waker's as '+'. */
static char state_before(const struct rec_context_switch *rec)
{
	return rec->ent.type == TRACE_CTX ? state_letter(rec->prev_state) : '+';
}

static void trace_print_switch_raw(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *data, u32 len)
{
	const struct rec_context_switch *rec = data;

	if (!is_short(rec, len, sizeof(*rec)))
		seq_printf(out->seq, "%d %d %c %d %d %d %c\n", rec->prev_pid, rec->prev_prio,
		    state_before(rec), rec->next_cpu, rec->next_pid, rec->next_prio,
		    state_letter(rec->next_state));
}

/* ---- fields ---- */

#define FIELD(type_, name_, offset_, size_, signed_)                                               \
	{                                                                                          \
		.type = type_, .name = name_, .offset = offset_, .size = size_,                    \
		.is_signed = signed_                                                               \
	}
#define TEXT(type_, name_, offset_, size_, signed_, kind_)                                         \
	{                                                                                          \
		.type = type_, .name = name_, .offset = offset_, .size = size_,                    \
		.is_signed = signed_, .kind = kind_                                                \
	}
#define UINT(name, offset)  FIELD("unsigned int", name, offset, 4, false)
#define INT(name, offset)   FIELD("int", name, offset, 4, true)
#define ULONG(name, offset) FIELD("unsigned long", name, offset, 8, false)
#define UCHAR(name, offset) FIELD("unsigned char", name, offset, 1, false)
#define U64(name, offset)   FIELD("u64", name, offset, 8, false)
#define LONG(name, offset)  FIELD("long", name, offset, 8, true)

#define FTRACE_EVENT(number, name_, line, raw, put, text, ...)                                     \
	static const struct trace_event_field *trace_fields_##name_(                               \
	    const struct trace_event_call *call __maybe_unused)                                    \
	{                                                                                          \
		static const struct trace_event_field f[] = {__VA_ARGS__, {.name = NULL}};         \
		return f;                                                                          \
	}                                                                                          \
	static const struct trace_event_class name_##_class = {                                    \
	    .system = "ftrace",                                                                    \
	    .fields = trace_fields_##name_,                                                        \
	    .print_line = line,                                                                    \
	    .print_raw = raw,                                                                      \
	    .put_fields = put,                                                                     \
	};                                                                                         \
	static struct trace_event_call name_##_call;
#include "trace/output/ftrace.def"

#define FTRACE_EVENT(number, name_, line, raw, put, text, ...)                                     \
	{.call = &name_##_call,                                                                    \
	    .class = &name_##_class,                                                               \
	    .name = #name_,                                                                        \
	    .print_fmt = text,                                                                     \
	    .id = number,                                                                          \
	    .flags = TRACE_CALL_NO_ENABLE},
static const struct trace_event_row rows[] = {
#include "trace/output/ftrace.def"
};

void trace_ftrace_register(void)
{
	trace_events_register(rows, ARRAY_SIZE(rows));
}
