/* The arguments of futex, as strace shows them: which there are depends on the operation. */
#include "tools/trapline/strace/strace.h"

#include <inttypes.h>

enum {
	OP_WAIT,
	OP_WAKE_OP = 5,
	OP_WAIT_BITSET = 9,
	OP_WAIT_REQUEUE_PI = 11,
	OP_NUMBER = 0x7f,
	OP_PRIVATE = 0x80,
	OP_REALTIME = 0x100
};

/* What an operation has besides the address. */
enum { VALUE = 1, TIMEOUT = 2, COUNT = 4, SECOND = 8, THIRD = 16, MASK = 32 };

static const uint8_t operations[] = {VALUE | TIMEOUT, VALUE, VALUE, VALUE | COUNT | SECOND,
    VALUE | COUNT | SECOND | THIRD, VALUE | COUNT | SECOND | THIRD, TIMEOUT, 0, 0,
    VALUE | TIMEOUT | MASK, VALUE | MASK, VALUE | TIMEOUT | SECOND, VALUE | COUNT | SECOND | THIRD,
    TIMEOUT};

static uint32_t operation(const struct strace_call *c)
{
	return c->arg[1] & OP_NUMBER;
}

static bool is_known(const struct strace_call *c)
{
	return operation(c) < sizeof(operations);
}

static bool has(const struct strace_call *c, unsigned what)
{
	return is_known(c) && operations[operation(c)] & what;
}

/* Operations that wait without a time of CLOCK_REALTIME have no name with it. */
void strace_put_futex_operation(struct strace_put *p, uint64_t value)
{
	uint32_t op = operation(p->call);
	bool realtime = value & OP_REALTIME;

	if (!is_known(p->call) || (uint32_t)value & ~(OP_NUMBER | OP_PRIVATE | OP_REALTIME) ||
	    (realtime && op != OP_WAIT && op != OP_WAIT_BITSET && op != OP_WAIT_REQUEUE_PI)) {
		fprintf(p->out, "%#x /* FUTEX_??? */", (uint32_t)value);
		return;
	}
	strace_put_value(p->out, &strace_futex_operations, op);
	fputs(value & OP_PRIVATE ? "_PRIVATE" : "", p->out);
	fputs(realtime ? "|FUTEX_CLOCK_REALTIME" : "", p->out);
}

void strace_put_futex_value(struct strace_put *p, uint64_t value)
{
	if (has(p->call, VALUE) || !is_known(p->call))
		fprintf(p->out, "%u", (uint32_t)value);
}

void strace_put_futex_timeout(struct strace_put *p, uint64_t value)
{
	if (has(p->call, TIMEOUT))
		strace_put_timespec(p, value);
	else if (has(p->call, COUNT))
		fprintf(p->out, "%u", (uint32_t)value);
	else if (!is_known(p->call))
		strace_put_address(p, value);
}

void strace_put_futex_second(struct strace_put *p, uint64_t value)
{
	if (has(p->call, SECOND) || !is_known(p->call))
		strace_put_address(p, value);
}

static void put_number(FILE *out, uint32_t n)
{
	fprintf(out, n ? "%#x" : "0", n);
}

static void put_shifted(FILE *out, const struct strace_names *names, uint32_t value, int shift)
{
	const char *name = strace_name(names, value);

	if (name)
		fprintf(out, "%s<<%d", name, shift);
	else
		fprintf(out, "%#x<<%d /* %s */", value, shift, names->unknown);
}

/* What FUTEX_WAKE_OP does with the second word, and what it compares with what was there. */
static void put_instruction(FILE *out, uint32_t code)
{
	fputs(code >> 31 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "", out);
	put_shifted(out, &strace_futex_changes, code >> 28 & 7, 28);
	putc('|', out);
	put_number(out, code >> 12 & 0xfff);
	fputs("<<12|", out);
	put_shifted(out, &strace_futex_comparisons, code >> 24 & 15, 24);
	putc('|', out);
	put_number(out, code & 0xfff);
}

void strace_put_futex_third(struct strace_put *p, uint64_t value)
{
	if (operation(p->call) == OP_WAKE_OP)
		put_instruction(p->out, value);
	else if (has(p->call, THIRD))
		fprintf(p->out, "%u", (uint32_t)value);
	else if (has(p->call, MASK) && (uint32_t)value == UINT32_MAX)
		fputs("FUTEX_BITSET_MATCH_ANY", p->out);
	else if (has(p->call, MASK) || !is_known(p->call))
		put_number(p->out, value);
}
