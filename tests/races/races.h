/*
 * Programs with one race each, for `trapline explore`: correct in the usual schedule, wrong in
 * others. `races NAME` runs one; status 1: it went wrong, and stderr has the reason. `races kernel
 * NAME` runs a race of the kernel's (tests/kernel/races.c).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct race {
	const char *name;
	int (*run)(void);
};

/* Runs both as threads, and waits until both have ended. */
static inline void race_together(void *(*a)(void *), void *(*b)(void *))
{
	pthread_t t[2];

	if (pthread_create(&t[0], NULL, a, NULL) || pthread_create(&t[1], NULL, b, NULL))
		abort();
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

static inline int race_wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	return 1;
}
