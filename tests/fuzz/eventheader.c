/*
 * The EventHeader decoder. Input: a byte that says how many bytes of slack there are and whether
 * the tracepoint's level is to be the record's, then the record. Nothing outside the record may be
 * read; the text must be one line without anything that moves a terminal's cursor, the JSON must be
 * JSON; in too little room both must be what they are in enough, cut.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/json_check.h"
#include "trace/user/eventheader/eventheader.h"

#define TEXT_MAX (1 << 20)

static size_t print(const struct eh_record *rec, char *text, size_t room, bool json)
{
	struct seq s;

	seq_init(&s, text, room);
	if (json)
		eh_print_json(&s, rec, NULL);
	else
		eh_print_text(&s, rec);
	FUZZ_CHECK(s.len <= room && (!s.overflow || s.len == room));
	return s.len;
}

static void check_line(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void check_cut(const struct eh_record *rec, const char *whole, size_t n, bool json)
{
	size_t room = n / 2;
	char *text = malloc(room + 1);

	FUZZ_CHECK(print(rec, text, room, json) == room);
	FUZZ_CHECK(!memcmp(text, whole, room));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[TEXT_MAX];
	char name[] = "Fuzz_L04K1";
	struct eh_record rec = {.tracepoint = name};
	size_t n;

	if (!size)
		return 0;
	rec.slack = data[0] & 7;
	rec.len = size - 1;
	void *copy = malloc(rec.len); /* exactly: so that a byte beyond is seen */
	memcpy(copy, data + 1, rec.len);
	rec.data = copy;
	if ((data[0] & 8) && rec.len > 7 && data[8])
		for (unsigned i = 0; i < 2; i++)
			name[6 + i] = "0123456789abcdef"[data[8] >> 4 * (1 - i) & 15];
	n = print(&rec, text, sizeof(text), false);
	check_line(text, n);
	check_cut(&rec, text, n, false);
	n = print(&rec, text, sizeof(text), true);
	FUZZ_CHECK(json_check(text, n));
	check_cut(&rec, text, n, true);
	free(copy);
	return 0;
}
