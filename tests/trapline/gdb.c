/* The client of gdb's protocol: what it asks, what it makes of the answers, and of broken ones. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"

static uint8_t bytes[3000];
static const struct stopped_memory memory[] = {{0x1000, bytes, sizeof(bytes)}};
static struct stopped stub;

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7;
	stopped_begin(&stub, memory, 1);
	return 0;
}

static int over(void **state)
{
	(void)state;
	stopped_end(&stub);
	return 0;
}

/* Registers of 8 bytes and of 4, each at its place, of the CPU that is meant. */
static void registers(void **state)
{
	uint64_t r[GDB_REGISTERS];

	(void)state;
	for (size_t i = 0; i < GDB_REGISTERS; i++) {
		stub.r[0][i] = 0x1111;
		stub.r[1][i] =
		    i >= GDB_FLAGS && i <= GDB_GS ? 0xfedcba00 + i : 0x8123456789abcd00 + i;
	}
	assert_true(gdb_registers(&stub.gdb, 1, r));
	for (size_t i = 0; i < GDB_REGISTERS; i++)
		assert_int_equal(r[i], stub.r[1][i]);
	assert_true(gdb_registers(&stub.gdb, 0, r));
	assert_int_equal(r[GDB_CR4], 0x1111);
	assert_string_equal(stub.log, "Hg2\ng\nHg1\ng\n");
}

/* Much is read in parts; an end that is not mapped makes it fail, however few bytes there are. */
static void memories(void **state)
{
	uint8_t got[sizeof(bytes)] = {0};

	(void)state;
	stub.log[0] = '\0';
	assert_true(gdb_memory(&stub.gdb, 0x1000, got, sizeof(got)));
	assert_memory_equal(got, bytes, sizeof(got));
	assert_string_equal(stub.log, "m1000,400\nm1400,400\nm1800,3b8\n");
	assert_true(gdb_memory(&stub.gdb, 0x1000 + sizeof(bytes) - 1, got, 1));
	assert_int_equal(got[0], bytes[sizeof(bytes) - 1]);
	assert_true(gdb_memory(&stub.gdb, 1, got, 0));
	for (size_t n = 1; n <= 4; n++)
		assert_false(gdb_memory(&stub.gdb, 0x1000 + sizeof(bytes), got, n));
	assert_false(gdb_memory(&stub.gdb, 0x1001, got, sizeof(bytes)));
}

/* Alone and undisturbed, or with an interrupt first. */
static void steps(void **state)
{
	(void)state;
	stub.log[0] = '\0';
	assert_true(gdb_step(&stub.gdb, 0, false));
	assert_true(gdb_step(&stub.gdb, 1, true));
	assert_string_equal(stub.log, "Qqemu.sstep=7\nvCont;s:1\nQqemu.sstep=1\nvCont;s:2\n");
}

/* Asks a stub that answers so, and then ends: for memory, or without `to` for a step. */
static bool asks(const char *sent, void *to, size_t n)
{
	struct gdb g = {.size = 0};
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	g.fd = fd[0];
	assert_int_equal(write(fd[1], sent, strlen(sent)), strlen(sent));
	shutdown(fd[1], SHUT_WR);
	bool fine = to ? gdb_memory(&g, 0, to, n) : gdb_step(&g, 0, true);
	close(fd[0]);
	close(fd[1]);
	return fine;
}

/* An answer has as many digits as were asked for, and nothing else. */
static void answers(void **state)
{
	uint8_t got[2];

	(void)state;
	assert_true(asks("+$0aFf#xx", got, 2));
	assert_int_equal(got[0], 0x0a);
	assert_int_equal(got[1], 0xff);
	assert_true(asks("++-junk$0aff#00", got, 2));
	assert_false(asks("+$0af#00", got, 2));
	assert_false(asks("+$0ag0#00", got, 2));
	assert_false(asks("+$#00", got, 1));
	assert_false(asks("+$E14#00", got, 1));
	assert_false(asks("+$0aff", got, 2)); /* broken off in each place */
	assert_false(asks("+$0aff#0", got, 2));
	assert_false(asks("+", got, 2));
	assert_false(asks("", got, 2));
}

/* Two answers may come at once; a step is done if the machine stopped by a signal. */
static void step_answers(void **state)
{
	(void)state;
	assert_true(asks("+$OK#00+$T05thread:01;#00", NULL, 0));
	assert_false(asks("+$OK#00+$E22#00", NULL, 0));
	assert_false(asks("+$OK#00", NULL, 0));
}

/* An answer that is longer than any is cut, and does not end up elsewhere. */
static void too_long(void **state)
{
	static char sent[6 * GDB_PACKET];
	uint8_t got[2];

	(void)state;
	memset(sent, 'a', sizeof(sent) - 1);
	sent[0] = '$';
	strcpy(sent + GDB_PACKET + 100, "#00");
	assert_false(asks(sent, got, 2));
	strcpy(sent + GDB_PACKET + 1, "#00"); /* as long as there is room, but for the end */
	assert_false(asks(sent, got, 2));
	memset(sent + GDB_PACKET, 'a', 200);
	assert_false(asks(sent, got, 2));
}

int gdb_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(registers),
	    cmocka_unit_test(memories), cmocka_unit_test(steps), cmocka_unit_test(answers),
	    cmocka_unit_test(step_answers), cmocka_unit_test(too_long)};

	return unit_group("gdb", tests, COUNT_OF(tests), begin, over);
}
