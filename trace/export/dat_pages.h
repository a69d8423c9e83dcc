/*
 * A list of pages that grows, and text or numbers put one behind the other into such. For files
 * that are made whole before they are given out (trace/export/dat.c). Task context; each belongs to
 * one user.
 */
#pragma once

#include "kernel/lib/types.h"

struct dat_pages {
	void **page;
	u64 count, room;
};

/* A fresh page, at the end of the list; NULL: no memory. */
void *dat_pages_add(struct dat_pages *list);
/* One of them may go before the others; its place stays, empty. */
void dat_pages_drop(struct dat_pages *list, u64 i);
void dat_pages_free(struct dat_pages *list);

struct dat_text {
	struct dat_pages pages;
	u64 len;
	bool failed; /* there was no memory: what came since is missing */
};

void dat_put(struct dat_text *t, const void *data, size_t n);
void dat_put_string(struct dat_text *t, const char *text); /* with its NUL */
void dat_put_u16(struct dat_text *t, u16 v);
void dat_put_u32(struct dat_text *t, u32 v);
void dat_put_u64(struct dat_text *t, u64 v);
void dat_put_zeros(struct dat_text *t, u64 n);
/* Over what stands at `at` already. */
void dat_patch(struct dat_text *t, u64 at, const void *data, size_t n);
/* Bytes from `at` on: up to n, as many as there are. */
size_t dat_text_read(const struct dat_text *t, u64 at, void *buf, size_t n);
void dat_text_free(struct dat_text *t);
