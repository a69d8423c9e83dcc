/*
 * Doubly linked circular list with the head inside the owner, as everywhere in this field. No
 * locking of its own.
 */
#pragma once

#include "kernel/lib/types.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)                                                                       \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}

static inline void list_init(struct list_head *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list_head *l)
{
	return l->next == l;
}

/* Without the lock of a list that others may change: what was true once. */
static inline bool list_empty_lockless(const struct list_head *l)
{
	return data_race(l->next) == l;
}

static inline void list_insert_(struct list_head *n, struct list_head *prev, struct list_head *next)
{
	n->next = next;
	n->prev = prev;
	prev->next = n;
	next->prev = n;
}

static inline void list_add(struct list_head *n, struct list_head *head)
{
	list_insert_(n, head, head->next);
}

static inline void list_add_tail(struct list_head *n, struct list_head *head)
{
	list_insert_(n, head->prev, head);
}

static inline __attribute__((always_inline)) void list_del(struct list_head *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = n->prev = n;
}

#define list_entry(p, type, member)	  container_of(p, type, member)
#define list_first_entry(h, type, member) list_entry((h)->next, type, member)
#define list_for_each_entry(p, head, member)                                                       \
	for (p = list_entry((head)->next, typeof(*p), member); &p->member != (head);               \
	     p = list_entry(p->member.next, typeof(*p), member))
#define list_for_each_entry_safe(p, n, head, member)                                               \
	for (p = list_entry((head)->next, typeof(*p), member),                                     \
	    n = list_entry(p->member.next, typeof(*p), member);                                    \
	     &p->member != (head); p = n, n = list_entry(n->member.next, typeof(*p), member))
