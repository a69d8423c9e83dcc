/* How many objects kmalloc() has given out, for cases that look for what is left behind. */
#pragma once

#include "kernel/lib/types.h"

u64 objects_in_use(void);
/*
 * One of a few runs of act() takes no page and no object for good. One run or another may: a page
 * table stays, and how objects lie in their pages depends on what ran at the same time. A leak
 * shows in every run.
 */
bool leaves_nothing(void (*act)(void));
/*
 * Runs act() with its first allocation failing, then with its second, and so on until it succeeds;
 * undo() then takes that back. Each failed act() must return -ENOMEM and leave no object behind,
 * and so must undo(). `what` names the action in notes.
 */
void expect_no_leftovers(const char *what, int (*act)(void), void (*undo)(void));
