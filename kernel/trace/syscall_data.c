/*
 * Paths and buffers in the events of system calls, as Linux 6.19 records and shows them.
 *
 * A program's memory is read once, before the handler runs, into a copy on the stack; every
 * instance gets its record from that copy. So what a record has is what was there at one time,
 * though not necessarily what the handler reads later. Memory that cannot be read counts as empty.
 *
 * The record: that of the bare event, then a __data_loc word for each kept argument, then their
 * bytes. A string that is longer than the limit has "..." after that many characters. A record
 * without the words is from an instance that keeps nothing.
 */
/* hot: runs with each event */
#include "kernel/trace/syscall_data.h"
#include "arch/arch.h"
#include "kernel/abi/syscall_nr.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/syscall.h"
#include "trace/event/gate.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/output/output.h"
#include "trace/output/print.h"

#define ARGS_AT offsetof(struct rec_head, args)
#define MORE	"..."

struct rec_head {
	struct trace_entry ent;
	int nr;
	int pad;
	u64 args[6];
};

/* ---- which arguments ---- */

static struct syscall_data *of_call[SYSCALL_MAX]; /* [I] after boot */

/* A path or a name, or the bytes that write() takes; not what a call fills. */
static bool is_kept(const struct trace_event_field *arg)
{
	return !strcmp(arg->type, "const char *");
}

/* The fields of the record: the number, all arguments, and a word for each that is kept. */
static const struct trace_event_field *make_fields(
    const struct trace_event_field *fields, const struct syscall_data *d)
{
	u32 n = 1 + d->args, rows = n + d->count + 1, at = ARGS_AT + d->args * sizeof(u64);
	size_t room = rows * sizeof(*fields);

	for (u32 i = 0; i < d->count; i++)
		room += strlen(fields[1 + d->arg[i]].name) + sizeof("___val");
	struct trace_event_field *table = kzalloc(room);
	char *name = (char *)(table + rows);
	if (!table)
		return NULL;
	memcpy(table, fields, n * sizeof(*fields));
	for (u32 i = 0; i < d->count; i++, at += sizeof(u32)) {
		const char *arg = fields[1 + d->arg[i]].name;
		size_t size = strlen(arg) + sizeof("___val");
		fmt_snprintf(name, size, "__%s_val", arg);
		table[n + i] = (struct trace_event_field){.type = "__data_loc char[]",
		    .name = name,
		    .offset = at,
		    .size = sizeof(u32),
		    .is_signed = true,
		    .kind = TRACE_FIELD_DYN_STRING};
		name += size;
	}
	return table;
}

void trace_sys_data_add(u32 nr, const struct trace_event_field *fields)
{
	struct syscall_data d = {.args = 0};

	for (const struct trace_event_field *arg = fields + 1; arg->name; arg++, d.args++) {
		if (!is_kept(arg) || d.count == SYSCALL_DATA_ARGS)
			continue;
		d.is_buffer = !strcmp(arg->name, "buf");
		d.arg[d.count++] = d.args;
	}
	d.fields = d.count ? make_fields(fields, &d) : NULL;
	of_call[nr] = d.fields ? kzalloc(sizeof(d)) : NULL;
	if (of_call[nr])
		*of_call[nr] = d;
}

const struct syscall_data *trace_sys_data(u64 nr)
{
	return nr < SYSCALL_MAX ? of_call[nr] : NULL;
}

/* ---- recording ---- */

/* What was read of a program's memory. */
struct copies {
	u32 len[SYSCALL_DATA_ARGS]; /* without a string's NUL */
	u8 bytes[SYSCALL_DATA_ARGS][TRACE_USER_DATA_MAX + 1];
};

static u64 arg_of(const struct regs *regs, u32 i)
{
	const u64 args[] = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9};

	return args[i];
}

/* A string is read up to its NUL or one byte beyond the limit, which shows that there is more. */
static u32 read_string(u8 *to, u64 from, u32 limit)
{
	long n = strncpy_from_user((char *)to, from, limit + 1);

	return n == -ENAMETOOLONG ? limit + 1 : n < 0 ? 0 : n;
}

static void read_copies(
    struct copies *c, const struct syscall_data *d, const struct regs *regs, u32 limit)
{
	for (u32 i = 0; i < d->count; i++) {
		u64 from = arg_of(regs, d->arg[i]);
		if (d->is_buffer) {
			u32 n = MIN(arg_of(regs, d->arg[i] + 1), (u64)limit);
			c->len[i] = copy_from_user(c->bytes[i], from, n) ? 0 : n;
		} else {
			c->len[i] = read_string(c->bytes[i], from, limit);
		}
	}
}

/* Puts one argument's bytes at `to`, at most `limit` of them; how many bytes that are. */
static u32 put_copy(u8 *to, const struct copies *c, u32 i, bool is_buffer, u32 limit)
{
	u32 n = MIN(c->len[i], limit);

	memcpy(to, c->bytes[i], n);
	if (is_buffer)
		return n;
	if (c->len[i] > limit) {
		memcpy(to + n, MORE, strlen(MORE));
		n += strlen(MORE);
	}
	to[n] = '\0';
	return n + 1;
}

/* Room for the largest record, in words. */
union image {
	struct rec_head head;
	u64 words[(sizeof(struct rec_head) +
		      SYSCALL_DATA_ARGS * (sizeof(u32) + TRACE_USER_DATA_MAX + sizeof(MORE)) + 7) /
		  8];
};

/* Fills in what follows the common fields; the record's size. */
static u32 trace_sys_data_fill(union image *image, const struct copies *c,
    const struct syscall_data *d, const struct regs *regs, u32 limit)
{
	u8 *rec = (u8 *)image;
	u32 locs = ARGS_AT + d->args * sizeof(u64), at = locs + d->count * sizeof(u32);

	for (u32 i = 0; i < d->args; i++)
		image->head.args[i] = arg_of(regs, i);
	if (!limit)
		return locs;
	for (u32 i = 0; i < d->count; i++) {
		u32 n = put_copy(rec + at, c, i, d->is_buffer, limit), loc = n << 16 | at;
		memcpy(rec + locs + i * sizeof(loc), &loc, sizeof(loc));
		at += n;
	}
	memset(rec + at, 0, ALIGN_UP(at, 4U) - at); /* a ring has whole words */
	return at;
}

void trace_sys_data_record(
    struct trace_event_call *call, const struct syscall_data *d, const struct regs *regs, u32 nr)
{
	struct host_context ctx;
	struct copies copies;
	union image image;

	read_copies(&copies, d, regs, READ_ONCE(trace_user_data_most));
	image.head.nr = nr;
	image.head.pad = 0;
	host_enter(&ctx);
	struct trace_event_file *file = READ_ONCE(call->live);
	for (; file; file = READ_ONCE(file->next_live)) {
		u32 limit = MIN(READ_ONCE(file->tr->user_data), (u32)TRACE_USER_DATA_MAX);
		trace_gate_one(
		    file, &ctx, &image, trace_sys_data_fill(&image, &copies, d, regs, limit));
	}
	host_preempt_enable();
}

/* ---- showing ---- */

static bool is_printed(u8 c)
{
	return c >= ' ' && c < 127;
}

static void put_text(struct seq *s, const u8 *bytes, u32 n, bool more)
{
	seq_puts(s, " \"");
	for (u32 i = 0; i < n; i++)
		seq_putc(s, is_printed(bytes[i]) ? bytes[i] : '.');
	seq_puts(s, more ? "\"..." : "\"");
}

/* In hex; as text, too, if any of it is. */
static void put_buffer(struct seq *s, const u8 *bytes, u32 n, bool more)
{
	bool text = false;

	seq_puts(s, " (");
	for (u32 i = 0; i < n; i++) {
		if (i)
			seq_putc(s, ':');
		seq_hex(s, bytes[i], 2);
		text |= is_printed(bytes[i]);
	}
	seq_puts(s, more ? ", ...)" : ")");
	if (text)
		put_text(s, bytes, n, more);
}

/* One record being shown. */
struct shown {
	struct seq *s;
	const struct rec_head *rec;
	u32 len;
	const struct syscall_data *d;
};

/* What the program's memory had that argument `arg` points at, if it is a kept one. */
static void trace_sys_put_data(const struct shown *sh, u32 arg)
{
	const struct syscall_data *d = sh->d;
	u32 i = 0, loc, at = ARGS_AT;

	while (d && i < d->count && d->arg[i] != arg)
		i++;
	if (!d || i == d->count)
		return;
	at += d->args * sizeof(u64) + i * sizeof(loc);
	if (at + sizeof(loc) > sh->len)
		return;
	memcpy(&loc, (const u8 *)sh->rec + at, sizeof(loc));
	u32 n = loc >> 16, from = loc & 0xffff;
	if (from > sh->len || n > sh->len - from)
		n = 0;
	const u8 *bytes = (const u8 *)sh->rec + from;
	if (d->is_buffer)
		put_buffer(sh->s, bytes, n, n < sh->rec->args[arg + 1]);
	else
		put_text(sh->s, bytes, strnlen((const char *)bytes, n), false);
}

static const struct trace_name open_flags[] = {
    {020200000, "O_TMPFILE"},
    {01, "O_WRONLY"},
    {02, "O_RDWR"},
    {0100, "O_CREAT"},
    {0200, "O_EXCL"},
    {0400, "O_NOCTTY"},
    {01000, "O_TRUNC"},
    {02000, "O_APPEND"},
    {04000, "O_NONBLOCK"},
    {010000, "O_DSYNC"},
    {040000, "O_DIRECT"},
    {0100000, "O_LARGEFILE"},
    {0200000, "O_DIRECTORY"},
    {0400000, "O_NOFOLLOW"},
    {01000000, "O_NOATIME"},
    {02000000, "O_CLOEXEC"},
    {0, NULL},
};

/* openat() has a form of its own on Linux. */
static void put_openat(struct trace_out *out, const struct shown *sh)
{
	const u64 *args = sh->rec->args;
	u64 flags = args[2];

	seq_printf(sh->s, "dfd: %lu, filename: %lu", args[0], args[1]);
	trace_sys_put_data(sh, 1);
	seq_puts(sh->s, ", flags: ");
	if (!(flags & 3))
		seq_puts(sh->s, flags ? "O_RDONLY|" : "O_RDONLY");
	if (flags)
		seq_puts(sh->s, trace_flags_text(out, flags, "|", open_flags));
	if (flags & (0100 | 020000000))
		seq_printf(sh->s, ", mode: 0%03lo", args[3]);
}

void trace_sys_data_print(
    struct trace_out *out, const struct trace_event_field *args, const void *data, u32 len)
{
	const struct rec_head *rec = data;
	const struct shown sh = {out->seq, rec, len, trace_sys_data(rec->nr)};
	bool verbose = out->options & TRACE_OPT_VERBOSE;

	if (rec->nr == SYS_openat && !verbose && offsetof(struct rec_head, args[4]) <= len) {
		put_openat(out, &sh);
		return;
	}
	for (u32 i = 0; args[i].name && offsetof(struct rec_head, args[i + 1]) <= len; i++) {
		if (i)
			seq_puts(sh.s, ", ");
		if (verbose)
			seq_printf(sh.s, "%s ", args[i].type);
		seq_printf(
		    sh.s, rec->args[i] < 10 ? "%s: %lu" : "%s: 0x%lx", args[i].name, rec->args[i]);
		trace_sys_put_data(&sh, i);
	}
}

void trace_sys_data_show_fmt(struct seq *s, const struct syscall_data *d)
{
	const struct trace_event_field *args = d->fields + 1, *locs = args + d->args;

	seq_putc(s, '"');
	for (u32 i = 0, k = 0; i < d->args; i++) {
		seq_printf(s, "%s%s: 0x%%08lx", i ? ", " : "", args[i].name);
		if (k == d->count || d->arg[k] != i)
			continue;
		seq_puts(s, d->is_buffer ? " (%s)" : " \\\"%s\\\"");
		k++;
	}
	seq_putc(s, '"');
	for (u32 i = 0, k = 0; i < d->args; i++) {
		seq_printf(s, ", ((unsigned long)(REC->%s))", args[i].name);
		if (k == d->count || d->arg[k] != i)
			continue;
		seq_printf(s, d->is_buffer ? ", __print_dynamic_array(%s, 1)" : ", __get_str(%s)",
		    locs[k++].name);
	}
}
