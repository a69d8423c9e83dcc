/*
 * A list of pages that grows, each of PAGE_SIZE << order bytes, and a sink that fills one, for
 * files that are made whole before they are read (dat.c). Task context; each belongs to one user.
 */
#pragma once

#include "trace/export/dat_head.h"

struct dat_pages {
	void **page;
	u64 count, room;
	unsigned order;
};

/* A fresh page, at the end of the list; NULL: no memory. */
void *dat_pages_add(struct dat_pages *list);
/* One of them may go before the others; its place stays, empty. */
void dat_pages_drop(struct dat_pages *list, u64 i);
void dat_pages_free(struct dat_pages *list);

struct dat_text {
	struct dat_sink to;
	struct dat_pages pages;
	bool failed; /* there was no memory: what came since is missing */
};

void dat_text_init(struct dat_text *t);
/* Bytes from `at` on: up to n, as many as there are. */
size_t dat_text_read(const struct dat_text *t, u64 at, void *buf, size_t n);
void dat_text_free(struct dat_text *t);
