/* Virtio consoles as devices: /dev/hvcN, and /dev/vportDpN for ports that are none. */
#pragma once

/* At boot, task context, when files and interrupts are there. */
void hvc_init(void);
