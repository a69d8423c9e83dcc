/*
 * Boot: makes the SMAP instructions real where the CPU has SMAP. Before kernel text becomes
 * read-only.
 */
#pragma once

void usercopy_init(void);
