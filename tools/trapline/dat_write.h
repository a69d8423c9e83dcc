/* A trace.dat file of what was read out of a machine's memory. */
#pragma once

#include "tools/trapline/live.h"

/* Looks as long as there is more. What fails is seen by who closes `out`. */
void dat_write(struct live *l, FILE *out);
