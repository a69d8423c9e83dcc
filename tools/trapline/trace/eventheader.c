/* See eventheader.h. Shown by the kernel's own decoder. */
#include "tools/trapline/trace/eventheader.h"

#include <string.h>

#define TEXT_MAX (1u << 20)

/*
 * The tracepoint's name, without what the kernel puts after that of a multi-format event: ".N", in
 * hex.
 */
static void plain_name(const char *name, char out[EVENTHEADER_NAME_MAX])
{
	char *dot;

	strcpy(out, name);
	dot = strrchr(out, '.');
	if (dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789abcdef")])
		*dot = '\0';
}

bool eventheader_of(const struct record *r, char name[EVENTHEADER_NAME_MAX], struct eh_record *out)
{
	const struct event *ev = r->event;
	struct eh_name parts;

	if (!ev || ev->fields <= ev->commons ||
	    strcmp(ev->field[ev->commons].name, "eventheader_flags") ||
	    ev->field[ev->commons].offset > r->size || strlen(ev->name) >= EVENTHEADER_NAME_MAX)
		return false;
	plain_name(ev->name, name);
	if (!eh_name_parse(name, &parts))
		return false;
	uint32_t offset = ev->field[ev->commons].offset;
	*out = (struct eh_record){name, r->data + offset, r->size - offset, .slack = 3};
	return true;
}

bool put_eventheader(FILE *out, const struct record *r)
{
	static char text[TEXT_MAX];
	char name[EVENTHEADER_NAME_MAX];
	struct eh_record rec;
	struct seq s;

	if (!eventheader_of(r, name, &rec))
		return false;
	seq_init(&s, text, sizeof(text));
	eh_print_text(&s, &rec);
	putc(' ', out);
	fwrite(text, 1, s.len, out);
	return true;
}
