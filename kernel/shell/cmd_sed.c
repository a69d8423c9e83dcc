/* sed: edits lines by a script: s p d q n N D P = y a i c g G h H x b t : { }. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/sed.h"

#define STEPS_MAX 1000000 /* commands for one line: a loop of branches ends there */

struct sed_input {
	struct sed *s;
	char **files;
	int count, at, bad;
	struct sh_reader r;
	struct file *f;
	bool open;
};

static void close_input(struct sed_input *in)
{
	if (!in->open)
		return;
	if (in->r.error && in->r.error != -EINTR)
		in->bad = sh_fail_errno(in->s->io, in->r.error, "read error");
	sh_reader_free(&in->r);
	if (in->f != in->s->io->in)
		file_put(in->f);
	in->open = false;
}

static bool open_input(struct sed_input *in)
{
	struct sh_io *io = in->s->io;

	while (in->at < in->count) {
		const char *name = in->files[in->at++];
		int e = 0;

		if (!strcmp(name, "-"))
			in->f = io->in;
		else
			e = file_open(name, O_RDONLY, 0, &in->f);
		if (e) {
			in->bad = sh_fail_errno(io, e, "%s", name);
			continue;
		}
		in->open = true;
		if (!sh_reader_init(&in->r, io, in->f))
			return true;
		close_input(in);
	}
	return false;
}

/* Reads one line ahead, so that $ is known. */
static void read_ahead(struct sed_input *in)
{
	struct sed *s = in->s;

	s->has_next = false;
	while (in->open || open_input(in)) {
		if (sh_getline(&in->r, &s->next_line)) {
			s->has_next = true;
			return;
		}
		close_input(in);
	}
}

/* The next line to the end of the pattern space; false: there is none. */
static bool next_line(struct sed_input *in)
{
	struct sed *s = in->s;

	if (!s->has_next || os_interrupted())
		return false;
	s->line++;
	s->without_newline = s->next_line.s[s->next_line.len - 1] != '\n';
	sh_buf_put(&s->space, s->next_line.s, s->next_line.len - !s->without_newline);
	read_ahead(in);
	return true;
}

static bool address_matches(struct sed *s, const struct sed_address *a)
{
	switch (a->kind) {
	case SED_LINE:
		return s->line == a->line;
	case SED_LAST:
		return !s->has_next;
	case SED_STEP:
		return a->step ? s->line >= a->line && (s->line - a->line) % a->step == 0
			       : s->line == a->line;
	case SED_REGEX:
		return sh_regex_match(a->re, sh_buf_str(&s->space), s->space.len, 0, NULL);
	default:
		return true;
	}
}

static bool in_range(struct sed *s, struct sed_command *c)
{
	bool numbered = c->b.kind == SED_LINE || c->b.kind == SED_PLUS;

	if (!c->in_range) {
		if (!address_matches(s, &c->a))
			return false;
		c->range_end = c->b.line + (c->b.kind == SED_PLUS ? s->line : 0);
		c->in_range = !numbered || c->range_end > s->line;
		return true;
	}
	if (numbered ? s->line >= c->range_end : address_matches(s, &c->b))
		c->in_range = false;
	return !numbered || s->line <= c->range_end;
}

static bool selected(struct sed *s, struct sed_command *c)
{
	bool yes = c->b.kind ? in_range(s, c) : address_matches(s, &c->a);

	return yes != c->negate;
}

/* Whatever comes behind a line that had no newline gives it one. */
static void end_line(struct sed *s)
{
	if (s->unended)
		sh_putc(s->io, '\n');
	s->unended = false;
}

static void put_text(struct sed *s, const char *text, size_t n)
{
	if (n)
		end_line(s);
	sh_put(s->io, text, n);
}

/* The pattern space or its first line: ends as the line that was read. */
static void print(struct sed *s, const char *text, size_t n)
{
	end_line(s);
	sh_put(s->io, text, n);
	s->unended = s->without_newline;
	if (!s->unended)
		sh_putc(s->io, '\n');
}

/* The replacement for one match: & \1..\9 \n \t. */
static void put_replacement(struct sed *s, const char *text, const struct sh_match *m)
{
	for (; *text; text++) {
		int group = -1;

		if (*text == '&') {
			group = 0;
		} else if (*text == '\\' && text[1]) {
			text++;
			if (is_digit(*text))
				group = *text - '0';
			else
				sh_buf_putc(&s->out, *text == 'n'   ? '\n'
						     : *text == 't' ? '\t'
								    : *text);
		} else {
			sh_buf_putc(&s->out, *text);
		}
		if (group >= 0 && m->from[group] >= 0)
			sh_buf_put(
			    &s->out, s->space.s + m->from[group], m->to[group] - m->from[group]);
	}
}

/* Replaces; false if nothing matched. */
static bool substitute(struct sed *s, const struct sed_command *c)
{
	size_t at = 0, done = 0, n = s->space.len;
	u64 count = 0, nth = c->nth ? c->nth : 1;
	struct sh_buf swap;
	struct sh_match m;
	bool any = false;

	s->out.len = 0;
	sh_buf_str(&s->space);
	while (at <= n && sh_regex_match(c->re, s->space.s, n, at, &m)) {
		bool empty = m.to[0] == m.from[0];

		if (empty && m.from[0] == (ssize)done && done &&
		    count) { /* right behind a match: none of its own */
			at = done + 1;
			continue;
		}
		if (++count >= nth && (c->global || count == nth)) {
			sh_buf_put(&s->out, s->space.s + done, m.from[0] - done);
			put_replacement(s, c->text, &m);
			done = m.to[0];
			any = true;
			if (!c->global)
				break;
		}
		at = m.to[0] + empty;
	}
	if (!any)
		return false;
	sh_buf_put(&s->out, s->space.s + done, n - done);
	swap = s->space;
	s->space = s->out;
	s->out = swap;
	return true;
}

static void translate(struct sed *s, const struct sed_command *c)
{
	for (size_t i = 0; i < s->space.len; i++) {
		const char *at = s->space.s[i] ? strchr(c->text, s->space.s[i]) : NULL;

		if (at)
			s->space.s[i] = c->to[at - c->text];
	}
}

static void copy(struct sh_buf *to, const struct sh_buf *from, bool append)
{
	if (append)
		sh_buf_putc(to, '\n');
	else
		to->len = 0;
	sh_buf_put(to, from->s, from->len);
}

static void exchange(struct sed *s)
{
	struct sh_buf swap = s->space;

	s->space = s->hold;
	s->hold = swap;
}

static void end_cycle(struct sed *s)
{
	if (!s->quiet)
		print(s, s->space.s, s->space.len);
	put_text(s, s->append.s, s->append.len);
	s->append.len = 0;
}

/* What a command asks for next. */
enum outcome { GO_ON, NEXT_CYCLE, NEXT_CYCLE_SILENT, RESTART };

/* n and N: false: no more input, the script ends. */
static bool take_line(struct sed_input *in, bool append)
{
	struct sed *s = in->s;

	if (!s->has_next) {
		s->quit = true;
		return false;
	}
	if (append) {
		sh_buf_putc(&s->space, '\n');
	} else {
		end_cycle(s);
		s->space.len = 0;
	}
	return next_line(in);
}

/* P: up to the first newline. */
static void print_first(struct sed *s)
{
	const char *nl = memchr(sh_buf_str(&s->space), '\n', s->space.len);

	print(s, s->space.s, nl ? (size_t)(nl - s->space.s) : s->space.len);
}

/* D: what stands before the first newline goes; the script begins anew without reading. */
static enum outcome delete_first(struct sed *s)
{
	char *nl = memchr(sh_buf_str(&s->space), '\n', s->space.len);
	size_t n;

	if (!nl)
		return NEXT_CYCLE_SILENT;
	n = nl + 1 - s->space.s;
	memmove(s->space.s, nl + 1, s->space.len - n);
	s->space.len -= n;
	return RESTART;
}

static enum outcome change(struct sed *s, const struct sed_command *c)
{
	if (!c->b.kind || !c->in_range)
		put_text(s, c->text, strlen(c->text));
	return NEXT_CYCLE_SILENT;
}

static enum outcome edit(struct sed_input *in, struct sed_command *c, bool *replaced)
{
	struct sed *s = in->s;

	switch (c->name) {
	case 's':
		if (substitute(s, c)) {
			*replaced = true;
			if (c->print)
				print(s, s->space.s, s->space.len);
		}
		break;
	case 'p':
		print(s, s->space.s, s->space.len);
		break;
	case 'P':
		print_first(s);
		break;
	case 'd':
		return NEXT_CYCLE_SILENT;
	case 'D':
		return delete_first(s);
	case 'q':
		s->quit = true;
		return NEXT_CYCLE;
	case 'n':
	case 'N':
		if (!take_line(in, c->name == 'N'))
			return NEXT_CYCLE;
		break;
	case '=':
		end_line(s);
		sh_printf(s->io, "%llu\n", (unsigned long long)s->line);
		break;
	case 'y':
		translate(s, c);
		break;
	case 'a':
		sh_buf_puts(&s->append, c->text);
		break;
	case 'i':
		put_text(s, c->text, strlen(c->text));
		break;
	case 'c':
		return change(s, c);
	case 'g':
	case 'G':
		copy(&s->space, &s->hold, c->name == 'G');
		break;
	case 'h':
	case 'H':
		copy(&s->hold, &s->space, c->name == 'H');
		break;
	case 'x':
		exchange(s);
		break;
	default:
		break;
	}
	return GO_ON;
}

/* The script once over the pattern space. */
static enum outcome cycle(struct sed_input *in)
{
	struct sed *s = in->s;
	struct sed_command *c = s->first;
	bool replaced = false;

	for (unsigned steps = 0; c && steps < STEPS_MAX; steps++) {
		enum outcome r;

		if (!selected(s, c)) {
			c = c->name == '{' ? c->target : c->next;
			continue;
		}
		if (c->name == 'b' || (c->name == 't' && replaced)) {
			replaced &= c->name != 't';
			c = c->target;
			continue;
		}
		r = edit(in, c, &replaced);
		if (r != GO_ON)
			return r;
		c = c->next;
	}
	return NEXT_CYCLE;
}

static void run(struct sed_input *in)
{
	struct sed *s = in->s;
	bool keep = false;

	read_ahead(in);
	while (!s->quit && !s->io->error && (keep || next_line(in))) {
		enum outcome r = cycle(in);

		if (r == NEXT_CYCLE) {
			end_cycle(s);
		} else {
			put_text(s, s->append.s, s->append.len);
			s->append.len = 0;
		}
		keep = r == RESTART;
		if (!keep)
			s->space.len = 0;
	}
	close_input(in);
	if (s->space.failed || s->out.failed || s->hold.failed)
		in->bad = sh_fail(s->io, "out of memory");
}

static int sed(struct sh_io *io, int argc, char **argv, struct sed *s)
{
	static char *input[] = {"-"};
	struct sed_input in = {.s = s};
	bool script = false;
	int i = 1;

	/* -e may come several times: options are taken by hand. */
	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "-n")) {
			s->quiet = true;
		} else if (!strcmp(argv[i], "-E") || !strcmp(argv[i], "-r")) {
			s->extended = true;
		} else if (!strcmp(argv[i], "-ne") || !strcmp(argv[i], "-e")) {
			s->quiet |= argv[i][1] == 'n';
			if (++i == argc)
				return sh_fail(io, "option requires an argument: e");
			script = true;
			if (sed_parse(s, argv[i]))
				return 1;
		} else {
			return sh_fail(io, "unrecognized option: %s", argv[i] + 1);
		}
	}
	if (!script && i == argc)
		return sh_fail(io, "no script");
	if ((!script && sed_parse(s, argv[i++])) || sed_link(s))
		return 1;
	in.files = i < argc ? argv + i : input;
	in.count = i < argc ? argc - i : 1;
	run(&in);
	return in.bad;
}

int sh_cmd_sed(struct sh_io *io, int argc, char **argv)
{
	struct sed *s = kzalloc(sizeof(*s));
	int status;

	if (!s)
		return sh_fail(io, "out of memory");
	s->io = io;
	s->end = &s->first;
	status = sed(io, argc, argv, s);
	sed_free(s);
	kfree(s);
	return status;
}
