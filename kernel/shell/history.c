/* Lines typed before. Task context. */
#include "kernel/shell/history.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

void sh_history_add(struct sh_history *h, const char *line)
{
	char *copy;

	if (!*line || (h->count && !strcmp(h->line[h->count - 1], line)))
		return;
	copy = kstrdup(line);
	if (!copy)
		return;
	if (h->count == SH_HISTORY_MAX) {
		kfree(h->line[0]);
		memmove(h->line, h->line + 1, --h->count * sizeof(h->line[0]));
	}
	h->line[h->count++] = copy;
}

void sh_history_free(struct sh_history *h)
{
	while (h->count)
		kfree(h->line[--h->count]);
}

int sh_history_find(const struct sh_history *h, int from, const char *what)
{
	while (--from >= 0)
		if (strstr(h->line[from], what))
			return from;
	return -1;
}
