/*
 * Shared by the cases of the flight recorder's memory: a region that is recorded into, and what the
 * next start finds of it.
 */
#pragma once

#include "trace/persist/kept.h"

#define LB_SIZE	 (1UL << 20)
#define LB_PAGES (LB_SIZE / PAGE_SIZE)

extern char *lb_region, *lb_copy; /* what is recorded into; as it was found at the next start */

char *lb_keep_text(const char *text);
/* Records events of the unit tests into the region; and the end of it. */
void lb_begin(void);
void lb_end(void);
/* Events from number `from` on, some with text. */
void lb_hit(unsigned from, unsigned n);
/* Takes n events of the global array away. */
int lb_consume(unsigned n);
/*
 * What this boot is told at its start of that memory; the instance is there if anything is. The
 * generation.
 */
u64 lb_find(const void *mem, size_t size);
/* The same of a copy of the region. */
u64 lb_reset(void);
/* What was found, and what not. */
const char *lb_report(void);
bool lb_is_there(void); /* instances/lastboot */
void lb_forget(void);
/* Of the copy; its sum made right. */
struct kept_header *lb_header(void);
void lb_seal(void);
