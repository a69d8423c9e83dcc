/*
 * Errors inside pointers, for functions that return either: the last page of addresses stands for
 * -1 ... -4095.
 */
#pragma once

#include "kernel/lib/types.h"

#define MAX_ERRNO 4095

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return (u64)p >= (u64)-MAX_ERRNO;
}
