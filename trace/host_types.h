/*
 * The host's own types: the section that tools/types made of its debug information
 * (trace/types/section.h). Its functions are those of host_sym_nth(), in that order. Task context.
 */
#pragma once

#include "kernel/lib/types.h"

/* 8-aligned and never changed; NULL: there is none. Weak: NULL */
const void *host_types(size_t *size);
