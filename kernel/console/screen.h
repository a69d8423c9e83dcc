/* The screen as a console, where console= does not name others only. Boot, task context. */
#pragma once

struct boot_info;

/* When memory can be mapped: the framebuffer that the loader found. */
void screen_init(const struct boot_info *bi);
/* When PCI is known: a card that is known here, if the loader found none. */
void screen_init_machine(void);
