/* Lines from the console. Plain: bytes up to a newline, checked, nothing echoed. Task context. */
#include "kernel/shell/input.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/editor.h"

struct sh_input {
	struct shell *sh;
	struct sh_editor *editor; /* NULL: plain */
	char line[SH_LINE_MAX + 1];
};

struct sh_input *sh_input_new(struct shell *sh, bool plain)
{
	struct sh_input *in = kzalloc(sizeof(*in));

	if (!in)
		return NULL;
	in->sh = sh;
	if (!plain && !(in->editor = sh_editor_new(sh))) {
		kfree(in);
		return NULL;
	}
	return in;
}

void sh_input_free(struct sh_input *in)
{
	if (in && in->editor)
		sh_editor_free(in->editor);
	kfree(in);
}

/* Bytes of the UTF-8 character at s (n left); 0: it is none. Overlong forms and surrogates are none either. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t len = *s < 0x80		       ? 1
		     : *s >= 0xc2 && *s < 0xe0 ? 2
		     : *s >= 0xe0 && *s < 0xf0 ? 3
		     : *s >= 0xf0 && *s < 0xf5 ? 4
					       : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90))
		return 0;
	return len;
}

/* Noise must not be half understood: a line is text as a whole or nothing is run. */
bool sh_is_text(const char *line, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		unsigned char c = line[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
		len = utf8_length((const unsigned char *)line + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

/* Reads up to the newline; *len counts all bytes, also those that did not fit. */
static enum sh_line read_line(struct sh_input *in, size_t *len)
{
	for (*len = 0;;) {
		int c = os_getc();

		if (c == -EINTR || c == 3)
			return SH_LINE_DROPPED;
		if (c < 0)
			return SH_LINE_END;
		if (c == '\n' || c == '\r')
			return SH_LINE;
		if (c == 4 && !*len)
			return SH_LINE_END;
		if (!c)
			continue;
		if (*len < SH_LINE_MAX)
			in->line[*len] = c;
		++*len;
	}
}

static enum sh_line plain_line(struct sh_input *in, struct sh_buf *text)
{
	size_t len;
	enum sh_line r = read_line(in, &len);

	if (r != SH_LINE)
		return r;
	if (len > SH_LINE_MAX) {
		sh_error(in->sh, "line too long (%zu characters, at most %d)", len, SH_LINE_MAX);
		return SH_LINE_REFUSED;
	}
	if (!sh_is_text(in->line, len)) {
		sh_error(in->sh, "line is not text");
		return SH_LINE_REFUSED;
	}
	sh_buf_put(text, in->line, len);
	sh_buf_putc(text, '\n');
	return SH_LINE;
}

enum sh_line sh_input_line(struct sh_input *in, struct sh_buf *text, bool more)
{
	return in->editor ? sh_editor_line(in->editor, text, more) : plain_line(in, text);
}
