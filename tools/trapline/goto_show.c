/* What there is to see where the machine stands. See goto.h. */
#include "tools/trapline/goto.h"

#include <stdlib.h>
#include <string.h>

#include "tools/trapline/convert.h"

#define RING_HEADER 16 /* of a sub-buffer: its time, its account */
#define SMALL_MOST  28 /* payload whose length is in a record's first word */
#define STEPS_MOST  100000

void goto_name(const struct visit *v, uint64_t address, char *text, size_t size)
{
	const struct elf_symbol *s = elf_at(&v->kernel, address);

	if (s)
		snprintf(
		    text, size, "%s+0x%llx", s->name, (unsigned long long)(address - s->address));
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
}

void goto_show_event(struct visit *v)
{
	const struct record *e = &v->event[v->at];

	printf("event %zu of %zu, on CPU %u%s\n", v->at + 1, v->events, e->cpu,
	    v->on_event ? "" : ", is the last one before here");
	write_record(stdout, &v->trace, e);
}

void goto_show_registers(struct visit *v)
{
	static const enum gdb_register order[] = {GDB_RAX, GDB_RBX, GDB_RCX, GDB_RDX, GDB_RSI,
	    GDB_RDI, GDB_RBP, GDB_RSP, GDB_R8, GDB_R9, GDB_R10, GDB_R11, GDB_R12, GDB_R13, GDB_R14,
	    GDB_R15};
	char name[256];

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		printf("%4s %016llx%s", gdb_register_names[order[i]],
		    (unsigned long long)v->r[order[i]], i % 4 == 3 ? "\n" : "  ");
	goto_name(v, v->r[GDB_RIP], name, sizeof(name));
	printf(" rip %016llx  %s  eflags %llx  cs %llx  cr2 %llx  cr3 %llx\n",
	    (unsigned long long)v->r[GDB_RIP], name, (unsigned long long)v->r[GDB_FLAGS],
	    (unsigned long long)v->r[GDB_CS], (unsigned long long)v->r[GDB_CR2],
	    (unsigned long long)v->r[GDB_CR3]);
}

void goto_show_stack(struct visit *v)
{
	struct frame frame[STACK_MOST];
	uint64_t address[STACK_MOST];
	char *line[STACK_MOST], name[256];
	size_t n = stack_walk(&v->seek.gdb, &v->kernel, v->r, frame);

	/* A call's return address may be in the next line, or in the next function. */
	for (size_t i = 0; i < n; i++)
		address[i] = frame[i].pc - frame[i].is_return;
	elf_lines(&v->kernel, address, line, n);
	for (size_t i = 0; i < n; i++) {
		if (frame[i].is_interrupted)
			puts(frame[i].is_user ? "    -- the program --" : "    -- interrupted --");
		goto_name(v, address[i], name, sizeof(name));
		printf("%3zu %016llx %s%s%s\n", i, (unsigned long long)frame[i].pc, name,
		    line[i] ? "  " : "", line[i] ? line[i] : "");
		free(line[i]);
	}
}

void goto_show(struct visit *v)
{
	const struct record *e = &v->event[v->at];

	goto_show_event(v);
	printf("\ntask %s, pid %d, on CPU %u; %llu instructions since the machine began\n\n",
	    trace_comm(&v->trace, e->pid), e->pid, v->cpu, (unsigned long long)v->count);
	goto_show_registers(v);
	putchar('\n');
	goto_show_stack(v);
}

/* ---- is it that record ---- */

static bool is_committed(struct visit *v, uint64_t page, uint64_t before)
{
	uint64_t account;

	return gdb_memory(&v->seek.gdb, page + 8, &account, sizeof(account)) && account != before;
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
