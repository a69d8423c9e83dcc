/*
 * user_events_data and user_events_status as files of tracefs. Task context. What only a program
 * can do with the first (ioctl, writes straight from its memory) is kernel/trace/user_events.c's; a
 * write that comes here has its bytes in the host's memory.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"
#include "trace/tracefs/tables.h"
#include "trace/user/write.h"

/* ---- user_events_data ---- */

static int tracefs_user_data_open(struct tracefs_file *f)
{
	f->priv = user_events_open(f);
	return f->priv ? 0 : -ENOMEM;
}

static void tracefs_user_data_release(struct tracefs_file *f)
{
	user_events_release(f->priv);
}

/* The index, then the payload. Nothing is larger than a record here. */
static ssize tracefs_user_data_write(struct tracefs_file *f, const void *buf, size_t n)
{
	const size_t head = sizeof(struct trace_entry);
	struct user_event *ev;
	s32 index;

	if (n < sizeof(index))
		return -EFAULT;
	memcpy(&index, buf, sizeof(index));
	size_t size = n - sizeof(index);
	int err = user_events_find(f->priv, index, size, &ev);
	if (err)
		return err;
	char *rec = host_alloc(ALIGN_UP(head + size, sizeof(u32)));
	if (!rec)
		return -ENOMEM;
	memcpy(rec + head, (const char *)buf + sizeof(index), size);
	err = user_event_write(ev, rec, head + size);
	host_free(rec);
	return err ? err : (ssize)n;
}

const struct tracefs_ops tracefs_user_data_ops = {
    .open = tracefs_user_data_open,
    .write = tracefs_user_data_write,
    .release = tracefs_user_data_release,
    .unlocked = true,
};

struct user_events_file *tracefs_user_events(const struct tracefs_file *f)
{
	return f->node.row->ops == &tracefs_user_data_ops ? f->priv : NULL;
}

/* ---- user_events_status ---- */

int tracefs_show_user_status(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	user_events_show_status(s);
	return 0;
}

/* Wherever in the file a mapping begins, it is the one page. */
static int tracefs_user_status_map(
    struct tracefs_file *f __maybe_unused, u64 first __maybe_unused, u64 pages)
{
	return pages == 1 ? 0 : -EINVAL;
}

/* The page is there for ever: nobody counts. */
static void tracefs_user_status_count(struct tracefs_file *f __maybe_unused)
{
}

static void *tracefs_user_status_page(
    struct tracefs_file *f __maybe_unused, u64 index __maybe_unused)
{
	return user_events_page();
}

static const struct tracefs_map_ops status_map_ops = {
    .map = tracefs_user_status_map,
    .again = tracefs_user_status_count,
    .unmap = tracefs_user_status_count,
    .page = tracefs_user_status_page,
};

const struct tracefs_ops tracefs_user_status_ops = {.map = &status_map_ops, .map_any = true};
