/* Redirections: files onto the shell's descriptors, and back. Task context. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/shell/exec.h"

void sh_fd_set(struct shell *sh, int fd, struct file *f)
{
	struct file *old = sh->fd[fd];

	sh->fd[fd] = f;
	if (old)
		file_put(old);
}

/* Moves what fd holds to the list, so that it can be put back. */
static int save(struct shell *sh, int fd, struct sh_saved **saved)
{
	struct sh_saved *s = sh_alloc(&sh->tmp, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct sh_saved){.next = *saved, .fd = fd, .file = sh->fd[fd]};
	*saved = s;
	sh->fd[fd] = NULL;
	return 0;
}

void sh_redir_undo(struct shell *sh, struct sh_saved *s)
{
	for (; s; s = s->next)
		sh_fd_set(sh, s->fd, s->file);
}

void sh_redir_keep(struct sh_saved *s)
{
	for (; s; s = s->next)
		if (s->file)
			file_put(s->file);
}

/* "can't create x: nonexistent directory", as ash says it. */
static int open_failed(struct shell *sh, enum sh_redir_kind kind, const char *name, int error)
{
	bool creating = kind != SH_IN;
	const char *text = sh_strerror(error);

	if (error == -ENOENT)
		text = creating ? "nonexistent directory" : "no such file";
	sh_error(sh, "can't %s %s: %s", creating ? "create" : "open", name, text);
	return -1;
}

static int open_file(
    struct shell *sh, const struct sh_redir *r, const char *name, struct file **out)
{
	static const u32 flags[] = {
	    [SH_IN] = O_RDONLY,
	    [SH_OUT] = O_WRONLY | O_CREAT | O_TRUNC,
	    [SH_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
	    [SH_RDWR] = O_RDWR | O_CREAT,
	};
	int e = file_open(name, flags[r->kind], 0666, out);

	return e ? open_failed(sh, r->kind, name, e) : 0;
}

/* n>&m and n>&-: *out is NULL for "close". */
static int dup_file(struct shell *sh, const char *word, struct file **out)
{
	*out = NULL;
	if (!strcmp(word, "-"))
		return 0;
	if (!is_digit(word[0]) || word[1]) {
		sh_error(sh, "syntax error: bad fd number");
		return -1;
	}
	if (!sh->fd[word[0] - '0']) {
		sh_error(sh, "%s: %s", word, errno_text(EBADF));
		return -1;
	}
	*out = file_get(sh->fd[word[0] - '0']);
	return 0;
}

/* The text goes through a file under /tmp that loses its name at once. */
static int heredoc_file(struct shell *sh, const char *text, struct file **out)
{
	struct file *wr;
	char name[40];
	int e;

	snprintf(name, sizeof(name), "/tmp/.sh-%d-%d", os_self(), sh->functions_depth);
	e = file_open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600, &wr);
	if (!e) {
		e = *text ? sh_write_all(wr, text, strlen(text)) : 0;
		file_put(wr);
		if (!e)
			e = file_open(name, O_RDONLY, 0, out);
		vfs_unlink(name);
	}
	if (e)
		sh_error(sh, "can't create here-document: %s", sh_strerror(e));
	return e ? -1 : 0;
}

static int heredoc(struct shell *sh, const struct sh_redir *r, struct file **out)
{
	const char *text = r->quoted ? r->word : sh_expand_heredoc(sh, r->word);

	return text ? heredoc_file(sh, text, out) : -1;
}

static int redirect(struct shell *sh, const struct sh_redir *r, struct file **out)
{
	const char *word;

	if (r->kind == SH_HEREDOC)
		return heredoc(sh, r, out);
	word = sh_expand_string(sh, r->word);
	if (!word)
		return -1;
	return r->kind == SH_DUP ? dup_file(sh, word, out) : open_file(sh, r, word, out);
}

int sh_redir_apply(struct shell *sh, const struct sh_redir *r, struct sh_saved **saved)
{
	struct file *f;

	for (; r; r = r->next) {
		if (redirect(sh, r, &f))
			return -1;
		if (save(sh, r->fd, saved)) {
			if (f)
				file_put(f);
			return -1;
		}
		sh->fd[r->fd] = f;
	}
	return 0;
}
