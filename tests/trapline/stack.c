/* Call stacks of a stopped machine: functions that have no frame yet, interrupts, programs. */
#include <string.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"

#define STACK	   0xffff888000001000ULL
#define USER_STACK 0x7000ULL
#define MIDDLE	   (KERNEL_TEXT + 0x40)
#define LABEL	   (KERNEL_TEXT + 0x100)
#define KERNEL_CS  8
#define USER_CS	   0x33

static uint64_t words[64], user_words[16];
static uint8_t text[0x140];
static const struct stopped_memory memory[] = {{STACK, words, sizeof(words)},
    {USER_STACK, user_words, sizeof(user_words)}, {KERNEL_TEXT, text, sizeof(text)}};
static struct stopped stub;
static struct elf kernel;
static struct frame frame[STACK_MOST];

static int begin(void **state)
{
	(void)state;
	stopped_begin(&stub, memory, COUNT_OF(memory));
	stopped_kernel(&kernel);
	return 0;
}

static int over(void **state)
{
	(void)state;
	elf_close(&kernel);
	stopped_end(&stub);
	return 0;
}

/* Walks from these registers; the frames' places have to be these, up to a 0. */
static void expect_stack(
    uint64_t cs, uint64_t rip, uint64_t rsp, uint64_t rbp, const uint64_t *want)
{
	uint64_t r[GDB_REGISTERS] = {
	    [GDB_CS] = cs, [GDB_RIP] = rip, [GDB_RSP] = rsp, [GDB_RBP] = rbp};
	size_t n = stack_walk(&stub.gdb, &kernel, r, frame), i = 0;

	for (; want[i]; i++) {
		assert_true(i < n);
		assert_int_equal(frame[i].pc, want[i]);
		assert_int_equal(frame[i].is_user, want[i] < KERNEL_TEXT);
	}
	assert_int_equal(n, i);
}

#define EXPECT(cs, rip, rsp, rbp, ...)                                                             \
	expect_stack(cs, rip, rsp, rbp, (const uint64_t[]){__VA_ARGS__, 0})

static void clear(void)
{
	memset(words, 0, sizeof(words));
	memset(user_words, 0, sizeof(user_words));
	memset(text, 0x90, sizeof(text));
	text[0] = 0x55;	   /* start: push %rbp */
	text[0x40] = 0xe8; /* middle: a hook's call first */
	text[0x45] = 0x55;
	text[0x7f] = 0xc3;  /* and its ret */
	text[0x100] = 0x31; /* label has no frame */
}

/* A function that has not pushed its frame, or popped it, has its caller on the stack. */
static void no_frame_yet(void **state)
{
	(void)state;
	clear();
	words[0] = MIDDLE + 8; /* return address */
	words[1] = LABEL + 8;
	EXPECT(KERNEL_CS, KERNEL_TEXT, STACK, 0, KERNEL_TEXT, MIDDLE + 8);
	EXPECT(KERNEL_CS, KERNEL_TEXT + 1, STACK, 0, KERNEL_TEXT + 1, LABEL + 8);
	assert_int_equal(frame[1].sp, STACK + 16);
	assert_true(frame[1].is_return);
	EXPECT(KERNEL_CS, KERNEL_TEXT + 2, STACK, 0, KERNEL_TEXT + 2);
	EXPECT(KERNEL_CS, MIDDLE, STACK, 0, MIDDLE, MIDDLE + 8);
	EXPECT(KERNEL_CS, MIDDLE + 5, STACK, 0, MIDDLE + 5, MIDDLE + 8);
	EXPECT(KERNEL_CS, MIDDLE + 6, STACK, 0, MIDDLE + 6, LABEL + 8);
	EXPECT(KERNEL_CS, MIDDLE + 7, STACK, 0, MIDDLE + 7);
	EXPECT(KERNEL_CS, MIDDLE + 0x3f, STACK, 0, MIDDLE + 0x3f, MIDDLE + 8);
	EXPECT(KERNEL_CS, LABEL + 3, STACK, 0, LABEL + 3);
	text[0x40] = 0x0f; /* the hook is a nop */
	EXPECT(KERNEL_CS, MIDDLE + 5, STACK, 0, MIDDLE + 5, MIDDLE + 8);
	words[0] = 0x1234; /* no code of the kernel's */
	EXPECT(KERNEL_CS, KERNEL_TEXT, STACK, 0, KERNEL_TEXT);
	words[0] = 0x8010; /* a symbol of the boot, at a program's address */
	EXPECT(KERNEL_CS, KERNEL_TEXT, STACK, 0, KERNEL_TEXT);
}

/* Frames lead up, never down, and end where a word is no code. */
static void frames(void **state)
{
	(void)state;
	clear();
	words[2] = STACK + 8 * 6; /* frame pointer of the caller, return address */
	words[3] = MIDDLE + 10;
	words[6] = STACK + 8 * 10;
	words[7] = KERNEL_TEXT + 12;
	words[10] = STACK; /* down */
	words[11] = LABEL + 2;
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + 16, LABEL + 3, MIDDLE + 10, KERNEL_TEXT + 12,
	    LABEL + 2);
	assert_int_equal(frame[1].sp, STACK + 32);
	assert_int_equal(frame[1].fp, STACK + 8 * 6);
	assert_false(frame[0].is_return);
	assert_true(frame[3].is_return);
	words[6] = STACK + 8 * 6; /* in a circle */
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + 16, LABEL + 3, MIDDLE + 10, KERNEL_TEXT + 12);
	words[7] = 5;
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + 16, LABEL + 3, MIDDLE + 10);
	EXPECT(KERNEL_CS, LABEL + 3, STACK, 0x5000, LABEL + 3);
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + sizeof(words) - 8, LABEL + 3);
}

/* The registers of what was interrupted, which entry code has saved from `at` on. */
static void save(unsigned at, uint64_t cs, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	words[at + 4] = rbp;
	words[at + 16] = rip;
	words[at + 17] = cs;
	words[at + 19] = rsp;
}

/* An odd frame pointer leads to registers that were saved: of the kernel, or of a program. */
static void interrupted(void **state)
{
	(void)state;
	clear();
	save(8, KERNEL_CS, LABEL + 4, STACK + 8 * 40, STACK + 8 * 44);
	words[44] = 0;
	words[45] = MIDDLE + 9;
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + 8 * 8 + 1, LABEL + 3, LABEL + 4, MIDDLE + 9);
	assert_true(frame[1].is_interrupted);
	assert_false(frame[1].is_return);
	assert_int_equal(frame[1].sp, STACK + 8 * 40);
	save(8, KERNEL_CS, KERNEL_TEXT + 1, STACK + 8 * 40, 0);
	words[41] = LABEL + 9;
	EXPECT(
	    KERNEL_CS, LABEL + 3, STACK, STACK + 8 * 8 + 1, LABEL + 3, KERNEL_TEXT + 1, LABEL + 9);
	save(8, USER_CS, 0x400100, USER_STACK, USER_STACK + 16);
	user_words[2] = USER_STACK + 64;
	user_words[3] = 0x400200;
	EXPECT(KERNEL_CS, LABEL + 3, STACK, STACK + 8 * 8 + 1, LABEL + 3, 0x400100, 0x400200);
	assert_true(frame[1].is_interrupted);
	assert_false(frame[2].is_interrupted);
}

/* A program's stack ends at a frame that is not aligned, lies below, or leads into the kernel. */
static void programs(void **state)
{
	(void)state;
	clear();
	user_words[2] = USER_STACK + 48;
	user_words[3] = 0x400200;
	user_words[1] = 0x400400;
	user_words[6] = USER_STACK;
	user_words[7] = 0x400300;
	EXPECT(USER_CS, 0x400100, USER_STACK, USER_STACK + 16, 0x400100, 0x400200, 0x400300);
	assert_int_equal(frame[1].sp, USER_STACK + 32);
	EXPECT(USER_CS, 0x400100, USER_STACK, USER_STACK + 17, 0x400100);
	EXPECT(USER_CS, 0x400100, USER_STACK + 24, USER_STACK + 16, 0x400100);
	user_words[7] = KERNEL_TEXT;
	EXPECT(USER_CS, 0x400100, USER_STACK, USER_STACK + 16, 0x400100, 0x400200);
	user_words[3] = 0;
	EXPECT(USER_CS, 0x400100, USER_STACK, USER_STACK + 16, 0x400100);
}

/* No stack is deeper than what a caller has room for. */
static void deepest(void **state)
{
	static uint64_t deep[2 * STACK_MOST + 60];
	static const struct stopped_memory all[] = {
	    {STACK, deep, sizeof(deep)}, {KERNEL_TEXT, text, sizeof(text)}};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(deep); i += 2) {
		deep[i] = STACK + 8 * (i + 2);
		deep[i + 1] = LABEL + 1;
	}
	for (size_t odd = 2 * STACK_MOST - 12; odd <= 2 * STACK_MOST + 2; odd += 2) {
		/* and at each depth near the end an interrupt of a function without a frame */
		uint64_t r[GDB_REGISTERS] = {[GDB_CS] = KERNEL_CS,
		    [GDB_RIP] = LABEL + 3,
		    [GDB_RSP] = STACK,
		    [GDB_RBP] = STACK};
		uint64_t before = deep[odd], kept[20];

		memcpy(kept, deep + odd + 2, sizeof(kept));
		deep[odd] = STACK + 8 * (odd + 2) + 1;
		deep[odd + 2 + 4] = STACK;
		deep[odd + 2 + 16] = KERNEL_TEXT;
		deep[odd + 2 + 17] = KERNEL_CS;
		deep[odd + 2 + 19] = STACK + 8;
		stub.memory = all;
		stub.memories = COUNT_OF(all);
		size_t n = stack_walk(&stub.gdb, &kernel, r, frame);
		assert_in_range(n, STACK_MOST - 1, STACK_MOST);
		memcpy(deep + odd + 2, kept, sizeof(kept));
		deep[odd] = before;
	}
	for (size_t i = 0; i < COUNT_OF(deep); i += 2) {
		deep[i] = USER_STACK + 8 * (i + 2);
		deep[i + 1] = 0x400200;
	}
	stub.memory = &(struct stopped_memory){USER_STACK, deep, sizeof(deep)};
	stub.memories = 1;
	uint64_t r[GDB_REGISTERS] = {
	    [GDB_CS] = USER_CS, [GDB_RSP] = USER_STACK, [GDB_RBP] = USER_STACK};
	assert_int_equal(stack_walk(&stub.gdb, &kernel, r, frame), STACK_MOST);
	stub.memory = memory;
	stub.memories = COUNT_OF(memory);
}

int stack_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(no_frame_yet),
	    cmocka_unit_test(frames), cmocka_unit_test(interrupted), cmocka_unit_test(programs),
	    cmocka_unit_test(deepest)};

	return unit_group("stack", tests, COUNT_OF(tests), begin, over);
}
