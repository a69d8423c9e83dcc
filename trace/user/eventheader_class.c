/*
 * User events that follow the EventHeader convention: recognised by name and fields, printed by the
 * decoder. Task context, except under tp_printk.
 */
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/output/output.h"
#include "trace/user/eventheader/eventheader.h"
#include "trace/user/user.h"

/*
 * The room that makes a line no longer: what trace_pipe has, less what it may say in front of a
 * line.
 */
#define LINE_ROOM (4096 - 128)

/* EVENTHEADER_FIELDS, as they are parsed. */
static const struct {
	const char *type, *name;
} header_fields[] = {{"u8", "eventheader_flags"}, {"u8", "version"}, {"u16", "id"}, {"u16", "tag"},
    {"u8", "opcode"}, {"u8", "level"}};

bool user_event_is_eventheader(const struct user_event *ev)
{
	struct eh_name name;

	if (!eh_name_parse(ev->name, &name) || ev->n_fields != ARRAY_SIZE(header_fields))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(header_fields); i++)
		if (strcmp(ev->table[i].type, header_fields[i].type) ||
		    strcmp(ev->table[i].name, header_fields[i].name))
			return false;
	return true;
}

/* Records are a multiple of 4 bytes long. */
static struct eh_record record_of(
    const struct trace_event_call *call, const struct trace_entry *ent, u32 len)
{
	return (struct eh_record){
	    .tracepoint = user_event_of(call)->name,
	    .data = ent + 1,
	    .len = len - sizeof(*ent),
	    .slack = 3,
	};
}

void user_eventheader_print(struct trace_out *out, const void *rec, u32 len)
{
	const struct trace_entry *ent = rec;
	struct eh_record r = record_of(trace_event_by_id(ent->type), ent, len);

	eh_print_text(out->seq, &r);
}

void user_eventheader_print_json(struct trace_out *out, const struct trace_line *line)
{
	struct eh_record r = record_of(trace_event_by_id(line->ent->type), line->ent, line->len);
	struct seq *s = out->seq;
	size_t start = s->len;
	char comm[16];
	struct eh_origin origin = {.time = line->ts,
	    .in_ns = line->tr->clock->in_ns,
	    .cpu = line->cpu,
	    .pid = line->ent->pid,
	    .comm = comm};

	trace_comm_find(origin.pid, comm);
	eh_print_json(s, &r, &origin);
	seq_putc(s, '\n');
	if (!s->overflow || s->size - start < LINE_ROOM)
		return;
	s->overflow = false; /* no other room is larger: say at least what it was */
	s->len = start;
	eh_print_json_head(s, &r, &origin, "more than a line can hold");
	seq_putc(s, '\n');
}
