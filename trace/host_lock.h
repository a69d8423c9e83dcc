/*
 * The control plane's lock: one mutex for definitions and files. Task context; to take it twice is
 * a bug.
 */
#pragma once

void host_lock(void);
void host_unlock(void);
