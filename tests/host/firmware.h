/*
 * A machine's physical memory for drivers under test: a few pages that device_map() and
 * firmware_map() find.
 */
#pragma once

#include "kernel/lib/types.h"

#define FIRMWARE_BASE 0xe0000UL /* where the PC's BIOS has its tables */
#define FIRMWARE_SIZE 0x20000UL

extern u8 firmware[FIRMWARE_SIZE];
void firmware_clear(void);
