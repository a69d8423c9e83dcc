/*
 * The switches of tracepoints. Task context.
 */
#pragma once

#include "kernel/lib/types.h"

/* What a call site tests, or what says where its instructions are. */
struct host_key {
	u32 enabled; /* first word of whatever the host keeps for a key; read-only for the core */
};
/*
 * keys[i] becomes on[i], all in one pass over the text. Weak: sets `enabled`, which the call sites
 * test.
 */
void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n);
