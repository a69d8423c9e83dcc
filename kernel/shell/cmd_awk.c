/* awk as a command: options, files, the rules for every line. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"

static bool rule_applies(struct awk *w, struct awk_rule *r)
{
	struct sh_mark mark = sh_arena_mark(&w->tmp);
	bool yes = true;

	if (r->when == AWK_IF_TRUE) {
		yes = awk_true(awk_eval(w, r->from));
	} else if (r->when == AWK_RANGE) {
		yes = r->inside || awk_true(awk_eval(w, r->from));
		r->inside = yes && !awk_true(awk_eval(w, r->to));
	}
	sh_arena_release(&w->tmp, mark);
	return yes && !w->failed;
}

static enum awk_flow run_body(struct awk *w, struct awk_rule *r)
{
	static const struct awk_node print = {.op = AWK_PRINT};

	return awk_exec(w, r->body ? r->body : &print);
}

/* BEGIN or END. */
static enum awk_flow run_special(struct awk *w, int when)
{
	enum awk_flow flow = AWK_GO;

	for (struct awk_rule *r = w->rules; r && flow != AWK_FLOW_EXIT; r = r->next)
		if ((int)r->when == when)
			flow = run_body(w, r);
	return flow;
}

static enum awk_flow run_line(struct awk *w)
{
	enum awk_flow flow = AWK_GO;

	for (struct awk_rule *r = w->rules; r && flow == AWK_GO; r = r->next) {
		if (r->when < AWK_ALWAYS || !rule_applies(w, r))
			continue;
		flow = run_body(w, r);
	}
	return w->failed ? AWK_FLOW_EXIT : flow;
}

static void count(struct awk *w, struct awk_var *v)
{
	awk_set(w, v, awk_number(sh_dec_add(awk_num(v->value), sh_dec_int(1))));
}

/* Returns 2 when the program wants no more lines. */
static int awk_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct awk *w = ctx;
	struct sh_buf line = {0};
	struct sh_reader r;
	enum awk_flow flow = AWK_GO;

	awk_set(w, w->fnr, awk_int(0));
	awk_set(w, w->filename, awk_string(strcmp(name, "-") ? name : ""));
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory");
	while (flow != AWK_FLOW_EXIT && !io->error && sh_getline(&r, &line)) {
		awk_record(w, line.s, line.len - (line.s[line.len - 1] == '\n'));
		count(w, w->nr);
		count(w, w->fnr);
		flow = run_line(w);
		sh_arena_release(&w->tmp, (struct sh_mark){0});
	}
	sh_buf_free(&line);
	sh_reader_free(&r);
	if (r.error && r.error != -EINTR)
		w->status = sh_fail_errno(io, r.error, "read error");
	return flow == AWK_FLOW_EXIT ? 2 : 0;
}

/* NAME=VALUE, with the escapes of a string. */
static bool set_from_text(struct awk *w, const char *text)
{
	const char *eq = strchr(text, '=');
	struct awk_var *v = eq && eq > text ? awk_var(w, text, eq - text) : NULL;
	char *value = v ? sh_strdup(w->arena, eq + 1) : NULL, *o = value;

	if (!value)
		return false;
	for (char *s = value; *s; s++) {
		if (s[0] == '\\' && (s[1] == 't' || s[1] == 'n' || s[1] == '\\')) {
			s++;
			*o++ = *s == 't' ? '\t' : *s == 'n' ? '\n' : '\\';
		} else {
			*o++ = *s;
		}
	}
	*o = 0;
	awk_set(w, v, awk_input(value));
	return true;
}

static bool make_vars(struct awk *w)
{
	static const struct {
		const char *name;
		size_t place;
		const char *text; /* NULL: 0 */
	} vars[] = {
	    {"NF", offsetof(struct awk, nf), NULL},
	    {"NR", offsetof(struct awk, nr), NULL},
	    {"FNR", offsetof(struct awk, fnr), NULL},
	    {"FS", offsetof(struct awk, fs), " "},
	    {"OFS", offsetof(struct awk, ofs), " "},
	    {"ORS", offsetof(struct awk, ors), "\n"},
	    {"FILENAME", offsetof(struct awk, filename), ""},
	    {"RSTART", offsetof(struct awk, rstart), NULL},
	    {"RLENGTH", offsetof(struct awk, rlength), NULL},
	    {"SUBSEP", offsetof(struct awk, subsep), "\034"},
	};

	w->split_done = true; /* of the empty record */
	for (size_t i = 0; i < ARRAY_SIZE(vars); i++) {
		struct awk_var *v = awk_var(w, vars[i].name, strlen(vars[i].name));

		if (!v)
			return false;
		*(struct awk_var **)((char *)w + vars[i].place) = v;
		awk_store(w, &v->value,
		    vars[i].text ? awk_string(vars[i].text) : awk_number(sh_dec_int(0)));
	}
	return true;
}

/* Files and NAME=VALUE operands in order, until the program has enough. */
static void run_files(struct awk *w, int n, char **files)
{
	static char *input[] = {"-"};
	bool any = false;
	int r = 0;

	for (int i = 0; i < n && r < 2; i++) {
		if (strchr(files[i], '=') && files[i][0] != '/') {
			set_from_text(w, files[i]);
			continue;
		}
		any = true;
		r = sh_each_file(w->io, 1, files + i, awk_file, w);
		if (r == 1)
			w->status = 2;
	}
	if (!any)
		sh_each_file(w->io, 1, input, awk_file, w);
}

static bool reads_input(const struct awk *w)
{
	for (const struct awk_rule *r = w->rules; r; r = r->next)
		if (r->when != AWK_BEGIN)
			return true;
	return false;
}

static int awk(struct awk *w, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		char option = argv[i][1];
		const char *value = argv[i][2] ? argv[i] + 2 : i + 1 < argc ? argv[++i] : NULL;

		if (!value || (option != 'F' && option != 'v'))
			return sh_fail(
				   w->io, "usage: awk [-F C] [-v NAME=VALUE] 'PROGRAM' [FILE]...") +
			       1;
		if (option == 'F')
			awk_set(w, w->fs,
			    awk_string(strcmp(value, "t") && strcmp(value, "\\t") ? value : "\t"));
		else if (!set_from_text(w, value))
			return sh_fail(w->io, "bad assignment '%s'", value) + 1;
	}
	if (i == argc)
		return sh_fail(w->io, "no program") + 1;
	if (awk_parse(w, argv[i++]))
		return 2;
	if (run_special(w, AWK_BEGIN) != AWK_FLOW_EXIT && reads_input(w))
		run_files(w, argc - i, argv + i);
	if (!w->failed)
		run_special(w, AWK_END);
	return w->status;
}

int sh_cmd_awk(struct sh_io *io, int argc, char **argv)
{
	struct awk *w = kzalloc(sizeof(*w));
	int status = 2;

	if (!w)
		return sh_fail(io, "out of memory") + 1;
	w->io = io;
	w->arena = &io->sh->tmp;
	w->end = &w->rules;
	if (make_vars(w))
		status = awk(w, argc, argv);
	else
		sh_fail(io, "out of memory");
	for (struct awk_node *n = w->with_regex; n; n = n->all_next)
		sh_regex_free(n->re);
	sh_regex_free(w->fs_re);
	kfree(w->fs_text);
	awk_vars_free(w);
	sh_arena_free(&w->tmp);
	sh_buf_free(&w->record);
	sh_buf_free(&w->pieces);
	kfree(w->field);
	kfree(w);
	return status;
}
