/* The list of dynamic events and the language its kinds share. Task context under host_lock. */
#include "trace/dynevent/dynevent.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/event/array.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"
#include "trace/host_lock.h"
#include "trace/user/user.h"

/* Each is asked in turn whether a line is its own. */
static const struct dynevent_kind *const kinds[] = {
    &synth_dynevent_kind,
    &probe_dynevent_kind,
    &fprobe_dynevent_kind,
    &tprobe_dynevent_kind,
    &event_probe_dynevent_kind,
    &wprobe_dynevent_kind,
    &user_dynevent_kind,
};

struct list_head dynevents = LIST_HEAD_INIT(dynevents);

void dynevent_add(struct dynevent *ev, const struct dynevent_kind *kind)
{
	host_assert_locked();
	ev->kind = kind;
	list_add_tail(&ev->node, &dynevents);
}

void dynevent_remove(struct dynevent *ev)
{
	host_assert_locked();
	list_del(&ev->node);
}

static bool is_of(const struct dynevent *ev, const struct dynevent_kind *kind)
{
	return !kind || ev->kind == kind;
}

void dynevent_show(struct seq *s, const struct dynevent_kind *kind)
{
	struct dynevent *ev;

	list_for_each_entry (ev, &dynevents, node)
		if (is_of(ev, kind)) {
			ev->kind->show(s, ev);
			seq_putc(s, '\n');
		}
}

int dynevent_clear(const struct dynevent_kind *kind)
{
	struct dynevent *ev, *next;

	list_for_each_entry (ev, &dynevents, node)
		if (is_of(ev, kind) && ev->kind->is_busy(ev))
			return -EBUSY;
	list_for_each_entry_safe (ev, next, &dynevents, node) {
		int err = is_of(ev, kind) ? ev->kind->free(ev) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* ---- removal by name ---- */

/* "-:" or "!anything:" is cut off; NULL: malformed. `word` ends at the first blank. */
static char *name_part(char *word)
{
	if (*word == '-')
		return word[1] == ':' ? word + 2 : NULL;
	char *colon = strchr(word, ':');
	return colon ? colon + 1 : NULL;
}

static int release_all(
    const char *system, const char *event, const char *args, const struct dynevent_kind *kind)
{
	struct dynevent *ev, *next;
	int err = -ENOENT;

	/* Whole events go all or none; a place of one that has others may go while it is in use. */
	list_for_each_entry (ev, &dynevents, node)
		if (!*args && is_of(ev, kind) && ev->kind->match(ev, system, event, args) &&
		    ev->kind->is_busy(ev))
			return -EBUSY;
	list_for_each_entry_safe (ev, next, &dynevents, node) {
		if (!is_of(ev, kind) || !ev->kind->match(ev, system, event, args))
			continue;
		err = ev->kind->free(ev);
		if (err)
			break;
	}
	return err;
}

static int release_words(char *line, const struct dynevent_kind *kind)
{
	char *word = strstrip(line), *args = word + strcspn(word, " \t");
	char *system = NULL, *event = NULL;

	if (*args)
		*args++ = '\0';
	event = name_part(word);
	if (!event)
		return -EINVAL;
	char *slash = strchr(event, '/');
	if (slash) {
		*slash = '\0';
		system = event;
		event = slash + 1;
	}
	if (!system && !*event)
		return -EINVAL;
	return release_all(system, event, strstrip(args), kind);
}

int dynevent_release(const char *line, const struct dynevent_kind *kind)
{
	size_t size = strlen(line) + 1;
	char *copy = host_alloc(size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, line, size);
	int err = release_words(copy, kind);
	host_free(copy);
	return err;
}

int dynevent_command(const char *line)
{
	int err = -ECANCELED;

	if (*line == '-' || *line == '!')
		return dynevent_release(line, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(kinds) && err == -ECANCELED; i++)
		err = kinds[i]->create(line);
	return err == -ECANCELED ? -EINVAL : err;
}

/* ---- lines ---- */

/*
 * The characters of the next line of n bytes, or -EINVAL: it has a NUL, or does not fit with its
 * newline and a NUL after it.
 */
static ssize line_length(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', MIN(n, (size_t)DYNEVENT_LINE_MAX));
	size_t len = end ? (size_t)(end - text) : n;

	if (len + (end != NULL) >= DYNEVENT_LINE_MAX || memchr(text, '\0', len))
		return -EINVAL;
	return len;
}

long dynevent_write(const void *buf, size_t n, int (*command)(char *line))
{
	char *line = host_alloc(DYNEVENT_LINE_MAX);
	const char *text = buf;
	int err = line ? 0 : -ENOMEM;

	for (size_t at = 0; at < n && !err;) {
		ssize len = line_length(text + at, n - at);
		if (len < 0) {
			err = len;
			break;
		}
		memcpy(line, text + at, len);
		line[len] = '\0';
		line[strcspn(line, "#")] = '\0';
		err = command(line);
		at += len + 1;
	}
	host_free(line);
	return err ? err : (long)n;
}

bool dynevent_good_name(const char *name)
{
	if (!is_alpha(*name) && *name != '_')
		return false;
	while (is_alnum(*name) || *name == '_')
		name++;
	return !*name;
}
