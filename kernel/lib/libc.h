/*
 * The C library's functions that the core calls, with the standard's meanings. The host's C library
 * defines them, or kernel/lib/bare/libc.c on a host that has none. Pure: any context.
 */
#pragma once

#include "kernel/lib/types.h"

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);
/*
 * Cuts the next token off *s at any of `delims` (empty tokens included, as strsep); NULL when *s is
 * NULL.
 */
char *strsep(char **s, const char *delims);
