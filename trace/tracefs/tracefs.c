/*
 * The machinery of tracefs: walking the tables, opening, reading and writing. Task context; takes
 * host_lock. What a file shows is made whole at the first read and given out piece by piece;
 * reading from the start makes it anew.
 */
#include "trace/tracefs/tracefs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/tracefs/tables.h"

#define DIR_MODE  0040000
#define FILE_MODE 0100000

#define MADE_COOKIES 0x10000 /* of readdir: there are fewer rows in any table */

const struct tracefs_row tracefs_no_rows[] = {{.name = NULL}};

static const struct tracefs_row root_row = {.name = "", .mode = 0700, .dir = &tracefs_top_dir};

/* The same place has the same number: a mix of what makes it. */
static u64 place_number(const struct tracefs_node *node)
{
	u64 n = (u64)node->row * 0x9e3779b97f4a7c15UL;

	n = (n ^ node->array) * 0xbf58476d1ce4e5b9UL;
	n = (n ^ node->object ^ n >> 31) * 0x94d049bb133111ebUL;
	n = (n ^ (u64)node->arg ^ n >> 29) * 0x9e3779b97f4a7c15UL;
	return (n >> 16) | 1;
}

static void tracefs_fill_node(struct tracefs_node *out, const struct tracefs_row *row)
{
	out->row = row;
	out->mode = (row->dir ? DIR_MODE : FILE_MODE) | row->mode;
	out->ino = place_number(out);
}

void tracefs_put_name(char *to, const char *name)
{
	strscpy(to, name, TRACEFS_NAME_MAX + 1);
}

void tracefs_fill(struct tracefs_node *out, const struct tracefs_node *dir,
    const struct tracefs_row *row, long arg)
{
	out->ctx = dir->ctx;
	out->arg = arg;
	out->array = dir->array;
	out->object = dir->object;
	tracefs_fill_node(out, row);
}

void tracefs_fill_object(struct tracefs_node *out, const struct tracefs_node *dir,
    const struct tracefs_row *row, void *ctx, long arg, const struct trace_handle *handle)
{
	out->ctx = ctx;
	out->arg = arg;
	out->array = dir->array;
	out->object = handle->number;
	tracefs_fill_node(out, row);
}

void tracefs_fill_array(
    struct tracefs_node *out, const struct tracefs_row *row, struct trace_array *tr)
{
	out->ctx = tr;
	out->arg = TRACEFS_ALL_CPUS;
	out->array = tr->handle.number;
	out->object = 0;
	tracefs_fill_node(out, row);
}

void tracefs_root(struct tracefs_node *out)
{
	tracefs_fill_array(out, &root_row, trace_global);
}

bool tracefs_is_alive(const struct tracefs_node *node)
{
	return trace_handle_is_valid(node->array) &&
	       (!node->object || trace_handle_is_valid(node->object));
}

static bool row_exists(const struct tracefs_row *row, const struct tracefs_node *dir)
{
	return !row->exists || row->exists(dir);
}

static bool tracefs_find_entry(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	const struct tracefs_dir *d = dir->row->dir;

	if (!tracefs_is_alive(dir))
		return false;
	for (const struct tracefs_row *row = d->rows; row->name; row++)
		if (str_equal(row->name, name) && row_exists(row, dir)) {
			tracefs_fill(out, dir, row, dir->arg);
			return true;
		}
	return d->find && d->find(dir, name, out);
}

int tracefs_lookup(const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	if (!dir->row->dir)
		return -ENOTDIR;
	host_lock();
	bool found = tracefs_find_entry(dir, name, out);
	host_unlock();
	return found ? 0 : -ENOENT;
}

/* First the rows, by their place in the table; then what is made, by its number. */
static int next_entry(
    const struct tracefs_node *dir, u64 *cookie, struct tracefs_node *out, char *name)
{
	const struct tracefs_dir *d = dir->row->dir;
	u64 number = 0;

	if (*cookie < MADE_COOKIES) {
		const struct tracefs_row *row = d->rows;

		for (u64 i = 0; row->name; row++, i++) {
			if (i < *cookie || !row_exists(row, dir))
				continue;
			*cookie = i + 1;
			tracefs_fill(out, dir, row, dir->arg);
			tracefs_put_name(name, row->name);
			return 1;
		}
		*cookie = MADE_COOKIES;
	}
	if (d->next)
		number = d->next(dir, *cookie - MADE_COOKIES, out, name);
	if (!number)
		return 0;
	*cookie = MADE_COOKIES + number;
	return 1;
}

int tracefs_readdir(
    const struct tracefs_node *dir, u64 *cookie, struct tracefs_node *out, char *name)
{
	if (!dir->row->dir)
		return -ENOTDIR;
	host_lock();
	int found = tracefs_is_alive(dir) ? next_entry(dir, cookie, out, name) : -ENOENT;
	host_unlock();
	return found;
}

static int tracefs_mkdir_locked(const struct tracefs_node *dir, const char *name)
{
	struct tracefs_node there;

	if (!tracefs_is_alive(dir))
		return -ENOENT;
	if (tracefs_find_entry(dir, name, &there))
		return -EEXIST;
	return dir->row->dir->mkdir ? dir->row->dir->mkdir(name) : -EPERM;
}

int tracefs_mkdir(const struct tracefs_node *dir, const char *name)
{
	if (!dir->row->dir)
		return -ENOTDIR;
	host_lock();
	int err = tracefs_mkdir_locked(dir, name);
	host_unlock();
	return err;
}

static int tracefs_rmdir_locked(const struct tracefs_node *dir, const char *name)
{
	struct tracefs_node entry;

	if (!tracefs_find_entry(dir, name, &entry))
		return -ENOENT;
	if (!entry.row->dir)
		return -ENOTDIR;
	return dir->row->dir->rmdir ? dir->row->dir->rmdir(&entry) : -EPERM;
}

int tracefs_rmdir(const struct tracefs_node *dir, const char *name)
{
	if (!dir->row->dir)
		return -ENOTDIR;
	host_lock();
	int err = tracefs_rmdir_locked(dir, name);
	host_unlock();
	return err;
}

/* ---- open files ---- */

static int open_locked(struct tracefs_file *f)
{
	const struct tracefs_row *row = f->node.row;
	int err = 0;

	if (!tracefs_is_alive(&f->node))
		return -ENODEV;
	f->tr = trace_array_numbered(f->node.array);
	if ((f->how & TRACEFS_WRITE) && (f->how & TRACEFS_TRUNC) && row->clear)
		err = row->clear(&f->node);
	if (!err && row->ops && row->ops->open)
		err = row->ops->open(f);
	if (!err)
		trace_array_get(f->tr);
	return err;
}

int tracefs_open(const struct tracefs_node *node, unsigned how, struct tracefs_file **out)
{
	if (node->row->dir)
		return -EISDIR;
	struct tracefs_file *f = host_alloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->node = *node;
	f->how = how;
	host_lock();
	int err = open_locked(f);
	host_unlock();
	if (err)
		host_free(f);
	else
		*out = f;
	return err;
}

void tracefs_release(struct tracefs_file *f)
{
	const struct tracefs_ops *ops = f->node.row->ops;

	host_lock();
	if (ops && ops->release)
		ops->release(f);
	trace_array_put(f->tr);
	host_unlock();
	host_free(f->text);
	host_free(f);
}

/* Most texts are short: the first room is, too. Then a page, then twice as much each time. */
#define TEXT_ROOM 128UL

/* Makes the text, in the buffer of an earlier read if there is one. */
static int make_text(struct tracefs_file *f)
{
	for (size_t size = MAX(f->room, TEXT_ROOM);; size = MAX(size * 2, (size_t)PAGE_SIZE)) {
		struct seq s;

		if (size > f->room) {
			host_free(f->text);
			f->room = 0;
			f->text = host_alloc(size);
			if (!f->text)
				return -ENOMEM;
			f->room = size;
		}
		seq_init(&s, f->text, size);
		f->len = 0;
		int err = f->node.row->show(&s, &f->node);
		if (err)
			return err;
		if (!s.overflow) {
			f->len = s.len;
			return 0;
		}
	}
}

static ssize read_text(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	if (!f->text || *pos == 0) {
		int err = make_text(f);
		if (err)
			return err;
	}
	if (*pos >= f->len)
		return 0;
	n = MIN(n, f->len - *pos);
	memcpy(buf, f->text + *pos, n);
	*pos += n;
	return n;
}

ssize tracefs_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	const struct tracefs_row *row = f->node.row;
	bool own = row->ops && row->ops->read;

	if (!(f->how & TRACEFS_READ))
		return -EBADF;
	if (!own && !row->show)
		return -EINVAL;
	if (own && row->ops->unlocked)
		return row->ops->read(f, buf, n, pos);
	host_lock();
	ssize got = -ENODEV;
	if (tracefs_is_alive(&f->node))
		got = own ? row->ops->read(f, buf, n, pos) : read_text(f, buf, n, pos);
	host_unlock();
	return got;
}

ssize tracefs_splice(struct tracefs_file *f, void *buf, size_t n, u64 *pos, bool nonblock)
{
	const struct tracefs_ops *ops = f->node.row->ops;

	if (!(f->how & TRACEFS_READ))
		return -EBADF;
	if (ops && ops->splice)
		return ops->splice(f, buf, n, pos, nonblock || (f->how & TRACEFS_NONBLOCK));
	return tracefs_read(f, buf, n, pos);
}

static ssize write_line(struct tracefs_file *f, const void *buf, size_t n)
{
	const struct tracefs_row *row = f->node.row;

	if (n == 0)
		return 0;
	if (row->max && n > row->max)
		return -EINVAL;
	size_t len = row->cut ? MIN(n, (size_t)row->cut) : n;
	char small[TRACEFS_NUMBER + 1], *line = len < sizeof(small) ? small : host_alloc(len + 1);
	if (!line)
		return -ENOMEM;
	memcpy(line, buf, len);
	line[len] = '\0';
	host_lock();
	int err = tracefs_is_alive(&f->node) ? row->store(&f->node, line) : -ENODEV;
	host_unlock();
	if (line != small)
		host_free(line);
	return err ? err : (ssize)n;
}

static ssize write_ops(struct tracefs_file *f, const void *buf, size_t n)
{
	const struct tracefs_ops *ops = f->node.row->ops;

	if (ops->unlocked)
		return ops->write(f, buf, n);
	host_lock();
	ssize done = tracefs_is_alive(&f->node) ? ops->write(f, buf, n) : -ENODEV;
	host_unlock();
	return done;
}

ssize tracefs_write(struct tracefs_file *f, const void *buf, size_t n, u64 *pos)
{
	const struct tracefs_row *row = f->node.row;
	ssize done;

	if (!(f->how & TRACEFS_WRITE))
		return -EBADF;
	if (row->ops && row->ops->write) {
		done = write_ops(f, buf, n);
	} else if (row->store) {
		done = write_line(f, buf, n);
	} else {
		return -EINVAL;
	}
	if (done > 0)
		*pos += done;
	return done;
}

ssize tracefs_write_stream(struct tracefs_file *f, const void *buf, size_t n)
{
	const struct tracefs_ops *ops = f->node.row->ops;
	u64 pos = 0;

	return likely(ops->unlocked && ops->write) ? ops->write(f, buf, n)
						   : tracefs_write(f, buf, n, &pos);
}

bool tracefs_is_stream(const struct tracefs_file *f)
{
	return f->node.row->ops && f->node.row->ops->stream;
}

bool tracefs_waits(const struct tracefs_file *f)
{
	return f->node.row->ops && f->node.row->ops->waits;
}

void tracefs_set_nonblock(struct tracefs_file *f, bool on)
{
	f->how = on ? f->how | TRACEFS_NONBLOCK : f->how & ~TRACEFS_NONBLOCK;
}

long tracefs_ioctl(struct tracefs_file *f, u32 cmd)
{
	const struct tracefs_ops *ops = f->node.row->ops;

	return ops && ops->ioctl ? ops->ioctl(f, cmd) : -ENOTTY;
}

unsigned tracefs_poll(struct tracefs_file *f)
{
	const struct tracefs_ops *ops = f->node.row->ops;

	return ops && ops->poll ? ops->poll(f) : POLL_IN | POLL_OUT;
}

/* ---- mappings: of files of an instance, which stays while they are open ---- */

bool tracefs_can_map(const struct tracefs_file *f)
{
	return f->node.row->ops && f->node.row->ops->map;
}

bool tracefs_map_any(const struct tracefs_file *f)
{
	return f->node.row->ops->map_any;
}

int tracefs_map(struct tracefs_file *f, u64 first, u64 pages)
{
	host_lock();
	int err = f->node.row->ops->map->map(f, first, pages);
	host_unlock();
	return err;
}

void tracefs_map_again(struct tracefs_file *f)
{
	host_lock();
	f->node.row->ops->map->again(f);
	host_unlock();
}

void tracefs_unmap(struct tracefs_file *f)
{
	host_lock();
	f->node.row->ops->map->unmap(f);
	host_unlock();
}

void *tracefs_map_page(struct tracefs_file *f, u64 index)
{
	return f->node.row->ops->map->page(f, index);
}
