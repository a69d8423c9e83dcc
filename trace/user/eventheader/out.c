/*
 * Objects, arrays and names of a decoded event, as text of a trace line or as JSON. Pure: any
 * context.
 */
#include "kernel/lib/string.h"
#include "trace/user/eventheader/priv.h"

static void put_separator(struct eh_out *o, char text)
{
	if (!o->first)
		seq_putc(o->s, o->json ? ',' : text);
	o->first = false;
}

void eh_out_quote(struct eh_out *o)
{
	if (o->json)
		seq_putc(o->s, '"');
}

void eh_out_member(struct eh_out *o, const char *name, u32 len, u32 number, u16 tag)
{
	put_separator(o, ' ');
	eh_out_quote(o);
	eh_utf8_put(o->s, name, len);
	if (number) {
		seq_putc(o->s, '#');
		seq_dec(o->s, number, 1, ' ');
	}
	if (tag) {
		seq_puts(o->s, ";tag=0x");
		seq_hex(o->s, tag, 1);
	}
	eh_out_quote(o);
	seq_putc(o->s, o->json ? ':' : '=');
}

void eh_out_key(struct eh_out *o, const char *name)
{
	eh_out_member(o, name, strlen(name), 0, 0);
}

void eh_out_element(struct eh_out *o)
{
	put_separator(o, ',');
}

void eh_out_open(struct eh_out *o, bool is_array)
{
	seq_putc(o->s, o->json && is_array ? '[' : '{');
	o->first = true;
}

void eh_out_close(struct eh_out *o, bool is_array)
{
	seq_putc(o->s, o->json && is_array ? ']' : '}');
	o->first = false;
}
