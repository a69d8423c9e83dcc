/* Variables of a shell: a sorted list of kmalloc'ed entries. Task context; no locking: a shell belongs to one task. */
#include "kernel/shell/vars.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/scan.h"

/* Where `name` is or belongs. */
static struct sh_var **find(struct sh_vars *v, const char *name, size_t n)
{
	struct sh_var **at = &v->list;

	for (; *at; at = &(*at)->next)
		if (strncmp((*at)->name, name, n) >= 0)
			break; /* the name, a longer one with this prefix, or a later one */
	return at;
}

static struct sh_var *lookup(const struct sh_vars *v, const char *name, size_t n)
{
	struct sh_var *x = *find((struct sh_vars *)v, name, n);

	return x && !strncmp(x->name, name, n) && !x->name[n] ? x : NULL;
}

static struct sh_var *make(struct sh_vars *v, const char *name, size_t n)
{
	struct sh_var *x = lookup(v, name, n), **at;

	if (x)
		return x;
	x = kzalloc(sizeof(*x) + n + 1);
	if (!x)
		return NULL;
	memcpy(x->name, name, n);
	at = find(v, name, n);
	x->next = *at;
	*at = x;
	return x;
}

const char *sh_var_getn(const struct sh_vars *v, const char *name, size_t n)
{
	struct sh_var *x = lookup(v, name, n);

	return x ? x->value : NULL;
}

const char *sh_var_get(const struct sh_vars *v, const char *name)
{
	return sh_var_getn(v, name, strlen(name));
}

int sh_var_setn(struct sh_vars *v, const char *name, size_t n, const char *value)
{
	struct sh_var *x = lookup(v, name, n);
	char *copy;

	if (x && x->readonly)
		return -EPERM;
	if (x && x->value && !strcmp(x->value, value))
		return 0;
	copy = kstrdup(value);
	x = copy ? make(v, name, n) : NULL;
	if (!x) {
		kfree(copy);
		return -ENOMEM;
	}
	kfree(x->value);
	x->value = copy;
	return 0;
}

int sh_var_set(struct sh_vars *v, const char *name, const char *value)
{
	return sh_var_setn(v, name, strlen(name), value);
}

int sh_var_export(struct sh_vars *v, const char *name, bool on)
{
	struct sh_var *x = make(v, name, strlen(name));

	if (!x)
		return -ENOMEM;
	x->exported = on;
	return 0;
}

bool sh_var_exported(const struct sh_vars *v, const char *name)
{
	struct sh_var *x = lookup(v, name, strlen(name));

	return x && x->exported;
}

int sh_var_readonly(struct sh_vars *v, const char *name)
{
	struct sh_var *x = make(v, name, strlen(name));

	if (!x)
		return -ENOMEM;
	x->readonly = true;
	return 0;
}

int sh_var_unset(struct sh_vars *v, const char *name)
{
	struct sh_var *x = lookup(v, name, strlen(name));

	if (!x)
		return 0;
	if (x->readonly)
		return -EPERM;
	*find(v, name, strlen(name)) = x->next;
	kfree(x->value);
	kfree(x);
	return 0;
}

static void args_free(char **argv, int argc)
{
	for (int i = 0; i < argc; i++)
		kfree(argv[i]);
	kfree(argv);
}

int sh_args_set(struct sh_vars *v, int argc, char *const *argv)
{
	char **copy = kzalloc((argc + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (int i = 0; i < argc; i++) {
		copy[i] = kstrdup(argv[i]);
		if (!copy[i]) {
			args_free(copy, i);
			return -ENOMEM;
		}
	}
	args_free(v->argv, v->argc);
	v->argv = copy;
	v->argc = argc;
	return 0;
}

int sh_vars_copy(struct sh_vars *to, const struct sh_vars *from)
{
	struct sh_var **at = &to->list;

	*to = (struct sh_vars){0};
	for (const struct sh_var *x = from->list; x; x = x->next) {
		struct sh_var *y = kzalloc(sizeof(*y) + strlen(x->name) + 1);

		if (!y)
			return -ENOMEM;
		memcpy(y->name, x->name, strlen(x->name));
		y->exported = x->exported;
		y->readonly = x->readonly;
		*at = y;
		at = &y->next;
		if (x->value && !(y->value = kstrdup(x->value)))
			return -ENOMEM;
	}
	if (from->arg0 && !(to->arg0 = kstrdup(from->arg0)))
		return -ENOMEM;
	return sh_args_set(to, from->argc, from->argv);
}

void sh_vars_free(struct sh_vars *v)
{
	while (v->list) {
		struct sh_var *x = v->list;

		v->list = x->next;
		kfree(x->value);
		kfree(x);
	}
	args_free(v->argv, v->argc);
	kfree(v->arg0);
	*v = (struct sh_vars){0};
}

char **sh_vars_environ(const struct sh_vars *v)
{
	size_t count = 1, bytes = 0;
	char **env, *text;

	for (const struct sh_var *x = v->list; x; x = x->next) {
		if (!x->exported || !x->value)
			continue;
		count++;
		bytes += strlen(x->name) + strlen(x->value) + 2;
	}
	env = kmalloc(count * sizeof(*env) + bytes);
	if (!env)
		return NULL;
	text = (char *)(env + count);
	count = 0;
	for (const struct sh_var *x = v->list; x; x = x->next) {
		if (!x->exported || !x->value)
			continue;
		env[count++] = text;
		for (const char *s = x->name; *s;)
			*text++ = *s++;
		*text++ = '=';
		for (const char *s = x->value; *s;)
			*text++ = *s++;
		*text++ = 0;
	}
	env[count] = NULL;
	return env;
}
