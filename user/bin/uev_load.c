/*
 * uev_load [EVENTS [WRITES [BYTES]]]: load for the tracer: registers so many user events (8)
 * load_0, load_1 ..., and writes each so often (100000) in turn, BYTES (16) at a time, while
 * somebody listens. They stay when it ends: enable them, and run it again.
 *
 *	# uev_load 8 0 ; echo 1 > /sys/kernel/tracing/events/user_events/enable ; uev_load
 */
#define USER_EVENTS_STATUS_BIT
#include "kernel/abi/user_events.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRACING	   "/sys/kernel/tracing/"
#define EVENTS_MAX 1024
#define BYTES_MAX  4000

static struct {
	unsigned bit, index;
} events[EVENTS_MAX];

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static long number(int argc, char **argv, int i, long otherwise, long most)
{
	long n = argc > i ? atol(argv[i]) : otherwise;

	return n < 0 ? 0 : n > most ? most : n;
}

static int define(int data, int i)
{
	char text[64];
	struct user_reg reg = {.size = sizeof(reg), .name_args = (uintptr_t)text};

	snprintf(text, sizeof(text), "load_%d u32 number", i);
	if (ioctl(data, DIAG_IOCSREG, &reg))
		return -1;
	events[i].bit = reg.status_bit;
	events[i].index = reg.write_index;
	return 0;
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, 1, 8, EVENTS_MAX),
	     writes = number(argc, argv, 2, 100000, 1L << 40);
	long bytes = number(argc, argv, 3, 16, BYTES_MAX), written = 0;
	static char buf[BYTES_MAX + 8];
	struct timespec start, end;
	int data = open(TRACING "user_events_data", O_RDWR),
	    status = open(TRACING "user_events_status", O_RDONLY);

	if (data < 0 || status < 0)
		return fail("open");
	const volatile unsigned char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
	if (page == MAP_FAILED)
		return fail("mmap");
	for (int i = 0; i < count; i++)
		if (define(data, i))
			return fail("register");
	if (bytes < 4)
		bytes = 4;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long n = 0; n < writes * count; n++) {
		unsigned bit = events[n % count].bit;
		uint32_t value = n;

		if (!(page[bit / 8] >> bit % 8 & 1))
			continue;
		memcpy(buf, &events[n % count].index, 4);
		memcpy(buf + 4, &value, 4);
		if (write(data, buf, bytes + 4) < 0)
			return fail("write");
		written++;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	double ns = (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
	printf("%ld of %ld written, %.0f ns each\n", written, writes * count,
	    written ? ns / written : 0);
	return 0;
}
