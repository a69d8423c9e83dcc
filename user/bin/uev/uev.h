/*
 * Shared by the parts of uev (user/bin/uev.c, user/bin/uev/). One process at a time is in them, one
 * thread.
 */
#pragma once

#define USER_EVENTS_STATUS_BIT
#include "kernel/abi/user_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACING	  "/sys/kernel/tracing/"
#define NOWHERE	  16 /* an address where nothing is */
#define PAGE	  4096
#define WORDS_MAX 512
#define TEXT_MAX  65536

enum { DONE, FAILED, NO_REQUEST }; /* what a request ends with: uev's exit status */

/* ---- what is remembered between requests, and answered: answer.c ---- */

struct uev_event {
	char name[64];
	uint32_t bit, index; /* as registering gave them */
};

/* NULL: nothing is registered as `name`. */
const struct uev_event *event_find(const char *name);
void event_remember(const char *name, const struct user_reg *reg);
/* The file of a handle, or -1: none, or closed. */
int handle_fd(const char *name);
bool handle_set(const char *name, int fd); /* false: there are too many */

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int say_failed(const char *what);	  /* with errno; FAILED */
int say_result(const char *what, long r); /* DONE; FAILED for -1 */

/* Does what the words say; the text of the answer, until the next one. */
int answer(int n, char **words, const char **text, size_t *len);

/* ---- requests: `n` words after the handle, and the handle's file ---- */

typedef int request_fn(int fd, int n, char **words);

/* calls.c: with a handle */
request_fn req_reg, req_regsize, req_regtail, req_regbig, req_regbadptr, req_regbadname, req_del,
    req_delbadptr, req_ioctl, req_read, req_write, req_writeidx, req_rawwrite, req_pwrite,
    req_writebad, req_writev, req_close;
/* files.c: without one */
request_fn req_open, req_openro, req_openwr, req_smap, req_smaprw, req_sopen, req_bit, req_page,
    req_pid;

/* ---- items.c ---- */

/* Decimal, 0x, 0 octal; with a sign. */
uint64_t number(const char *s);
/* The bytes that n ITEMs stand for; how many, or -1: one is none. */
int put_items(unsigned char *to, int n, char **items);

/* ---- talk.c ---- */

/*
 * Has the process that holds the files do what the words say (there is one from the first call on),
 * and prints the answer.
 */
int ask(int n, char **words);
