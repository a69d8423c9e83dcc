/* Completion at the monitor: a command's name at the beginning of the line, else a path. */
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/monitor.h"

/* The prefix that all names that fit share. */
struct candidates {
	const char *stem; /* what is there of the name */
	size_t stem_length;
	unsigned count;
	bool directory, show;
	char common[NAME_MAX + 1];
};

static void complete_add(struct monitor *m, struct candidates *c, const char *name, bool directory)
{
	size_t same = 0;

	if (strncmp(name, c->stem, c->stem_length))
		return;
	if (c->show)
		monitor_printf(m, "%s%s  ", name, directory ? "/" : "");
	if (!c->count++)
		strscpy(c->common, name, sizeof(c->common));
	while (c->common[same] && c->common[same] == name[same])
		same++;
	c->common[same] = '\0';
	c->directory = directory;
}

static void complete_commands(struct monitor *m, struct candidates *c)
{
	for (unsigned i = 0; i < monitor_command_count; i++)
		complete_add(m, c, monitor_commands[i].name, false);
}

static bool complete_is_directory(struct monitor *m, const char *directory, const struct dirent *d)
{
	struct vstat st;

	if (d->mode != S_IFLNK)
		return d->mode == S_IFDIR;
	fmt_snprintf(m->data, sizeof(m->data), "%s/%s", directory, d->name);
	return !vfs_stat(m->data, true, &st) && (st.mode & S_IFMT) == S_IFDIR;
}

static void complete_paths(struct monitor *m, struct candidates *c, const char *directory)
{
	struct dirent d;
	struct file *f;

	if (file_open(directory, O_RDONLY | O_DIRECTORY, 0, &f))
		return;
	for (u64 at = 0; vfs_readdir(f, at, &d) == 1; at++)
		if (strcmp(d.name, ".") && strcmp(d.name, ".."))
			complete_add(m, c, d.name, complete_is_directory(m, directory, &d));
	file_put(f);
}

/* The word before the cursor: where it begins in the line. */
static unsigned complete_word(const struct line *l)
{
	unsigned at = l->cursor;

	while (at && !strchr(" ;&>'\"", l->text[at - 1]))
		at--;
	return at;
}

struct completion {
	struct monitor *m;
	struct candidates c;
	char word[LINE_SIZE];
};

/* Looks for what fits; the word is cut into directory and stem. */
static void complete_look(struct completion *k, bool command)
{
	char *slash = strrchr(k->word, '/');
	char first = *k->word;

	k->c.stem = slash ? slash + 1 : k->word;
	k->c.stem_length = strlen(k->c.stem);
	k->c.count = 0;
	if (command && !slash) {
		complete_commands(k->m, &k->c);
		return;
	}
	if (slash)
		*slash = '\0';
	complete_paths(k->m, &k->c,
	    !slash			       ? "."
	    : slash == k->word && first == '/' ? "/"
					       : k->word);
	if (slash)
		*slash = '/';
}

static void complete_line(void *arg)
{
	struct completion *k = arg;
	struct line *l = &k->m->line;
	unsigned from = complete_word(l);
	bool command = strspn(l->text, " ") >= from;

	memcpy(k->word, l->text + from, l->cursor - from);
	k->word[l->cursor - from] = '\0';
	complete_look(k, command);
	if (!k->c.count)
		return;
	if (strlen(k->c.common) > k->c.stem_length)
		line_insert(
		    l, k->c.common + k->c.stem_length, strlen(k->c.common) - k->c.stem_length);
	else if (k->c.count > 1)
		k->c.show = true;
	if (k->c.count == 1)
		line_insert(l, k->c.directory ? "/" : " ", 1);
	if (!k->c.show)
		return;
	monitor_printf(k->m, "\n");
	complete_look(k, command);
	monitor_printf(k->m, "\n");
}

void monitor_complete(struct monitor *m)
{
	struct completion k = {.m = m};

	m->to = NULL;
	m->write_error = m->out_used = 0;
	m->system->attempt(complete_line, &k);
	m->system->write(m->out, m->out_used);
	m->out_used = 0;
}
