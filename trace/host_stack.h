/*
 * Return addresses, innermost first, from the traced code on: the recording functions are left out.
 * Any context; the number of them. Weak: 0.
 */
#pragma once

#include "kernel/lib/types.h"

unsigned host_stack(u64 *out, unsigned max);
/*
 * Bytes in use of the running task's stack, of what lies at `at` and behind it; 0: that is no part
 * of it.
 */
u64 host_stack_used(const void *at);
unsigned host_user_stack(u64 *out, unsigned max);
