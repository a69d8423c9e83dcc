/* See ports.h. Instructions: Intel SDM volume 2, IN, OUT, OUTS, CLI, STI. */
#include "tests/host/ports.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { PADDING = 0x2e, OPERAND_16 = 0x66, REP = 0xf3, OUTSB = 0x6e, CLI = 0xfa, STI = 0xfb };
enum { IN_IMM8 = 0xe4, OUT_IMM8 = 0xe6, IN_DX = 0xec, OUT_DX = 0xee }; /* the next of each: wide */

static const struct port_device *there;
static unsigned there_count;
static struct sigaction before;

static const struct port_device *device_of(u16 port)
{
	for (unsigned i = 0; i < there_count; i++)
		if (port >= there[i].first && port <= there[i].last)
			return &there[i];
	return NULL;
}

static u32 port_in(u16 port, unsigned bytes)
{
	const struct port_device *d = device_of(port);

	return d && d->in ? d->in(port, bytes) : ~0u;
}

static void port_out(u16 port, unsigned bytes, u32 v)
{
	const struct port_device *d = device_of(port);

	if (d && d->out)
		d->out(port, bytes, bytes == 4 ? v : v & ((1u << 8 * bytes) - 1));
}

/* Interrupts are the machine's, not the host's: turning them off and on does nothing. */
static unsigned emulate_toggle(const u8 *p)
{
	unsigned n = 0;

	while (p[n] == PADDING)
		n++;
	return p[n] == CLI || p[n] == STI ? n + 1 : 0;
}

/* Does what the instruction at `p` would; how many bytes it has, 0: it is no such one. */
static unsigned emulate(const u8 *p, greg_t *r)
{
	unsigned prefix = *p == OPERAND_16, op = p[prefix], bytes = !(op & 1) ? 1 : prefix ? 2 : 4;
	bool by_dx = op & 8;
	u16 port = by_dx ? r[REG_RDX] : p[prefix + 1];
	u64 mask = bytes == 4 ? ~0ull : (1ull << 8 * bytes) - 1;

	if (*p == REP && p[1] == OUTSB) {
		for (; r[REG_RCX]; r[REG_RCX]--)
			port_out(r[REG_RDX], 1, *(const u8 *)r[REG_RSI]++);
		return 2;
	}
	switch (op & ~1u) {
	case IN_IMM8:
	case IN_DX:
		r[REG_RAX] = (bytes == 4 ? 0 : r[REG_RAX] & ~mask) | (port_in(port, bytes) & mask);
		break;
	case OUT_IMM8:
	case OUT_DX:
		port_out(port, bytes, r[REG_RAX]);
		break;
	default:
		return emulate_toggle(p);
	}
	return prefix + (by_dx ? 1 : 2);
}

static void fault(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned n = emulate((const u8 *)r[REG_RIP], r);

	(void)info;
	r[REG_RIP] += n;
	if (!n)
		sigaction(sig, &before, NULL); /* it faults again, and nobody hides it */
}

void ports_begin(const struct port_device *devices, unsigned count)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = fault;
	a.sa_flags = SA_SIGINFO;
	there = devices;
	there_count = count;
	sigaction(SIGSEGV, &a, &before);
}

void ports_end(void)
{
	sigaction(SIGSEGV, &before, NULL);
	there_count = 0;
}
