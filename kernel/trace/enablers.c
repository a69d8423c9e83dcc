/*
 * See enablers.h. words_lock protects all enablers and is taken before mm->lock. It is never taken
 * inside the tracer's control lock, because a task that holds mm->lock takes that one (mappings of
 * tracefs files are counted). So the tracer only notes that something has changed, and the task
 * that changed it sets the words when it gives the control lock up (host_unlock() in host.c): when
 * a write to `enable` returns, the words are set.
 *
 * Setting them gives the control lock up, too, as does a fork, which counts the events of the words
 * that it copies. Neither settles once more inside itself: settle_lock goes around the first, and
 * the second settles when it has given words_lock up.
 */
#include "kernel/trace/enablers.h"

#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/process/mm.h"
#include "kernel/task/task.h"
#include "trace/host_user.h"
#include "trace/user/user.h"

struct user_word {
	struct list_head node; /* mm->enablers */
	struct list_head all;  /* words */
	struct mm *mm;
	struct user_event *ev; /* counted */
	u64 addr;
	u32 bit;
	bool shown; /* the bit as it was set last */
};

static struct mutex words_lock = MUTEX_INIT(words_lock);
static struct list_head words = LIST_HEAD_INIT(words);
static struct mutex settle_lock = MUTEX_INIT(settle_lock); /* taken before words_lock */
u32 user_enablers_due;

static struct user_word *word_new(u64 addr, unsigned bit, struct user_event *ev)
{
	struct user_word *w = kzalloc(sizeof(*w));

	if (!w)
		return NULL;
	w->addr = addr;
	w->bit = bit;
	w->ev = ev;
	user_event_get(ev);
	return w;
}

static void user_enablers_free(struct user_word *w)
{
	user_event_put(w->ev);
	kfree(w);
}

/* words_lock held. */
static struct user_word *user_enablers_find(struct mm *mm, u64 addr, unsigned bit)
{
	struct user_word *w;

	list_for_each_entry (w, &mm->enablers, node)
		if (w->addr == addr && w->bit == bit)
			return w;
	return NULL;
}

bool user_enablers_has(u64 addr, unsigned bit)
{
	bool has;

	mutex_lock(&words_lock);
	has = user_enablers_find(current()->mm, addr, bit);
	mutex_unlock(&words_lock);
	return has;
}

/* words_lock held. */
static int user_enablers_show(struct user_word *w, struct mm *mm, bool on)
{
	int err = mm_change_bit(mm, w->addr, w->bit, on);

	if (!err)
		w->shown = on;
	return err;
}

static void link_word(struct user_word *w, struct mm *mm)
{
	w->mm = mm;
	list_add_tail(&w->node, &mm->enablers);
	list_add_tail(&w->all, &words);
}

int user_enablers_add(u64 addr, unsigned bit, struct user_event *ev)
{
	struct user_word *w = word_new(addr, bit, ev);
	int err;

	if (!w)
		return -ENOMEM;
	mutex_lock(&words_lock);
	/* Another thread may have come between. */
	err = user_enablers_find(current()->mm, addr, bit)
		  ? -EADDRINUSE
		  : user_enablers_show(w, current()->mm, READ_ONCE(ev->key.on));
	if (!err)
		link_word(w, current()->mm);
	mutex_unlock(&words_lock);
	if (err)
		user_enablers_free(w);
	return err;
}

int user_enablers_remove(u64 addr, unsigned bit)
{
	struct user_word *w;
	int err;

	mutex_lock(&words_lock);
	w = user_enablers_find(current()->mm, addr, bit);
	if (!w) {
		mutex_unlock(&words_lock);
		return -ENOENT;
	}
	list_del(&w->node);
	list_del(&w->all);
	err = user_enablers_show(w, current()->mm, false);
	mutex_unlock(&words_lock);
	user_enablers_free(w);
	return err;
}

static void user_enablers_set_words(void)
{
	struct user_word *w;

	mutex_lock(&words_lock);
	list_for_each_entry (w, &words, all) {
		bool on = READ_ONCE(w->ev->key.on);

		if (w->shown != on)
			user_enablers_show(w, w->mm, on);
	}
	mutex_unlock(&words_lock);
}

void host_user_events_changed(void)
{
	atomic_store(&user_enablers_due, 1);
}

static bool user_enablers_is_mine(const struct mutex *m)
{
	return READ_ONCE(m->owner) == current();
}

void user_enablers_settle(void)
{
	struct mm *mm = current()->mm;

	if ((mm && user_enablers_is_mine(&mm->lock)) || user_enablers_is_mine(&words_lock) ||
	    user_enablers_is_mine(&settle_lock))
		return;
	mutex_lock(&settle_lock);
	while (atomic_xchg(&user_enablers_due, 0)) {
		user_enablers_set_words();
		user_events_settle();
	}
	mutex_unlock(&settle_lock);
}

/* ---- address spaces come and go ---- */

static void user_enablers_discard_copies(struct list_head *copies)
{
	struct user_word *w, *next;

	list_for_each_entry_safe (w, next, copies, node) {
		list_del(&w->node);
		user_enablers_free(w);
	}
}

/* Copies the words of the address space: 0 or -ENOMEM. */
static int copy_words(struct mm *from, struct list_head *copies)
{
	struct user_word *w, *copy;

	list_for_each_entry (w, &from->enablers, node) {
		copy = word_new(w->addr, w->bit, w->ev);
		if (!copy) {
			user_enablers_discard_copies(copies);
			return -ENOMEM;
		}
		list_add_tail(&copy->node, copies);
	}
	return 0;
}

/* The copies stand in the order of the words they were made of, of which none has come or gone. */
static void give_words(struct mm *from, struct list_head *copies, struct mm *to)
{
	struct user_word *w, *copy;

	list_for_each_entry (w, &from->enablers, node) {
		copy = list_first_entry(copies, struct user_word, node);
		list_del(&copy->node);
		copy->shown = w->shown; /* as the page was copied */
		link_word(copy, to);
	}
}

/* No word changes while the pages are copied. */
static struct mm *user_enablers_fork(struct mm *from, struct mm *(*copy)(struct mm *from))
{
	struct list_head copies = LIST_HEAD_INIT(copies);
	struct mm *to;

	mutex_lock(&words_lock);
	to = copy_words(from, &copies) ? NULL : copy(from);
	if (to)
		give_words(from, &copies, to);
	mutex_unlock(&words_lock);
	user_enablers_discard_copies(&copies); /* none, if they were given */
	if (atomic_load(&user_enablers_due))
		user_enablers_settle();
	return to;
}

static void user_enablers_drop(struct mm *mm)
{
	struct user_word *w, *next;

	mutex_lock(&words_lock);
	list_for_each_entry (w, &mm->enablers, node)
		list_del(&w->all);
	mutex_unlock(&words_lock);
	list_for_each_entry_safe (w, next, &mm->enablers, node) {
		list_del(&w->node);
		user_enablers_free(w);
	}
}

void user_enablers_init(void)
{
	static const struct mm_words_ops ops = {user_enablers_fork, user_enablers_drop};

	mm_words_set(&ops);
}
