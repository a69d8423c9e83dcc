/* Completion at the monitor: a command's name at the beginning of the line, else a path. */
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/monitor.h"

struct completion {
	struct monitor *m;
	bool command; /* the name of one is wanted */
	char
	    directory[LINE_SIZE]; /* as it was typed, with its last slash; "" for the present one */
	const char *stem;	  /* what there is of the name, in the line */
	size_t stem_length;
	unsigned count; /* names that begin with it */
	bool show;	/* print them */
	bool is_directory;
	char common[NAME_MAX + 1]; /* what all of them begin with */
};

static bool complete_is_directory(struct completion *k, const struct dirent *d)
{
	struct vstat st;

	if (d->mode != S_IFLNK)
		return d->mode == S_IFDIR;
	fmt_snprintf(k->m->data, sizeof(k->m->data), "%s%s", k->directory, d->name);
	return !vfs_stat(k->m->data, true, &st) && (st.mode & S_IFMT) == S_IFDIR;
}

static void complete_add(struct completion *k, const char *name, bool is_directory)
{
	size_t same = 0;

	if (strncmp(name, k->stem, k->stem_length))
		return;
	if (k->show)
		monitor_printf(k->m, "%s%s  ", name, is_directory ? "/" : "");
	if (!k->count++)
		strscpy(k->common, name, sizeof(k->common));
	while (k->common[same] && k->common[same] == name[same])
		same++;
	k->common[same] = '\0';
	k->is_directory = is_directory;
}

static void complete_look(struct completion *k)
{
	const char *directory = *k->directory ? k->directory : ".";
	struct dirent d;
	struct file *f;

	k->count = 0;
	for (unsigned i = 0; k->command && i < monitor_command_count; i++)
		complete_add(k, monitor_commands[i].name, false);
	if (k->command || file_open(directory, O_RDONLY | O_DIRECTORY, 0, &f))
		return;
	for (u64 at = 0; vfs_readdir(f, at, &d) == 1; at++)
		if (strcmp(d.name, ".") && strcmp(d.name, ".."))
			complete_add(k, d.name, complete_is_directory(k, &d));
	file_put(f);
}

/* Cuts the word before the cursor into directory and stem. */
static void complete_cut(struct completion *k, const struct line *l)
{
	unsigned from = l->cursor, stem = l->cursor;

	while (from && !strchr(" ;&>'\"", l->text[from - 1]))
		from--;
	while (stem > from && l->text[stem - 1] != '/')
		stem--;
	memcpy(k->directory, l->text + from, stem - from);
	k->directory[stem - from] = '\0';
	k->stem = l->text + stem;
	k->stem_length = l->cursor - stem;
	k->command = stem == from && strspn(l->text, " ") >= from;
}

static void complete_line(void *arg)
{
	struct completion *k = arg;
	struct line *l = &k->m->line;

	complete_cut(k, l);
	complete_look(k);
	if (!k->count)
		return;
	size_t more = strlen(k->common) - k->stem_length;
	if (more)
		line_insert(l, k->common + k->stem_length, more);
	if (k->count == 1)
		line_insert(l, k->is_directory ? "/" : " ", 1);
	if (k->count == 1 || more)
		return;
	k->show = true;
	monitor_printf(k->m, "\n");
	complete_look(k);
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
