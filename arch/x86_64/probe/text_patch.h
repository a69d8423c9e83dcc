/* The breakpoint trap calls this before any other handler. */
#pragma once

#include "arch/arch.h"

/*
 * First thing in the C part of #BP, before any code that may hold a patchable site. r->rip is
 * after the int3. True: it was a site being patched right now (or patched back a moment ago); r is
 * set to go on as the new code says.
 */
bool text_patch_int3(struct regs *r);
