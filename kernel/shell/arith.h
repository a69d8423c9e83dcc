/* $((...)): 64-bit integers, C's operators, variables with or without $, assignment. Task context (reads variables). */
#pragma once

#include "kernel/shell/vars.h"

/* 0, or a negative errno with the reason in *error. */
int sh_arith(struct sh_vars *v, const char *text, s64 *out, const char **error);
