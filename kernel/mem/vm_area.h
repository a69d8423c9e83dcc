/*
 * A range of an address space of ring 3, as those see it who give its pages: file systems, devices.
 * Protected by its mm->lock.
 */
#pragma once

#include "kernel/lib/list.h"

struct file;
struct mm;

struct vm_area {
	struct list_head node; /* sorted by start */
	struct mm *mm;	       /* where it is, if it is placed */
	u64 start, end;	       /* page-aligned */
	unsigned prot;	       /* PROT_R | PROT_W | PROT_X */
	unsigned max_prot;     /* what mprotect may give; a file's mmap may lower it */
	bool shared;
	struct file *file; /* counted; NULL: anonymous */
	u64 offset;	   /* in the file, of start */
	/* offset in the file from where on the area holds zeros (bss); ~0: the file's own end */
	u64 file_end;
	/*
	 * Shared kernel pages (user_events status, ring buffer): physical address of page `index`
	 * of the file, 0: SIGBUS. The area's file keeps them alive; they are not counted one by
	 * one.
	 */
	u64 (*page)(struct vm_area *a, u64 index);
	void *page_arg;
	/*
	 * Who gave the pages counts the areas: this one has become two; it is about to go. NULL:
	 * nobody counts. mm->lock may be held.
	 */
	void (*again)(struct vm_area *a);
	void (*gone)(struct vm_area *a);
	bool dont_copy; /* a child of fork() does not get it */
	/* set by madvise(): a child gets no such area; gets it with zeros */
	bool dont_fork, wipe_on_fork;
};
