/* Parses sed scripts. Task context. */
#include "kernel/lib/string.h"
#include "kernel/shell/sed.h"

struct sed_parser {
	struct sed *s;
	const char *p;
	bool bad;
};

static void complain(struct sed_parser *p, const char *why)
{
	if (!p->bad)
		sh_fail(p->s->io, "%s", why);
	p->bad = true;
}

static void *get(struct sed_parser *p, size_t n)
{
	void *m = sh_zalloc(&p->s->io->sh->tmp, n);

	if (!m)
		complain(p, "out of memory");
	return m;
}

static void blanks(struct sed_parser *p)
{
	p->p += strspn(p->p, " \t");
}

/* Text up to the delimiter, which is skipped; \delimiter becomes the delimiter, \t and \n in brackets what they stand for. */
static char *delimited(struct sed_parser *p, char delimiter, bool newline)
{
	char *out = get(p, strlen(p->p) + 1), *o = out;
	bool bracket = false;

	if (!out)
		return NULL;
	for (; *p->p && (*p->p != delimiter || bracket) && *p->p != '\n'; p->p++) {
		if (*p->p == '[' && !newline)
			bracket = true;
		else if (*p->p == ']')
			bracket = false;
		if (*p->p == '\\' && p->p[1] && !bracket) {
			p->p++;
			if (*p->p == '\n' || (*p->p == delimiter)) {
				*o++ = *p->p;
				continue;
			}
			*o++ = '\\';
		}
		if (bracket && *p->p == '\\' && (p->p[1] == 't' || p->p[1] == 'n'))
			*o++ = *++p->p == 't' ? '\t' : '\n';
		else
			*o++ = *p->p;
	}
	*o = 0;
	if (*p->p != delimiter) {
		complain(p, "unterminated expression");
		return NULL;
	}
	p->p++;
	return out;
}

static struct sh_regex *regex(struct sed_parser *p, const char *text, bool icase)
{
	unsigned flags = (p->s->extended ? SH_REGEX_EXTENDED : 0) | (icase ? SH_REGEX_ICASE : 0);
	const char *error;
	struct sh_regex *re = text ? sh_regex_new(text, flags, &error) : NULL;

	if (text && !re)
		complain(p, error);
	return re;
}

/* +N: so many lines behind the first. False: it is not that. */
static bool plus_address(struct sed_parser *p, struct sed_address *a)
{
	if (*p->p != '+' || !is_digit(p->p[1]))
		return false;
	a->kind = SED_PLUS;
	a->line = parse_digits(p->p + 1, &p->p, 10);
	return true;
}

/* False: no address here. */
static bool address(struct sed_parser *p, struct sed_address *a)
{
	if (is_digit(*p->p)) {
		a->kind = SED_LINE;
		a->line = parse_digits(p->p, &p->p, 10);
		if (*p->p == '~') {
			p->p++;
			a->kind = SED_STEP;
			a->step = parse_digits(p->p, &p->p, 10);
		}
	} else if (*p->p == '$') {
		a->kind = SED_LAST;
		p->p++;
	} else if (*p->p == '/' || (*p->p == '\\' && p->p[1])) {
		char delimiter = *p->p == '/' ? '/' : *++p->p;

		p->p++;
		a->kind = SED_REGEX;
		a->re = regex(p, delimited(p, delimiter, false), false);
	} else {
		return false;
	}
	return true;
}

static void substitute(struct sed_parser *p, struct sed_command *c)
{
	char delimiter = *p->p, *pattern;
	bool icase = false;

	if (!delimiter || delimiter == '\n' || delimiter == '\\') {
		complain(p, "bad delimiter of s");
		return;
	}
	p->p++;
	pattern = delimited(p, delimiter, false);
	c->text = pattern ? delimited(p, delimiter, true) : NULL;
	for (; *p->p && !strchr(" \t;}\n", *p->p); p->p++) {
		if (*p->p == 'g')
			c->global = true;
		else if (*p->p == 'p')
			c->print = true;
		else if (*p->p == 'i' || *p->p == 'I')
			icase = true;
		else if (is_digit(*p->p))
			c->nth = c->nth * 10 + *p->p - '0';
		else
			complain(p, "unknown option to s");
	}
	c->re = c->text ? regex(p, pattern, icase) : NULL;
}

/* y/abc/xyz/ with \\ and \n. */
static char *characters(char *s)
{
	char *o = s;

	for (char *i = s; *i; i++) {
		if (*i == '\\' && i[1])
			*o++ = *++i == 'n' ? '\n' : *i;
		else
			*o++ = *i;
	}
	*o = 0;
	return s;
}

static void translate(struct sed_parser *p, struct sed_command *c)
{
	char delimiter = *p->p ? *p->p++ : '/';

	c->text = delimited(p, delimiter, true);
	c->to = c->text ? delimited(p, delimiter, true) : NULL;
	if (c->to && strlen(characters(c->text)) != strlen(characters(c->to)))
		complain(p, "strings for y have different lengths");
}

/* a i c: the rest of the line, or the lines behind a\ */
static void text_argument(struct sed_parser *p, struct sed_command *c)
{
	char *o;

	blanks(p);
	if (p->p[0] == '\\' && p->p[1] == '\n')
		p->p += 2;
	else if (p->p[0] == '\\')
		p->p++;
	o = c->text = get(p, strlen(p->p) + 2);
	if (!o)
		return;
	for (; *p->p && *p->p != '\n'; p->p++) {
		if (*p->p == '\\' && p->p[1])
			p->p++;
		*o++ = *p->p;
	}
	*o = '\n';
}

static void label(struct sed_parser *p, struct sed_command *c)
{
	size_t n;

	blanks(p);
	n = strcspn(p->p, c->name == ':' ? "\n;" : "\n;} ");
	c->text = sh_strndup(&p->s->io->sh->tmp, p->p, n);
	if (!c->text)
		complain(p, "out of memory");
	p->p += n;
}

static void arguments(struct sed_parser *p, struct sed_command *c)
{
	if (c->name == 's')
		substitute(p, c);
	else if (c->name == 'y')
		translate(p, c);
	else if (strchr("aic", c->name))
		text_argument(p, c);
	else if (strchr(":bt", c->name))
		label(p, c);
	else if (!strchr("{}pdqn=NDPgGhHx", c->name))
		complain(p, "unknown command");
}

static void command(struct sed_parser *p)
{
	struct sed_command *c = get(p, sizeof(*c));

	if (!c)
		return;
	*p->s->end = c;
	p->s->end = &c->next;
	if (address(p, &c->a) && *p->p == ',') {
		p->p++;
		blanks(p);
		if (!p->bad && !plus_address(p, &c->b) && !address(p, &c->b))
			complain(p, "unexpected ','");
	}
	blanks(p);
	if (*p->p == '!') {
		c->negate = true;
		p->p++;
		blanks(p);
	}
	if (p->bad)
		return;
	c->name = *p->p;
	if (!c->name) {
		complain(p, "missing command");
		return;
	}
	p->p++;
	arguments(p, c);
	blanks(p);
	if (!p->bad && *p->p && !strchr(";\n}", *p->p) && !strchr("{}", c->name))
		complain(p, "extra characters after command");
}

int sed_parse(struct sed *s, const char *script)
{
	struct sed_parser p = {.s = s, .p = script};

	while (!p.bad) {
		p.p += strspn(p.p, " \t\n;");
		if (*p.p == '#') {
			p.p += strcspn(p.p, "\n");
			continue;
		}
		if (!*p.p)
			break;
		command(&p);
	}
	return p.bad;
}

/* Behind the } that closes the block opened by `from`; *closed: there is one. */
static struct sed_command *block_end(struct sed_command *from, bool *closed)
{
	int depth = 0;

	for (struct sed_command *c = from; c; c = c->next) {
		depth += c->name == '{';
		depth -= c->name == '}';
		if (!depth) {
			*closed = true;
			return c->next;
		}
	}
	*closed = false;
	return NULL;
}

static bool find_label(struct sed *s, struct sed_command *c)
{
	c->target = NULL;
	if (!*c->text)
		return true;
	for (struct sed_command *l = s->first; l; l = l->next) {
		if (l->name == ':' && !strcmp(l->text, c->text)) {
			c->target = l;
			return true;
		}
	}
	return false;
}

int sed_link(struct sed *s)
{
	int depth = 0;
	bool closed;

	for (struct sed_command *c = s->first; c; c = c->next) {
		depth += c->name == '{';
		depth -= c->name == '}';
		if (depth < 0)
			return sh_fail(s->io, "unexpected }");
		if (c->name == '{') {
			c->target = block_end(c, &closed);
			if (!closed)
				return sh_fail(s->io, "unmatched {");
		}
		if ((c->name == 'b' || c->name == 't') && !find_label(s, c))
			return sh_fail(s->io, "can't find label '%s'", c->text);
	}
	return 0;
}

void sed_free(struct sed *s)
{
	for (struct sed_command *c = s->first; c; c = c->next) {
		sh_regex_free(c->a.re);
		sh_regex_free(c->b.re);
		sh_regex_free(c->re);
	}
	sh_buf_free(&s->space);
	sh_buf_free(&s->hold);
	sh_buf_free(&s->out);
	sh_buf_free(&s->append);
	sh_buf_free(&s->next_line);
}
