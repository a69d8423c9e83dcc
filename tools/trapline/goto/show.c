/* Shows the place at which the machine is stopped. See goto.h. */
#include "tools/trapline/goto/goto.h"
#include "tools/trapline/trace/text.h"

#include <stdlib.h>
#include <string.h>

#define PATH_MOST      800
#define STEPS_MOST     100000
#define ACCOUNT_EVENTS 0xfff000ULL /* of a sub-buffer's account (trace/ring/priv.h) */

static void name_in(const struct elf *e, uint64_t address, char *text, size_t size)
{
	const struct elf_symbol *s = elf_at(e, address);

	if (s)
		snprintf(
		    text, size, "%s+0x%llx", s->name, (unsigned long long)(address - s->address));
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
}

void goto_name(struct visit *v, uint64_t address, char *text, size_t size)
{
	uint64_t own;
	struct goto_file *f = goto_file_at(v, address, &own);
	size_t n;

	if (!f) {
		name_in(&v->kernel, address, text, size);
		return;
	}
	name_in(&f->elf, own, text, size);
	n = strlen(text);
	snprintf(text + n, size - n, " (%s)", f->path);
}

/* "event 7 of 120, on CPU 1", or what is known of a place between events. */
static void show_event(struct visit *v)
{
	const struct record *e = &v->event[v->at];

	if (v->on_write)
		puts(v->by_machine ? "an interrupt's frame, or a device, has changed it before the "
				     "next instruction"
				   : "the next instruction writes it");
	if (!v->has_event) {
		puts("before the first event");
		return;
	}
	printf("%sevent %zu of %zu, on CPU %u\n", v->on_event ? "" : "after ", v->at + 1, v->events,
	    e->cpu);
	write_record(stdout, &v->trace, e);
}

void goto_show_registers(struct visit *v)
{
	static const enum gdb_register order[] = {GDB_RAX, GDB_RBX, GDB_RCX, GDB_RDX, GDB_RSI,
	    GDB_RDI, GDB_RBP, GDB_RSP, GDB_R8, GDB_R9, GDB_R10, GDB_R11, GDB_R12, GDB_R13, GDB_R14,
	    GDB_R15};
	char name[PATH_MOST];

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		printf("%4s %016llx%s", gdb_register_names[order[i]],
		    (unsigned long long)v->r[order[i]], i % 4 == 3 ? "\n" : "  ");
	goto_name(v, v->r[GDB_RIP], name, sizeof(name));
	printf(" rip %016llx  %s\n", (unsigned long long)v->r[GDB_RIP], name);
	printf("eflags %llx  cs %llx  fs_base %llx  gs_base %llx  cr2 %llx  cr3 %llx\n",
	    (unsigned long long)v->r[GDB_FLAGS], (unsigned long long)v->r[GDB_CS],
	    (unsigned long long)v->r[GDB_FS_BASE], (unsigned long long)v->r[GDB_GS_BASE],
	    (unsigned long long)v->r[GDB_CR2], (unsigned long long)v->r[GDB_CR3]);
}

/* The lines of those frames that lie in one file, in one question. */
static void find_lines(
    const struct elf *e, const struct elf *const *of, const uint64_t *own, char **line, size_t n)
{
	uint64_t address[STACK_MOST] = {0};
	char *found[STACK_MOST];
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (of[i] == e)
			address[count++] = own[i];
	elf_lines(e, address, found, count);
	count = 0;
	for (size_t i = 0; i < n; i++)
		if (of[i] == e)
			line[i] = found[count++];
}

/* In which file each frame lies, and where in it. */
static void find_files(struct visit *v, const struct frame *frame, const struct elf **of,
    uint64_t *own, char **line, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* A call's return address may be in the next line, or in the next function. */
		uint64_t pc = frame[i].pc - frame[i].is_return;
		struct goto_file *f = frame[i].is_user ? goto_file_at(v, pc, &own[i]) : NULL;

		of[i] = f && f->is_here ? &f->elf : NULL;
		if (!frame[i].is_user) {
			of[i] = &v->kernel;
			own[i] = pc;
		}
		line[i] = NULL;
	}
	find_lines(&v->kernel, of, own, line, n);
	for (size_t i = 0; i < v->files; i++)
		if (v->file[i].is_here)
			find_lines(&v->file[i].elf, of, own, line, n);
}

/* The innermost `most` frames. */
static void show_frames(struct visit *v, size_t most)
{
	struct frame frame[STACK_MOST];
	const struct elf *of[STACK_MOST] = {NULL};
	uint64_t own[STACK_MOST];
	char *line[STACK_MOST], name[PATH_MOST];
	size_t n = stack_walk(&v->seek.gdb, &v->kernel, v->r, frame);

	n = n < most ? n : most;
	find_files(v, frame, of, own, line, n);
	for (size_t i = 0; i < n; i++) {
		if (frame[i].is_interrupted)
			puts(frame[i].is_user ? "    -- the program --" : "    -- interrupted --");
		goto_name(v, frame[i].pc - frame[i].is_return, name, sizeof(name));
		printf("%3zu %016llx %s%s%s\n", i, (unsigned long long)frame[i].pc, name,
		    line[i] ? "  " : "", line[i] ? line[i] : "");
		free(line[i]);
	}
}

void goto_show_stack(struct visit *v)
{
	show_frames(v, STACK_MOST);
}

static void show_task(struct visit *v)
{
	char comm[16];
	int pid;

	if (goto_task(v, comm, &pid))
		printf("task %s, pid %d, on CPU %u; ", comm, pid, v->cpu);
	else
		printf("CPU %u; ", v->cpu);
	printf("%llu instructions since the machine began\n", (unsigned long long)v->count);
}

void goto_show(struct visit *v)
{
	show_event(v);
	putchar('\n');
	show_task(v);
	putchar('\n');
	goto_show_registers(v);
	putchar('\n');
	goto_show_stack(v);
}

void goto_show_short(struct visit *v)
{
	show_event(v);
	show_task(v);
	show_frames(v, 1);
}

void goto_show_trace(struct visit *v, size_t around)
{
	size_t from = v->at > around ? v->at - around : 0, to = v->at + around + 1;

	for (size_t i = from; i < to && i < v->events; i++) {
		printf("%s%6zu ", i == v->at && v->has_event ? (v->on_event ? "=>" : "> ") : "  ",
		    i + 1);
		write_record(stdout, &v->trace, &v->event[i]);
	}
}

/* ---- is it that record ---- */

/*
 * Has the page one event more? A long time in front of the record is accounted for before it, as
 * bytes.
 */
static bool is_committed(struct visit *v, uint64_t page, uint64_t before)
{
	uint64_t account;

	return gdb_memory(&v->seek.gdb, page + 8, &account, sizeof(account)) &&
	       (account ^ before) & ACCOUNT_EVENTS;
}

bool goto_check(struct visit *v)
{
	const struct record *e = &v->event[v->at];
	struct gdb *g = &v->seek.gdb;
	uint64_t tail, page, begin, account;
	uint8_t *bytes = xmalloc(e->size);
	bool same = false;

	/* The tail is an address, above it a count of crossings. */
	if (gdb_memory(g, v->seek.plan->tail, &tail, sizeof(tail))) {
		begin = (uint64_t)((int64_t)(tail << 16) >> 16) - e->size;
		page = begin & ~0xfffULL;
		if (gdb_memory(g, page + 8, &account, sizeof(account))) {
			for (unsigned i = 0; i < STEPS_MOST && !is_committed(v, page, account); i++)
				if (!gdb_step(g, v->cpu, false))
					break;
			same = gdb_memory(g, begin, bytes, e->size) &&
			       !memcmp(bytes, e->data, e->size);
		}
	}
	free(bytes);
	if (!same)
		say("event %zu: the record that the machine writes here is not the trace's",
		    v->at + 1);
	return same;
}
