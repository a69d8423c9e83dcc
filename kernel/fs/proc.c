/*
 * /proc: the tree of registered files, and the files of text they are made of. Task context.
 *
 * Nodes are registered and never go away. tree_lock protects the children lists.
 */
#include "kernel/fs/proc.h"
#include "kernel/base/panic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

#define TEXT_FIRST 2048u
#define TEXT_MAX   (4u << 20)
#define STORE_MAX  4096u

struct pnode {
	struct vnode v;
	struct list_head node, children; /* [tree_lock] */
	u64 seq;			 /* number among its siblings, from 1 */
	struct proc_text text;		 /* `ops` NULL: the file is text, made by this */
	const struct file_ops *ops;
	char name[];
};

static const struct vnode_ops proc_ops;
static struct mutex tree_lock = MUTEX_INIT(tree_lock);
static struct pnode *root;
static u64 last_ino; /* [tree_lock] */

static inline struct pnode *pnode_of(struct vnode *v)
{
	return container_of(v, struct pnode, v);
}

/* ---- Text ---- */

struct text_file {
	struct proc_text text;
	struct mutex lock;
	char *buf;  /* [lock] NULL: not made yet */
	size_t len; /* [lock] */
};

int proc_text_open(struct file *f, const struct proc_text *text)
{
	struct text_file *t = kzalloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->text = *text;
	mutex_init(&t->lock);
	f->ops = &proc_text_ops;
	f->priv = t;
	return 0;
}

/* Lock held. */
static int text_make(struct text_file *t)
{
	kfree(t->buf);
	t->buf = NULL;
	for (size_t size = TEXT_FIRST; size <= TEXT_MAX; size *= 2) {
		char *buf = kmalloc(size);
		struct seq s;
		int r;

		if (!buf)
			return -ENOMEM;
		seq_init(&s, buf, size);
		r = t->text.show(&s, t->text.ctx);
		if (!r && !s.overflow) {
			t->buf = buf;
			t->len = s.len;
			return 0;
		}
		kfree(buf);
		if (r)
			return r;
	}
	return -ENOMEM;
}

static ssize proc_reg_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	struct text_file *t = f->priv;
	int r = 0;

	mutex_lock(&t->lock);
	if (*pos == 0 || !t->buf)
		r = text_make(t);
	if (!r) {
		n = *pos < t->len ? MIN(n, t->len - *pos) : 0;
		memcpy(buf, t->buf + (n ? *pos : 0), n);
		*pos += n;
	}
	mutex_unlock(&t->lock);
	return r ? r : (ssize)n;
}

static ssize proc_reg_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct text_file *t = f->priv;
	char *line;
	int r;

	(void)pos;
	if (!t->text.store)
		return -EIO;
	if (n >= STORE_MAX)
		return -EINVAL;
	line = kstrndup(buf, n);
	if (!line)
		return -ENOMEM;
	r = t->text.store(line, n, t->text.ctx);
	kfree(line);
	return r < 0 ? r : (ssize)n;
}

static void proc_reg_release(struct file *f)
{
	struct text_file *t = f->priv;

	if (t->text.release)
		t->text.release(t->text.ctx);
	kfree(t->buf);
	kfree(t);
}

const struct file_ops proc_text_ops = {
    .read = proc_reg_read, .write = proc_reg_write, .release = proc_reg_release};

/* ---- The tree ---- */

/* tree_lock held. */
static struct pnode *proc_find_child(struct pnode *dir, const char *name, size_t len)
{
	struct pnode *n;

	list_for_each_entry (n, &dir->children, node) {
		if (strlen(n->name) == len && memcmp(n->name, name, len) == 0)
			return n;
	}
	return NULL;
}

/* tree_lock held. */
static struct pnode *proc_add_child(struct pnode *dir, const char *name, size_t len, u32 mode)
{
	struct pnode *n = kzalloc(sizeof(*n) + len + 1);

	if (!n)
		return NULL;
	vnode_init(&n->v, &proc_ops, mode);
	n->v.dev = DEV_PROC;
	n->v.ino = ++last_ino;
	memcpy(n->name, name, len);
	list_init(&n->children);
	if ((mode & S_IFMT) == S_IFDIR)
		vnode_set_parent(&n->v, dir ? &dir->v : &n->v);
	if (dir) {
		n->seq = list_empty(&dir->children)
			     ? 1
			     : list_entry(dir->children.prev, struct pnode, node)->seq + 1;
		list_add_tail(&n->node, &dir->children);
	}
	return n;
}

static int proc_lookup(struct vnode *v, const char *name, struct vnode **out)
{
	struct pnode *n;

	mutex_lock(&tree_lock);
	n = proc_find_child(pnode_of(v), name, strlen(name));
	mutex_unlock(&tree_lock);
	if (!n)
		return v == &root->v ? pid_lookup(v, name, out) : -ENOENT;
	*out = vnode_get(&n->v);
	return 0;
}

#define PID_COOKIE (1UL << 32) /* where the directories of tasks begin */

static int proc_readdir(struct vnode *v, u64 *cookie, struct dirent *out)
{
	struct pnode *n;
	int found = 0;

	mutex_lock(&tree_lock);
	list_for_each_entry (n, &pnode_of(v)->children, node) {
		if (n->seq <= *cookie)
			continue;
		strscpy(out->name, n->name, sizeof(out->name));
		out->ino = n->v.ino;
		out->mode = n->v.mode & S_IFMT;
		*cookie = n->seq;
		found = 1;
		break;
	}
	mutex_unlock(&tree_lock);
	if (!found && v == &root->v) {
		u64 pid = *cookie < PID_COOKIE ? 0 : *cookie - PID_COOKIE;
		found = pid_readdir(&pid, out);
		*cookie = PID_COOKIE + pid;
	}
	return found;
}

static int proc_open(struct vnode *v, struct file *f)
{
	if ((v->mode & S_IFMT) == S_IFDIR)
		return 0;
	if (pnode_of(v)->ops) {
		f->ops = pnode_of(v)->ops;
		f->priv = pnode_of(v)->text.ctx;
		return 0;
	}
	return proc_text_open(f, &pnode_of(v)->text);
}

/* As in tracefs: taken, without effect. */
static int proc_truncate(struct vnode *v, u64 size)
{
	(void)v, (void)size;
	return 0;
}

static const struct vnode_ops proc_ops = {
    .lookup = proc_lookup,
    .readdir = proc_readdir,
    .open = proc_open,
    .truncate = proc_truncate,
};

/* tree_lock held: the directories of `path` but the last component, made where missing. *path moves
 * to that. */
static struct pnode *make_dirs(const char **path)
{
	struct pnode *dir = root;

	for (size_t len; dir && (len = strcspn(*path, "/"), (*path)[len]); *path += len + 1) {
		struct pnode *n = proc_find_child(dir, *path, len);
		dir = n ? n : proc_add_child(dir, *path, len, S_IFDIR | 0555);
	}
	return dir;
}

static int proc_add_file(
    const char *path, u32 mode, const struct proc_text *text, const struct file_ops *ops)
{
	struct pnode *dir, *n = NULL;
	int r = -ENOMEM;

	mutex_lock(&tree_lock);
	dir = make_dirs(&path);
	if (dir && proc_find_child(dir, path, strlen(path)))
		r = -EEXIST;
	else if (dir)
		n = proc_add_child(dir, path, strlen(path), S_IFREG | mode);
	if (n) {
		n->text = *text;
		n->ops = ops;
		r = 0;
	}
	mutex_unlock(&tree_lock);
	return r;
}

int proc_register(const char *path, int (*show)(struct seq *s, void *ctx),
    int (*store)(char *line, size_t n, void *ctx), void *ctx)
{
	return proc_add_file(
	    path, store ? 0644 : 0444, &(struct proc_text){show, store, ctx, NULL}, NULL);
}

int proc_register_ops(const char *path, u32 mode, const struct file_ops *ops, void *priv)
{
	return proc_add_file(path, mode, &(struct proc_text){.ctx = priv}, ops);
}

int proc_add_node(const char *name, u32 mode, const struct vnode_ops *ops)
{
	struct pnode *n;

	mutex_lock(&tree_lock);
	n = proc_add_child(root, name, strlen(name), mode);
	if (n)
		n->v.ops = ops;
	mutex_unlock(&tree_lock);
	return n ? 0 : -ENOMEM;
}

void proc_init(void)
{
	mutex_lock(&tree_lock);
	root = proc_add_child(NULL, "", 0, S_IFDIR | 0555);
	mutex_unlock(&tree_lock);
	if (!root || vfs_mount("/proc", &root->v))
		panic("/proc cannot be mounted");
	pid_init();
	proc_files_init();
}
