/*
 * rbdump [-s BYTES]: decodes sub-buffers as read from per_cpu/cpuN/trace_pipe_raw (standard input,
 * the last may be shorter) in the format that events/header_page and events/header_event describe.
 * Without -s each has as many bytes as events/header_page says now; an instance's may have others.
 *
 *     page N (BYTES bytes): time=T commit word=0xC size=S [MISSED_EVENTS] [MISSED_STORED=N]
 *       @OFFSET type_len=L delta=D: what
 *
 * type_len counts as in Linux's header: 1 and up words of payload, 0 a length word, 29 padding, 30
 * time extend, 31 time stamp. Times are the trace clock's. An event that does not lie within its
 * page ends the page.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_PAGE   "/sys/kernel/tracing/events/header_page"
#define PAGE_LEAST    4096
#define PAGE_MOST     (PAGE_LEAST << 7)
#define HEADER_BYTES  16
#define SIZE_MASK     0xfffffu
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)

enum { PADDING, TIME_EXTEND, TIME_STAMP, DATA };

struct page {
	uint64_t time, commit;
	uint8_t data[PAGE_MOST - HEADER_BYTES];
};

struct event {
	uint32_t type, len, delta, payload;
	const uint8_t *at, *body; /* the event, what is after its header */
	uint32_t room;		  /* bytes from body to the end of the data */
};

static uint32_t word(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static void print_payload(const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		printf("%s%02x", i % 4 ? "" : " ", p[i]);
	putchar('\n');
}

/*
 * Each of these prints the rest of the line, adds to *t, and returns the event's bytes; 0: the page
 * ends here.
 */
static uint32_t padding(const struct event *e, uint64_t *t)
{
	uint32_t bytes = e->room >= 4 ? word(e->body) : 0;

	printf("padding, %u bytes\n", bytes);
	*t += e->len ? 0 : e->delta; /* a discarded event whose delta was 0 says so by its len */
	return e->delta ? 4 + bytes : 0;
}

static uint32_t time_extend(const struct event *e, uint64_t *t)
{
	uint64_t delta = e->room >= 4 ? ((uint64_t)word(e->body) << 27) + e->delta : 0;

	printf("time extend, full delta=%llu\n", (unsigned long long)delta);
	*t += delta;
	return 8;
}

static uint32_t time_stamp(const struct event *e, uint64_t *t)
{
	if (e->room >= 8)
		*t = word(e->body) | (uint64_t)word(e->body + 4) << 32;
	printf("time stamp, absolute=%llu\n", (unsigned long long)*t);
	return 12;
}

static uint32_t data(const struct event *e, uint64_t *t, uint64_t start)
{
	uint32_t front = e->len ? 4 : 8, payload = e->len * 4;

	*t += e->delta;
	if (!e->len) {
		payload = e->room >= 4 ? word(e->body) : 0;
		printf("data, length word=%u (payload %u)", payload, payload);
	} else {
		printf("data, payload %u", payload);
	}
	printf(", t=page+%llu:", (unsigned long long)(*t - start));
	if (payload + front > e->room + 4 || payload > PAGE_MOST) {
		printf(" beyond the end of the page\n");
		return 0;
	}
	print_payload(e->at + front, payload);
	return front + payload;
}

static uint32_t print_event(const struct page *p, uint32_t at, uint32_t size, uint64_t *t)
{
	static const uint32_t type_len[] = {29, 30, 31};
	uint32_t w = word(p->data + at);
	struct event e = {
	    .type = w & 3,
	    .len = w >> 2 & 7,
	    .delta = w >> 5,
	    .at = p->data + at,
	    .body = p->data + at + 4,
	    .room = size - at - 4,
	};

	printf(
	    "  @%u type_len=%u delta=%u: ", at, e.type == DATA ? e.len : type_len[e.type], e.delta);
	switch (e.type) {
	case PADDING:
		return padding(&e, t);
	case TIME_EXTEND:
		return time_extend(&e, t);
	case TIME_STAMP:
		return time_stamp(&e, t);
	default:
		return data(&e, t, p->time);
	}
}

static void print_page(const struct page *p, unsigned number, size_t bytes)
{
	uint32_t size = p->commit & SIZE_MASK, used;
	uint64_t lost, t = p->time;

	printf("page %u (%zu bytes): time=%llu commit word=0x%llx size=%u", number, bytes,
	    (unsigned long long)p->time, (unsigned long long)p->commit, size);
	if (p->commit & MISSED_EVENTS)
		printf(" MISSED_EVENTS");
	if ((p->commit & MISSED_STORED) && size + sizeof(lost) <= sizeof(p->data)) {
		memcpy(&lost, p->data + size, sizeof(lost));
		printf(" MISSED_STORED=%llu", (unsigned long long)lost);
	}
	putchar('\n');
	if (size > bytes - HEADER_BYTES)
		size = bytes - HEADER_BYTES;
	for (uint32_t at = 0; at + 4 <= size; at += used) {
		used = print_event(p, at, size, &t);
		if (!used)
			break;
	}
}

/* What the line of the field `data` says, and the header. */
static unsigned long size_of_now(void)
{
	char text[512];
	int fd = open(HEADER_PAGE, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "char data;");
	at = at ? strstr(at, "size:") : NULL;
	return at ? HEADER_BYTES + strtoul(at + 5, NULL, 10) : PAGE_LEAST;
}

int main(int argc, char **argv)
{
	static struct page p;
	unsigned long bytes = 0;
	char *end = "";

	if (argc == 1)
		bytes = size_of_now();
	else if (argc == 3 && strcmp(argv[1], "-s") == 0)
		bytes = strtoul(argv[2], &end, 10);
	if (*end || bytes < PAGE_LEAST || bytes > PAGE_MOST || bytes & (bytes - 1)) {
		fprintf(stderr, "usage: rbdump [-s BYTES]: 4096, 8192, and so on to 524288\n");
		return 1;
	}
	for (unsigned number = 0;; number++) {
		size_t got = 0;
		ssize_t n;

		while (got < bytes && (n = read(0, (char *)&p + got, bytes - got)) > 0)
			got += n;
		if (got < HEADER_BYTES)
			return 0;
		memset((char *)&p + got, 0, bytes - got);
		print_page(&p, number, got);
	}
}
