/*
 * Probes on the host (trace/host_probe.h): functions that are only names and sizes, hit when a test
 * says so. The registers are those of struct machine_regs; each instruction is four bytes long.
 */
#include "kernel/lib/errno.h"
#include "tests/host/machine.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"
#include "trace/host_probe.h"
#include "trace/host_symbol.h"
#include "trace/host_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host_probe {
	struct host_probe_place place;
	struct host_probe *next;
	u64 addr;
	bool on, wanted; /* what it is, and what it will be once the changes are made */
};

static struct host_probe *probes;

static const struct {
	const char *name;
	u64 addr, size;
	unsigned count;
	bool refused;
} functions[] = {
    {"do_mkdirat", 0x10000, 0x110, 1, false},
    {"do_rmdir", 0x10110, 0x100, 1, false},
    {"kernel_probe_int3", 0x10400, 0x100, 1, true},
    {"twice", 0x10600, 0x20, 2, false},
};

static int find(const char *symbol)
{
	for (unsigned i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(functions[i].name, symbol))
			return i;
	return -ENOENT;
}

int host_symbol_check(const char *symbol)
{
	int i = find(symbol);

	return i < 0 ? i : functions[i].count > 1 ? -EADDRNOTAVAIL : 0;
}

/* After those of host_sym_nth(). */
long host_sym_number(const char *name)
{
	struct host_symbol sym;
	unsigned n = 0;

	for (; host_sym_nth(n, &sym); n++)
		if (!strcmp(sym.name, name))
			return n;
	int i = find(name);
	return i < 0 ? -1 : (long)n + i;
}

static int find_by_address(u64 addr)
{
	for (unsigned i = 0; i < ARRAY_SIZE(functions); i++)
		if (addr - functions[i].addr < functions[i].size)
			return i;
	return -ENOENT;
}

int host_symbol_entry(const char *symbol, u64 offset)
{
	int i = find(symbol), at = i < 0 ? i : find_by_address(functions[i].addr + offset);

	return at < 0 ? at : functions[at].addr == functions[i].addr + offset ? 0 : -EINVAL;
}

int host_probe_create(const struct host_probe_place *place, struct host_probe **out)
{
	int i = place->symbol ? find(place->symbol) : find_by_address(place->addr);

	if (i < 0)
		return i;
	u64 addr = (place->symbol ? functions[i].addr : place->addr) + place->offset;
	i = find_by_address(addr);
	if (i < 0)
		return i;
	if (functions[i].refused || (place->is_return && addr != functions[i].addr))
		return -EINVAL;
	/* instructions begin at each multiple of 4, and after the hook of 5 bytes */
	if (addr % 4 && addr != functions[i].addr + 5)
		return -EILSEQ;
	struct host_probe *p = host_alloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct host_probe){.place = *place, .next = probes, .addr = addr};
	probes = p;
	*out = p;
	return 0;
}

void host_probe_destroy(struct host_probe *p)
{
	struct host_probe **at = &probes;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	host_free(p);
}

void host_probe_switch(struct host_probe *p, bool on)
{
	p->wanted = on;
}

void host_probes_flush(void)
{
	for (struct host_probe *p = probes; p; p = p->next)
		p->on = p->wanted;
}

u64 host_probe_missed(const struct host_probe *p)
{
	(void)p;
	return 0;
}

/* What a probe at the entry of a function finds, if it reads only registers of arguments. */
static struct machine_regs arguments_of(const struct machine_regs *regs)
{
	struct machine_regs only = *regs;

	for (u32 at = 0; at < sizeof(only); at += 8)
		if (!host_reg_is_argument(at))
			*(u64 *)((char *)&only + at) = 0xbadbadbadbadbad;
	return only;
}

unsigned machine_probes(void)
{
	unsigned n = 0;

	for (const struct host_probe *p = probes; p; p = p->next)
		n++;
	return n;
}

void machine_probe_hit(
    const char *symbol, u64 offset, bool is_return, const struct machine_regs *regs)
{
	struct machine_regs arguments = arguments_of(regs);
	u64 kept[128];
	int i = find(symbol);

	for (struct host_probe *p = probes; p; p = p->next)
		if (p->on && p->place.is_return == is_return &&
		    p->addr == functions[i].addr + offset) {
			host_preempt_disable();
			if (p->place.n_kept) {
				p->place.keep(p->place.arg, regs, kept);
				p->place.kept_fn(p->place.arg, regs, p->addr, 0x20000, kept);
			} else {
				p->place.fn(p->place.arg,
				    p->place.arguments && !offset && !is_return ? &arguments : regs,
				    p->addr, 0x20000);
			}
			host_preempt_enable();
		}
}

/* ---- watchpoints: a machine like x86's, which tests hit ---- */

struct host_watch {
	struct host_watch_form form;
	u64 addr;
	bool used;
};

static struct host_watch watches[4];

const char *host_watch_refused(const struct host_watch_form *form, u64 addr)
{
	if (form->access == HOST_WATCH_READ)
		return "This CPU does not watch reads alone";
	if (addr == HOST_WATCH_NOWHERE)
		return NULL;
	if (form->access == HOST_WATCH_PORT && addr > 0xffff)
		return "There is no such port";
	if (addr % form->len)
		return form->access == HOST_WATCH_PORT
			   ? "The port is not a multiple of the length"
			   : "The address is not a multiple of the length";
	/* of this process; what lies beyond is the kernel of the computer */
	if (form->access != HOST_WATCH_PORT && (addr < 0x1000 || addr == 0x7ffffffff000))
		return "The address is not the kernel's";
	return NULL;
}

int host_watch_open(const struct host_watch_form *form, struct host_watch **out)
{
	for (unsigned i = 0; i < ARRAY_SIZE(watches); i++) {
		if (watches[i].used)
			continue;
		watches[i] = (struct host_watch){*form, HOST_WATCH_NOWHERE, true};
		*out = &watches[i];
		return 0;
	}
	return -ENOSPC;
}

void host_watch_close(struct host_watch *w)
{
	w->used = false;
}

void host_watch_move(struct host_watch *w, u64 addr)
{
	w->addr = addr;
}

void host_watch_sync(void)
{
}

void machine_watch_hit(const struct machine_regs *regs, u64 value)
{
	for (const struct host_watch *w = watches; w < watches + ARRAY_SIZE(watches); w++) {
		if (!w->used || w->addr == HOST_WATCH_NOWHERE)
			continue;
		host_preempt_disable();
		w->form.fn(w->form.arg, regs, functions[0].addr, w->addr, value);
		host_preempt_enable();
	}
}

static const char *const registers[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "r8",
    "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cs", "ss", "flags", "orig_ax"};

int host_reg_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(registers); i++)
		if (!strcmp(registers[i], name))
			return i * 8;
	return -EINVAL;
}

bool host_path_member(char letter, const char **structure, const char **member)
{
	*structure = letter == 'D' ? "thing" : "no_such_struct";
	*member = "name";
	return true;
}

const char *host_stack_register(void)
{
	return "sp";
}

const char *host_return_register(void)
{
	return "ax";
}

int host_arg_place(unsigned n)
{
	static const char *const names[] = {"di", "si", "dx", "cx", "r8", "r9"};

	return n < ARRAY_SIZE(names) ? host_reg_find(names[n])
				     : -1 - (int)(n - ARRAY_SIZE(names) + 1);
}

bool host_reg_is_argument(u32 at)
{
	for (unsigned n = 0; n < 6; n++)
		if (host_arg_place(n) == (int)at)
			return true;
	return false;
}

void host_context_probed(struct host_context *ctx, const void *regs)
{
	(void)regs;
	host_context(ctx);
}
