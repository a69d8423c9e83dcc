/* Undefined behaviour that a kernel with checks for it has met; without them: none. */
#pragma once

/* Prints the places and returns their number. Task context. */
unsigned ubsan_report(void);
unsigned ubsan_count(void);
