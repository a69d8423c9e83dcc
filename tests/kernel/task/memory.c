/*
 * Pages, kmalloc, vmalloc and stacks on the machine: limits, contents, all CPUs at once, and that
 * everything comes back.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/page.h"
#include "kernel/task/timer.h"
#include "tests/kernel/objects.h"
#include "tests/kernel/threads.h"

static bool filled(const void *p, u8 with, size_t n)
{
	const u8 *b = p;

	for (size_t i = 0; i < n; i++)
		if (b[i] != with)
			return false;
	return true;
}

static void kmalloc_sizes(void)
{
	static const size_t large[] = {2049, 4096, 4097, 8192, 10000, 65536, 1 << 20, 4 << 20};

	for (size_t size = 0; size <= 2200; size++) {
		char *p = kmalloc(size), *q = kzalloc(size);
		EXPECT(p && q && p != q);
		EXPECT(ksize(p) >= size &&
		       ksize(p) <= MAX(size * 3 / 2 + 16, (size_t)16) + (size > 1024 ? 1024 : 0));
		u64 align = size && (size & (size - 1)) == 0 ? MAX(size, (size_t)16) : 16;
		EXPECT_EQ((u64)p % align, 0);
		EXPECT(filled(q, 0, size));
		memset(p, 0xff, ksize(p));
		EXPECT(filled(q, 0, size));
		kfree(p);
		memset(q, 0xff, ksize(q)); /* the next kzalloc() of the size gets this one */
		kfree(q);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(large); i++) {
		char *p = kmalloc(large[i]);
		EXPECT(p && ksize(p) >= large[i] && (u64)p % PAGE_SIZE == 0);
		if (p)
			p[0] = p[large[i] - 1] = 1;
		kfree(p);
	}
	EXPECT(kmalloc((4 << 20) + 1) == NULL);
	EXPECT(kmalloc(SIZE_MAX) == NULL);
	kfree(NULL);
}

static void krealloc_and_dup(void)
{
	char *p = krealloc(NULL, 10);

	EXPECT(p != NULL);
	strscpy(p, "012345678", 10);
	EXPECT(krealloc(p, 16) == p);
	for (size_t size = 20; size < 20000; size = size * 3 / 2) {
		p = krealloc(p, size);
		EXPECT(p && ksize(p) >= size);
		EXPECT_STR(p, "012345678");
	}
	EXPECT(krealloc(p, 0) == NULL);
	char *d = kstrdup("abc"), *n = kstrndup("abcdef", 2);
	EXPECT_STR(d, "abc");
	EXPECT_STR(n, "ab");
	EXPECT(kstrdup(NULL) == NULL);
	kfree(d);
	kfree(n);
}

/*
 * Slots shared by all CPUs: who puts an object into one frees what was there, wherever that came
 * from.
 */
static void *slots[97];
static u32 stress_errors;

static void stress(void *seed_arg)
{
	u32 seed = (u64)seed_arg;

	for (unsigned i = 0; i < 4000; i++) {
		seed = seed * 1664525 + 1013904223;
		size_t size = 8 + (seed >> 8) % ((seed >> 28) ? 600 : 9000);
		u8 *p = kmalloc(size);
		if (p) {
			memset(p + 8, (u8)size, size - 8);
			*(u64 *)p = size;
		}
		u8 *old = atomic_xchg(&slots[(seed >> 4) % ARRAY_SIZE(slots)], p);
		if (!old)
			continue;
		size = *(u64 *)old;
		if (!filled(old + 8, size, size - 8))
			atomic_add(&stress_errors, 1);
		kfree(old);
	}
}

static void kmalloc_all_cpus(void)
{
	struct threads t = {0};

	stress_errors = 0;
	for (unsigned i = 0; i < 2 * cpu_count(); i++)
		thread_start(&t, stress, (void *)(u64)(i + 1), i % cpu_count());
	threads_join(&t);
	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
		kfree(atomic_xchg(&slots[i], NULL));
	EXPECT_EQ(stress_errors, 0);
}

static void nothing_leaks(void)
{
	kmalloc_all_cpus(); /* fills what is kept for next time */
	u64 before = settled_free_pages();
	kmalloc_all_cpus();
	kmalloc_sizes();
	u64 after = settled_free_pages();
	EXPECT(after + 16 >= before); /* a class may keep one empty page */
}

static void page_orders(void)
{
	u64 free = page_free_count();

	for (unsigned order = 0; order <= MAX_ORDER; order++) {
		u64 pa = page_alloc(order, false), z;
		EXPECT(pa && pa % (PAGE_SIZE << order) == 0);
		EXPECT_EQ(page_free_count(), free - (1UL << order));
		memset(phys_to_virt(pa), 0xa5, PAGE_SIZE << order);
		page_free(pa, order);
		z = page_alloc(order, true);
		EXPECT(filled(phys_to_virt(z), 0, PAGE_SIZE << order));
		page_free(z, order);
		EXPECT_EQ(page_free_count(), free);
	}
	EXPECT_EQ(page_alloc(MAX_ORDER + 1, false), 0);
	EXPECT(page_total() > free);
}

static void page_references(void)
{
	u64 free = page_free_count(), pa = page_alloc(0, false);
	static char in_image;
	u64 image = virt_to_phys(&in_image);

	EXPECT_EQ(page_refs(pa), 1);
	page_get(pa);
	EXPECT_EQ(page_refs(pa), 2);
	page_put(pa);
	EXPECT_EQ(page_free_count(), free - 1);
	page_put(pa);
	EXPECT_EQ(page_free_count(), free);
	/* pages that were never given out are not counted */
	page_get(image);
	page_put(image);
	page_get(1UL << 51);
	page_put(1UL << 51);
	EXPECT_EQ(page_refs(image), 0);
	EXPECT_EQ(page_free_count(), free);
}

/* Takes all there is, finds each page its own, gives all back. */
static void page_exhaustion(void)
{
	u64 free = page_free_count(), n = 0, list = 0, pa;

	while ((pa = page_alloc(0, false))) {
		u64 *p = phys_to_virt(pa);
		p[0] = list;
		p[1] = ~pa;
		list = pa;
		n++;
	}
	EXPECT(n >= free - 8 && n <= free + 8); /* others live meanwhile */
	EXPECT(kmalloc(PAGE_SIZE) == NULL);
	while (list) {
		u64 *p = phys_to_virt(list), next = p[0];
		EXPECT(p[1] == ~list);
		page_free(list, 0);
		list = next;
		n--;
	}
	EXPECT_EQ(n, 0);
	pa = page_alloc(MAX_ORDER, false); /* all has grown together again */
	EXPECT(pa != 0);
	page_free(pa, MAX_ORDER);
}

static void failures_on_demand(void)
{
	preempt_disable(); /* the count is everybody's */
	mem_fail_nth(2);
	void *a = kmalloc(10), *b = kmalloc(10), *c = kmalloc(10);
	mem_fail_nth(1);
	u64 p = page_alloc(0, false), q = page_alloc(0, false);
	mem_fail_nth(0);
	preempt_enable();
	EXPECT(a && !b && c);
	EXPECT(!p && q);
	kfree(a);
	kfree(c);
	page_free(q, 0);
}

static void use_ranges(void)
{
	static const size_t sizes[] = {1, PAGE_SIZE, PAGE_SIZE + 1, 100 * PAGE_SIZE};
	char *p[ARRAY_SIZE(sizes)];

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = vmalloc(sizes[i]);
		EXPECT(p[i] != NULL);
		memset(p[i], i + 1, sizes[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t mapped = ALIGN_UP(sizes[i], PAGE_SIZE);
		EXPECT(filled(p[i], i + 1, sizes[i]));
		EXPECT(kernel_readable(p[i] + mapped - 1, 1));
		EXPECT(!kernel_readable(p[i] + mapped, 1));
		EXPECT(!kernel_readable(p[i] - 1, 1));
	}
	vfree(p[1]);
	EXPECT(!kernel_readable(p[1], 1));
	char *two = vmalloc(2 * PAGE_SIZE); /* its page behind it would not fit there */
	EXPECT(two != p[1] && !kernel_readable(two + 2 * PAGE_SIZE, 1));
	vfree(two);
	char *again = vmalloc(PAGE_SIZE);
	EXPECT(again == p[1]); /* the hole is used */
	vfree(again);
	vfree(p[0]);
	vfree(p[2]);
	vfree(p[3]);
	EXPECT(vmalloc(0) == NULL);
	EXPECT(vmalloc(1UL << 40) == NULL);
	for (u64 n = 1; n < 8; n++) { /* whichever allocation fails, nothing is lost */
		mem_fail_nth(n);
		void *v = vmalloc(3 * PAGE_SIZE);
		mem_fail_nth(0);
		vfree(v);
	}
	vfree(NULL);
}

static void vmalloc_ranges(void)
{
	EXPECT(leaves_nothing(use_ranges));
}

static void use_stacks(void)
{
	u64 top[20];

	for (unsigned i = 0; i < ARRAY_SIZE(top); i++) {
		top[i] = stack_alloc();
		char *t = (char *)top[i];
		EXPECT(top[i] && top[i] % 16 == 0);
		EXPECT(kernel_readable(t - KERNEL_STACK_SIZE, KERNEL_STACK_SIZE));
		EXPECT(!kernel_readable(t - KERNEL_STACK_SIZE - 1, 1));
		memset(t - KERNEL_STACK_SIZE, i, KERNEL_STACK_SIZE);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		EXPECT(filled((char *)top[i] - KERNEL_STACK_SIZE, i, KERNEL_STACK_SIZE));
	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		stack_free(top[i]);
}

static void stack_guards(void)
{
	EXPECT(leaves_nothing(use_stacks));
}

/* Empty pages of objects that the class with the most of them keeps. */
static unsigned most_empty_pages(void)
{
	unsigned empty[256] = {0}, most = 0;

	for (u64 block = 0; block < mem_buddy.nblocks; block++) {
		const struct frame *f = mem_buddy.frames + block * BLOCK_FRAMES;

		if (mem_buddy.blocks[block] != BLOCK_READY)
			continue;
		for (unsigned i = 0; i < BLOCK_FRAMES; i++)
			if (f[i].kind == FRAME_SLAB && !f[i].used)
				most = MAX(most, ++empty[f[i].class]);
	}
	return most;
}

/* Each class of kmalloc() keeps a page for the next object, and no more. */
static void one_page_is_kept(void)
{
	static const size_t sizes[] = {16, 48, 256, 1024, 2048};
	static void *p[3 * PAGE_SIZE / 16];

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned n = 3 * PAGE_SIZE / sizes[i];

		for (unsigned k = 0; k < n; k++)
			p[k] = kmalloc(sizes[i]);
		for (unsigned k = 0; k < n; k++)
			kfree(p[k]);
		EXPECT_EQ(most_empty_pages(), 1);
	}
}

/* Objects larger than a class come in the smallest run of pages that holds them. */
static void large_sizes_are_exact(void)
{
	for (unsigned order = 0; order < 4; order++) {
		size_t most = PAGE_SIZE << order;
		u64 free = settled_free_pages();
		void *p = kmalloc(most), *q = kzalloc(most - 1), *r = kmalloc(most + 1);

		EXPECT_EQ(ksize(p), most);
		EXPECT_EQ(ksize(q), most);
		EXPECT_EQ(ksize(r), 2 * most);
		EXPECT_EQ(page_free_count(), free - (4UL << order));
		kfree(p);
		kfree(q);
		kfree(r);
		EXPECT_EQ(page_free_count(), free);
	}
}

/* krealloc() and copies of strings leave nothing behind, and end where they should. */
static void copies_end(void)
{
	static const char text[] = "twenty-four bytes of text";
	char *dirty[8], *d, *n, *p = NULL;
	u64 before;

	for (unsigned i = 0; i < ARRAY_SIZE(dirty); i++) {
		dirty[i] = kmalloc(32);
		memset(dirty[i], 0xff, 32);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(dirty); i++)
		kfree(dirty[i]);
	before = objects_in_use();
	d = kstrdup(text);
	n = kstrndup(text, 20);
	EXPECT_STR(d, text);
	EXPECT_STR(n, "twenty-four bytes of");
	kfree(d);
	kfree(n);
	for (size_t size = 1; size < 3 * PAGE_SIZE; size = size * 2 + 7)
		p = krealloc(p, size);
	EXPECT_EQ(objects_in_use(), before + 1);
	kfree(p);
	EXPECT_EQ(objects_in_use(), before);
}

/* Memory is low below the mark, not at it. */
static void low_mark(void)
{
	u64 mark = mem_low_bytes() / PAGE_SIZE, list = 0;
	bool at, below;

	preempt_disable();
	for (unsigned order = MAX_ORDER + 1; order-- > 0;) {
		u64 pa;

		while (
		    page_free_count() >= mark + (1UL << order) && (pa = page_alloc(order, false))) {
			u64 *p = phys_to_virt(pa);

			p[0] = list;
			p[1] = order;
			list = pa;
		}
	}
	at = page_free_count() == mark && !mem_is_low();
	u64 last = page_alloc(0, false);
	below = mem_is_low();
	page_free(last, 0);
	while (list) {
		u64 *p = phys_to_virt(list), next = p[0];

		page_free(list, p[1]);
		list = next;
	}
	preempt_enable();
	EXPECT(at);
	EXPECT(below);
	EXPECT(!mem_is_low());
}

/* A page that found no table for its address is given back. */
static void vmalloc_without_tables(void)
{
	enum { TABLE = 512 * PAGE_SIZE, PAGES = 64 }; /* more than fit between others */
	char *first = vmalloc(PAGES * PAGE_SIZE), *pad, *p;
	u64 end = ALIGN_UP((u64)first + 16 * TABLE, TABLE), free, objects;
	unsigned failures = 0;

	/* Leaves a page's room in the last table that there is. */
	pad = vmalloc(end - (u64)first - (PAGES + 3) * PAGE_SIZE);
	EXPECT(first && pad);
	free = settled_free_pages();
	objects = objects_in_use();
	for (u64 n = 1; n < PAGES + 20; n++) {
		mem_fail_nth(n);
		p = vmalloc(PAGES * PAGE_SIZE);
		mem_fail_nth(0);
		if (p)
			break;
		failures++;
		EXPECT_EQ(objects_in_use(), objects);
	}
	EXPECT(p && failures > 2);
	vfree(p);
	EXPECT_EQ(objects_in_use(), objects);
	u64 after = settled_free_pages();
	EXPECT(after == free || after == free - 1); /* a table stays */
	vfree(pad);
	vfree(first);
}

/* Of the stacks that nobody uses some are kept, the rest is given back at the next request. */
static void stacks_kept(void)
{
	u64 top[40], few, many;

	for (unsigned i = 0; i < 20; i++)
		top[i] = stack_alloc();
	for (unsigned i = 0; i < 20; i++)
		stack_free(top[i]);
	stack_free(stack_alloc());
	few = page_free_count();
	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		top[i] = stack_alloc();
	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		stack_free(top[i]);
	stack_free(stack_alloc());
	many = page_free_count();
	EXPECT(many + 2 * KERNEL_STACK_SIZE / PAGE_SIZE >= few);
}

/*
 * After a panic memory comes from what was set aside: pages of it from the first to the last, each
 * free again when it is given back. Nobody else runs meanwhile.
 */
static void reserve_to_its_end(void)
{
	static void *p[1024];
	static bool made;
	unsigned n = 0, again = 0;
	bool zeroed = true, apart = true, small;
	void *a, *b;

	if (!made)
		mem_reserve(); /* the test's own, which stays */
	made = true;
	preempt_disable();
	mem_fail_nth(MEM_DEAD);
	while (n < ARRAY_SIZE(p) && (p[n] = kmalloc(PAGE_SIZE))) {
		zeroed &= filled(p[n], 0, PAGE_SIZE);
		memset(p[n], 0xa5, PAGE_SIZE);
		apart &= !n || p[n] != p[n - 1];
		n++;
	}
	for (unsigned i = 0; i < n; i += 2)
		kfree(p[i]);
	for (unsigned i = 0; i < n; i += 2)
		again += (p[i] = kmalloc(PAGE_SIZE - 100)) != NULL;
	small = kmalloc(1) == NULL;
	for (unsigned i = 0; i < n; i++)
		kfree(p[i]);
	a = kmalloc(300);
	b = kmalloc(300);
	kfree(a);
	small &= kmalloc(300) == a && ksize(b) == 512;
	kfree(a);
	kfree(b);
	mem_fail_nth(0);
	preempt_enable();
	EXPECT_EQ(n, 128);
	EXPECT_EQ(again, 64);
	EXPECT(zeroed && apart && small);
}

static const struct ktap_case cases[] = {
    {"kmalloc.sizes", kmalloc_sizes},
    {"kmalloc.realloc_and_dup", krealloc_and_dup},
    {"kmalloc.all_cpus", kmalloc_all_cpus},
    {"kmalloc.nothing_leaks", nothing_leaks},
    {"kmalloc.one_page_is_kept", one_page_is_kept},
    {"kmalloc.large_sizes_are_exact", large_sizes_are_exact},
    {"kmalloc.copies_end", copies_end},
    {"page.orders", page_orders},
    {"page.references", page_references},
    {"page.exhaustion", page_exhaustion},
    {"page.low_mark", low_mark},
    {"mem.failures_on_demand", failures_on_demand},
    {"mem.reserve_to_its_end", reserve_to_its_end},
    {"vmalloc.ranges", vmalloc_ranges},
    {"vmalloc.without_tables", vmalloc_without_tables},
    {"stack.guards", stack_guards},
    {"stack.kept", stacks_kept},
    {NULL, NULL},
};
const struct ktap_suite suite_memory = {cases};
