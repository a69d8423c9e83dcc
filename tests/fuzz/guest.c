/*
 * A machine's memory, read from outside (tools/trapline/guest*.c): a small one with two rings,
 * formats, names, symbols and counts, into which the input writes while it is read. Each 5 bytes of
 * it are where (u16), what (u16) and how: bits 0 and 1 how many bytes, bit 7: now it is looked. An
 * input that begins with an ELF file's first bytes is a core instead.
 */
#include <elf.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/trapline/trace/dat_write.h"

#define SIZE   0x10000
#define DIRECT 0xffff888000000000ULL
#define CPUS   2
#define PAGES  4 /* of a ring */

enum {
	HEAD = 0x1000,
	ARRAY = 0x2000,
	CLOCK = 0x2100,
	BUFFER = 0x2200,
	RING = 0x2400,
	SLOTS = 0x2800,
	FILES = 0x2a00,
	COUNTS = 0x2b00,
	NAMES = 0x2c00,
	FORMAT = 0x3000,
	PAGE = 0x4000
};

static uint8_t *image;

static uint64_t at(uint64_t offset)
{
	return DIRECT + offset;
}

static void put64(uint64_t offset, uint64_t v)
{
	memcpy(image + offset, &v, 8);
}

static void put32(uint64_t offset, uint32_t v)
{
	memcpy(image + offset, &v, 4);
}

static void make_head(void)
{
	struct trace_export e = {.magic = TRACE_EXPORT_MAGIC,
	    .self = HEAD,
	    .version = TRACE_EXPORT_VERSION,
	    .size = sizeof(e),
	    .direct_base = DIRECT,
	    .image_base = ~0ULL,
	    .clock_mult = 1ULL << 32,
	    .formats = at(FORMAT),
	    .array = at(ARRAY),
	    .texts = at(NAMES),
	    .text_count = 2,
	    .comms = at(NAMES + 0x10),
	    .comm_count = at(NAMES + 0x18),
	    .symbols = {2, 0xffffffff80100000, at(NAMES + 0x20), at(NAMES + 0x28),
		at(NAMES + 0x30)},
	    .comm_size = 20,
	    .release = "made",
	    .array_buffer = 0,
	    .array_clock = 8,
	    .array_next = 16,
	    .array_name = 32,
	    .array_files = 48,
	    .array_ledger = 64,
	    .ledger_size = 64,
	    .file_node = 0,
	    .file_call = 16,
	    .file_counts = 24,
	    .count_size = 64,
	    .call_name = 0,
	    .call_class = 8,
	    .class_system = 0,
	    .clock_read = 8,
	    .clock_to_ns = 16,
	    .buffer_cpus = 0,
	    .buffer_cpu_buffers = 16,
	    .cpu_buffer_size = 16,
	    .cpu_buffer_ring = 0,
	    .ring_tail = 0,
	    .ring_number = 8,
	    .ring_slots = 16,
	    .ring_count = 24,
	    .ring_overrun_events = 32,
	    .ring_overrun_pages = 40,
	    .ring_page = 48,
	    .ring_next = 56,
	    .ring_skipped = 64,
	    .ring_next_seq = 72,
	    .ring_page_mask = 80};

	memcpy(image + HEAD, &e, sizeof(e));
}

/* An array, its clock, its one file of an event, and texts. */
static void make_array(void)
{
	put64(ARRAY, at(BUFFER));
	put64(ARRAY + 8, at(CLOCK));
	put64(ARRAY + 16, at(ARRAY + 16));
	put64(ARRAY + 48, at(FILES));
	put64(ARRAY + 64, at(COUNTS));
	put64(CLOCK, at(CLOCK + 0x20));
	put64(CLOCK + 16, 1);
	strcpy((char *)image + CLOCK + 0x20, "local");
	put64(FILES, at(ARRAY + 48));
	put64(FILES + 16, at(FILES + 0x40));
	put64(FILES + 24, at(COUNTS + 128));
	put64(FILES + 0x40, at(FILES + 0x60));
	put64(FILES + 0x48, at(FILES + 0x50));
	put64(FILES + 0x50, at(FILES + 0x70));
	strcpy((char *)image + FILES + 0x60, "ev");
	strcpy((char *)image + FILES + 0x70, "sys");
	put64(COUNTS + 128, 12);
	put64(NAMES, at(NAMES + 0x60));
	put64(NAMES + 8, 0);
	put64(NAMES + 0x10, at(NAMES + 0x80));
	put32(NAMES + 0x18, 2);
	put32(NAMES + 0x24, 16);
	put32(NAMES + 0x2c, 4);
	strcpy((char *)image + NAMES + 0x30, "one\0two");
	strcpy((char *)image + NAMES + 0x60, "a \"text\"\n");
	strcpy((char *)image + NAMES + 0x80, "task");
	put32(NAMES + 0x90, 1);
}

static void make_format(void)
{
	static const char text[] =
	    "sys\0name: ev\nID: 7\nformat:\n"
	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	    "\tfield:u32 n;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"%u\", REC->n\n";
	struct trace_export_format f = {.id = 7, .size = sizeof(text)};

	memcpy(image + FORMAT, &f, sizeof(f));
	memcpy(image + FORMAT + sizeof(f), text, sizeof(text));
}

/* Records of 16 bytes; of the last sub-buffer half. */
static void make_page(uint64_t page, uint64_t lap, bool half)
{
	uint32_t record[4] = {3 | 3 << 2 | 10 << 5, 7 | 1 << 16, 1, 0};
	uint64_t bytes = half ? 2048 : PAGE_ROOM;

	put64(page, 1000 * lap);
	put64(page + 8, bytes | lap << 52);
	for (uint64_t i = 0; i + 16 <= bytes; i += 16)
		memcpy(image + page + PAGE_HEADER + i, record, sizeof(record));
}

static void make_rings(void)
{
	put32(BUFFER, CPUS);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		uint64_t ring = RING + cpu * 0x100, slots = SLOTS + cpu * 0x100;

		put64(BUFFER + 16 + cpu * 16, at(ring));
		for (unsigned i = 0; i < PAGES; i++) {
			uint64_t page = PAGE + (cpu * PAGES + i) * 0x1000, lap = i < 2 ? 2 : 1;

			make_page(page, lap, i == 1);
			put64(slots + i * 8, at(page) << 16 | lap);
		}
		put64(ring, at(PAGE + (cpu * PAGES + 1) * 0x1000) + PAGE_HEADER + 2048);
		put64(ring + 8, 2 << 24 | 1);
		put64(ring + 16, at(slots));
		put64(ring + 24, PAGES);
		put64(ring + 32, 500);
		put64(ring + 40, 2);
		put64(ring + 56, 1 << 24);
		put64(ring + 80, -4096ULL);
	}
}

static void look(struct live *l, struct dat_writer *w, FILE *nowhere)
{
	struct bytes text = {.data = NULL};

	dat_take(w, l);
	guest_symbols(&l->guest, &text);
	guest_ledger(&l->guest, &text);
	fwrite(text.data, 1, text.size, nowhere);
	bytes_free(&text);
}

/* Memory that changes is read to its end, whatever it says. */
static void follow(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct memory memory;
	struct dat_writer w;
	struct live l;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	/* what is before the first look counts when it is opened */
	while (size >= 5 && !(data[4] & 0x80)) {
		size_t offset = (data[0] | data[1] << 8) % (SIZE - 4);
		memcpy(image + offset, data + 2, data[4] & 1 ? 1 : 2);
		data += 5;
		size -= 5;
	}
	memory_open_in(&memory, image, SIZE);
	if (!live_open_in(&l, "made", &memory, ""))
		return;
	dat_begin(&w, l.guest.cpus);
	look(&l, &w, nowhere);
	for (; size >= 5; data += 5, size -= 5) {
		size_t offset = (data[0] | data[1] << 8) % (SIZE - 4);

		memcpy(image + offset, data + 2, data[4] & 1 ? 1 : 2);
		if (data[4] & 0x80)
			look(&l, &w, nowhere);
	}
	look(&l, &w, nowhere);
	dat_finish(&w, &l, NULL, nowhere);
	live_close(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory;
	struct guest g;

	say_nothing = true;
	if (size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG)) {
		memory_open_in(&memory, data, size);
		if (guest_open(&g, "given", &memory, ""))
			guest_close(&g);
		return 0;
	}
	image = calloc(1, SIZE);
	make_head();
	make_array();
	make_format();
	make_rings();
	/* As it is, all of it is found: 2 and a half sub-buffers and the half one, of each CPU. */
	if (!size) {
		struct live l;
		memory_open_in(&memory, image, SIZE);
		FUZZ_CHECK(live_open_in(&l, "made", &memory, ""));
		FUZZ_CHECK(live_look(&l) && l.seen == CPUS * (3 * 255 + 128));
		live_close(&l);
	}
	follow(data, size);
	free(image);
	return 0;
}
