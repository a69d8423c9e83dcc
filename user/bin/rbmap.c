/*
 * rbmap [-f] [CPU]: shows the trace records of one CPU (0) out of its ring buffer, which it maps:
 * no record is copied. Each that is shown counts as read, as if read from trace_pipe_raw. With -f
 * it waits for more, until Ctrl-C.
 *
 *     [000]    1050368084: sched_switch pid=12 flags=0x01 64 bytes: 63617400 ...
 *     [000] lost 42 events
 *
 * The time is the trace clock's, uncooked. The name comes from the files events/SYSTEM/EVENT/id. A
 * sample for kernel/abi/trace_mmap.h: map_buffer(), next_page() and show_page() are all there is to
 * it.
 */
#include "kernel/abi/trace_mmap.h"
#include "user/libc/syscall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRACING	   "/sys/kernel/tracing"
#define IDS	   4096
#define META_SIZE  4096	     /* a page, here */
#define SHOW_BYTES 32	     /* of a record */
#define IDLE_NS	   100000000 /* between two looks when there is nothing */

/* A sub-buffer as it lies in memory: events/header_page. */
struct page {
	uint64_t time, commit;
	uint8_t data[];
};
#define COMMIT_SIZE 0xfffff

/* What every record begins with: the common fields of any events/SYSTEM/EVENT/format. */
struct record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

static unsigned cpu;
static const volatile struct trace_buffer_meta *meta;
static const uint8_t *buffers; /* sub-buffer 0; the others follow */
static volatile sig_atomic_t stop;
static unsigned long shown, pages, lost;

static void fail(const char *what)
{
	fprintf(stderr, "rbmap: %s: %s\n", what, errno_text(errno));
	exit(1);
}

/* ---- names ---- */

static char *names[IDS];

static void read_id(const char *system, const char *event)
{
	char path[640], text[16] = "";
	unsigned long id;
	int fd;

	snprintf(path, sizeof(path), TRACING "/events/%s/%s/id", system, event);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0) {
		id = strtoul(text, NULL, 10);
		if (id < IDS && !names[id])
			names[id] = strdup(event);
	}
	close(fd);
}

static void read_system(const char *system)
{
	char path[320];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), TRACING "/events/%s", system);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			read_id(system, e->d_name);
	if (d)
		closedir(d);
}

/* Looked up when an id comes that is not known yet: events may be new. */
static const char *name_of(unsigned id)
{
	struct dirent *e;
	DIR *d;

	if (id >= IDS)
		return "?";
	if (!names[id]) {
		d = opendir(TRACING "/events");
		while (d && (e = readdir(d)))
			if (e->d_name[0] != '.')
				read_system(e->d_name);
		if (d)
			closedir(d);
		if (!names[id])
			names[id] = strdup("?");
	}
	return names[id] ? names[id] : "?";
}

/* ---- the buffer ---- */

/* The meta page says how much more there is to map. */
static int map_buffer(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "/per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		fail(path);
	meta = mmap(NULL, META_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		fail("mmap");
	buffers = mmap(NULL, (size_t)meta->subbuf_size * meta->nr_subbufs, PROT_READ, MAP_SHARED,
	    fd, meta->meta_page_size);
	if (buffers == MAP_FAILED)
		fail("mmap");
	return fd;
}

/* Which sub-buffer was looked at last, and how far. */
static const struct page *last;
static uint64_t last_time;
static uint32_t last_end;

static const struct page *reader_page(void)
{
	return (const void *)(buffers + (size_t)meta->reader.id * meta->subbuf_size);
}

/* What was read before this program came is not shown. */
static void begin(void)
{
	last = reader_page();
	last_time = last->time;
	last_end = meta->reader.read;
}

/*
 * The next sub-buffer with records that were not shown yet, and where in it they begin; NULL: there
 * is none now.
 */
static const struct page *next_page(int fd, uint32_t *from)
{
	const struct page *page;
	uint32_t end;

	if (ioctl(fd, TRACE_MMAP_IOCTL_GET_READER) < 0)
		fail("ioctl");
	page = reader_page();
	end = page->commit & COMMIT_SIZE;
	*from = page == last && page->time == last_time ? last_end : 0;
	last = page;
	last_time = page->time;
	last_end = end;
	return *from < end ? page : NULL;
}

static void show_record(const uint8_t *p, uint32_t bytes, uint64_t time)
{
	const struct record *r = (const void *)p;

	printf("[%03u] %13llu: %s pid=%d flags=0x%02x %u bytes:", cpu, (unsigned long long)time,
	    name_of(r->type), (int)r->pid, r->flags, (unsigned)bytes);
	for (uint32_t i = sizeof(*r); i < bytes && i < sizeof(*r) + SHOW_BYTES; i++)
		printf("%s%02x", i % 4 ? "" : " ", p[i]);
	printf(bytes > sizeof(*r) + SHOW_BYTES ? " ...\n" : "\n");
	shown++;
}

/*
 * Walks the events where they are: events/header_event. All tell the time, those from `from` on are
 * shown.
 */
static void show_page(const struct page *page, uint32_t from)
{
	const uint8_t *p = page->data, *end = p + (page->commit & COMMIT_SIZE);
	uint64_t time = page->time;

	while (p < end) {
		const uint32_t *word = (const uint32_t *)p;
		uint32_t type = *word & 3, len = *word >> 2 & 7, delta = *word >> 5;

		if (type == 1) { /* time extend */
			time += delta | (uint64_t)word[1] << 27;
			p += 8;
		} else if (type == 2) { /* time stamp */
			time = word[1] | (uint64_t)word[2] << 32;
			p += 12;
		} else if (type == 3) { /* data */
			uint32_t front = len ? 4 : 8, bytes = len ? len * 4 : word[1];

			time += delta;
			if (p >= page->data + from)
				show_record(p + front, bytes, time);
			p += front + bytes;
		} else { /* discarded; with len, its delta is none */
			time += len ? 0 : delta;
			p += 4 + word[1];
		}
	}
}

static void show_all(int fd)
{
	const struct page *page;
	uint32_t from;

	while (!stop && (page = next_page(fd, &from))) {
		if (meta->reader.lost_events) {
			lost += meta->reader.lost_events;
			printf("[%03u] lost %llu events\n", cpu,
			    (unsigned long long)meta->reader.lost_events);
		}
		show_page(page, from);
		pages++;
	}
	fflush(stdout);
}

static void on_interrupt(int sig)
{
	(void)sig;
	stop = 1;
}

int main(int argc, char **argv)
{
	const struct timespec idle = {0, IDLE_NS};
	int follow = argc > 1 && strcmp(argv[1], "-f") == 0, fd;

	if (argc > 2 + follow || (argc > 1 + follow && argv[1 + follow][0] == '-')) {
		fprintf(stderr, "usage: rbmap [-f] [CPU]\n");
		return 1;
	}
	if (argc > 1 + follow)
		cpu = strtoul(argv[1 + follow], NULL, 10);
	fd = map_buffer();
	begin();
	signal(SIGINT, on_interrupt);
	show_all(fd);
	while (follow && !stop) {
		nanosleep(&idle, NULL);
		show_all(fd);
	}
	printf("%lu events in %lu sub-buffers, %lu lost\n", shown, pages, lost);
	return 0;
}
