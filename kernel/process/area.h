/*
 * The areas of one address space as a list sorted by address: finding, splitting, merging. Knows no
 * page tables. The caller holds mm->lock.
 */
#pragma once

#include "kernel/process/mm.h"

/* The area that holds addr, or NULL. */
struct vm_area *area_find(struct mm *mm, u64 addr);
/* The first area that ends above addr, or NULL. */
struct vm_area *area_find_above(struct mm *mm, u64 addr);
bool area_range_free(struct mm *mm, u64 start, u64 end);
/* Does every page of the range lie in an area? */
bool area_range_full(struct mm *mm, u64 start, u64 end);
/* The highest free place for len bytes in [low, high), or 0. */
u64 area_gap(struct mm *mm, u64 len, u64 low, u64 high);
/* An area not yet in the list (its file is counted), and its end. NULL: no memory. */
struct vm_area *area_new(u64 start, u64 end, unsigned prot, struct file *file, u64 offset);
/* anon_shared.c: the same, of anonymous memory that all who inherit it share; at 0 for now. */
struct vm_area *area_new_shared(u64 len, unsigned prot);
struct vm_area *area_copy(const struct vm_area *a);
void area_free(struct vm_area *a);
/* The range must be free. */
void area_insert(struct mm *mm, struct vm_area *a);
/* Takes it out of the list and frees it. */
void area_remove(struct mm *mm, struct vm_area *a);
/*
 * Makes start and end boundaries: afterwards no area crosses either. 0 or -ENOMEM (what was split
 * stays so: unseen).
 */
int area_cut(struct mm *mm, u64 start, u64 end);
/*
 * The same for a caller that then removes the areas between start and end: the limit of areas does
 * not hold until it has done so.
 */
int area_cut_out(struct mm *mm, u64 start, u64 end);
/* Joins what has become alike, from the area before start to the one after end. */
void area_merge(struct mm *mm, u64 start, u64 end);
