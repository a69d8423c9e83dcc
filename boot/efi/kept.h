/* The memory of the flight recorder that an earlier boot left, as a loader reads it. Pure. */
#pragma once

#include "boot/boot_info.h"

#include <stddef.h>

/*
 * How many bytes are kept at address `at`, where `room` bytes are for it and `k` is what lies
 * there; 0: nothing that can be right. Whether all of it is whole the kernel finds out, and who
 * reads the file.
 */
uint64_t kept_bytes(const struct boot_kept *k, uint64_t at, uint64_t room);
