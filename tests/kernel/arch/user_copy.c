/*
 * Copies between the kernel and ring 3, and from doubtful kernel memory: arch/x86_64/usercopy.*. A
 * page at 0x10000 is mapped in an address space of the test's own, nothing around it; this task
 * stays on its CPU meanwhile.
 */
#include "arch/x86_64/cpu/features.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"
#include "kernel/task/task.h"

#define AT  0x10000UL
#define END (AT + PAGE_SIZE)

static struct aspace *as;
static char *page; /* the same page, as the kernel sees it */

static void begin(void)
{
	u64 pa = page_alloc(0, true);

	page = phys_to_virt(pa);
	as = aspace_create();
	aspace_map(as, AT, pa, PROT_R | PROT_W | PROT_USER);
	preempt_disable();
	aspace_switch(as);
}

static void end(void)
{
	aspace_switch(NULL);
	preempt_enable();
	aspace_destroy(as);
	page_free(virt_to_phys(page), 0);
}

static void every_size_and_edge(void)
{
	char out[64], in[64];

	begin();
	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = 'a' + i;
	for (unsigned n = 0; n <= 40; n++) {
		memset(page + PAGE_SIZE - 64, 0, 64);
		EXPECT_EQ(copy_to_user(END - n, in, n), 0);
		EXPECT_EQ(memcmp(page + PAGE_SIZE - n, in, n), 0);
		EXPECT_EQ(page[PAGE_SIZE - n - 1], 0);
		memset(out, '-', sizeof out);
		EXPECT_EQ(copy_from_user(out, END - n, n), 0);
		EXPECT_EQ(memcmp(out, in, n), 0);
		EXPECT_EQ(out[n], '-');
		if (n) {
			EXPECT_EQ(copy_from_user(out, END - n + 1, n), -EFAULT);
			EXPECT_EQ(copy_to_user(END - n + 1, in, n), -EFAULT);
			EXPECT_EQ(copy_from_user_nofault(out, END - n + 1, n), -EFAULT);
		}
	}
	end();
}

/* A page that a program may have, but has not yet, is made where the copy may wait for it. */
static void faults_in(void)
{
	struct mm *mm = mm_create();
	char c = 1;
	u64 flags;

	area_insert(mm, area_new(AT, END, PROT_R | PROT_W, NULL, 0));
	current()->mm = mm;
	aspace_switch(mm->as);
	flags = irq_save();
	EXPECT_EQ(copy_from_user(&c, AT, 1), -EFAULT);
	irq_restore(flags);
	preempt_disable();
	EXPECT_EQ(copy_from_user(&c, AT, 1), -EFAULT);
	preempt_enable();
	EXPECT_EQ(copy_from_user_nofault(&c, AT, 1), -EFAULT);
	EXPECT_EQ(copy_from_user(&c, AT, 1), 0);
	EXPECT_EQ(c, 0);
	EXPECT_EQ(copy_from_user_nofault(&c, AT, 1), 0);
	current()->mm = NULL;
	aspace_switch(NULL);
	mm_put(mm);
}

static void refuses_kernel_addresses(void)
{
	static const u64 bad[] = {USER_END, USER_END - 1, 0x800000000000, DIRECT_MAP_BASE,
	    KERNEL_IMAGE_BASE + 0x100000, ~0UL};
	char c[2];
	u32 word;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(copy_from_user(c, bad[i], 2), -EFAULT);
		EXPECT_EQ(copy_from_user_left(c, bad[i], 2), 2);
		EXPECT_EQ(get_user_u32(&word, bad[i]), -EFAULT);
		EXPECT_EQ(copy_to_user(bad[i], c, 2), -EFAULT);
		EXPECT_EQ(copy_from_user_nofault(c, bad[i], 2), -EFAULT);
		EXPECT_EQ(strncpy_from_user(c, bad[i], 2), -EFAULT);
	}
	EXPECT_EQ(copy_from_user(c, 0x1000, ~0UL), -EFAULT);
	EXPECT_EQ(copy_from_user(c, 0x1000, USER_END), -EFAULT);
	EXPECT_EQ(copy_from_user(c, 0, 1), -EFAULT);
	EXPECT_EQ(copy_from_user_left(c, 0x1000, ~0UL), ~0UL);
	EXPECT_EQ(get_user_u32(&word, USER_END - 3), -EFAULT);
}

static bool untouched(const char *out, size_t n)
{
	while (n && out[n - 1] == '-')
		n--;
	return !n;
}

/* What reaches beyond ring 3, or round the end of all addresses, is not begun. */
static void nothing_outside(void)
{
	char out[64], in[64];

	begin();
	aspace_map(as, USER_END - PAGE_SIZE, virt_to_phys(page), PROT_R | PROT_W | PROT_USER);
	memset(page, 'p', PAGE_SIZE);
	memset(in, 'i', sizeof(in));
	for (u64 n = 1; n <= 20; n++) {
		u64 at = USER_END - n;

		memset(out, '-', sizeof(out));
		EXPECT_EQ(copy_from_user(out, at, n + 1), -EFAULT);
		EXPECT_EQ(copy_from_user_left(out, at, n + 1), n + 1);
		EXPECT_EQ(copy_from_user_nofault(out, at, n + 1), -EFAULT);
		EXPECT_EQ(copy_from_user(out, (u64)page, n - (u64)page), -EFAULT);
		EXPECT_EQ(copy_from_kernel_nofault(out, page, n - (u64)page), -EFAULT);
		EXPECT(untouched(out, sizeof(out)));
		EXPECT_EQ(copy_to_user(at, in, n + 1), -EFAULT);
		EXPECT_EQ(page[PAGE_SIZE - 1], 'p');
		EXPECT_EQ(copy_from_user(out, at, n), 0);
		EXPECT(out[n - 1] == 'p' && untouched(out + n, sizeof(out) - n));
		EXPECT_EQ(copy_to_user(at, out, n), 0);
	}
	end();
}

/* Of what a fault leaves, eight bytes at a time are told where eight were to be copied at once. */
static void what_is_left(void)
{
	char out[64];

	begin();
	memset(page, 'p', PAGE_SIZE);
	for (u64 n = 1; n <= 40; n++)
		for (u64 there = 0; there <= n; there++) {
			u64 words = ALIGN_DOWN(n, 8),
			    done = there < words ? ALIGN_DOWN(there, 8) : there;

			memset(out, '-', sizeof(out));
			EXPECT_EQ(copy_from_user_left(out, END - there, n), n - done);
			EXPECT(!done || out[done - 1] == 'p');
			EXPECT(untouched(out + done, sizeof(out) - done));
		}
	end();
}

static void strings(void)
{
	char out[16];

	begin();
	strscpy(page, "hello", 16);
	memcpy(page + PAGE_SIZE - 3, "xyz", 3); /* no NUL before the end of the page */
	EXPECT_EQ(strncpy_from_user(out, AT, sizeof out), 5);
	EXPECT_STR(out, "hello");
	EXPECT_EQ(strncpy_from_user(out, AT, 6), 5);
	EXPECT_EQ(strncpy_from_user(out, AT, 5), -ENAMETOOLONG);
	EXPECT_EQ(strncpy_from_user(out, AT, 0), -ENAMETOOLONG);
	EXPECT_EQ(strncpy_from_user(out, AT + 5, 1), 0);
	EXPECT_EQ(strncpy_from_user(out, END - 3, sizeof out), -EFAULT);
	EXPECT_EQ(strncpy_from_user(out, END - 3, 3), -ENAMETOOLONG);
	EXPECT_EQ(strncpy_from_user(out, AT - 1, 8), -EFAULT);
	end();
}

/* By words where it can, and to the byte at the ends: of the string, of the room, of the page. */
static void strings_of_every_length(void)
{
	char out[64];

	begin();
	for (unsigned at = 0; at < 64; at++) {
		for (unsigned n = 0; n < 40; n++) {
			unsigned end = PAGE_SIZE - at; /* where the string ends, if it can */
			unsigned from = end > n ? end - n : 0;
			u64 start = AT + from;

			memset(page, 'x', PAGE_SIZE);
			memset(out, '#', sizeof(out));
			if (at)
				page[end] = '\0';
			EXPECT_EQ(strncpy_from_user(out, start, n + 1), at ? (long)n : -EFAULT);
			EXPECT_EQ(out[n + 1], '#');
			if (!at)
				continue;
			EXPECT_EQ(out[n], '\0');
			EXPECT(!memcmp(out, page + from, n));
			memset(out, '#', sizeof(out));
			EXPECT_EQ(strncpy_from_user(out, start, n), -ENAMETOOLONG);
			EXPECT_EQ(out[n], '#');
		}
	}
	end();
}

/* A string that ends in its page is whole, also where there is room for what lies beyond it. */
static void strings_in_much_room(void)
{
	char out[64];

	begin();
	for (unsigned at = 0; at < 16; at++)
		for (unsigned n = 0; n < 40; n++) {
			unsigned from = PAGE_SIZE - n - at;

			memset(page, 'x', PAGE_SIZE);
			if (at)
				page[PAGE_SIZE - at] = '\0';
			EXPECT_EQ(
			    strncpy_from_user(out, AT + from, sizeof(out)), at ? (long)n : -EFAULT);
		}
	end();
}

long kernel_copy_nofault(
    void *dst, const void *src, size_t n); /* arch/x86_64/mm/usercopy.S: without stac */

/*
 * With SMAP, plain kernel code cannot reach ring 3's memory, and AC is off again after every copy,
 * failed ones too.
 */
static void smap_holds(void)
{
	char c = 0;
	long plain;

	begin();
	EXPECT_EQ(copy_from_user(&c, AT, 1), 0);
	EXPECT_EQ(irq_flags() & 0x40000, 0);
	EXPECT_EQ(copy_from_user(&c, END, 1), -EFAULT);
	EXPECT_EQ(irq_flags() & 0x40000, 0);
	plain = kernel_copy_nofault(&c, (void *)AT, 1);
	end();
	if (!cpu_features.smap)
		ktap_skip("no SMAP");
	else
		EXPECT_EQ(plain, -EFAULT);
}

static void doubtful_kernel_memory(void)
{
	u64 v = 5, out = 0;

	EXPECT_EQ(copy_from_kernel_nofault(&out, &v, sizeof v), 0);
	EXPECT_EQ(out, 5);
	EXPECT_EQ(copy_to_kernel_nofault(&v, &(u64){6}, sizeof v), 0);
	EXPECT_EQ(v, 6);
	EXPECT_EQ(copy_from_kernel_nofault(&out, NULL, 8), -EFAULT);
	EXPECT_EQ(copy_from_kernel_nofault(&out, (void *)AT, 8), -EFAULT);
	EXPECT_EQ(copy_from_kernel_nofault(&out, (void *)0x8000000000000000, 8),
	    -EFAULT); /* not canonical */
	EXPECT_EQ(copy_from_kernel_nofault(&out, (void *)0xdead000000000000, 8), -EFAULT);
	EXPECT_EQ(copy_from_kernel_nofault(&out, (void *)-4UL, 8), -EFAULT);
	EXPECT_EQ(copy_from_kernel_nofault(&out, (void *)(KERNEL_MAP_END - 64), 8), -EFAULT);
	EXPECT_EQ(out, 5);
}

static const struct ktap_case cases[] = {
    {"user_copy.every_size_and_edge", every_size_and_edge},
    {"user_copy.faults_in", faults_in},
    {"user_copy.refuses_kernel_addresses", refuses_kernel_addresses},
    {"user_copy.nothing_outside", nothing_outside},
    {"user_copy.what_is_left", what_is_left},
    {"user_copy.strings", strings},
    {"user_copy.strings_of_every_length", strings_of_every_length},
    {"user_copy.strings_in_much_room", strings_in_much_room},
    {"user_copy.smap_holds", smap_holds},
    {"user_copy.doubtful_kernel_memory", doubtful_kernel_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_user_copy = {cases};
