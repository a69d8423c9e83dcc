/* Arguments of system calls as strace shows them, and the probes that record them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/strace.h"

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
			fail_msg("%s has no row in strace_calls.def", row->name);
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

int strace_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(flags),
	    cmocka_unit_test(sets), cmocka_unit_test(statuses), cmocka_unit_test(modes),
	    cmocka_unit_test(rows), cmocka_unit_test(probes)};

	return unit_group("strace", tests, COUNT_OF(tests), NULL, NULL);
}
