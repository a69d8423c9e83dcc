/*
 * The listings of the events document's section 7.3 with real hits: registers and the stack are
 * known when the function is called.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/api.h"
#include "trace/host_memory.h"
#include "trace/probe/kprobe_cmd.h"

#define GFP_KERNEL	     0
#define kzalloc(size, flags) host_alloc(size)

/* The document's function; ours calls it with its registers as they are called there. */
u64 kprobe_api_open(void);
u64 kprobe_api_call(void);
__asm__(".pushsection .text.asm, \"ax\"\n"
	".globl kprobe_api_open\n.type kprobe_api_open, @function\n.balign 16\nkprobe_api_open:\n\t"
	"leaq 1(%rax), %rax\n\tret\n.size kprobe_api_open, . - kprobe_api_open\n"
	".globl kprobe_api_call\n.type kprobe_api_call, @function\n.balign 16\nkprobe_api_call:\n\t"
	"pushq $0x12345678\n\tmovl $0x11, %eax\n\tmovl $0x22, %edx\n\tmovl $0x33, %ecx\n\t"
	"call kprobe_api_open\n\tpopq %rdx\n\tret\n.size kprobe_api_call, . - kprobe_api_call\n"
	".popsection");

static void put_back(struct trace_event_file *file, const char *name)
{
	EXPECT_EQ(kprobe_event_delete(name), -EBUSY);
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "kprobes", name, false), 0);
	trace_put_event_file(file);
	EXPECT_EQ(kprobe_event_delete(name), 0);
}

static void gen_kprobe(void)
{
	struct trace_event_file *gen_kprobe_test;
	struct dynevent_cmd cmd;
	char *buf;
	int ret;

	trace_fresh();
	/* Create a buffer to hold the generated command */
	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);

	/* Before generating the command, initialize the cmd object */
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);

	/*
	 * Define the gen_kprobe_test event with the first 2 kprobe
	 * fields.
	 */
	ret = kprobe_event_gen_cmd_start(
	    &cmd, "gen_kprobe_test", "kprobe_api_open", "dfd=%ax", "filename=%dx");
	EXPECT_EQ(ret, 0);
	ret = kprobe_event_add_fields(&cmd, "flags=%cx", "mode=+4($stack)");
	EXPECT_EQ(ret, 0);
	ret = kprobe_event_gen_cmd_end(&cmd);
	EXPECT_EQ(ret, 0);
	host_free(buf);

	gen_kprobe_test = trace_get_event_file(NULL, "kprobes", "gen_kprobe_test");
	EXPECT(!IS_ERR(gen_kprobe_test));
	ret = trace_array_set_clr_event(gen_kprobe_test->tr, "kprobes", "gen_kprobe_test", true);
	EXPECT_EQ(ret, 0);

	EXPECT_EQ(kprobe_api_call(), 0x12);
	EXPECT(str_has_prefix(trace_nth_event(0), "gen_kprobe_test: (kprobe_api_open+0x0/0x"));
	EXPECT(strstr(
	    trace_nth_event(0), ") dfd=0x11 filename=0x22 flags=0x33 mode=0x12345678ffffffff"));
	EXPECT_STR(trace_nth_event(1), "");
	put_back(gen_kprobe_test, "gen_kprobe_test");
	kprobe_api_call();
	EXPECT_STR(trace_nth_event(0), "");
}

static void gen_kretprobe(void)
{
	char *buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	struct trace_event_file *gen_kretprobe_test;
	struct dynevent_cmd cmd;
	int ret;

	trace_fresh();
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret =
	    kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test", "kprobe_api_open", "$retval");
	EXPECT_EQ(ret, 0);
	ret = kretprobe_event_gen_cmd_end(&cmd);
	EXPECT_EQ(ret, 0);
	host_free(buf);

	gen_kretprobe_test = trace_get_event_file(NULL, "kprobes", "gen_kretprobe_test");
	EXPECT(!IS_ERR(gen_kretprobe_test));
	ret = trace_array_set_clr_event(
	    gen_kretprobe_test->tr, "kprobes", "gen_kretprobe_test", true);
	EXPECT_EQ(ret, 0);
	EXPECT_EQ(kprobe_api_call(), 0x12);
	EXPECT(str_has_prefix(trace_nth_event(0), "gen_kretprobe_test: (kprobe_api_call+0x"));
	EXPECT(strstr(trace_nth_event(0), " <- kprobe_api_open) arg1=0x12"));
	put_back(gen_kretprobe_test, "gen_kretprobe_test");
}

static const struct ktap_case cases[] = {
    {"kprobe_api.gen_kprobe", gen_kprobe},
    {"kprobe_api.gen_kretprobe", gen_kretprobe},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_api = {cases};
