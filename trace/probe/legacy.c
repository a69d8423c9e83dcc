/*
 * Legacy arguments of probes, from the document of 2009: aN, sN, sa, rv, ra, and memory that they
 * point at. An event is of this language when one of its arguments is such a word and none has a
 * character that is only today's. Task context; nothing but the probe's own memory changes.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"
#include "trace/types/types.h"

/* aN, sN, sa, rv, ra. */
static bool probe_is_legacy_word(const char *text, size_t n)
{
	if (n == 2 &&
	    (!strncmp(text, "sa", 2) || !strncmp(text, "rv", 2) || !strncmp(text, "ra", 2)))
		return true;
	if (n < 2 || (*text != 'a' && *text != 's'))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!is_digit(text[i]))
			return false;
	return true;
}

/* The innermost of nested parentheses. */
static const char *innermost(const char *text, size_t *n)
{
	const char *open = strrchr(text, '(');

	if (open)
		text = open + 1;
	*n = strcspn(text, ")");
	return text;
}

bool probe_is_legacy(const struct probe_words *w, u32 proto)
{
	bool any = false;

	for (u32 i = 2; i < w->n; i++) {
		size_t n;
		u32 type;
		const char *in = innermost(w->word[i], &n);
		if (w->word[i][strcspn(w->word[i], "=:$\\")])
			return false;
		any |= probe_is_legacy_word(in, n) && types_param_find(proto, in, n, &type) < 0;
	}
	return any;
}

/* The old words in today's: what replaces the innermost. */
static int old_body(struct probe_parse *p, struct probe_fetch *f, const char *word)
{
	if (!strcmp(word, "sa")) {
		f->source = PROBE_FROM_SP;
		return 0;
	}
	if (!strcmp(word, "rv") || !strcmp(word, "ra")) {
		if (!p->is_return)
			return probe_parse_fail(p, p->pos, "$retval is not available on probe");
		if (word[1] == 'a')
			f->source = PROBE_FROM_RET;
		else
			probe_from_reg(f, host_reg_find(host_return_register()));
		return 0;
	}
	if (*word == 's')
		return probe_parse_stack(p, f, word + 1);
	u64 n;
	char number[24];
	if (parse_u64(word + 1, 10, &n) || n > PROBE_STACK_MAX)
		return probe_parse_fail(p, p->pos, "Invalid argument number");
	fmt_snprintf(number, sizeof(number), "%llu", (unsigned long long)n + 1);
	return probe_parse_argument_number(p, f, number);
}

/*
 * Steps outwards again: the innermost word is parsed, each pair of parentheses around it is one
 * more.
 */
static int probe_parse_legacy_nested(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	bool is_text = false;
	char *open = strchr(text, '('), *close;
	s64 offset;

	if (!open || (*text != '+' && *text != '-'))
		return probe_is_legacy_word(text, strlen(text))
			   ? old_body(p, f, text)
			   : probe_parse_body(p, f, text, &is_text);
	*open = '\0';
	if (parse_s64(text + (*text == '+'), 0, &offset))
		return probe_parse_fail(p, p->pos, "Invalid dereference offset");
	close = strrchr(open + 1, ')');
	if (!close || close[1])
		return probe_parse_fail(
		    p, p->pos + strlen(text) + 1, "Dereference brace is not closed");
	*close = '\0';
	p->pos += open + 1 - text;
	int err = probe_parse_legacy_nested(p, f, open + 1);
	if (!err && f->derefs == PROBE_DEREFS_MAX)
		err = probe_parse_fail(p, p->pos, "Dereference is too much nested");
	if (!err)
		f->deref[f->derefs++] = offset;
	return err;
}

int probe_parse_legacy_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p)
{
	struct probe_arg *arg = &tp->args[i];
	char copy[PROBE_ARG_TEXT_MAX + 1];
	size_t n = strlen(text);

	p->tp = tp;
	p->pos = 0;
	if (n > PROBE_ARG_TEXT_MAX)
		return probe_parse_fail(p, 0, "Argument expression is too long");
	arg->name = arg->body = probe_parse_keep(p->arena, text, n);
	if (!arg->name)
		return -ENOMEM;
	arg->type = probe_type_find("x64");
	arg->field_type = arg->type->field;
	memcpy(copy, text, n + 1);
	return probe_parse_legacy_nested(p, &arg->fetch, copy);
}
