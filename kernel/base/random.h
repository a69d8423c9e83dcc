/*
 * Random bytes: ChaCha20 keyed from the clocks at first use and re-keyed with every call, so that
 * what was given cannot be told from what follows. No claim for cryptographic use: without a noise
 * source a machine that boots twice alike gives the same bytes, which the tests want. Any context
 * but NMI.
 */
#pragma once

#include "kernel/lib/types.h"

u64 random_u64(void);
void random_bytes(void *buf, size_t n);
void random_stir(const void *data, size_t n); /* mixes something in */
