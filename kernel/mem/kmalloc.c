/*
 * kmalloc: objects of a few fixed sizes in pages of their own, larger ones as whole pages. Task and
 * irq context, not NMI. Each size class has a lock (interrupts off) for its pages; inside it
 * page_lock may be taken, nothing else.
 *
 * A slab page keeps its state in its frame, so that objects of a power of two lie aligned to it.
 * Free objects hold the offset of the next one and a word by which a second kfree() of the same
 * object is recognised.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/spinlock.h"
#include "kernel/base/sym.h"
#include "kernel/lib/string.h"
#include "kernel/mem/page.h"

#define SMALL_MAX 2048
#define LARGE_MAX (PAGE_SIZE << MAX_ORDER)
#define CLASSES	  13

/* Waste inside a page is at most a sixth of it. */
static const u16 class_size[CLASSES] = {
    16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, SMALL_MAX};

struct kmem_cache {
	struct spinlock lock;
	u32 partial; /* [L] pages with a free object: pfn, 0: none */
	u32 idle;    /* [L] how many of these have no object given out */
};
static struct kmem_cache classes[CLASSES];

struct free_object {
	u64 next; /* as frame.free */
	u64 mark; /* free_mark() while it is free */
};

#define R2(c)  c, c
#define R4(c)  R2(c), R2(c)
#define R8(c)  R4(c), R4(c)
#define R16(c) R8(c), R8(c)
/* Class by size in units of 16 bytes, rounded up. */
static const u8 class_of[SMALL_MAX / 16 + 1] = {0, 0, 1, 2, 3, R2(4), R2(5), R4(6), R4(7), R8(8),
    R8(9), R16(10), R16(11), R16(12), R16(12), R16(12), R16(12)};

static u64 free_mark(const void *p)
{
	return (u64)p ^ 0xf4eeb10cf4eeb10cUL;
}

static void partial_add(struct kmem_cache *c, u32 pfn)
{
	struct frame *f = &mem_buddy.frames[pfn];

	f->prev = 0;
	f->next = c->partial;
	if (f->next)
		mem_buddy.frames[f->next].prev = pfn;
	c->partial = pfn;
}

static void kmalloc_partial_remove(struct kmem_cache *c, u32 pfn)
{
	struct frame *f = &mem_buddy.frames[pfn];

	if (f->next)
		mem_buddy.frames[f->next].prev = f->prev;
	if (f->prev)
		mem_buddy.frames[f->prev].next = f->next;
	else
		c->partial = f->next;
}

static bool slab_grow(struct kmem_cache *c)
{
	u64 pa = page_take(0);
	if (!pa)
		return false;
	struct frame *f = frame_of(pa);
	f->free = f->used = f->fresh = 0;
	f->kind = FRAME_SLAB;
	f->class = c - classes;
	partial_add(c, pa / PAGE_SIZE);
	c->idle++;
	return true;
}

static void slab_release(struct kmem_cache *c, u32 pfn)
{
	struct frame *f = &mem_buddy.frames[pfn];

	kmalloc_partial_remove(c, pfn);
	c->idle--;
	f->kind = FRAME_PAGE;
	f->order = 0;
	page_give((u64)pfn * PAGE_SIZE, 0);
}

/* One object of a page that has one. */
static void *slab_take(struct kmem_cache *c, u32 pfn, unsigned size)
{
	struct frame *f = &mem_buddy.frames[pfn];
	char *page = phys_to_virt((u64)pfn * PAGE_SIZE);
	struct free_object *o;

	if (f->free) {
		o = (struct free_object *)(page + f->free - 1);
		f->free = o->next;
	} else {
		o = (struct free_object *)(page + f->fresh);
		f->fresh += size;
	}
	o->mark = 0; /* a page that was one of objects before has marks of old */
	if (f->used++ == 0)
		c->idle--;
	if (!f->free && f->fresh + size > PAGE_SIZE)
		kmalloc_partial_remove(c, pfn);
	return o;
}

/* Linux's, the only ones there are. */
enum { GFP_KERNEL = 0xcc0, GFP_ZERO = 0x100 };

/* With Linux's name and arguments, for kprobes. */
static void *__noinline kmem_cache_alloc(struct kmem_cache *c, u32 gfp)
{
	unsigned size = class_size[c - classes];
	void *p = NULL;

	u64 flags = spin_lock_irqsave(&c->lock);
	if (likely(c->partial) || slab_grow(c))
		p = slab_take(c, c->partial, size);
	spin_unlock_irqrestore(&c->lock, flags);
	if (gfp & GFP_ZERO && p)
		memset(p, 0, size);
	return p;
}
SYM_ALIAS(kmem_cache_alloc_noprof, kmem_cache_alloc);

static void small_free(struct frame *f, void *p)
{
	struct kmem_cache *c = &classes[f->class];
	unsigned size = class_size[f->class];
	unsigned offset = (u64)p % PAGE_SIZE;
	u32 pfn = f - mem_buddy.frames;
	struct free_object *o = p;

	if (unlikely(offset % 16 || o->mark == free_mark(p)))
		panic("kfree: %p is %s", p, offset % 16 ? "not an object" : "free already");
	u64 flags = spin_lock_irqsave(&c->lock);
	if (!f->free && f->fresh + size > PAGE_SIZE)
		partial_add(c, pfn);
	o->next = f->free;
	o->mark = free_mark(p);
	f->free = offset + 1;
	/* One empty page is kept, or a lone object made and freed in turn would cost a page each
	 * time. */
	if (--f->used == 0 && ++c->idle > 1)
		slab_release(c, pfn);
	spin_unlock_irqrestore(&c->lock, flags);
}

static unsigned large_order(size_t size)
{
	return size <= PAGE_SIZE ? 0 : 64 - __builtin_clzl((size - 1) / PAGE_SIZE);
}

static void *kmalloc_large(size_t size, u32 gfp)
{
	u64 pa = page_take(large_order(size));

	if (!pa)
		return NULL;
	frame_of(pa)->kind = FRAME_LARGE;
	return gfp & GFP_ZERO ? memset(phys_to_virt(pa), 0, size) : phys_to_virt(pa);
}

static void large_free(struct frame *f, const void *p)
{
	f->kind = FRAME_PAGE;
	page_give(virt_to_phys(p), f->order);
}

/* The frame that knows about p; what kmalloc never gave out ends the kernel. */
static struct frame *kmalloc_frame(const void *p)
{
	struct frame *f = (u64)p < KERNEL_IMAGE_BASE ? frame_of(virt_to_phys(p)) : NULL;
	if (unlikely(
		!f || (f->kind != FRAME_SLAB && (f->kind != FRAME_LARGE || (u64)p % PAGE_SIZE))))
		panic("kfree: %p is not kmalloc's", p);
	return f;
}

static inline void *alloc_from(const u64 *caller, size_t size, u32 gfp)
{
	size_t usable;
	void *p;

	if (mem_must_fail() || unlikely(size > LARGE_MAX))
		return reserve_alloc(size);
	if (likely(size <= SMALL_MAX)) {
		unsigned class = class_of[(size + 15) / 16];
		usable = class_size[class];
		p = kmem_cache_alloc(&classes[class], gfp);
	} else {
		usable = PAGE_SIZE << large_order(size);
		p = kmalloc_large(size, gfp);
	}
	if (unlikely(!p))
		return NULL;
	trace_kmalloc(caller, p, size, usable);
	return p;
}

/* The stack slot of this function's return address. A tracer may have replaced the address. */
#define CALLER ((const u64 *)__builtin_frame_address(0) + 1)

void *kmalloc(size_t size)
{
	return alloc_from(CALLER, size, GFP_KERNEL);
}

void *kzalloc(size_t size)
{
	return alloc_from(CALLER, size, GFP_KERNEL | GFP_ZERO);
}

void kfree(const void *object)
{
	if (!object)
		return;
	if (mem_is_dead()) {
		reserve_free(object);
		return;
	}
	trace_kfree(CALLER, object);
	struct frame *f = kmalloc_frame(object);
	if (likely(f->kind == FRAME_SLAB))
		small_free(f, (void *)object);
	else
		large_free(f, object);
}

size_t ksize(const void *p)
{
	if (mem_is_dead() && reserve_size(p))
		return reserve_size(p);
	struct frame *f = kmalloc_frame(p);
	return f->kind == FRAME_SLAB ? class_size[f->class] : PAGE_SIZE << f->order;
}

void *krealloc(void *p, size_t size)
{
	if (!p)
		return alloc_from(CALLER, size, GFP_KERNEL);
	if (!size) {
		kfree(p);
		return NULL;
	}
	size_t old = ksize(p);
	if (size <= old)
		return p;
	void *q = alloc_from(CALLER, size, GFP_KERNEL);
	if (q) {
		memcpy(q, p, old);
		kfree(p);
	}
	return q;
}

static char *dup_from(const u64 *caller, const char *s, size_t n)
{
	char *d = alloc_from(caller, n + 1, GFP_KERNEL);
	if (d) {
		memcpy(d, s, n);
		d[n] = '\0';
	}
	return d;
}

char *kstrdup(const char *s)
{
	return s ? dup_from(CALLER, s, strlen(s)) : NULL;
}

char *kstrndup(const char *s, size_t max)
{
	return s ? dup_from(CALLER, s, strnlen(s, max)) : NULL;
}

/* Flags, their second argument, there are none here. */
SYM_ALIAS(__kmalloc, kmalloc);
SYM_ALIAS(__kmalloc_noprof, kmalloc);
