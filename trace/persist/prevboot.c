/*
 * Another boot's records, for printing as that boot would have: by the same code where an event's
 * format is the same now to the letter, else field by field; with its names and its clock. Contexts
 * are those of trace/output/print.h; nothing changes here while the instance is there.
 */
#include "trace/persist/prevboot.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/parts.h"
#include "trace/persist/lastboot.h"

struct prevboot_event *prevboot_event_of(const struct trace_prevboot *past, unsigned id)
{
	for (u32 i = past->event_count; i-- > 0;)
		if (past->events[i].call.id == id)
			return &past->events[i];
	return NULL;
}

u64 trace_prevboot_ns(const struct trace_array *tr, u64 stamp)
{
	const struct trace_prevboot *past = tr->past;
	u64 ns;

	if (!tr->clock->to_ns)
		return stamp;
	ns = (u64)((unsigned __int128)(stamp - past->clock_base) * past->clock_mult >> 32);
	return strcmp(tr->clock->name, "tai") ? ns : ns + past->unix_ns;
}

const struct trace_event_call *trace_prevboot_event(
    const struct trace_prevboot *past, unsigned id, u32 len)
{
	const struct prevboot_event *ev = prevboot_event_of(past, id);

	return ev ? prevboot_event_call(ev, len) : NULL;
}

void trace_prevboot_comm(const struct trace_prevboot *past, s32 pid, char comm[16])
{
	strscpy(comm, pid == 0 ? "<idle>" : pid < 0 ? "<XXX>" : "<...>", 16);
	for (u32 i = 0; i < past->comm_count; i++)
		if (past->comms[i].pid == pid && pid > 0)
			memcpy(comm, past->comms[i].comm, 16);
}

/* Where what begins there ends: the next other beginning. */
static u64 prevboot_symbol_end(const struct kept_symbols *s, u32 i)
{
	for (u32 next = i + 1; next < s->count; next++)
		if (s->tables[next] != s->tables[i])
			return kept_symbol_start(s, next);
	return s->end;
}

/* The last function that begins at or before addr, of several there the first; -1: none has it. */
static long prevboot_find_symbol(const struct kept_symbols *s, u64 addr)
{
	u32 low = 0, high = s ? s->count : 0;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (kept_symbol_start(s, mid) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low > 1 && s->tables[low - 2] == s->tables[low - 1])
		low--;
	return low && addr < prevboot_symbol_end(s, low - 1) ? (long)low - 1 : -1;
}

void trace_prevboot_sym_print(
    const struct trace_prevboot *past, char *buf, size_t size, u64 addr, bool offset)
{
	const struct kept_symbols *s = past->symbols;
	long i = prevboot_find_symbol(s, addr);

	if (i < 0) {
		fmt_snprintf(buf, size, "0x%lx", addr);
		return;
	}
	const char *name = kept_symbol_name(s, i);
	u64 start = kept_symbol_start(s, i);
	if (offset)
		fmt_snprintf(buf, size, "%s+0x%lx/0x%lx", name, addr - start,
		    prevboot_symbol_end(s, i) - start);
	else
		fmt_snprintf(buf, size, "%s", name);
}

bool trace_prevboot_nth(const struct trace_prevboot *past, u32 n, struct trace_prevboot_text *out)
{
	if (n >= past->event_count)
		return false;
	const struct prevboot_event *ev = &past->events[n];
	out->system = ev->class.system;
	out->format = ev->text;
	out->id = ev->call.id;
	out->last = prevboot_event_of(past, out->id) == ev;
	strscpy(out->name, ev->call.name, sizeof(out->name));
	return true;
}

void trace_prevboot_show_symbols(const struct trace_prevboot *past, struct seq *s)
{
	const struct kept_symbols *from = past->symbols;
	u32 count = from ? from->count : 0;

	for (u32 i = 0; i < count && !s->overflow; i++) {
		seq_hex(s, kept_symbol_start(from, i), 16);
		seq_printf(s, " %c %s\n", kept_symbol_type(from, i), kept_symbol_name(from, i));
	}
}

void trace_prevboot_show_comms(const struct trace_prevboot *past, struct seq *s)
{
	for (u32 i = 0; i < past->comm_count; i++)
		seq_printf(s, "%d %s\n", past->comms[i].pid, past->comms[i].comm);
}

const char *trace_prevboot_release(const struct trace_prevboot *past)
{
	return past->release;
}

bool trace_prevboot_same_kernel(const struct trace_prevboot *past)
{
	return past->same_kernel;
}

u64 trace_prevboot_begin(const struct trace_prevboot *past)
{
	return past->clock_base;
}
