/* Makes, copies and ends shells. Task context; the copy is taken by the task that owns the original. */
#include "kernel/shell/state.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

struct shell *sh_new(void)
{
	struct shell *sh = kzalloc(sizeof(*sh));

	if (sh)
		sh->pid = os_self();
	return sh;
}

static int copy_functions(struct shell *to, const struct shell *from)
{
	struct sh_function **at = &to->functions;

	for (const struct sh_function *f = from->functions; f; f = f->next) {
		*at = kzalloc(sizeof(**at));
		if (!*at)
			return -ENOMEM;
		**at = (struct sh_function){.script = sh_script_get(f->script), .node = f->node};
		at = &(*at)->next;
	}
	return 0;
}

struct shell *sh_clone(struct shell *from)
{
	struct shell *sh = kzalloc(sizeof(*sh));

	if (!sh)
		return NULL;
	sh->pid = from->pid;
	sh->status = from->status;
	sh->last_bg = from->last_bg;
	sh->fancy = from->fancy;
	sh->errexit = from->errexit;
	sh->nounset = from->nounset;
	sh->noglob = from->noglob;
	sh->xtrace = from->xtrace;
	sh->in_condition = from->in_condition;
	sh->functions_depth = from->functions_depth;
	sh->subshell = true;
	for (int i = 0; i < SH_FDS; i++)
		sh->fd[i] = from->fd[i] ? file_get(from->fd[i]) : NULL;
	if (copy_functions(sh, from) || sh_vars_copy(&sh->vars, &from->vars)) {
		sh_free(sh);
		return NULL;
	}
	return sh;
}

void sh_free(struct shell *sh)
{
	for (int i = 0; i < SH_FDS; i++)
		sh_fd_set(sh, i, NULL);
	sh_functions_free(sh);
	sh_jobs_free(sh);
	sh_vars_free(&sh->vars);
	sh_arena_free(&sh->tmp);
	kfree(sh);
}
