/*
 * Arguments of probes by name, with the types of tests/unit/trace/types/sample.h: what is fetched,
 * by which steps and as which type; and what is refused, beside the cases that Linux 6.12 recorded.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/dynevent/dynevent.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"

#define EVENTS "dynamic_events"

/* Of an argument: "u32 reg1 +48 +0 [3@0]": its type, from which argument, steps, and bit field. */
static const char *program(const struct probe_arg *arg)
{
	static char text[160];
	const struct probe_fetch *f = &arg->fetch;
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	seq_printf(&s, "%s", arg->type->name);
	for (unsigned n = 0; n < 6; n++)
		if (f->source == PROBE_FROM_REG && (int)f->param == host_arg_place(n))
			seq_printf(&s, " reg%u", n);
	if (f->source == PROBE_FROM_REG && (int)f->param == host_reg_find(host_return_register()))
		seq_puts(&s, " result");
	if (f->source == PROBE_FROM_ENTRY)
		seq_printf(&s, " kept%u", f->param);
	if (f->source == PROBE_FROM_FIELD)
		seq_printf(&s, " %s", f->field->name);
	for (unsigned i = 0; i < f->derefs; i++)
		seq_printf(&s, " %s%+ld", f->user >> i & 1 ? "u" : "", (long)f->deref[i]);
	if (f->lshift | f->rshift)
		seq_printf(&s, " %u/%u", f->lshift, f->rshift);
	if (arg->count)
		seq_printf(&s, " [%u]", arg->count);
	text[s.len] = '\0';
	return text;
}

/* The probe that was defined last. */
static const struct trace_probe *last(void)
{
	return list_empty(&dynevents)
		   ? NULL
		   : trace_probe_of(list_entry(dynevents.prev, struct dynevent, node));
}

static void begin(void)
{
	trace_fresh();
	EXPECT(!trace_put("synthetic_events", "src u64 b"));
	types_sample_use();
}

static void end(void)
{
	EXPECT(!trace_put(EVENTS, ""));
	EXPECT(!trace_put("error_log", ""));
	types_host_use();
}

static const struct {
	const char *line;
	const char *programs[5];
} good[] = {
    {"p:x do_mkdirat dfd", {"s32 reg0"}},
    {"p:x do_mkdirat mode thing", {"u16 reg2", "x64 reg1"}},
    {"p:x do_mkdirat dfd:x8 b=mode:b4@4/16", {"x8 reg0", "u16 reg2 8/12"}},
    {"p:x do_mkdirat thing->name:string thing->name", {"string reg1 +0 +0", "x64 reg1 +0"}},
    {"p:x do_mkdirat thing->name:ustring", {"ustring reg1 +0 u+0"}},
    {"p:x do_mkdirat thing->text:string thing->text", {"string reg1 +8", "x64 reg1 +8"}},
    {"p:x do_mkdirat thing->text:char[16]", {"char reg1 +8 [16]"}},
    {"p:x do_mkdirat thing->where.y thing->next->where.x", {"s32 reg1 +36", "s32 reg1 +24 +32"}},
    {"p:x do_mkdirat thing->word thing->bytes", {"u32 reg1 +40", "x64 reg1 +40"}},
    {"p:x do_mkdirat thing->color thing->on", {"s32 reg1 +44", "u8 reg1 +52"}},
    {"p:x do_mkdirat thing->low thing->high", {"u32 reg1 +48 29/29", "s32 reg1 +48 0/3"}},
    {"p:x do_mkdirat thing->mid", {"u32 reg1 +48 20/24"}},
    {"p:x do_mkdirat thing->low:u32 thing->big", {"u32 reg1 +48", "s64 reg1 +88"}},
    {"p:x do_mkdirat thing->numbers[0] thing->numbers[3]", {"s32 reg1 +56", "s32 reg1 +68"}},
    {"p:x do_mkdirat thing->bytes[2] thing->text[1]", {"u8 reg1 +42", "s8 reg1 +9"}},
    {"p:x do_mkdirat thing->name[2] thing[1].big", {"s8 reg1 +0 +2", "s64 reg1 +192"}},
    {"p:x do_mkdirat thing->next[2].where.y", {"s32 reg1 +24 +244"}},
    {"p:x do_mkdirat thing[50000000].big", {"s64 reg1 +5200000088"}},
    {"p:x do_mkdirat +4(thing->next) a=+0(+0(thing)):string",
	{"x64 reg1 +24 +4", "string reg1 +0 +0"}},
    {"p:x do_mkdirat $arg*", {"s32 reg0", "x64 reg1", "u16 reg2"}},
    {"p:x do_mkdirat n=%ax $arg* c=$comm:string",
	{"x64 result", "s32 reg0", "x64 reg1", "u16 reg2", "string"}},
    {"p:x do_mkdirat $arg3 $arg1", {"x64 reg2", "x64 reg0"}},
    {"p:x do_mkdirat dfd $arg3:x8 $arg2", {"s32 reg0", "x8 reg2", "x64 reg1"}},
    {"p:x do_rmdir $arg2:string", {"string reg1 +0"}},
    {"p:x do_rmdir $arg2:ustring", {"ustring reg1 u+0"}},
    {"p:x do_mkdirat (thing)$arg2->big (point*)%di->y", {"s64 reg1 +88", "s32 reg0 +4"}},
    {"p:x do_mkdirat (thing,where)thing->big (thing,where.y)thing->name:string",
	{"s64 reg1 +56", "string reg1 -36 +0"}},
    {"p:x do_mkdirat (thing)(+8(thing))->next->on (point)(thing->next)->x",
	{"u8 reg1 +8 +24 +52", "s32 reg1 +24 +0"}},
    {"p:x do_mkdirat (thing_t)thing->low", {"u32 reg1 +48 29/29"}},
    {"r:x do_mkdirat $retval dfd", {"s32 result", "s32 kept0"}},
    {"r:x do_mkdirat $retval", {"x64 result"}}, /* Linux 6.1 takes it */
    {"r:x do_mkdirat mode thing->next->name:string a=$arg3",
	{"u16 kept0", "string kept1 +24 +0 +0", "x64 kept0"}},
    {"r:x do_mkdirat $arg*", {"s32 kept0", "x64 kept1", "u16 kept2"}},
    {"r:x do_rmdir $arg2:string", {"string kept0 +0"}},
    {"e:x synthetic.src (thing)b->where.x:u8", {"u8 b +32"}},
    {"e:x synthetic.src v=(thing,next)$b->name:string $b", {"string b -24 +0", "x64 b"}},
};

static void programs(void)
{
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		int err = trace_append(EVENTS, good[i].line);
		const struct trace_probe *tp = err ? NULL : last();
		if (!tp) {
			EXPECT_STR(good[i].line, trace_get("error_log", NULL));
			continue;
		}
		for (unsigned k = 0; k < tp->n_args && k < 5 && good[i].programs[k]; k++)
			EXPECT_STR(program(&tp->args[k]), good[i].programs[k]);
		EXPECT(tp->n_args && good[i].programs[tp->n_args - 1]);
		EXPECT(!trace_append(EVENTS, *good[i].line == 'e' ? "-:eprobes/x" : "-:kprobes/x"));
	}
	end();
}

static const struct {
	const char *line, *message;
	int err, word, pos;
} bad[] = {
    {"p:x do_mkdirat thing->numbers[4]", "Array number is too big", -EINVAL, 2, 15},
    {"p:x do_mkdirat thing->numbers[x]", "Invalid array size", -EINVAL, 2, 15},
    {"p:x do_mkdirat thing->numbers[1", "Array is not closed", -EINVAL, 2, 16},
    {"p:x do_mkdirat dfd[1]", "This is not a pointer to union/structure.", -EINVAL, 2, 3},
    {"p:x do_mkdirat thing->any[1]", "This is not a pointer to union/structure.", -EINVAL, 2, 10},
    {"p:x do_mkdirat thing->any->x", "Failed to get BTF type info.", -EINVAL, 2, 12},
    {"p:x do_mkdirat thing->hidden->x", "Failed to get BTF type info.", -EINVAL, 2, 15},
    {"p:x do_mkdirat thing->where->x", "This is not a pointer to union/structure.", -EINVAL, 2, 14},
    {"p:x do_mkdirat thing->where.z", "This field is not found.", -ENOENT, 2, 13},
    {"p:x do_mkdirat thing->name-x", "Failed to parse single hyphen. Forgot '>'?", -EINVAL, 2, 11},
    {"p:x do_mkdirat dfd:string", "This type does not fit for string.", -EINVAL, 2, 0},
    {"p:x do_mkdirat $arg1:string", "This type does not fit for string.", -EINVAL, 2, 0},
    {"p:x do_mkdirat thing->numbers:string", "This type does not fit for string.", -EINVAL, 2, 0},
    {"r:x do_mkdirat dfd:symstr", "Symbol String doesn't accept data/userdata", -EINVAL, 2, 4},
    {"p:x do_mkdirat (thing)dfd", "Typecast requires a field access", -EINVAL, 2, 7},
    {"p:x do_mkdirat (thing)(dfd)", "Typecast requires a field access", -EINVAL, 2, 7},
    {"p:x do_mkdirat (thing", "Dereference brace is not closed", -EINVAL, 2, 6},
    {"p:x do_mkdirat (nosuch)dfd->x", "Failed to get BTF type info.", -EINVAL, 2, 1},
    {"p:x do_mkdirat (color)dfd->x", "Failed to get BTF type info.", -EINVAL, 2, 1},
    {"p:x do_mkdirat (thing,nosuch)dfd->big", "This field is not found.", -ENOENT, 2, 7},
    {"p:x do_mkdirat (thing,high)dfd->big", "Typecast field option is not byte-aligned", -EINVAL, 2,
	1},
    {"p:x do_mkdirat (thing,next->name)dfd->big",
	"Typecast field option does not support -> operator", -EINVAL, 2, 11},
    {"p:x do_mkdirat (thing)@nosuch+8->big", "@SYM+/-OFFSET with typecast needs parentheses",
	-EINVAL, 2, 7},
    {"p:x do_mkdirat (thing)((thing)((thing)((thing)dfd->big)->big)->big)->big",
	"Too many nested typecasts/dereferences", -EINVAL, 2, 24},
    {"p:x do_mkdirat+8 (thing)%di->big", "BTF is not available or not supported", -EINVAL, 2, 0},
    {"p:x do_mkdirat $arg0:string", "Invalid argument number", -EINVAL, 2, 0},
    {"p:x do_mkdirat $arg2 $arg4:string", "This variable is not found at this probe point", -ENOENT,
	3, 0},
    {"p:x do_mkdirat $arg* a=%di $arg*", "$arg* can be used only once in the parameters", -EINVAL,
	4, 0},
    {"r:x do_rmdir name $retval", "This function returns 'void' type", -ENOENT, 3, 0},
    {"e:x synthetic.src b", "BTF is not available or not supported", -EINVAL, 2, 0},
    {"e:x synthetic.src (thing)nosuch->big", "This event field is not found.", -ENOENT, 2, 7},
    {"e:x synthetic.src (thing)b", "Typecast requires a field access", -EINVAL, 2, 7},
};

static void refused(void)
{
	char wanted[400];

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		u32 at = 0;
		for (int w = 0; w < bad[i].word; w++)
			at += strcspn(bad[i].line + at, " ") + 1;
		fmt_snprintf(wanted, sizeof(wanted), "error: %s\n  Command: %s\n%*s^\n",
		    bad[i].message, bad[i].line, 11 + at + bad[i].pos, "");
		trace_put("error_log", "");
		EXPECT_EQ(trace_append(EVENTS, bad[i].line), bad[i].err);
		const char *log = trace_get("error_log", NULL), *error = strstr(log, "error: ");
		EXPECT_STR(error ? error : log, wanted);
	}
	end();
}

/* An argument has so many steps, and none more: the longest that there is room for has one more. */
static void steps(void)
{
	begin();
	for (int n = PROBE_DEREFS_MAX; n <= PROBE_DEREFS_MAX + 1; n++) {
		char line[120];
		struct seq s;

		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "p:x do_mkdirat a=");
		for (int i = 0; i < n; i++)
			seq_puts(&s, "+0(");
		seq_printf(&s, "%%ax%.*s", n, "))))))))))))))))");
		line[s.len] = '\0';
		EXPECT_EQ(trace_put(EVENTS, line), n > PROBE_DEREFS_MAX ? -EINVAL : 0);
		EXPECT(n == PROBE_DEREFS_MAX ||
		       strstr(trace_get("error_log", NULL), "Dereference is too much nested"));
	}
	end();
}

/* A host that has no types: names are refused, and the rest works. */
static void without_types(void)
{
	begin();
	EXPECT(!types_use(NULL, 0));
	EXPECT_EQ(trace_put(EVENTS, "p:x do_mkdirat dfd"), -ENOENT);
	EXPECT(strstr(trace_get("error_log", NULL), "No BTF entry for this probe point"));
	EXPECT_EQ(trace_put(EVENTS, "p:x do_mkdirat $arg*"), -EOPNOTSUPP);
	EXPECT(!trace_put(EVENTS, "r:x do_mkdirat $arg2 $retval"));
	const struct trace_probe *tp = last();
	EXPECT(tp && tp->n_args == 2);
	EXPECT_STR(program(&tp->args[0]), "x64 kept0");
	EXPECT_STR(tp->args[0].name, "arg1");
	EXPECT_STR(program(&tp->args[1]), "x64 result");
	end();
}

static const struct ktap_case cases[] = {
    {"probe_names.programs", programs},
    {"probe_names.refused", refused},
    {"probe_names.steps", steps},
    {"probe_names.without_types", without_types},
    {NULL, NULL},
};

const struct ktap_suite suite_probe_names = {cases};
