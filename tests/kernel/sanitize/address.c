/*
 * Finds accesses to forbidden memory: the functions that the compiler calls before each access of a
 * test kernel (`make sanitized-address`; the names are its own), and that kernel's kmalloc.
 *
 * The *shadow* has a byte for each eight bytes of memory: 0, they may be used; 1 to 7, the first so
 * many of them; else none, and the byte says why. An object of kmalloc has forbidden bytes after
 * it, and one that was freed stays forbidden for as long as it lies in the *quarantine*, where
 * nobody is given it; so does a page until it is given out again. The linker leads calls of
 * kmalloc() and its kin from other files to the __wrap_ functions here.
 *
 * Any context, from the first instruction on: nothing is forbidden before the first kmalloc().
 */
#ifndef SANITIZE_address /* for who looks at this file alone */
#define SANITIZE_address 1
#endif
#include "arch/arch.h"
#include "kernel/base/spinlock.h"
#include "kernel/lib/string.h"
#include "kernel/mem/check.h"
#include "kernel/mem/mem.h"
#include "tests/kernel/sanitize/places.h"
#include "tests/kernel/sanitize/sanitize.h"

#define SHADOWED (256UL << 20) /* bytes of memory, from 0 on; what lies above is not watched */
#define BEHIND	 16	       /* forbidden bytes after an object, at least */

enum { MAY_USE, BEHIND_OBJECT = 0xfc, FREED_PAGE = 0xfd, FREED_OBJECT = 0xfe };

static u8 shadow[SHADOWED / 8];

/* The physical address of what is watched; SHADOWED: it is not. */
static u64 watched(const void *p)
{
	u64 a = (u64)p;

	if (a < DIRECT_MAP_BASE || (a >= KERNEL_MAP_BASE && a < KERNEL_IMAGE_BASE))
		return SHADOWED;
	return MIN(virt_to_phys(p), SHADOWED);
}

/* The first byte of [from, end) that may not be used; end: there is none. */
static u64 first_forbidden(u64 from, u64 end)
{
	for (u64 at = ALIGN_DOWN(from, 8UL); at < end; at += 8) {
		u8 s = shadow[at / 8];

		if (unlikely(s)) {
			u64 bad = MAX(from, at + (s < 8 ? s : 0));

			if (bad < MIN(end, at + 8))
				return bad;
		}
	}
	return end;
}

static void forbid(const void *p, size_t size, u8 why)
{
	u64 from = watched(p), end = MIN(from + size, SHADOWED);

	for (u64 at = ALIGN_UP(from, 8UL); at < end; at += 8)
		shadow[at / 8] = why;
}

/* The first `size` bytes of `usable`, which begin at a multiple of 8. */
static void allow(const void *p, size_t size, size_t usable)
{
	u64 from = watched(p);

	if (from + usable > SHADOWED)
		return;
	forbid(p, usable, BEHIND_OBJECT);
	memset(&shadow[from / 8], MAY_USE, size / 8);
	if (size % 8)
		shadow[(from + size) / 8] = size % 8;
}

/* `frame`: of the function that the compiler's code, or the kernel's, has called. */
static __noinline void note(const void *p, size_t size, u64 bad, const char *kind, const u64 *frame)
{
	struct place *place = place_take(frame[1]);

	if (!place)
		return;
	place->kind = kind;
	place->address = (u64)p;
	place->size = size;
	place->was = bad;
	place->is = shadow[MIN(bad, SHADOWED - 1) / 8];
	place_callers(place, (const u64 *)frame[0]);
}

static inline __attribute__((always_inline)) void check(
    const void *p, size_t size, const char *kind, const u64 *frame)
{
	u64 from = watched(p), end = MIN(from + size, SHADOWED), bad = first_forbidden(from, end);

	if (unlikely(bad < end))
		note(p, size, bad, kind, frame);
}

#define FRAME __builtin_frame_address(0)
#define ACCESS(name, size, kind)                                                                   \
	void __asan_##name##_noabort(const void *p);                                               \
	void __asan_##name##_noabort(const void *p)                                                \
	{                                                                                          \
		check(p, size, kind, FRAME);                                                       \
	}
#define ACCESS_N(name, kind)                                                                       \
	void __asan_##name##_noabort(const void *p, size_t size);                                  \
	void __asan_##name##_noabort(const void *p, size_t size)                                   \
	{                                                                                          \
		check(p, size, kind, FRAME);                                                       \
	}

ACCESS(load1, 1, "reads")
ACCESS(load2, 2, "reads")
ACCESS(load4, 4, "reads")
ACCESS(load8, 8, "reads")
ACCESS(load16, 16, "reads")
ACCESS_N(loadN, "reads")
ACCESS(store1, 1, "writes")
ACCESS(store2, 2, "writes")
ACCESS(store4, 4, "writes")
ACCESS(store8, 8, "writes")
ACCESS(store16, 16, "writes")
ACCESS_N(storeN, "writes")

void __asan_handle_no_return(void);
void __asan_handle_no_return(void)
{
}

/* ---- Blocks, by the instructions for strings ---- */

#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t n)
{
	check(from, n, "copies", FRAME);
	check(to, n, "copies to", FRAME);
	return __real_memcpy(to, from, n);
}

WRAP(void *, memmove, void *to, const void *from, size_t n)
{
	check(from, n, "moves", FRAME);
	check(to, n, "moves to", FRAME);
	return __real_memmove(to, from, n);
}

WRAP(void *, memset, void *to, int byte, size_t n)
{
	check(to, n, "fills", FRAME);
	return __real_memset(to, byte, n);
}

/* ---- Pages ---- */

void mem_check_page_alloc(u64 pa, unsigned order)
{
	allow(phys_to_virt(pa), PAGE_SIZE << order, PAGE_SIZE << order);
}

void mem_check_page_free(u64 pa, unsigned order)
{
	forbid(phys_to_virt(pa), PAGE_SIZE << order, FREED_PAGE);
}

/* ---- Objects ---- */

#define QUARANTINED	 4096
#define QUARANTINE_BYTES (2UL << 20)

static struct spinlock quarantine_lock = SPINLOCK_INIT;
static const void *quarantine[QUARANTINED]; /* [Q] a ring */
static u64 first, next;			    /* [Q] what lies there: [first, next) */
static u64 quarantine_bytes;		    /* [Q] */

size_t __real_ksize(const void *p);
void __real_kfree(const void *p);
u64 __real_page_free_count(void);

/* Takes the oldest out while there are more bytes than that, or no place. */
static void quarantine_release(u64 bytes, u64 places_wanted)
{
	for (;;) {
		const void *oldest = NULL;
		u64 flags = spin_lock_irqsave(&quarantine_lock);

		if (first < next &&
		    (quarantine_bytes > bytes || next - first + places_wanted > QUARANTINED)) {
			oldest = quarantine[first++ % QUARANTINED];
			quarantine_bytes -= __real_ksize(oldest);
		}
		spin_unlock_irqrestore(&quarantine_lock, flags);
		if (!oldest)
			return;
		__real_kfree(oldest);
	}
}

static bool quarantine_add(const void *p, size_t bytes)
{
	u64 flags = spin_lock_irqsave(&quarantine_lock);
	bool ok = next - first < QUARANTINED;

	if (ok) {
		quarantine[next++ % QUARANTINED] = p;
		quarantine_bytes += bytes;
	}
	spin_unlock_irqrestore(&quarantine_lock, flags);
	return ok;
}

/* What is asked for, so that bytes lie after it and a power of two stays aligned to itself. */
static size_t with_bytes_behind(size_t size)
{
	if (size > 64 * 1024)
		return size;
	return size >= BEHIND && !(size & (size - 1)) ? 2 * size : size + BEHIND;
}

WRAP(void *, kmalloc, size_t size)
{
	void *p = __real_kmalloc(with_bytes_behind(size));

	if (p)
		allow(p, size, __real_ksize(p));
	return p;
}

void *__wrap_kzalloc(size_t size);
void *__wrap_kzalloc(size_t size)
{
	void *p = __wrap_kmalloc(size);

	return p ? __real_memset(p, 0, size) : NULL;
}

void __wrap_kfree(const void *p);
void __wrap_kfree(const void *p)
{
	u64 at = watched(p);

	if (!p)
		return;
	if (at < SHADOWED && shadow[at / 8] == FREED_OBJECT) {
		note(p, 0, at, "frees again", FRAME);
		return;
	}
	size_t usable = __real_ksize(p);

	forbid(p, usable, FREED_OBJECT);
	quarantine_release(QUARANTINE_BYTES, 1);
	if (!quarantine_add(p, usable))
		__real_kfree(p);
}

/* As many bytes as were asked for: the others are forbidden. */
size_t __wrap_ksize(const void *p);
size_t __wrap_ksize(const void *p)
{
	u64 from = watched(p);
	size_t usable = __real_ksize(p);

	return from + usable > SHADOWED ? usable : first_forbidden(from, from + usable) - from;
}

WRAP(void *, krealloc, void *p, size_t size)
{
	size_t old = p ? __wrap_ksize(p) : 0;

	if (p && !size) {
		__wrap_kfree(p);
		return NULL;
	}
	if (p && size + BEHIND <= __real_ksize(p)) {
		allow(p, MAX(old, size), __real_ksize(p));
		return p;
	}
	void *q = __wrap_kmalloc(size);
	if (q && p) {
		__real_memcpy(q, p, old);
		__wrap_kfree(p);
	}
	return q;
}

WRAP(char *, kstrndup, const char *s, size_t max)
{
	size_t n = s ? strnlen(s, max) : 0;
	char *d = s ? __wrap_kmalloc(n + 1) : NULL;

	if (d) {
		__real_memcpy(d, s, n);
		d[n] = '\0';
	}
	return d;
}

WRAP(char *, kstrdup, const char *s)
{
	return __wrap_kstrndup(s, ~0UL);
}

/* Who counts what is free wants to know of what was freed. */
u64 __wrap_page_free_count(void);
u64 __wrap_page_free_count(void)
{
	quarantine_release(0, 0);
	return __real_page_free_count();
}

/* What is looked for here is looked for from the first instruction on. */
void sanitize_begin(void)
{
}
