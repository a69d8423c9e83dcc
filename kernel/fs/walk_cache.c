/*
 * Directories by path: a few slots, each with a path and its vnode. Task context. `lock` nests
 * inside the file systems' locks; no lock is taken inside it.
 *
 * A walk that began before the cache was cleared may have seen a name that is gone, so it adds
 * nothing. A walk that begins later sees the names as they are now, because the file system clears
 * the cache while it holds its lock.
 */
/* hot: every path that a program opens is looked up here */
#include "kernel/fs/walk_cache.h"

#include "kernel/base/spinlock.h"
#include "kernel/lib/string.h"

#define SLOTS	 8 /* a power of two */
#define TEXT_MAX 64

static struct {
	struct vnode *dir; /* [lock] counted; NULL: empty */
	size_t len;
	char text[TEXT_MAX];
} slots[SLOTS];
static u64 cleared; /* [A] changed under `lock` */
static struct spinlock lock = SPINLOCK_INIT;

static inline unsigned slot_of(const char *path, size_t n)
{
	return (n + (u8)path[n - 1]) % SLOTS;
}

struct vnode *walk_cache_find(const char *path, size_t n)
{
	unsigned i = slot_of(path, n);
	struct vnode *dir = NULL;

	spin_lock(&lock);
	if (slots[i].dir && slots[i].len == n && !memcmp(slots[i].text, path, n))
		dir = vnode_get(slots[i].dir);
	spin_unlock(&lock);
	if (dir && dir->ops->is_alive && !dir->ops->is_alive(dir)) {
		vnode_put(dir);
		return NULL;
	}
	return dir;
}

u64 walk_cache_cleared(void)
{
	return atomic_load(&cleared);
}

/* Whether no component is empty or begins with a dot: then this is the directory's real path. */
static bool is_plain(const char *path, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path[i] == '/' && (i + 1 == n || path[i + 1] == '/' || path[i + 1] == '.'))
			return false;
	return true;
}

void walk_cache_add(const char *path, size_t n, struct vnode *dir, u64 since)
{
	struct vnode *old = dir;

	if (n > TEXT_MAX || !is_plain(path, n))
		return;
	unsigned i = slot_of(path, n);
	vnode_get(dir);
	spin_lock(&lock);
	if (cleared == since) {
		old = slots[i].dir;
		slots[i].dir = dir;
		slots[i].len = n;
		memcpy(slots[i].text, path, n);
	}
	spin_unlock(&lock);
	vnode_put(old);
}

void walk_cache_clear(void)
{
	struct vnode *old[SLOTS];

	spin_lock(&lock);
	atomic_store(&cleared, cleared + 1);
	for (unsigned i = 0; i < SLOTS; i++) {
		old[i] = slots[i].dir;
		slots[i].dir = NULL;
	}
	spin_unlock(&lock);
	for (unsigned i = 0; i < SLOTS; i++)
		vnode_put(old[i]);
}
