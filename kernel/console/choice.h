/* The consoles that console= on the command line selects. Filled at boot, constant afterwards. */
#pragma once

#include "drivers/console_option.h"

void console_choice_init(void);
/* In order; NULL: no more. If there is none at all, every console there is gets used. */
const struct console_option *console_choice_nth(unsigned i);
