/*
 * The evaluator: walks the tree of a line. Simple commands that are builtins or functions run in the shell's own task, everything
 * else in a task of its own. `tail` says that this task does nothing after the node, so that the command may take its place.
 * Task context.
 */
#include "kernel/shell/exec.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/scan.h"

static int run(struct shell *sh, const struct sh_node *n, bool tail);

static int assign(struct shell *sh, const char *word, bool temporary)
{
	size_t n = sh_name_len(word);
	char *value = sh_expand_string(sh, word + n + 1), *name = sh_strndup(&sh->tmp, word, n);
	int e = -ENOMEM;

	if (!value)
		return -1;
	if (name && temporary)
		e = sh_local_save(sh, name);
	if (name && (!temporary || !e))
		e = sh_var_set(&sh->vars, name, value);
	if (!e && temporary)
		e = sh_var_export(&sh->vars, name, true);
	if (!e)
		return 0;
	sh_error(sh, "%.*s: %s", (int)n, word, e == -EPERM ? "is read only" : sh_strerror(e));
	sh->aborted = true;
	return -1;
}

static int assign_all(struct shell *sh, const struct sh_node *n, bool temporary)
{
	for (const struct sh_word *w = n->assigns; w; w = w->next)
		if (assign(sh, w->text, temporary))
			return -1;
	return 0;
}

int sh_run_argv(struct shell *sh, int argc, char **argv, bool functions)
{
	const struct sh_command *c = sh_command_find(argv[0]);
	struct sh_function *f = functions ? sh_function_find(sh, argv[0]) : NULL;

	if (c && (c->flags & SH_SPECIAL))
		return sh_command_run(sh, c, argc, argv);
	if (f)
		return sh_function_call(sh, f, argc, argv);
	if (c && (c->flags & SH_BUILTIN))
		return sh_command_run(sh, c, argc, argv);
	return sh_run_external(sh, argc, argv);
}

static void trace_argv(struct shell *sh, const struct sh_words *args)
{
	struct sh_buf b = {0};

	sh_buf_puts(&b, "+");
	for (int i = 0; i < args->n; i++)
		sh_buf_printf(&b, " %s", args->v[i]);
	sh_buf_putc(&b, '\n');
	if (!b.failed)
		sh_write_all(sh->fd[2], b.s, b.len);
	sh_buf_free(&b);
}

/* With its redirections in place. */
static int run_expanded(struct shell *sh, const struct sh_node *n, struct sh_words *args)
{
	const struct sh_command *c = args->n ? sh_command_find(args->v[0]) : NULL;
	bool stay = !args->n || (c && (c->flags & SH_SPECIAL));
	struct sh_local *locals = sh->locals;
	int status;

	if (sh->xtrace && args->n)
		trace_argv(sh, args);
	if (n->assigns && assign_all(sh, n, !stay))
		status = 2;
	else
		status = args->n ? sh_run_argv(sh, args->n, args->v, true) : sh->subst_status;
	if (!stay)
		sh_local_restore(sh, locals);
	return status;
}

static int run_simple(struct shell *sh, const struct sh_node *n, bool tail)
{
	struct sh_mark mark = sh_arena_mark(&sh->tmp);
	struct sh_words args = {0};
	struct sh_saved *saved = NULL;
	int status;

	sh->subst_status = 0;
	if (sh_expand_words(sh, n->words, &args)) {
		sh_arena_release(&sh->tmp, mark);
		return 2;
	}
	sh->tail = tail;
	status = sh_redir_apply(sh, n->redirs, &saved) ? 1 : run_expanded(sh, n, &args);
	sh->tail = false;
	if (sh->keep_redirs)
		sh_redir_keep(saved);
	else
		sh_redir_undo(sh, saved);
	sh->keep_redirs = false;
	sh_arena_release(&sh->tmp, mark);
	return status;
}

static int cannot_fork(struct shell *sh, int error)
{
	sh_error(sh, "can't fork: %s", sh_strerror(error));
	sh->aborted = true;
	return 2;
}

static int run_background(struct shell *sh, const struct sh_node *n)
{
	int pid = sh_spawn_node(sh, n, true);

	if (pid < 0)
		return cannot_fork(sh, pid);
	sh_job_add(sh, pid, n->words ? n->words->text : "sh", true);
	sh->last_bg = pid;
	return 0;
}

static int run_list(struct shell *sh, const struct sh_node *n, bool tail)
{
	sh->status = n->kid ? sh->status : 0;
	for (n = n->kid; n; n = n->next) {
		sh->status = n->background ? run_background(sh, n) : run(sh, n, tail && !n->next);
		if (sh_unwinding(sh))
			break;
	}
	return sh->status;
}

static int run_andor(struct shell *sh, const struct sh_node *n, bool tail)
{
	int status = 0;

	for (n = n->kid; n && !sh_unwinding(sh); n = n->next) {
		if ((n->joint == SH_AND && status) || (n->joint == SH_OR && !status))
			continue;
		sh->in_condition += n->next != NULL;
		status = sh->status = run(sh, n, tail && !n->next);
		sh->in_condition -= n->next != NULL;
	}
	return status;
}

/* One element of a pipeline: reads from *in, which is let go, and writes to a new pipe unless it is the last. */
static int start_element(struct shell *sh, const struct sh_node *n, struct file **in)
{
	struct file *out = NULL, *rd = NULL, *keep[2] = {sh->fd[0], sh->fd[1]};
	int e = n->next ? pipe_create(&rd, &out, 0) : 0;

	if (!e) {
		sh->fd[0] = *in ? *in : keep[0];
		sh->fd[1] = out ? out : keep[1];
		e = sh_spawn_node(sh, n, false);
		sh->fd[0] = keep[0];
		sh->fd[1] = keep[1];
	}
	if (*in)
		file_put(*in);
	if (out)
		file_put(out);
	*in = rd;
	return e;
}

static int run_pipe(struct shell *sh, const struct sh_node *n)
{
	struct sh_mark mark = sh_arena_mark(&sh->tmp);
	struct file *in = NULL;
	int count = 0, status = 0, *pids;

	for (const struct sh_node *k = n->kid; k; k = k->next)
		count++;
	pids = sh_alloc(&sh->tmp, count * sizeof(*pids));
	if (!pids)
		return cannot_fork(sh, -ENOMEM);
	count = 0;
	for (const struct sh_node *k = n->kid; k; k = k->next) {
		int pid = start_element(sh, k, &in);

		if (pid < 0) {
			cannot_fork(sh, pid);
			break;
		}
		sh_job_add(sh, pid, "", false);
		pids[count++] = pid;
	}
	if (in)
		file_put(in);
	for (int i = 0; i < count; i++)
		status = sh_job_wait(sh, pids[i]);
	sh_arena_release(&sh->tmp, mark);
	return sh->aborted ? 2 : status;
}

static int run_subshell(struct shell *sh, const struct sh_node *n, bool tail)
{
	int pid;

	if (tail)
		return run(sh, n->kid, true);
	pid = sh_spawn_node(sh, n->kid, false);
	if (pid < 0)
		return cannot_fork(sh, pid);
	sh_job_add(sh, pid, "", false);
	return sh_job_wait(sh, pid);
}

static int run_condition(struct shell *sh, const struct sh_node *n)
{
	int status;

	sh->in_condition++;
	status = run(sh, n, false);
	sh->in_condition--;
	return status;
}

static int run_if(struct shell *sh, const struct sh_node *n, bool tail)
{
	while (n && n->kind == SH_IF) {
		int status = run_condition(sh, n->cond);

		if (sh_unwinding(sh))
			return status;
		if (!status)
			return run(sh, n->kid, tail);
		n = n->other;
	}
	return n ? run(sh, n, tail) : 0;
}

/* After a body: does the loop end? `break 2` and `continue 2` pass through the inner loop. */
static bool loop_ends(struct shell *sh)
{
	if (sh->break_n) {
		sh->break_n--;
		return true;
	}
	if (sh->continue_n && --sh->continue_n)
		return true;
	return sh_unwinding(sh);
}

static int run_while(struct shell *sh, const struct sh_node *n)
{
	int status = 0, cond;

	sh->loops++;
	for (;;) {
		cond = run_condition(sh, n->cond);
		if (!sh_unwinding(sh)) {
			if (!cond == (n->kind == SH_UNTIL))
				break;
			status = run(sh, n->kid, false);
		}
		if (loop_ends(sh))
			break;
	}
	sh->loops--;
	return status;
}

static int run_for(struct shell *sh, const struct sh_node *n)
{
	char every[] = "\"$@\"";
	struct sh_word all = {.text = every};
	struct sh_mark mark = sh_arena_mark(&sh->tmp);
	struct sh_words args = {0};
	int status = 0;

	if (sh_expand_words(sh, n->has_words ? n->words : &all, &args))
		status = 2;
	sh->loops++;
	for (int i = 0; i < args.n && !sh->aborted; i++) {
		if (sh_var_set(&sh->vars, n->name, args.v[i])) {
			sh_error(sh, "%s: is read only", n->name);
			sh->aborted = true;
			status = 2;
			break;
		}
		status = run(sh, n->kid, false);
		if (loop_ends(sh))
			break;
	}
	sh->loops--;
	sh_arena_release(&sh->tmp, mark);
	return status;
}

static bool case_matches(struct shell *sh, const struct sh_case *c, const char *text)
{
	for (const struct sh_word *w = c->patterns; w; w = w->next) {
		char *pattern = sh_expand_pattern(sh, w->text);

		if (pattern && sh_glob_match(pattern, text))
			return true;
	}
	return false;
}

static int run_case(struct shell *sh, const struct sh_node *n)
{
	struct sh_mark mark = sh_arena_mark(&sh->tmp);
	const char *text = sh_expand_string(sh, n->name);
	const struct sh_node *body = NULL;

	for (const struct sh_case *c = n->cases; text && c && !sh->aborted; c = c->next) {
		if (case_matches(sh, c, text)) {
			body = c->body;
			break;
		}
	}
	sh_arena_release(&sh->tmp, mark);
	if (!text || sh->aborted)
		return 2;
	return body ? run(sh, body, false) : 0;
}

static int run_function_definition(struct shell *sh, const struct sh_node *n)
{
	if (!sh_function_define(sh, n))
		return 0;
	sh_error(sh, "out of memory");
	return 2;
}

static int run_kind(struct shell *sh, const struct sh_node *n, bool tail)
{
	switch (n->kind) {
	case SH_SIMPLE:
		return run_simple(sh, n, tail);
	case SH_LIST:
		return run_list(sh, n, tail);
	case SH_ANDOR:
		return run_andor(sh, n, tail);
	case SH_PIPE:
		return run_pipe(sh, n);
	case SH_NOT:
		return !run_condition(sh, n->kid);
	case SH_SUBSHELL:
		return run_subshell(sh, n, tail);
	case SH_GROUP:
		return run(sh, n->kid, tail);
	case SH_IF:
		return run_if(sh, n, tail);
	case SH_WHILE:
	case SH_UNTIL:
		return run_while(sh, n);
	case SH_FOR:
		return run_for(sh, n);
	case SH_CASE:
		return run_case(sh, n);
	case SH_FUNCTION:
		return run_function_definition(sh, n);
	}
	return 2;
}

/* A compound command with redirections of its own. */
static int run_redirected(struct shell *sh, const struct sh_node *n, bool tail)
{
	struct sh_mark mark = sh_arena_mark(&sh->tmp);
	struct sh_saved *saved = NULL;
	int status = sh_redir_apply(sh, n->redirs, &saved) ? 1 : run_kind(sh, n, tail);

	sh_redir_undo(sh, saved);
	sh_arena_release(&sh->tmp, mark);
	return status;
}

static int run(struct shell *sh, const struct sh_node *n, bool tail)
{
	if (os_interrupted()) {
		sh->interrupted = true;
		return sh->status = 130;
	}
	if (os_stack_left() < SH_STACK_MIN) {
		sh_error(sh, "too deeply nested");
		sh->aborted = true;
		return sh->status = 2;
	}
	if (n->redirs && n->kind != SH_SIMPLE)
		sh->status = run_redirected(sh, n, tail);
	else
		sh->status = run_kind(sh, n, tail);
	if (sh->status && sh->errexit && !sh->in_condition &&
	    (n->kind == SH_SIMPLE || n->kind == SH_PIPE || n->kind == SH_SUBSHELL))
		sh->exiting = true;
	return sh->status;
}

int sh_run(struct shell *sh, const struct sh_node *n)
{
	bool tail = sh->tail;

	sh->tail = false;
	return run(sh, n, tail);
}

static int run_script(struct shell *sh, struct sh_script *s, bool tail)
{
	struct sh_script *outer = sh->script;

	if (!s->root)
		return sh->status;
	sh->script = s;
	run(sh, s->root, tail);
	sh->script = outer;
	return sh->status;
}

int sh_run_text(struct shell *sh, const char *text)
{
	char message[128];
	struct sh_script *s;
	bool tail = sh->tail;
	size_t used;

	sh->tail = false;
	while (*text && !sh_unwinding(sh)) {
		enum sh_parse_result r = sh_parse(text, &s, &used, message);

		if (r != SH_PARSE_OK) {
			sh_error(sh, "%s",
			    r == SH_PARSE_MORE ? "syntax error: unexpected end of file" : message);
			return sh->status = 2;
		}
		text += used;
		run_script(sh, s, tail && !*text);
		sh_script_put(s);
	}
	return sh->status;
}

/* What the pipe gives until its writers are gone. */
static void read_all(struct sh_buf *out, struct file *rd)
{
	char *piece = kmalloc(1024);
	ssize n;

	out->failed |= !piece;
	while (piece && (n = kernel_read(rd, piece, 1024)) > 0)
		for (ssize i = 0; i < n; i++)
			if (piece[i])
				sh_buf_putc(out, piece[i]);
	kfree(piece);
}

int sh_substitute(struct shell *sh, const char *text, size_t n, struct sh_buf *out)
{
	struct file *rd, *wr, *keep = sh->fd[1];
	int pid = pipe_create(&rd, &wr, 0);

	if (pid) {
		cannot_fork(sh, pid);
		return -1;
	}
	sh->fd[1] = wr;
	pid = sh_spawn_text(sh, text, n);
	sh->fd[1] = keep;
	file_put(wr);
	if (pid > 0) {
		sh_job_add(sh, pid, "", false);
		read_all(out, rd);
	}
	file_put(rd);
	if (pid < 0) {
		cannot_fork(sh, pid);
		return -1;
	}
	sh->subst_status = sh->status = sh_job_wait(sh, pid);
	return 0;
}
