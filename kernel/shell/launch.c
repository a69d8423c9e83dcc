/*
 * New tasks for commands. What the task needs is in one kmalloc'ed launch: a copy of the shell, the piece of the script (counted)
 * or the arguments; the task frees it when it ends, or the moment it has become a ring-3 program. Task context.
 */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

struct launch {
	struct shell *sh;	  /* owned */
	struct sh_script *script; /* counted; NULL: argv or text */
	const struct sh_node *node;
	int argc;
	char **argv;	  /* in sh->tmp */
	const char *text; /* in sh->tmp */
	char **environ;
};

static void launch_free(void *arg)
{
	struct launch *l = arg;

	sh_script_put(l->script);
	sh_free(l->sh);
	kfree(l->environ);
	kfree(l);
}

static struct launch *launch_new(struct shell *sh)
{
	struct launch *l = kzalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->sh = sh_clone(sh);
	if (!l->sh) {
		kfree(l);
		return NULL;
	}
	l->sh->launch = l;
	return l;
}

/* In the new task. */
static int launch_main(void *arg)
{
	struct launch *l = arg;
	struct shell *sh = l->sh;
	int status;

	sh->tail = true;
	sh->script = l->script;
	if (l->node)
		status = sh_run(sh, l->node);
	else if (l->text)
		status = sh_run_text(sh, l->text);
	else
		status = sh_become(sh, l->argc, l->argv);
	launch_free(l);
	return status & 255;
}

static int start(struct launch *l, const char *name, bool group)
{
	int pid = os_fork(launch_main, l, name, l->sh->fd, group);

	if (pid < 0)
		launch_free(l);
	return pid;
}

/* Nobody waits for what it reads from the terminal. */
static void background_input(struct shell *sh)
{
	struct file *null;

	if (!sh->fd[0] || !os_is_tty(sh->fd[0]))
		return;
	if (!file_open("/dev/null", O_RDONLY, 0, &null))
		sh_fd_set(sh, 0, null);
}

int sh_spawn_node(struct shell *sh, const struct sh_node *n, bool background)
{
	struct launch *l = launch_new(sh);

	if (!l)
		return -ENOMEM;
	l->script = sh_script_get(sh->script);
	l->node = n;
	if (background)
		background_input(l->sh);
	return start(l, "sh", background);
}

int sh_spawn_argv(struct shell *sh, int argc, char **argv)
{
	struct launch *l = launch_new(sh);

	if (!l)
		return -ENOMEM;
	l->argv = sh_zalloc(&l->sh->tmp, (argc + 1) * sizeof(*argv));
	for (; l->argv && l->argc < argc; l->argc++) {
		l->argv[l->argc] = sh_strdup(&l->sh->tmp, argv[l->argc]);
		if (!l->argv[l->argc])
			break;
	}
	if (l->argc == argc)
		return start(l, "sh", false);
	launch_free(l);
	return -ENOMEM;
}

int sh_spawn_text(struct shell *sh, const char *text, size_t n)
{
	struct launch *l = launch_new(sh);

	if (!l)
		return -ENOMEM;
	l->text = sh_strndup(&l->sh->tmp, text, n);
	if (l->text)
		return start(l, "sh", false);
	launch_free(l);
	return -ENOMEM;
}

static bool is_program(const char *path)
{
	struct vstat st;

	return vfs_stat(path, true, &st) == 0 && (st.mode & S_IFMT) == S_IFREG && (st.mode & 0111);
}

bool sh_find_program(struct shell *sh, const char *name, char path[PATH_MAX])
{
	const char *dirs = sh_var_get(&sh->vars, "PATH");
	size_t n;

	for (dirs = dirs ? dirs : "/bin"; *name; dirs += n + 1) {
		n = strcspn(dirs, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, n ? dirs : ".", name) < PATH_MAX &&
		    is_program(path))
			return true;
		if (!dirs[n])
			break;
	}
	return false;
}

static int exec_failed(struct shell *sh, const char *name, int error)
{
	sh_error(sh, "%s: %s", name, error == -ENOENT ? "not found" : sh_strerror(error));
	return error == -ENOENT ? 127 : 126;
}

/* Gives the task the descriptors of the shell and leaves to the program; returns only on error. */
static int exec_program(struct shell *sh, const char *path, char **argv)
{
	struct launch *l = sh->launch;

	l->environ = sh_vars_environ(&sh->vars);
	if (!l->environ)
		return -ENOMEM;
	for (int i = 0; i < SH_FDS; i++) {
		int e = os_set_fd(i, sh->fd[i]);

		if (e)
			return e;
	}
	return os_exec(path, argv, l->environ, launch_free, l);
}

/* A text file with execute permission and no ELF head is a script. */
static int exec_path(struct shell *sh, const char *path, int argc, char **argv)
{
	char *script[] = {"sh", (char *)path, NULL};
	struct sh_words all = {0};
	struct vstat st;
	int e = vfs_stat(path, true, &st);

	if (!e && (st.mode & S_IFMT) == S_IFDIR)
		e = -EACCES;
	else if (!e && !(st.mode & 0111))
		e = -EACCES;
	if (!e)
		e = exec_program(sh, path, argv);
	if (e != -ENOEXEC)
		return exec_failed(sh, argv[0], e);
	sh_words_add(&all, &sh->tmp, script[0]);
	sh_words_add(&all, &sh->tmp, script[1]);
	for (int i = 1; i < argc; i++)
		sh_words_add(&all, &sh->tmp, argv[i]);
	return all.failed ? 126 : sh_command_run(sh, sh_command_find("sh"), all.n, all.v);
}

int sh_become(struct shell *sh, int argc, char **argv)
{
	const struct sh_command *c;
	char *path;
	int status;

	if (strchr(argv[0], '/'))
		return exec_path(sh, argv[0], argc, argv);
	c = sh_command_find(argv[0]);
	if (c && (c->flags & SH_BUILTIN))
		return sh_command_run(sh, c, argc, argv);
	path = sh_alloc(&sh->tmp, PATH_MAX);
	if (!path)
		return exec_failed(sh, argv[0], -ENOMEM);
	if (sh_find_program(sh, argv[0], path))
		return exec_path(sh, path, argc, argv);
	if (!c)
		return exec_failed(sh, argv[0], -ENOENT);
	os_set_comm(c->name);
	status = sh_command_run(sh, c, argc, argv);
	return status;
}

int sh_run_external(struct shell *sh, int argc, char **argv)
{
	char *path = NULL;
	int pid;

	if (sh->tail)
		return sh_become(sh, argc, argv);
	if (!strchr(argv[0], '/') && !sh_command_find(argv[0])) {
		path = sh_alloc(&sh->tmp, PATH_MAX); /* no task for a name that is nothing */
		if (!path || !sh_find_program(sh, argv[0], path))
			return exec_failed(sh, argv[0], -ENOENT);
	}
	pid = sh_spawn_argv(sh, argc, argv);
	if (pid < 0) {
		sh_error(sh, "can't fork: %s", sh_strerror(pid));
		return 2;
	}
	sh_job_add(sh, pid, argv[0], false);
	return sh_job_wait(sh, pid);
}
