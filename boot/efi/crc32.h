/* CRC-32 as Ethernet, gzip and `crc32` have it. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint32_t crc32(const void *data, size_t size);
