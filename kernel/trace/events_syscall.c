/*
 * Events of single system calls, syscalls:sys_enter_<name> and syscalls:sys_exit_<name>, made from
 * kernel/abi/syscalls.def. All of them share two nops in kernel_syscall(); while one event is on,
 * the other calls find their own event off and record nothing. Task context.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/lib/string.h"
#include "kernel/syscall/syscall.h"
#include "kernel/trace/syscall_data.h"
#include "trace/event/event.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/output/output.h"

struct static_key key_sys_call_enter, key_sys_call_exit;
static struct trace_key call_enter_switch = {.host = (struct host_key *)&key_sys_call_enter};
static struct trace_key call_exit_switch = {.host = (struct host_key *)&key_sys_call_exit};

/* 1. Records. Every argument takes eight bytes, whatever its type. */
struct rec_enter {
	struct trace_entry ent;
	int nr;
	int pad;
	u64 args[6];
} __packed __aligned(4);

struct rec_exit {
	struct trace_entry ent;
	int nr;
	int pad;
	long ret;
} __packed __aligned(4);

/*
 * 2. The calls as the .def has them. Their events, fields and names are made from these tables at
 * boot: in the image they would be ten times as large.
 */
struct sys_arg {
	const char *type, *name;
};

#define ARG(type, name)		{#type, #name},
#define SYSCALL(nr, name, args) args
static const struct sys_arg sys_args[] = {
#include "kernel/abi/syscalls.def"
};

/* The number of arguments of each call. syscall_next_name() has the names of the calls. */
#define ARG(type, name)		+1
#define SYSCALL(nr, name, args) 0 args,
static const u8 sys_args_of[] = {
#include "kernel/abi/syscalls.def"
};

#define SYS_CALLS ARRAY_SIZE(sys_args_of)

/* 3. Fields. */
#define NR_FIELD                                                                                   \
	{                                                                                          \
		.type = "int", .name = "__syscall_nr", .offset = 8, .size = 4, .is_signed = true   \
	}

/* The call's number, then all arguments. */
static const struct trace_event_field *plain_fields(const struct trace_event_call *call)
{
	return call->data;
}

/* Of an event sys_enter_*, while an instance records what arguments point at; else NULL. */
static const struct syscall_data *kept_data(const struct trace_event_call *call);

static const struct trace_event_field *trace_sys_enter_fields(const struct trace_event_call *call)
{
	const struct syscall_data *d = kept_data(call);

	return d ? d->fields : plain_fields(call);
}

static const struct trace_event_field *trace_sys_exit_fields(
    const struct trace_event_call *call __maybe_unused)
{
	static const struct trace_event_field f[] = {NR_FIELD,
	    {.type = "long", .name = "ret", .offset = 16, .size = 8, .is_signed = true},
	    {.name = NULL}};
	return f;
}

/* 4. Text. A line names the call "sys_NAME", where its event is sys_enter_NAME or sys_exit_NAME. */
static const char *short_name(const struct trace_event_call *call)
{
	return call->name + (call->class->fields == trace_sys_enter_fields ? 10 : 9);
}

static void trace_sys_enter_print(
    struct trace_out *out, const struct trace_event_call *call, const void *data, u32 len)
{
	const struct rec_enter *rec = data;
	const struct trace_event_field *f = plain_fields(call) + 1;

	seq_puts(out->seq, "sys_");
	seq_puts(out->seq, short_name(call));
	seq_putc(out->seq, '(');
	if (out->line && out->line->tr->user_data && len >= offsetof(struct rec_enter, args)) {
		trace_sys_data_print(out, f, data, len);
		seq_puts(out->seq, ")\n");
		return;
	}
	for (u32 i = 0; f[i].name && offsetof(struct rec_enter, args[i + 1]) <= len; i++) {
		if (i)
			seq_puts(out->seq, ", ");
		if (out->options & TRACE_OPT_VERBOSE) {
			seq_puts(out->seq, f[i].type);
			seq_putc(out->seq, ' ');
		}
		seq_puts(out->seq, f[i].name);
		seq_puts(out->seq, ": ");
		seq_hex(out->seq, rec->args[i], 1);
	}
	seq_puts(out->seq, ")\n");
}

static void trace_sys_exit_print(
    struct trace_out *out, const struct trace_event_call *call, const void *data, u32 len)
{
	const struct rec_exit *rec = data;

	seq_puts(out->seq, "sys_");
	seq_puts(out->seq, short_name(call));
	seq_puts(out->seq, " -> 0x");
	seq_hex(out->seq, len >= sizeof(*rec) ? (u64)rec->ret : 0, 1);
	seq_putc(out->seq, '\n');
}

static void trace_sys_enter_show_fmt(struct seq *s, const struct trace_event_call *call)
{
	const struct trace_event_field *f = plain_fields(call) + 1;
	const struct syscall_data *d = kept_data(call);

	if (d) {
		trace_sys_data_show_fmt(s, d);
		return;
	}
	seq_putc(s, '"');
	for (unsigned i = 0; f[i].name; i++) {
		seq_puts(s, i ? ", " : "");
		seq_puts(s, f[i].name);
		seq_puts(s, ": 0x%08lx");
	}
	seq_putc(s, '"');
	for (unsigned i = 0; f[i].name; i++) {
		seq_puts(s, ", ((unsigned long)(REC->");
		seq_puts(s, f[i].name);
		seq_puts(s, "))");
	}
}

/* 5. The events. */
static const struct trace_event_class enter_class = {
    .system = "syscalls",
    .fields = trace_sys_enter_fields,
    .print_line = trace_sys_enter_print,
    .show_fmt = trace_sys_enter_show_fmt,
};
static const struct trace_event_class exit_class = {
    .system = "syscalls",
    .fields = trace_sys_exit_fields,
    .print_line = trace_sys_exit_print,
};

#define ARG(type, name)
#define SYSCALL(nr, name, args) +sizeof("sys_enter_" #name) + sizeof("sys_exit_" #name)
enum {
	SYS_NAMES = 0
#include "kernel/abi/syscalls.def"
};

/* [I] after boot */
static struct trace_event_call enter_calls[SYS_CALLS], exit_calls[SYS_CALLS];
static struct trace_event_field enter_fields[ARRAY_SIZE(sys_args) + 2 * SYS_CALLS];
static char call_names[SYS_NAMES];
static u16 call_nr[SYS_CALLS];
static u8 arg_count[SYSCALL_MAX];
struct trace_event_call *events_sys_enter[SYSCALL_MAX], *events_sys_exit[SYSCALL_MAX];

static const struct syscall_data *kept_data(const struct trace_event_call *call)
{
	if (likely(!READ_ONCE(trace_user_data_most)))
		return NULL;
	return trace_sys_data(call_nr[call - enter_calls]);
}

/* Writes head and name to *at, and advances it. Inline, so that the size of `head` is constant. */
static inline __attribute__((always_inline)) const char *make_name(
    char **at, const char *head, size_t size, const char *name, size_t room)
{
	char *made = *at;

	__builtin_memcpy(made, head, size);
	memcpy(made + size, name, room);
	*at += size + room;
	return made;
}

/* Makes the fields of a call at `f`, and a last one without a name; returns the place after it. */
static struct trace_event_field *make_fields(
    struct trace_event_field *f, const struct sys_arg *arg, u32 n)
{
	*f++ = (struct trace_event_field)NR_FIELD;
	for (u32 i = 0; i < n; i++, arg++, f++) {
		f->type = arg->type;
		f->name = arg->name;
		f->offset = offsetof(struct rec_enter, args[i]);
		f->size = sizeof(u64);
		if (str_equal(arg->type, "const char *") || str_equal(arg->type, "char *"))
			f->kind = TRACE_FIELD_PTR_STRING;
	}
	return f + 1;
}

void events_syscall_register(void)
{
	const struct sys_arg *arg = sys_args;
	struct trace_event_field *fields = enter_fields;
	const char *name = NULL;
	char *at = call_names;

	for (u32 i = 0; i < SYS_CALLS; i++) {
		struct trace_event_call *enter = &enter_calls[i], *exit = &exit_calls[i];
		u32 nr, args = sys_args_of[i];
		name = syscall_next_name(name, &nr);
		size_t room = strlen(name) + 1;
		enter->class = &enter_class;
		enter->name = make_name(&at, "sys_enter_", sizeof("sys_enter_") - 1, name, room);
		enter->key = &call_enter_switch;
		enter->data = fields;
		exit->class = &exit_class;
		exit->name = make_name(&at, "sys_exit_", sizeof("sys_exit_") - 1, name, room);
		exit->print_fmt = "\"0x%lx\", REC->ret";
		exit->key = &call_exit_switch;
		fields = make_fields(fields, arg, args);
		arg += args;
		call_nr[i] = nr;
		arg_count[nr] = args;
		events_sys_enter[nr] = enter;
		events_sys_exit[nr] = exit;
		trace_sys_data_add(nr, enter->data);
	}
	for (u32 i = SYS_CALLS; i-- > 0;) {
		trace_event_register_made(&exit_calls[i]);
		trace_event_register_made(&enter_calls[i]);
	}
}

/*
 * 6. Recording, as trace/event/record.h describes it. The call site calls a dispatcher without a
 * frame, as trace/tracepoint_define.h makes one for each event.
 */
static inline __attribute__((always_inline)) void fill_enter(
    struct rec_enter *rec, const struct regs *regs, u32 nr, u32 n)
{
	rec->nr = nr;
	if (n > 0)
		rec->args[0] = regs->rdi;
	if (n > 1)
		rec->args[1] = regs->rsi;
	if (n > 2)
		rec->args[2] = regs->rdx;
	if (n > 3)
		rec->args[3] = regs->r10;
	if (n > 4)
		rec->args[4] = regs->r8;
	if (n > 5)
		rec->args[5] = regs->r9;
}

static inline void fill_exit(struct rec_exit *rec, u32 nr, long ret)
{
	rec->nr = nr;
	rec->ret = ret;
}

static u32 enter_size(u32 nr)
{
	return offsetof(struct rec_enter, args) + arg_count[nr] * sizeof(u64);
}

/* The general path: builds an image for the gate. */
static __noinline __trace_text void trace_sys_enter_general(
    struct trace_event_file *live, const struct regs *regs, u32 nr)
{
	struct rec_enter image;

	if (arg_count[nr]) /* fills in all six; the gate reads only those within the size */
		fill_enter(&image, regs, nr, 6);
	else
		image.nr = nr;
	trace_gate(live, &image, enter_size(nr));
	host_preempt_enable();
}

/* The ring was full at the last hit. */
static TRACE_DISPATCH __noinline void trace_sys_enter_retry(
    struct trace_event_file *live, const struct regs *regs, u32 nr)
{
	if (trace_drop_full(live, enter_size(nr)))
		host_preempt_enable();
	else
		trace_sys_enter_general(live, regs, nr);
}

/* The fast path; the number of arguments is a constant, and so is the size. */
static inline __attribute__((always_inline)) void enter_short(
    struct trace_event_file *live, const struct regs *regs, u32 nr, const u32 n)
{
	struct trace_slot slot;
	struct rec_enter *rec = trace_record_now(&slot, live, offsetof(struct rec_enter, args[n]));

	if (likely(rec)) {
		fill_enter(rec, regs, nr, n);
		trace_record_end(&slot);
		host_preempt_enable();
		return;
	}
	trace_sys_enter_general(live, regs, nr);
}

#define ENTER_SHORT(n)                                                                             \
	static __trace_text void trace_sys_enter_short_##n(                                        \
	    struct trace_event_file *live, const struct regs *regs, u32 nr)                        \
	{                                                                                          \
		enter_short(live, regs, nr, n);                                                    \
	}
ENTER_SHORT(0)
ENTER_SHORT(1)
ENTER_SHORT(2)
ENTER_SHORT(3)
ENTER_SHORT(4)
ENTER_SHORT(5)
ENTER_SHORT(6)

typedef void (*enter_fn)(struct trace_event_file *live, const struct regs *regs, u32 nr);
static const enter_fn enter_by_count[] = {trace_sys_enter_short_0, trace_sys_enter_short_1,
    trace_sys_enter_short_2, trace_sys_enter_short_3, trace_sys_enter_short_4,
    trace_sys_enter_short_5, trace_sys_enter_short_6};

TRACE_DISPATCH void events_sys_enter_record(
    struct trace_event_call *call, const struct regs *regs, long nr)
{
	if (unlikely(READ_ONCE(trace_user_data_most)) && trace_sys_data(nr)) {
		trace_sys_data_record(call, trace_sys_data(nr), regs, nr);
		return;
	}
	host_preempt_disable();
	struct trace_event_file *live = READ_ONCE(call->live);
	if (unlikely(!live)) {
		host_preempt_enable();
		return;
	}
	const u32 way = READ_ONCE(live->way);
	if (likely(!way))
		enter_by_count[arg_count[nr]](live, regs, nr);
	else if (way == TRACE_WAY_FULL)
		trace_sys_enter_retry(live, regs, nr);
	else if (trace_is_off(live, way))
		trace_gate_lost_off(live);
	else if (trace_is_unwanted(live, way))
		trace_gate_unwanted(live);
	else
		trace_sys_enter_general(live, regs, nr);
}

static __noinline __trace_text void trace_sys_exit_general(
    struct trace_event_file *live, u32 nr, long ret)
{
	struct rec_exit image;

	fill_exit(&image, nr, ret);
	trace_gate(live, &image, sizeof(image));
	host_preempt_enable();
}

static TRACE_DISPATCH __noinline void trace_sys_exit_retry(
    struct trace_event_file *live, u32 nr, long ret)
{
	if (trace_drop_full(live, sizeof(struct rec_exit)))
		host_preempt_enable();
	else
		trace_sys_exit_general(live, nr, ret);
}

static __noinline __trace_text void trace_sys_exit_fast(
    struct trace_event_file *live, u32 nr, long ret)
{
	struct trace_slot slot;
	struct rec_exit *rec = trace_record_now(&slot, live, sizeof(*rec));

	if (likely(rec)) {
		fill_exit(rec, nr, ret);
		trace_record_end(&slot);
		host_preempt_enable();
		return;
	}
	trace_sys_exit_general(live, nr, ret);
}

TRACE_DISPATCH void events_sys_exit_record(struct trace_event_call *call, long nr, long ret)
{
	host_preempt_disable();
	struct trace_event_file *live = READ_ONCE(call->live);
	if (unlikely(!live)) {
		host_preempt_enable();
		return;
	}
	const u32 way = READ_ONCE(live->way);
	if (likely(!way))
		trace_sys_exit_fast(live, nr, ret);
	else if (way == TRACE_WAY_FULL)
		trace_sys_exit_retry(live, nr, ret);
	else if (trace_is_off(live, way))
		trace_gate_lost_off(live);
	else if (trace_is_unwanted(live, way))
		trace_gate_unwanted(live);
	else
		trace_sys_exit_general(live, nr, ret);
}
