/* Arguments of system calls as strace shows them, and the probes that record them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/strace/strace.h"

static char *text;
static size_t text_size;

static FILE *begin(void)
{
	return open_memstream(&text, &text_size);
}

static void expect(FILE *out, const char *wanted)
{
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void expect_text(const char *bytes, size_t size, bool more, const char *wanted)
{
	FILE *out = begin();

	strace_put_text(out, (const uint8_t *)bytes, size, more);
	expect(out, wanted);
}

static void texts(void **state)
{
	(void)state;
	expect_text("a b", 3, false, "\"a b\"");
	expect_text("\n\t\\\"", 4, true, "\"\\n\\t\\\\\\\"\"...");
	/* a number is short where no digit follows */
	expect_text("\0\0017\377x", 5, false, "\"\\0\\0017\\377x\"");
	expect_text("", 0, false, "\"\"");
}

static void expect_flags(const struct strace_names *names, uint64_t value, const char *wanted)
{
	FILE *out = begin();

	strace_put_flags(out, names, value);
	expect(out, wanted);
}

static void flags(void **state)
{
	(void)state;
	expect_flags(&strace_protections, 0, "PROT_NONE");
	expect_flags(&strace_protections, 7, "PROT_READ|PROT_WRITE|PROT_EXEC");
	expect_flags(&strace_wait_options, 0, "0");
	expect_flags(&strace_wait_options, 0x11, "WNOHANG|0x10");
	expect_flags(&strace_wait_options, 0x10, "0x10 /* W??? */");
	/* one name for two flags, if both are set */
	expect_flags(&strace_open_flags, 04010000, "O_SYNC");
	expect_flags(&strace_open_flags, 010000, "O_DSYNC");
	expect_flags(&strace_open_flags, 020200000, "O_TMPFILE");
	expect_flags(&strace_open_flags, 0200000, "O_DIRECTORY");
}

static void sets(void **state)
{
	FILE *out = begin();

	(void)state;
	strace_put_set(out, 1ULL << 1 | 1ULL << 16);
	expect(out, "[INT CHLD]");
	out = begin();
	strace_put_set(out, ~(1ULL << 31 | 1ULL << 32));
	expect(out, "~[RTMIN RT_1]");
	out = begin();
	strace_put_set(out, 0);
	expect(out, "[]");
	out = begin();
	strace_put_bits(out, (const uint8_t *)"\011\200", 15);
	expect(out, "[0 3]");
}

static void expect_status(int status, const char *wanted)
{
	FILE *out = begin();

	strace_put_status(out, status);
	expect(out, wanted);
}

static void statuses(void **state)
{
	(void)state;
	expect_status(3 << 8, "{WIFEXITED(s) && WEXITSTATUS(s) == 3}");
	expect_status(15, "{WIFSIGNALED(s) && WTERMSIG(s) == SIGTERM}");
	expect_status(0x8b, "{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}");
	expect_status(19 << 8 | 0x7f, "{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}");
	expect_status(0xffff, "{WIFCONTINUED(s)}");
}

static void modes(void **state)
{
	FILE *out = begin();

	(void)state;
	strace_put_mode(out, 0104750);
	expect(out, "S_IFREG|S_ISUID|0750");
	out = begin();
	strace_put_mode(out, 0);
	expect(out, "000");
}

/* No call of the kernel is without a row: its structures would be shown as addresses. */
static void rows(void **state)
{
	static const uint16_t numbers[] = {
#define ARG(type, name)
#define SYSCALL(nr, name, args) nr,
#include "kernel/abi/syscalls.def"
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const struct strace_row *row = strace_row(numbers[i]);
		assert_non_null(row);
		if (!row->result)
			fail_msg("%s has no row in calls.def", row->name);
	}
	assert_string_equal(strace_row(101)->name, "ptrace");
	assert_null(strace_row(STRACE_CALLS));
}

/* A definition, by how it begins. */
static const char *probe(const char *begins)
{
	for (const char *const *p = strace_probes(); *p; p++)
		if (!strncmp(*p, begins, strlen(begins)))
			return *p;
	return NULL;
}

static void probes(void **state)
{
	bool before;

	(void)state;
	assert_string_equal(probe("r:strace/newfstatat "),
	    "r:strace/newfstatat __x64_sys_newfstatat a2=+0(+96($arg1)):x64[18]");
	assert_string_equal(probe("p:strace/before_rt_sigreturn "),
	    "p:strace/before_rt_sigreturn __x64_sys_rt_sigreturn a0=+296(+152($arg1)):x64");
	assert_non_null(strstr(probe("r:strace/select "), " a1_left=+0(+104($arg1)):x64[16]"));
	assert_null(probe("r:strace/getpid "));
	assert_int_equal(strace_probed("newfstatat", &before), 262);
	assert_false(before);
	assert_int_equal(strace_probed("before_select", &before), 23);
	assert_true(before);
	assert_int_equal(strace_probed("end", &before), -1);
}

/* An argument of a call, whose record has these fields, and not a byte more than `data`. */
static void expect_argument(
    uint32_t nr, unsigned at, const char *fields, const void *data, size_t size, const char *wanted)
{
	struct strace_call call = {.row = strace_row(nr), .nr = nr, .returned = true};
	char format[512];
	struct event event;
	uint8_t *exact = malloc(size);
	FILE *out = begin();
	int n = snprintf(format, sizeof(format), "name: x\nID: 1\nformat:\n%s", fields);

	memcpy(exact, data, size);
	assert_true(format_parse(&event, STRACE_SYSTEM, format, n));
	call.after = (struct record){.event = &event, .data = exact, .size = size};
	struct strace_put p = {out, &call, at, call.row->arg[at]};
	p.kind->put(&p, 0x1000);
	expect(out, wanted);
	format_free(&event);
	free(exact);
}

#define FIELD(type, name, at, size)                                                                \
	"\tfield:" type " " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"

/* A damaged trace has fields shorter than what the probes record. */
static void short_fields(void **state)
{
	static const uint64_t mask[] = {0x2000, 8, 1};
	uint8_t message[56 + 33] = {[40] = 33, [56] = 100, [64] = 1, [68] = 1};

	(void)state;
	expect_argument(270, 5, FIELD("u64", "a5[2]", "0", "16") FIELD("u32", "a5_set", "16", "4"),
	    mask, 20, "{sigmask=0x2000, sigsetsize=8}");
	expect_argument(40, 2, FIELD("u64", "a2_left", "0", "8") FIELD("u8", "a2", "8", "1"), mask,
	    9, "0x1000");
	for (unsigned i = 0; i < 4; i++)
		message[72 + 4 * i] = 3 + i;
	expect_argument(46, 1,
	    FIELD("u64", "a1[7]", "0", "56") FIELD("u8", "a1_control[33]", "56", "33"), message,
	    sizeof(message),
	    "{msg_name=NULL, msg_namelen=0, msg_iov=NULL, msg_iovlen=0, "
	    "msg_control=[{cmsg_len=100, "
	    "cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3, 4, 5, 6]}], "
	    "msg_controllen=33, msg_flags=0}");
}

/* Control messages: a sender, then files, of which some do not fit; lengths that lie. */
static void control_messages(void **state)
{
	static const char head[] = "{msg_name=NULL, msg_namelen=0, msg_iov=NULL, msg_iovlen=0, "
				   "msg_control=[{cmsg_len=28, cmsg_level=SOL_SOCKET, "
				   "cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=9, uid=0, gid=-1}}";
	uint8_t m[56 + 56] = {[40] = 56, [56] = 28, [64] = 1, [68] = 2, [72] = 9};
	char wanted[400];

	(void)state;
	memset(m + 80, 0xff, 4);
	m[88] = 100;
	m[96] = m[100] = 1;
	m[104] = 3;
	m[108] = 4;
	for (int i = 0; i < 3; i++) {
		static const char files[] = ", {cmsg_len=100, cmsg_level=SOL_SOCKET, "
					    "cmsg_type=SCM_RIGHTS, cmsg_data=[3, 4]}]";
		static const uint64_t len[] = {100, 15, 100};

		memcpy(m + 88, &len[i], 8);
		m[96] = i < 2; /* the level */
		snprintf(wanted, sizeof(wanted), "%s%s, msg_controllen=56, msg_flags=0}", head,
		    i ? ", ...]" : files);
		expect_argument(46, 1,
		    FIELD("u64", "a1[7]", "0", "56") FIELD("u64", "a1_control[7]", "56", "56"), m,
		    sizeof(m), wanted);
	}
	memset(m + 56, 0xff, 8);
	expect_argument(46, 1,
	    FIELD("u64", "a1[7]", "0", "56") FIELD("u64", "a1_control[7]", "56", "56"), m,
	    sizeof(m),
	    "{msg_name=NULL, msg_namelen=0, msg_iov=NULL, msg_iovlen=0, "
	    "msg_control=[{cmsg_len=18446744073709551615, cmsg_level=SOL_SOCKET, "
	    "cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=9, uid=0, gid=-1}}], "
	    "msg_controllen=56, msg_flags=0}");
}

/* A queued signal's value is left out if it is 0, that of a timer's is not. */
static void queued_values(void **state)
{
	static const struct {
		int32_t code;
		uint64_t value;
		const char *wanted;
	} rows[] = {
	    {-1, 0, "{si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=7, si_uid=9}"},
	    {-1, 5,
		"{si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=7, si_uid=9, si_int=5, si_ptr=0x5}"},
	    {-1, 1UL << 32,
		"{si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=7, si_uid=9, si_int=0, "
		"si_ptr=0x100000000}"},
	    {-2, 0,
		"{si_signo=SIGUSR1, si_code=SI_TIMER, si_timerid=7, si_overrun=9, si_int=0, "
		"si_ptr=NULL}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int32_t info[32] = {10, 0, rows[i].code, 0, 7, 9};

		memcpy(&info[6], &rows[i].value, sizeof(rows[i].value));
		expect_argument(129, 2, FIELD("u64", "a2[16]", "0", "128"), (uint8_t *)info,
		    sizeof(info), rows[i].wanted);
	}
}

#define NUMBER(name, at) "\tfield:int " name ";\toffset:" at ";\tsize:4;\tsigned:1;\n"
enum { SENT = 1, GENERATED, DELIVERED, ENTERED, LEFT };

static const struct {
	const char *system, *name, *fields;
} signal_formats[] = {
    [SENT] = {STRACE_SYSTEM, "signal_sent",
	NUMBER("target", "8") NUMBER("sig", "12") NUMBER("code", "16") NUMBER("pid", "20")},
    [GENERATED] = {"signal", "signal_generate",
	NUMBER("sig", "8") NUMBER("code", "12") NUMBER("pid", "16") NUMBER("result", "20")},
    [DELIVERED] = {"signal", "signal_deliver", NUMBER("sig", "8") NUMBER("code", "12")},
    [ENTERED] = {"syscalls", "sys_enter_execve", NUMBER("__syscall_nr", "8")},
    [LEFT] = {"syscalls", "sys_exit_execve", NUMBER("__syscall_nr", "8") NUMBER("ret", "12")},
};

/* Puts a record of task 1 into a page of Linux's format. */
static void put_record(uint8_t *page, uint16_t id, const int32_t number[4])
{
	struct {
		uint32_t head;
		uint16_t id, flags;
		int32_t pid, number[4];
	} r = {.head = (sizeof(r) - 4) / 4, .id = id, .pid = 1};
	uint32_t used;

	memcpy(r.number, number, sizeof(r.number));
	memcpy(&used, page + 8, sizeof(used));
	memcpy(page + PAGE_HEADER + (used & PAGE_USED), &r, sizeof(r));
	used += sizeof(r);
	memcpy(page + 8, &used, sizeof(used));
}

static void put_sent(uint8_t *page, int from, int result)
{
	put_record(page, SENT, (int32_t[]){1, 17, 1, from});
	put_record(page, GENERATED, (int32_t[]){17, 1, 1, result});
}

/* strace shows the siginfo of the signal that comes, not of one that the kernel dropped. */
static void signals(void **state)
{
	static uint8_t pages[2][PAGE_BYTES];
	const uint32_t missed = 1u << 31;
	struct trace t = {
	    .file = "told", .cpus = 1, .records = RECORDS_LINUX, .page_size = PAGE_BYTES};
	const char *first, *second;
	char format[512];
	FILE *out = begin();

	(void)state;
	memset(pages, 0, sizeof(pages));
	t.by_id = xmalloc(65536 * sizeof(*t.by_id));
	for (unsigned i = SENT; i < COUNT_OF(signal_formats); i++) {
		int n = snprintf(format, sizeof(format),
		    "name: %s\nID: %u\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\t"
		    "signed:1;\n%s",
		    signal_formats[i].name, i, signal_formats[i].fields);
		trace_add_format(&t, signal_formats[i].system, format, n);
	}
	trace_index(&t);
	put_record(pages[0], ENTERED, (int32_t[]){59, 0, 0, 0});
	put_record(pages[0], LEFT, (int32_t[]){59, 0, 0, 0});
	put_sent(pages[0], 2, 0);
	put_sent(pages[0], 3, 2); /* the kernel drops it: one like it is pending */
	put_record(pages[0], DELIVERED, (int32_t[]){17, 1, 0, 0});
	memcpy(pages[1] + 8, &missed, sizeof(missed)); /* and the page does not say how many */
	put_sent(pages[1], 4, 0);
	put_record(pages[1], DELIVERED, (int32_t[]){17, 1, 0, 0});
	t.cpu = xmalloc(sizeof(*t.cpu));
	*t.cpu = (struct cpu){.pages = pages[0], .bytes = sizeof(pages)};
	strace_write(&t, out, false);
	fclose(out);
	first = strstr(text, "SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2,");
	assert_non_null(first);
	second = strstr(first + 1, "SIGCHLD {");
	assert_non_null(second);
	assert_memory_equal(strstr(second, "si_pid="), "si_pid=4,", 9);
	assert_non_null(strstr(text, "\nstrace: events are missing here\n"));
	free(text);
	trace_close(&t);
}

int strace_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(flags),
	    cmocka_unit_test(sets), cmocka_unit_test(statuses), cmocka_unit_test(modes),
	    cmocka_unit_test(rows), cmocka_unit_test(probes), cmocka_unit_test(short_fields),
	    cmocka_unit_test(control_messages), cmocka_unit_test(queued_values),
	    cmocka_unit_test(signals)};

	return unit_group("strace", tests, COUNT_OF(tests), NULL, NULL);
}
