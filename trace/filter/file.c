/*
 * The files `filter`: setting, clearing and showing, for one event and for a system. Task context
 * under host_lock. These functions compile a filter completely before they change anything. Writers
 * see the old filter or the new one; the old one is freed after they have left it.
 */
#include "trace/filter/file.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/error_log.h"
#include "trace/filter/priv.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

#define SYSTEM_TEXT                                                                                \
	"### global filter ###\n"                                                                  \
	"# Use this to set filters for multiple events.\n"                                         \
	"# Only events with the given fields will be affected.\n"                                  \
	"# If no events are modified, an error message will be displayed here\n"

/* ---- refused ---- */

static bool filter_pass_all(const struct filter_insn *in __maybe_unused,
    const void *rec __maybe_unused, u32 len __maybe_unused)
{
	return true;
}

struct trace_filter *trace_filter_create_refused(
    const char *text, const struct trace_filter_error *err)
{
	size_t len = strlen(text), size = 2 * len + strlen(err->text) + 32;
	u32 pos = MIN((size_t)err->pos, len);
	struct filter_insn *prog;
	struct trace_filter *f = host_alloc(sizeof(*f) + sizeof(*prog) + size);
	struct seq s;

	if (!f)
		return NULL;
	prog = (struct filter_insn *)(f + 1);
	prog->kind = FILTER_TEST;
	prog->test = filter_pass_all;
	prog->next[0] = prog->next[1] = FILTER_PASS;
	f->start = prog;
	f->count = 1;
	f->text = (char *)(prog + 1);
	seq_init(&s, (char *)f->text, size - 1);
	seq_printf(&s, "%s\n%*s^\nparse_error: %s\n", text, (int)pos, "", err->text);
	return f;
}

void trace_filter_error_log(
    struct trace_array *tr, const char *text, const struct trace_filter_error *err)
{
	trace_error_log(tr, "event filter parse error", text, err->text, err->pos);
}

/* ---- one event ---- */

/*
 * A writer that sees the bit finds a filter, the old one or the new one: clear the bit first, and
 * the filter when no writer can have seen the bit any more. The caller frees the returned filter
 * after host_synchronize().
 */
static struct trace_filter *filter_publish(
    struct trace_event_file *file, struct trace_filter *f, bool on)
{
	struct trace_filter *old = file->filter;

	if (!on)
		trace_file_way(file, TRACE_WAY_FILTER, false);
	if (!f && old)
		host_synchronize();
	atomic_store_release(&file->filter, f);
	if (on)
		trace_file_way(file, TRACE_WAY_FILTER, true);
	return old;
}

static void filter_replace(struct trace_event_file *file, struct trace_filter *f, bool on)
{
	struct trace_filter *old = filter_publish(file, f, on);

	if (old && f)
		host_synchronize();
	trace_filter_free(old);
}

/* Blanks at the end are cut. */
static char *filter_strip_trailing(char *line)
{
	size_t n = strlen(line);

	while (n && is_space(line[n - 1]))
		line[--n] = '\0';
	return line;
}

static bool filter_text_clears(const char *text)
{
	while (is_space(*text))
		text++;
	return !strcmp(text, "0");
}

int trace_filter_store(struct trace_event_file *file, char *line)
{
	host_assert_locked();
	struct trace_filter *f = NULL;
	struct trace_filter_error why;

	const char *text = filter_strip_trailing(line);
	if (filter_text_clears(text)) {
		filter_replace(file, NULL, false);
		return 0;
	}
	int err = trace_filter_create(file->call, text, &f, &why);
	if (err == -EINVAL && !(f = trace_filter_create_refused(text, &why)))
		err = -ENOMEM;
	if (err == -ENOMEM)
		return err;
	if (err)
		trace_filter_error_log(file->tr, text, &why);
	filter_replace(file, f, !err);
	return err;
}

void trace_filter_show(struct seq *s, const struct trace_event_file *file)
{
	seq_puts(s, file->filter ? file->filter->text : "none");
	seq_putc(s, '\n');
}

/* ---- a system: those that it fits ---- */

/* What is to become of one file. */
struct change {
	struct trace_event_file *file;
	struct trace_filter *f;
};

/* A filter for each file it fits; the others are left out. *misfits: how many those are. */
static int make_all(struct trace_array *tr, const struct trace_system *sys, const char *text,
    struct change *list, u32 *count, u32 *misfits)
{
	struct trace_filter_error why;
	struct trace_event_file *file;

	*count = *misfits = 0;
	list_for_each_entry (file, &tr->files, node) {
		if (file->call->system != sys)
			continue;
		int err = trace_filter_create(file->call, text, &list[*count].f, &why);
		if (err == -ENOMEM)
			return err;
		if (err)
			++*misfits;
		else
			list[(*count)++].file = file;
	}
	return 0;
}

static void free_all(struct change *list, u32 count)
{
	while (count-- > 0)
		trace_filter_free(list[count].f);
}

static void publish_all(struct change *list, u32 count)
{
	for (u32 i = 0; i < count; i++)
		list[i].f = filter_publish(list[i].file, list[i].f, true);
	host_synchronize();
	free_all(list, count);
}

static void clear_all(struct trace_array *tr, const struct trace_system *sys)
{
	struct trace_event_file *file;

	list_for_each_entry (file, &tr->files, node)
		if (file->call->system == sys)
			trace_file_way(file, TRACE_WAY_FILTER, false);
	host_synchronize();
	list_for_each_entry (file, &tr->files, node)
		if (file->call->system == sys)
			trace_filter_drop(file);
}

/*
 * Sets it where it fits. An event that it does not fit keeps its filter, and error_log reports it.
 */
static int set_all(
    struct trace_array *tr, struct trace_system *sys, const char *text, struct change *list)
{
	static const struct trace_filter_error bad = {.text = FILTER_BAD_SYSTEM};
	struct trace_filter *refused = NULL;
	u32 count, misfits;
	int err = make_all(tr, sys, text, list, &count, &misfits);

	if (!err && !count && !(refused = trace_filter_create_refused(text, &bad)))
		err = -ENOMEM;
	if (err) {
		free_all(list, count);
		return err;
	}
	for (u32 i = 0; i < (count ? misfits : 1); i++)
		trace_filter_error_log(tr, text, &bad);
	trace_filter_set_refused(sys, tr, refused);
	publish_all(list, count);
	return count ? 0 : -EINVAL;
}

int trace_filter_store_system(struct trace_array *tr, struct trace_system *sys, char *line)
{
	host_assert_locked();
	const char *text = filter_strip_trailing(line);
	if (filter_text_clears(text)) {
		trace_filter_set_refused(sys, tr, NULL);
		clear_all(tr, sys);
		return 0;
	}
	struct change *list = host_alloc(sys->count * sizeof(*list));
	if (!list)
		return -ENOMEM;
	int err = set_all(tr, sys, text, list);
	host_free(list);
	return err;
}

void trace_filter_show_system(
    struct seq *s, const struct trace_array *tr, const struct trace_system *sys)
{
	if (sys->refused_in == tr) {
		seq_puts(s, sys->refused->text);
		seq_putc(s, '\n');
	} else {
		seq_puts(s, SYSTEM_TEXT);
	}
}
