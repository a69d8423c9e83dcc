/* Functions and local variables of a shell. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

int sh_local_save(struct shell *sh, const char *name)
{
	const char *value = sh_var_get(&sh->vars, name);
	struct sh_local *l = kzalloc(sizeof(*l) + strlen(name) + 1);

	if (!l)
		return -ENOMEM;
	memcpy(l->name, name, strlen(name));
	l->exported = sh_var_exported(&sh->vars, name);
	if (value && !(l->value = kstrdup(value))) {
		kfree(l);
		return -ENOMEM;
	}
	l->next = sh->locals;
	sh->locals = l;
	return 0;
}

void sh_local_restore(struct shell *sh, struct sh_local *until)
{
	while (sh->locals != until) {
		struct sh_local *l = sh->locals;

		sh->locals = l->next;
		if (l->value)
			sh_var_set(&sh->vars, l->name, l->value);
		else
			sh_var_unset(&sh->vars, l->name);
		if (l->value)
			sh_var_export(&sh->vars, l->name, l->exported);
		kfree(l->value);
		kfree(l);
	}
}

struct sh_function *sh_function_find(struct shell *sh, const char *name)
{
	struct sh_function *f = sh->functions;

	while (f && strcmp(f->node->name, name))
		f = f->next;
	return f;
}

int sh_function_unset(struct shell *sh, const char *name)
{
	for (struct sh_function **at = &sh->functions; *at; at = &(*at)->next) {
		struct sh_function *f = *at;

		if (strcmp(f->node->name, name))
			continue;
		*at = f->next;
		sh_script_put(f->script);
		kfree(f);
		return 0;
	}
	return -ENOENT;
}

int sh_function_define(struct shell *sh, const struct sh_node *n)
{
	struct sh_function *f = kzalloc(sizeof(*f));

	if (!f)
		return -ENOMEM;
	sh_function_unset(sh, n->name);
	*f = (struct sh_function){
	    .next = sh->functions, .script = sh_script_get(sh->script), .node = n};
	sh->functions = f;
	return 0;
}

void sh_functions_free(struct shell *sh)
{
	while (sh->functions)
		sh_function_unset(sh, sh->functions->node->name);
}

int sh_function_call(struct shell *sh, struct sh_function *f, int argc, char **argv)
{
	struct sh_vars outer = {.argv = sh->vars.argv, .argc = sh->vars.argc};
	struct sh_script *script = sh->script, *own = sh_script_get(f->script);
	struct sh_local *locals = sh->locals;
	const struct sh_node *body = f->node->kid;
	int loops = sh->loops;

	sh->vars.argv = NULL;
	sh->vars.argc = 0;
	if (sh_args_set(&sh->vars, argc - 1, argv + 1)) {
		sh_error(sh, "out of memory");
		sh->status = 2;
	} else {
		sh->script = own; /* counted: the function may be redefined while it runs */
		sh->functions_depth++;
		sh->loops = 0;
		sh->status = sh_run(sh, body);
		sh->loops = loops;
		sh->functions_depth--;
		sh->returning = false;
		sh->script = script;
	}
	sh_local_restore(sh, locals);
	sh_args_set(&sh->vars, 0, NULL);
	kfree(sh->vars.argv);
	sh->vars.argv = outer.argv;
	sh->vars.argc = outer.argc;
	sh_script_put(own);
	return sh->status;
}
