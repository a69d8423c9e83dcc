/* See dat_head.h. */
#include "trace/export/dat_head.h"
#include "kernel/lib/string.h"
#include "trace/export/dat_page.h"

void dat_put_string(struct dat_sink *to, const char *text)
{
	to->put(to, text, strlen(text) + 1);
}

void dat_put_u16(struct dat_sink *to, u16 v)
{
	to->put(to, &v, sizeof(v));
}

void dat_put_u32(struct dat_sink *to, u32 v)
{
	to->put(to, &v, sizeof(v));
}

void dat_put_u64(struct dat_sink *to, u64 v)
{
	to->put(to, &v, sizeof(v));
}

void dat_put_zeros(struct dat_sink *to, u64 n)
{
	static const u8 zeros[64];

	for (; n > sizeof(zeros); n -= sizeof(zeros))
		to->put(to, zeros, sizeof(zeros));
	to->put(to, zeros, n);
}

void dat_put_sized(struct dat_sink *to, size_t bytes, struct dat_part part)
{
	u64 at = to->len, length;

	dat_put_zeros(to, bytes);
	part.put(to, part.arg);
	length = to->len - at - bytes;
	to->patch(to, at, &length, bytes);
}

void dat_put_option(struct dat_sink *to, enum dat_option id, struct dat_part part)
{
	dat_put_u16(to, id);
	dat_put_sized(to, 4, part);
}

void dat_put_trace_id(struct dat_sink *to, u64 seed)
{
	dat_put_u16(to, DAT_OPTION_TRACEID);
	dat_put_u32(to, sizeof(u64));
	dat_put_u64(to, seed * 0x9e3779b97f4a7c15UL | 1);
}

static void dat_put_start(struct dat_sink *to, u32 page_size)
{
	static const u8 magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	static const u8 little_endian_long_8[] = {0, 8};

	to->put(to, magic, sizeof(magic));
	dat_put_string(to, "6");
	to->put(to, little_endian_long_8, sizeof(little_endian_long_8));
	dat_put_u32(to, page_size);
}

static void dat_put_record_format(struct dat_sink *to, const void *arg __maybe_unused)
{
	to->put(to, dat_page_header_event, strlen(dat_page_header_event));
}

/* The sub-buffers follow from the next page on. */
static void dat_put_cpus(struct dat_sink *to, const struct dat_head *head)
{
	u64 table, at;

	dat_put_string(to, "flyrecord");
	table = to->len;
	dat_put_zeros(to, head->cpus * 16);
	dat_put_sized(to, 8, head->clock);
	dat_put_zeros(to, -to->len % head->page_size);
	at = to->len;
	for (unsigned cpu = 0; cpu < head->cpus; cpu++) {
		u64 entry[2] = {at, head->pages[cpu] * head->page_size};

		to->patch(to, table + cpu * sizeof(entry), entry, sizeof(entry));
		at += entry[1];
	}
}

void dat_head_put(struct dat_sink *to, const struct dat_head *head)
{
	dat_put_start(to, head->page_size);
	dat_put_string(to, "header_page");
	dat_put_sized(to, 8, head->page_format);
	dat_put_string(to, "header_event");
	dat_put_sized(to, 8, (struct dat_part){dat_put_record_format, NULL});
	head->formats.put(to, head->formats.arg);
	dat_put_sized(to, 4, head->symbols);
	dat_put_sized(to, 4, head->printks);
	dat_put_sized(to, 8, head->comms);
	dat_put_u32(to, head->cpus);
	dat_put_string(to, "options  ");
	head->options.put(to, head->options.arg);
	dat_put_u16(to, DAT_OPTION_END);
	dat_put_cpus(to, head);
}
