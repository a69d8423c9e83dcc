/*
 * A plugin of QEMU's for `trapline goto` (tools/trapline/goto/stop_plan.h): it counts instructions,
 * finds places, and holds the machine at one until QEMU's own loop has begun to stop it. The guest
 * does nothing for it and cannot notice it; no instruction takes longer in its time.
 *
 * QEMU runs all CPUs of a deterministic machine in one thread, so nothing here needs a lock.
 *
 * HOLDING. A stop from outside takes effect before the next block begins, and moves no clock (a
 * stop by a breakpoint does, while the other CPUs are idle):
 *   H1 the plugin, called within a block, sends PLAN_STOP and waits
 *   H2 trapline orders the stop from QEMU's monitor, and answers PLAN_GO
 *   H3 QEMU's main thread carries out the order: it marks all CPUs, and sleeps until they have
 *      stopped. The plugin waits until that thread sleeps so, for only then the marks are there.
 *   H4 the plugin returns; the block ends, and the machine stands
 * Should a block begin all the same, `overrun` says so, and trapline tries again.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tools/trapline/goto/stop_plan.h"

/* QEMU's interface for plugins, version 1: what we use of it. */
#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum { CALLBACK_NO_REGISTERS = 0, MEMORY_WRITE = 2, INLINE_ADD = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(
    uint64_t id, void (*fn)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct qemu_plugin_tb *tb, void (*fn)(unsigned cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(
    struct qemu_plugin_insn *insn, void (*fn)(unsigned cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(
    struct qemu_plugin_insn *insn, int op, void *to, uint64_t n);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
    void (*fn)(unsigned cpu, uint32_t info, uint64_t address, void *data), int flags, int rw,
    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(uint32_t info);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

/* Of tools/turns.c, if it is loaded: without it no order comes while the CPUs are busy. */
EXPORT void __attribute__((weak)) turns_free(void);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

#define SLEEPS	   20	  /* looks at the main thread that must all find it asleep ... */
#define LOOK_NS	   100000 /* ... so far apart */
#define LOOKS_MOST 100000

/* A translated block; QEMU does not report that it drops one, so it stays. */
struct block {
	uint32_t instructions;
	uint64_t pc[];
};

static struct plan *plan;
static int channel;
static const uint8_t *ram;
static uint64_t ram_size;
static const struct block *now;	 /* the block that runs ... */
static uint64_t now_at, last_at; /* ... where it began, and where the one before did */
static unsigned now_cpu;
static bool holding, done, has_writer;
static uint8_t seen[PLAN_WATCHED]; /* what is watched held, when we last looked */
static struct plan_place writer;

/* ---- H1 to H4 ---- */

static void wait_a_look(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* Does the main thread sleep until somebody wakes it? It waits for input in another call. */
static bool main_sleeps(void)
{
	char text[32] = "";
	int fd = open("/proc/self/syscall", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	return atoi(text) == SYS_futex && *text != 'r';
}

static void tell(char what)
{
	done = true;
	if (turns_free)
		turns_free();
	if (write(channel, &what, 1) != 1)
		_exit(1);
}

static void hold(void)
{
	char answer;

	tell(PLAN_STOP);
	if (read(channel, &answer, 1) != 1 || answer != PLAN_GO)
		_exit(1);
	for (unsigned looks = 0, sleeps = 0; looks < LOOKS_MOST && sleeps < SLEEPS; looks++) {
		sleeps = main_sleeps() ? sleeps + 1 : 0;
		wait_a_look();
	}
	holding = true;
}

/* ---- places ---- */

static struct plan_place place_in(uint64_t at, unsigned cpu)
{
	return (struct plan_place){.at = at,
	    .before = last_at,
	    .block = now_at,
	    .cpu = cpu,
	    .pc = at - now_at < now->instructions ? now->pc[at - now_at] : 0,
	    .block_pc = now->pc[0]};
}

static void found(struct plan_place place)
{
	plan->found = place;
	plan->is_found = true;
	tell(PLAN_FOUND);
}

/* ---- what is watched ---- */

static bool is_watching(void)
{
	return plan->kind == PLAN_FIND_WRITE || plan->kind == PLAN_FIND_WRITER;
}

static void note_write(struct plan_place place)
{
	memcpy(seen, ram + plan->address, plan->bytes);
	if (plan->kind == PLAN_FIND_WRITER) {
		if (place.at >= plan->count)
			return;
		writer = place;
		has_writer = true;
	} else if (place.at >= plan->count) {
		found(place);
	}
}

static void memory_written(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t bytes = 1ULL << qemu_plugin_mem_size_shift(info);
	/* within a page, addresses and what they lead to are the same; a write may cross one */
	uint64_t ahead = (plan->address - address) & 0xfff;
	struct qemu_plugin_hwaddr *where;

	(void)data;
	/* QEMU 7.2 calls for reads, too, though only writes were asked for */
	if (done || !qemu_plugin_mem_is_store(info) ||
	    (ahead >= bytes && ((-ahead) & 0xfff) >= plan->bytes))
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	uint64_t at = qemu_plugin_hwaddr_phys_addr(where);
	if (at < plan->address + plan->bytes && plan->address < at + bytes)
		note_write(place_in(plan->begun - 1, cpu));
}

/* What the processor itself writes, such as an interrupt's frame, and what devices write. */
static void look_at_watched(unsigned cpu)
{
	struct plan_place place;

	if (!memcmp(seen, ram + plan->address, plan->bytes))
		return;
	place = place_in(now_at, cpu);
	place.by_machine = true;
	note_write(place);
}

/* ---- records ---- */

/* The second half of a ring's tail is the time of its last record (trace/ring/ring.c, W4). */
static void tail_written(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	struct qemu_plugin_hwaddr *where;
	uint64_t stamp;

	(void)data;
	if (!qemu_plugin_mem_is_store(info) || !(address & 8))
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	uint64_t at = qemu_plugin_hwaddr_phys_addr(where);
	if (at % 8 || at + 8 > ram_size)
		return;
	memcpy(&stamp, ram + at, sizeof(stamp));
	plan->last = plan_time(plan, stamp);
	if (!done && plan->kind == PLAN_RECORD && cpu == plan->cpu && plan->last == plan->time) {
		plan->tail = address - 8;
		hold();
	}
}

/* ---- blocks ---- */

/* Instructions of a block that ended early, by a fault, do not count. */
static void find_count(unsigned cpu)
{
	if (now && plan->begun > plan->count)
		found(place_in(plan->count, cpu));
}

static void block_begins(unsigned cpu, void *data)
{
	if (holding)
		plan->overrun++;
	if (done)
		return;
	if (plan->kind == PLAN_FIND_COUNT)
		find_count(now_cpu);
	if (plan->kind == PLAN_FIND_WRITER && plan->begun >= plan->count && now) {
		plan->found = writer;
		plan->is_found = has_writer;
		tell(PLAN_FOUND);
		return;
	}
	last_at = now_at;
	now_at = plan->block = plan->begun;
	now = data;
	now_cpu = cpu;
	if (is_watching())
		look_at_watched(cpu);
	if (plan->kind == PLAN_BLOCK && now_at >= plan->count)
		hold();
}

static void called(unsigned cpu, void *data)
{
	uint64_t at = now_at + (uintptr_t)data;

	if (!done && at >= plan->count)
		found(place_in(at, cpu));
}

/* cmpxchg16b: 0f c7 /1 with REX.W */
static bool is_exchange(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + 3 < n; i++)
		if ((code[i] & 0xf8) == 0x48 && code[i + 1] == 0x0f && code[i + 2] == 0xc7)
			return (code[i + 3] & 0x38) == 0x08;
	return false;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *b = malloc(sizeof(*b) + n * sizeof(b->pc[0]));

	(void)id;
	if (!b)
		_exit(1);
	b->instructions = n;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins, CALLBACK_NO_REGISTERS, b);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		b->pc[i] = qemu_plugin_insn_vaddr(insn);
		if (plan->kind == PLAN_FIND_CALL && b->pc[i] == plan->address)
			qemu_plugin_register_vcpu_insn_exec_cb(
			    insn, called, CALLBACK_NO_REGISTERS, (void *)i);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD, &plan->begun, 1);
		if (is_watching())
			qemu_plugin_register_vcpu_mem_cb(
			    insn, memory_written, CALLBACK_NO_REGISTERS, MEMORY_WRITE, NULL);
		else if (is_exchange(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)))
			qemu_plugin_register_vcpu_mem_cb(
			    insn, tail_written, CALLBACK_NO_REGISTERS, MEMORY_WRITE, NULL);
	}
}

/* ---- the beginning ---- */

static int number_of(const char *name, int argc, char **argv)
{
	size_t n = strlen(name);

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return atoi(argv[i] + n + 1);
	return -1;
}

/* Maps the file of that number; NULL: there is none. */
static void *map(int fd, int protection, uint64_t *size)
{
	struct stat st;
	void *at = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st))
		at = mmap(NULL, *size = st.st_size, protection, MAP_SHARED, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	uint64_t size;

	(void)info;
	plan = map(number_of("plan", argc, argv), PROT_READ | PROT_WRITE, &size);
	ram = map(number_of("memory", argc, argv), PROT_READ, &ram_size);
	channel = number_of("channel", argc, argv);
	if (!plan || size < sizeof(*plan) || !ram || channel < 0) {
		fprintf(stderr, "stop_plugin: it is loaded by `trapline goto` alone\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
