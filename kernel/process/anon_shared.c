/*
 * Shared anonymous memory: a file that nobody can name, whose pages come when they are touched and
 * stay as long as some area counts it. Task context; a lock of its own protects the table of pages,
 * as the areas of several processes use it.
 */
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"

struct anon_shared {
	struct mutex lock;
	u64 npages;
	u64 *pa;
};

static void area_shared_release(struct file *f)
{
	struct anon_shared *s = f->priv;

	for (u64 i = 0; i < s->npages; i++)
		if (s->pa[i])
			page_put(s->pa[i]);
	vfree(s->pa);
	kfree(s);
}

static u64 area_shared_page(struct vm_area *a, u64 index)
{
	struct anon_shared *s = a->page_arg;
	u64 pa = 0;

	if (index >= s->npages)
		return 0;
	mutex_lock(&s->lock);
	if (!s->pa[index])
		s->pa[index] = user_page_alloc(true);
	pa = s->pa[index];
	mutex_unlock(&s->lock);
	return pa;
}

static const struct file_ops anon_ops = {.release = area_shared_release};

static struct file *anon_file(u64 len)
{
	struct anon_shared *s = kzalloc(sizeof(*s));
	struct file *f;

	if (!s)
		return NULL;
	s->npages = len / PAGE_SIZE;
	s->pa = vmalloc(s->npages * sizeof(u64));
	if (!s->pa)
		goto no_pages;
	for (u64 i = 0; i < s->npages; i++)
		s->pa[i] = 0;
	mutex_init(&s->lock);
	f = file_new(&anon_ops, O_RDWR, s);
	if (f)
		return f;
	vfree(s->pa);
no_pages:
	kfree(s);
	return NULL;
}

struct vm_area *area_new_shared(u64 len, unsigned prot)
{
	struct file *f = anon_file(len);
	struct vm_area *a;

	if (!f)
		return NULL;
	a = area_new(0, len, prot, f, 0);
	file_put(f); /* the area counts it now */
	if (!a)
		return NULL;
	a->page = area_shared_page;
	a->page_arg = f->priv;
	return a;
}
