/*
 * ringcheck MEMORY: reads raw sub-buffers out of a guest's memory while it runs, and judges whether
 * what the ring buffer did under load adds up (tests/kernel/ring/soak.c says what the guest does,
 * and has the mailbox's layout). Shares no code with the guest: it knows the format by its
 * description alone.
 *
 * MEMORY is the file that is the guest's RAM (QEMU: memory-backend-file, share=on). Exit 0: all is
 * right; 1: it is not; 2: no mailbox came, or the guest said no more.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	    4096
#define PAGE_HEADER 16
#define MISSED	    (1u << 31) /* in `commit` */
#define STORED	    (1u << 30)
#define CPUS	    4
#define CONTEXTS    3
#define SLOTS	    32
#define RECORD_SIGN 0x50a10000u
#define PATIENCE    120 /* seconds without anything new */

enum { PADDING, TIME_EXTENT, TIME_STAMP, DATA };

struct mailbox {
	uint64_t sign[4];
	uint64_t cpus;
	_Atomic uint64_t finished, verdict;
	struct queue {
		_Atomic uint64_t head, tail;
		uint64_t hits[CONTEXTS], skipped[CONTEXTS];
		uint64_t overrun;
		uint64_t pages[SLOTS];
	} queues[CPUS];
};
static const uint64_t sign[4] = {
    0x6c70617254206e69, 0x6b616f7320676e72, 0x786f626c69616d20, 0x0a312065676170};

struct record {
	uint32_t seq, skipped, where, check, extra[];
};

/* What is known of one CPU's events. */
static struct state {
	uint64_t expect[CONTEXTS], skipped[CONTEXTS], missing[CONTEXTS], taken[CONTEXTS];
	uint64_t stamp, told; /* lost, by the pages' own numbers */
	uint64_t pages, discarded, extents, stamps;
} states[CPUS];

static uint8_t *ram;
static size_t ram_size;
static unsigned errors;

static void wrong(unsigned cpu, const char *what, uint64_t a, uint64_t b)
{
	if (errors++ < 10)
		printf("# CPU %u, page %" PRIu64 ": %s (%" PRIu64 ", %" PRIu64 ")\n", cpu,
		    states[cpu].pages, what, a, b);
}

static void check_record(unsigned cpu, const struct record *r, uint32_t length)
{
	struct state *s = &states[cpu];
	uint32_t context = r->where >> 8 & 0xff;
	int64_t gap;

	if (length < sizeof(*r) || context >= CONTEXTS ||
	    r->where != (RECORD_SIGN | context << 8 | cpu) ||
	    r->check != ((r->seq * 2654435761u) ^ (r->skipped << 7) ^ r->where)) {
		wrong(cpu, "not a record of this CPU", length, r->where);
		return;
	}
	for (uint32_t i = 0; i < (length - sizeof(*r)) / 4; i++)
		if (r->extra[i] != r->seq)
			wrong(cpu, "torn", r->seq, r->extra[i]);
	gap = (int64_t)(r->seq - s->expect[context]) - (int64_t)(r->skipped - s->skipped[context]);
	if (gap < 0)
		wrong(cpu, "twice, or out of order", r->seq, s->expect[context]);
	s->missing[context] += gap;
	s->expect[context] = (uint64_t)r->seq + 1;
	s->skipped[context] = r->skipped;
	s->taken[context]++;
}

/* One event at `at`; its size, 0 if there is none to be. */
static uint32_t check_event(unsigned cpu, const uint8_t *at, uint32_t left, uint64_t *now)
{
	struct state *s = &states[cpu];
	uint32_t word, more[2], type, len, delta, size;

	memcpy(&word, at, 4);
	memcpy(more, at + 4, left >= 12 ? 8 : left >= 8 ? 4 : 0);
	type = word & 3;
	len = word >> 2 & 7;
	delta = word >> 5;
	switch (type) {
	case TIME_EXTENT:
		*now += delta + ((uint64_t)more[0] << 27);
		s->extents++;
		return 8;
	case TIME_STAMP:
		*now = more[0] | (uint64_t)more[1] << 32;
		s->stamps++;
		return 12;
	case PADDING: /* of a discarded event: the rest of a sub-buffer is not given away */
		if (!delta)
			return 0;
		*now += len ? 0 : delta;
		s->discarded++;
		return 4 + more[0];
	}
	size = len ? 4 + len * 4 : 8 + more[0];
	*now += delta;
	if (*now < s->stamp)
		wrong(cpu, "time goes back", *now, s->stamp);
	s->stamp = *now;
	if (size <= left)
		check_record(
		    cpu, (const struct record *)(at + (len ? 4 : 8)), size - (len ? 4 : 8));
	return size;
}

static void check_page(unsigned cpu, const uint8_t *page)
{
	struct state *s = &states[cpu];
	uint64_t now, commit, lost;
	uint32_t bytes, at = 0;

	memcpy(&now, page, 8);
	memcpy(&commit, page + 8, 8);
	bytes = commit & 0xfff;
	while (at < bytes) {
		uint32_t size = check_event(cpu, page + PAGE_HEADER + at, bytes - at, &now);

		if (size < 8 || size % 4 || size > bytes - at) {
			wrong(cpu, "an event's length", at, size);
			break;
		}
		at += size;
	}
	if (commit & STORED) {
		memcpy(&lost, page + PAGE_HEADER + bytes, 8);
		s->told += lost;
		if (!(commit & MISSED) || !lost)
			wrong(cpu, "flags of the lost", commit, lost);
	}
	s->pages++;
}

static bool look(struct mailbox *box)
{
	bool any = false;

	for (unsigned cpu = 0; cpu < box->cpus && cpu < CPUS; cpu++) {
		struct queue *q = &box->queues[cpu];
		uint64_t tail = atomic_load(&q->tail);

		for (; tail != atomic_load(&q->head); any = true) {
			uint64_t address = q->pages[tail % SLOTS];

			if (address % PAGE || address >= ram_size)
				wrong(cpu, "an address", address, tail);
			else
				check_page(cpu, ram + address);
			atomic_store(&q->tail, ++tail);
		}
	}
	return any;
}

static uint64_t sum(const uint64_t *v)
{
	return v[0] + v[1] + v[2];
}

static void check_totals(struct mailbox *box)
{
	uint64_t events = 0, nmis = 0, pages = 0, lost = 0;

	for (unsigned cpu = 0; cpu < box->cpus; cpu++) {
		struct state *s = &states[cpu];
		struct queue *q = &box->queues[cpu];

		for (unsigned i = 0; i < CONTEXTS; i++) {
			s->missing[i] +=
			    q->hits[i] - s->expect[i] - (q->skipped[i] - s->skipped[i]);
			if (q->hits[i] != s->taken[i] + q->skipped[i] + s->missing[i])
				wrong(cpu, "the sum of a context", i, q->hits[i]);
		}
		if (sum(s->missing) != q->overrun)
			wrong(cpu, "missing, overwritten", sum(s->missing), q->overrun);
		if (s->told > q->overrun)
			wrong(cpu, "told lost, overwritten", s->told, q->overrun);
		events += sum(s->taken);
		nmis += s->taken[2];
		pages += s->pages;
		lost += q->overrun;
	}
	printf("# host: %" PRIu64 " events in %" PRIu64 " raw pages, %" PRIu64
	       " of nested NMIs, %" PRIu64 " overwritten\n",
	    events, pages, nmis, lost);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

/* The page that begins with the sign; NULL: not there yet. */
static struct mailbox *find_box(void)
{
	for (size_t at = 0; at + PAGE <= ram_size; at += PAGE)
		if (memcmp(ram + at, sign, sizeof(sign)) == 0)
			return (struct mailbox *)(ram + at);
	return NULL;
}

static bool map_memory(const char *name)
{
	struct stat st;
	int fd = -1;

	for (unsigned i = 0; i < 20000; i++, nap()) {
		fd = open(name, O_RDWR);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
			break;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (fd < 0)
		return false;
	ram_size = st.st_size;
	ram = mmap(NULL, ram_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return ram != MAP_FAILED;
}

int main(int argc, char **argv)
{
	struct mailbox *box = NULL;
	time_t last = time(NULL);

	if (argc != 2 || !map_memory(argv[1])) {
		fprintf(stderr, "ringcheck: no memory to look at\n");
		return 2;
	}
	while (!box || !atomic_load(&box->finished)) {
		if (!box) {
			box = find_box();
			for (int i = 0; i < 20; i++)
				nap();
		} else if (look(box)) {
			last = time(NULL);
		} else {
			nap();
		}
		if (time(NULL) - last > PATIENCE) {
			fprintf(stderr, "ringcheck: the guest says nothing\n");
			return 2;
		}
	}
	look(box);
	check_totals(box);
	atomic_store(&box->verdict, errors ? 2 : 1);
	printf("%s - raw pages, checked on the host\n", errors ? "not ok" : "ok");
	return errors != 0;
}
