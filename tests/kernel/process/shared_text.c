/* The text of a program is in memory once, however many processes run it. */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/process/mm.h"
#include "kernel/process/process.h"
#include "kernel/task/group.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"

enum {
	PROCESSES = 20,
	TEXT_PAGES = 64 /* at least as many does /test/text touch before it waits */
};
#define TEXT_PATIENCE (100000 * TICK_NS)

static int text_become(struct process_start *start)
{
	(void)start;
	return process_become(
	    "/test/text", (const char *const[]){"text", NULL}, (const char *const[]){NULL});
}

static struct mm *text_mm(int pid)
{
	struct task *t = task_find(pid);
	struct mm *mm = t ? task_mm_get(t) : NULL;

	if (t)
		task_put(t);
	return mm;
}

/* The frame of the file's page at va, if the process has brought it in; else 0. */
static u64 text_frame(struct mm *mm, u64 va)
{
	unsigned prot;
	u64 pa;

	mutex_lock(&mm->lock);
	pa = aspace_lookup(mm->as, va, &prot);
	mutex_unlock(&mm->lock);
	return pa && (prot & PROT_X) ? pa : 0;
}

/* How many pages of text both have brought in; `copies` of them are not the same frame. */
static unsigned text_in_both(struct mm *a, struct mm *b, unsigned *copies)
{
	unsigned n = 0;

	*copies = 0;
	for (u64 va = USER_START; va < a->brk_start; va += PAGE_SIZE) {
		u64 one = text_frame(a, va), other = text_frame(b, va);

		n += one && other;
		*copies += one && other && one != other;
	}
	return n;
}

/* Waits until the process has its text, whose last page may be a copy: the file ends within it. */
static void text_expect_shared(struct mm *first, int pid)
{
	u64 patience = clock_ns() + TEXT_PATIENCE;
	unsigned copies = 0, pages = 0;

	while (pages < TEXT_PAGES && clock_ns() < patience) {
		struct mm *mm = text_mm(pid);

		if (mm) {
			pages = text_in_both(first, mm, &copies);
			mm_put(mm);
		}
		sleep_ns(TICK_NS, NULL);
	}
	EXPECT(pages >= TEXT_PAGES);
	EXPECT(copies <= 1);
}

static void text_end(int pid)
{
	int status;

	EXPECT_EQ(signal_kill(pid, SIGKILL), 0);
	EXPECT_EQ(task_wait(pid, &status, 0), pid);
}

static void shared_text(void)
{
	static struct process_start start = {text_become};
	u64 patience = clock_ns() + TEXT_PATIENCE, before, after;
	int pid[PROCESSES];
	struct mm *first;

	pid[0] = process_start(&start, "text");
	while (!(first = text_mm(pid[0])) && clock_ns() < patience)
		sleep_ns(TICK_NS, NULL);
	if (!first) {
		ktap_fail(__FILE__, __LINE__, "/test/text does not begin");
		return;
	}
	text_expect_shared(first, pid[0]);
	before = settled_free_pages();
	for (unsigned i = 1; i < PROCESSES; i++)
		pid[i] = process_start(&start, "text");
	for (unsigned i = 1; i < PROCESSES; i++)
		text_expect_shared(first, pid[i]);
	after = settled_free_pages();
	EXPECT(before - after < (PROCESSES - 1) * TEXT_PAGES / 2);
	mm_put(first);
	for (unsigned i = 0; i < PROCESSES; i++)
		text_end(pid[i]);
}

static const struct ktap_case cases[] = {
    {"ring3.shared_text", shared_text},
    {NULL, NULL},
};
const struct ktap_suite suite_shared_text = {cases};
