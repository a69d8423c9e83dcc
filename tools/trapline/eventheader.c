/* EventHeader events in a trace (docs/eventheader.md): told by name and first field, shown by the kernel's own decoder. */
#include <string.h>

#include "tools/trapline/convert.h"
#include "trace/eventheader.h"

#define TEXT_MAX (1u << 20)

/* The tracepoint's name, without what the kernel puts behind that of a multi-format event: ".N", in hex. */
static void plain_name(const char *name, char out[EVENTHEADER_NAME_MAX])
{
	char *dot;

	strcpy(out, name);
	dot = strrchr(out, '.');
	if (dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789abcdef")])
		*dot = '\0';
}

bool put_eventheader(FILE *out, const struct record *r)
{
	static char text[TEXT_MAX];
	const struct event *ev = r->event;
	char name[EVENTHEADER_NAME_MAX];
	struct eh_name parts;
	struct seq s;

	if (ev->fields <= ev->commons || strcmp(ev->field[ev->commons].name, "eventheader_flags") ||
	    ev->field[ev->commons].offset > r->size || strlen(ev->name) >= sizeof(name))
		return false;
	plain_name(ev->name, name);
	if (!eh_name_parse(name, &parts))
		return false;
	uint32_t offset = ev->field[ev->commons].offset;
	struct eh_record rec = {name, r->data + offset, r->size - offset, .slack = 3};
	seq_init(&s, text, sizeof(text));
	eh_print_text(&s, &rec);
	putc(' ', out);
	fwrite(text, 1, s.len, out);
	return true;
}
