/*
 * Shared by the small commands of user/bin: messages, options, numbers, files by lines and at
 * positions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First: argv[0], and the usage that a wrong call prints. */
void command_begin(const char *path, const char *usage);
/* Says "NAME: ..." and returns 1. */
int command_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same about a file, with errno's text. */
int command_fail_errno(const char *what);
/* "NAME: usage: NAME ...", 1. */
int command_usage(void);
/*
 * As getopt(), with optind and optarg; 0 after a message about what is wrong, -1 at the end: at the
 * first word that is no option.
 */
int command_option(int argc, char **argv, const char *options);
/* A whole number, as C writes it (base 0) or in a base; false after a message. */
bool command_number(const char *s, int base, uint64_t *out);
/* Calls fn with each line, without its newline, until it returns true; 1 after a message. */
int command_each_line(const char *path, bool (*fn)(char *line, void *ctx), void *ctx);
/* Opens, reads or writes once at a position; 0 or errno's number. */
int command_access(const char *path, uint64_t at, void *data, size_t n, bool write);
