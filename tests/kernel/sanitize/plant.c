/*
 * Errors that a kernel built to look for them must find: each is committed once, on purpose, when
 * all cases have run.
 */
#include "arch/arch.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/kernel/sanitize/sanitize.h"
#include "tests/kernel/threads.h"

#ifdef SANITIZE_undefined

static volatile unsigned too_far = 32;

bool sanitize_finds_planted(void)
{
	unsigned before = sanitize_count();
	volatile int shifted = 1 << too_far;

	(void)shifted;
	return sanitize_count() == before + 1;
}

#elif defined(SANITIZE_address)

/* Bytes of an object of 24: the compiler does not know. */
static char *volatile object;
static volatile unsigned behind = 24, before = 0;

static void plant_small(void)
{
	object = kmalloc(24);
	object[behind] = 1;
	(void)*(volatile u64 *)(object + behind - 4); /* begins inside */
	memset(object, 0, behind + 1);
	char *gone = object;
	kfree(gone);
	((volatile char *)gone)[before]++; /* a read, then a write */
	kfree(gone);
}

static void plant_large(void)
{
	u64 pa = page_alloc(0, false);
	volatile char *page = phys_to_virt(pa), *large = kmalloc(5000);

	(void)large[5000 + before];
	kfree((void *)large);
	page_free(pa, 0);
	(void)page[100];
}

bool sanitize_finds_planted(void)
{
	unsigned before = sanitize_count();

	plant_small();
	plant_large();
	return sanitize_count() == before + 8;
}

#else

#define WAIT_NS 60000000000UL

/* Two tasks count at once, and nobody keeps them apart. */
static u64 raced;
static bool enough;

static void count_on(void *unused __maybe_unused)
{
	while (!READ_ONCE(enough)) {
		raced++;
		barrier();
	}
}

bool sanitize_finds_planted(void)
{
	static struct threads threads;
	unsigned before = sanitize_count();
	u64 end = clock_ns() + WAIT_NS;

	thread_start(&threads, count_on, NULL, cpu_id() ? 0 : 1);
	while (sanitize_count() == before && clock_ns() < end) {
		raced++;
		barrier();
	}
	WRITE_ONCE(enough, true);
	threads_join(&threads);
	return sanitize_count() > before;
}

#endif
