/* Calendar dates of UTC from nanoseconds since 1970, as commands print them. Pure. */
#pragma once

#include "kernel/lib/types.h"

struct sh_date {
	int year, month, day, hour, minute, second,
	    weekday; /* month, day from 1; weekday 0 is Sunday */
};

struct sh_date sh_date_of(u64 unix_ns);
/* "Jan  1 12:34", or with the year when it is more than half a year away from now. */
void sh_date_ls(u64 unix_ns, u64 now_ns, char out[32]);
/* "Mon Jan  1 12:34:56 UTC 2024" */
void sh_date_full(u64 unix_ns, char out[32]);
/* date +FORMAT: Y m d H M S s N j a b F T %; returns the length. */
size_t sh_date_format(u64 unix_ns, const char *format, char *out, size_t size);
