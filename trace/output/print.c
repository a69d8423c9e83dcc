/*
 * Shared by print functions: names of flags and symbols, strings inside records, addresses as
 * symbols, hashed pointers.
 */
#include "trace/output/print.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "trace/event/options.h"
#include "trace/event/parts.h"
#include "trace/host_clock.h"
#include "trace/host_symbol.h"

/* ---- strings made on the way: each lies in out->tmp after the last, with a NUL ---- */

static const char *tmp_start(struct trace_out *out)
{
	return out->tmp.buf + out->tmp.len;
}

static const char *tmp_end(struct trace_out *out, const char *start)
{
	seq_putc(&out->tmp, '\0');
	return start;
}

/*
 * The last byte is kept out of the seq and stays NUL: what begins in a full buffer is an empty
 * string.
 */
void trace_out_init(struct trace_out *out, struct seq *seq, u64 options)
{
	out->seq = seq;
	out->options = options;
	out->symbols = NULL;
	out->past = NULL;
	out->line = NULL;
	out->tmp_buf[sizeof(out->tmp_buf) - 1] = '\0';
	seq_init(&out->tmp, out->tmp_buf, sizeof(out->tmp_buf) - 1);
}

const char *trace_flags_text(
    struct trace_out *out, u64 value, const char *delim, const struct trace_name *names)
{
	const char *start = tmp_start(out);
	bool first = true;

	for (; names->text && value; names++) {
		if ((value & names->value) != names->value)
			continue;
		value &= ~names->value;
		if (!first)
			seq_puts(&out->tmp, delim);
		seq_puts(&out->tmp, names->text);
		first = false;
	}
	if (value)
		seq_printf(&out->tmp, "%s0x%lx", first ? "" : delim, value);
	return tmp_end(out, start);
}

const char *trace_symbol_text(struct trace_out *out, u64 value, const struct trace_name *names)
{
	for (; names->text; names++)
		if (names->value == value)
			return names->text;
	const char *start = tmp_start(out);
	seq_printf(&out->tmp, "0x%lx", value);
	return tmp_end(out, start);
}

/* ---- what lies after the fields ---- */

static const void *located(const void *rec, u32 len, u32 loc, u32 *size)
{
	u32 at = loc & 0xffff;

	*size = loc >> 16;
	if (at >= len || *size > len - at)
		return NULL;
	return (const char *)rec + at;
}

const char *trace_get_str(const void *rec, u32 len, u32 loc)
{
	u32 size;
	const char *str = located(rec, len, loc, &size);

	return str && size && !str[size - 1] ? str : "";
}

/* As Linux shows a mask: words of 32 bits, the highest first. */
const char *trace_get_mask(struct trace_out *out, const void *rec, u32 len, u32 loc)
{
	u32 size;
	const u32 *words = located(rec, len, loc, &size);
	const char *start = tmp_start(out);

	for (u32 i = words ? size / 4 : 0; i-- > 0;)
		seq_printf(&out->tmp, "%08x%s", words[i], i ? "," : "");
	return tmp_end(out, start);
}

void trace_print_text(struct trace_out *out, ...)
{
	va_list ap;

	va_start(ap, out);
	seq_vprintf(out->seq, out->fmt, ap);
	va_end(ap);
}

/* ---- addresses ---- */

static void trace_print_format_ip(
    struct seq *s, const struct trace_prevboot *past, u64 ip, u64 options)
{
	char name[128];

	if (past)
		trace_prevboot_sym_print(
		    past, name, sizeof(name), ip, options & TRACE_OPT_SYM_OFFSET);
	else
		host_sym_print(name, sizeof(name), ip, options & TRACE_OPT_SYM_OFFSET);
	seq_puts(s, name);
	if (options & TRACE_OPT_SYM_ADDR) {
		seq_puts(s, " <");
		seq_hex(s, ip, 16);
		seq_putc(s, '>');
	}
}

/*
 * A trace names few functions, many times each: the last name found for each hash of an address is
 * kept.
 */
static const struct trace_symbol *find_symbol(const struct trace_out *out, u64 ip)
{
	u64 options = out->options & (TRACE_OPT_SYM_OFFSET | TRACE_OPT_SYM_ADDR);
	struct trace_symbol *sym = &out->symbols->sym[(ip >> 4 ^ ip) % TRACE_SYMBOLS_KEPT];

	if (sym->ip != ip || sym->options != options) {
		struct seq s;
		seq_init(&s, sym->text, sizeof(sym->text));
		trace_print_format_ip(&s, out->past, ip, options);
		sym->ip = ip;
		sym->options = options;
		sym->len = s.len;
	}
	return sym;
}

void trace_print_ip(struct trace_out *out, u64 ip)
{
	if (!ip) {
		seq_putc(out->seq, '0');
	} else if (out->symbols) {
		const struct trace_symbol *sym = find_symbol(out, ip);
		seq_write(out->seq, sym->text, sym->len);
	} else {
		trace_print_format_ip(out->seq, out->past, ip, out->options);
	}
}

/*
 * Mixes with a secret of this boot, so that equal pointers look equal and none tells where it is.
 * 32 bits, as Linux shows.
 */
static u32 hash_pointer(u64 p)
{
	static u64 secret; /* [A] set once: by whoever hashes first, on any CPU */
	u64 mine = host_clock() * 0x9e3779b97f4a7c15UL | 1;

	if (!READ_ONCE(secret))
		atomic_cas(&secret, 0UL, mine);
	p = (p ^ READ_ONCE(secret)) * 0xbf58476d1ce4e5b9UL;
	p = (p ^ p >> 29) * 0x94d049bb133111ebUL;
	return p >> 32;
}

/* The letters after %p that kernel code uses. */
int trace_pointer_text(char *buf, size_t size, char letter, const void *p)
{
	switch (letter) {
	case 'S':
	case 's':
		return host_sym_print(buf, size, (u64)p, letter == 'S');
	case 'H':
		return fmt_snprintf(
		    buf, size, "%016lx", p ? (unsigned long)hash_pointer((u64)p) : 0);
	case 'x':
		return fmt_snprintf(buf, size, "%lx", (unsigned long)p);
	default:
		return -1;
	}
}
