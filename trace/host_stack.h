/*
 * Return addresses, innermost first, from the traced code on: what records is left out. Any
 * context; the number of them. Weak: 0.
 */
#pragma once

#include "kernel/lib/types.h"

unsigned host_stack(u64 *out, unsigned max);
unsigned host_user_stack(u64 *out, unsigned max);
