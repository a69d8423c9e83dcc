/* The cpio reader against good and bad archives: kernel/fs/cpio.c. */
#include "kernel/fs/cpio.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

#define ROOM 2048

struct archive {
	_Alignas(8) char data[ROOM];
	size_t size;
};

static void pad(struct archive *a)
{
	while (a->size % 4)
		a->data[a->size++] = 0;
}

/* Adds an entry whose header says `namesize` and `filesize` whatever the truth is. */
static void add_raw(
    struct archive *a, const char *name, u32 namesize, const char *data, u32 filesize)
{
	a->size += scnprintf(a->data + a->size, ROOM - a->size,
	    "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 7, 0100644, 0, 0, 1, 0,
	    filesize, 3, 5, 0, 0, namesize, 0);
	memcpy(a->data + a->size, name, strlen(name) + 1);
	a->size += strlen(name) + 1;
	pad(a);
	memcpy(a->data + a->size, data, strlen(data));
	a->size += strlen(data);
	pad(a);
}

static void add(struct archive *a, const char *name, const char *data)
{
	add_raw(a, name, strlen(name) + 1, data, strlen(data));
}

static int first(const struct archive *a, size_t size, struct cpio_entry *e)
{
	struct cpio c;

	cpio_init(&c, a->data, size);
	return cpio_next(&c, e);
}

static void reads_entries(void)
{
	struct archive a = {.size = 0};
	struct cpio_entry e;
	struct cpio c;

	add(&a, "dir/one", "hello");
	add(&a, "empty", "");
	add(&a, "TRAILER!!!", "");
	cpio_init(&c, a.data, a.size);
	EXPECT_EQ(cpio_next(&c, &e), 1);
	EXPECT_STR(e.name, "dir/one");
	EXPECT_EQ(e.size, 5);
	EXPECT(memcmp(e.data, "hello", 5) == 0);
	EXPECT_EQ(e.mode, 0100644);
	EXPECT_EQ(e.ino, 7);
	EXPECT_EQ(e.nlink, 1);
	EXPECT_EQ(e.dev_major, 3);
	EXPECT_EQ(e.dev_minor, 5);
	EXPECT_EQ(cpio_next(&c, &e), 1);
	EXPECT_STR(e.name, "empty");
	EXPECT_EQ(e.size, 0);
	EXPECT_EQ(cpio_next(&c, &e), 0);
	EXPECT_EQ(cpio_next(&c, &e), 0);
}

/* The other magic, of archives with checksums; and digits as capital letters. */
static void reads_other_headers(void)
{
	struct archive a = {.size = 0};
	struct cpio_entry e;

	add(&a, "one", "0123456789");
	a.data[5] = '2';
	a.data[6 + 6 * 8 + 7] = 'A'; /* of its size, 10 */
	EXPECT_EQ(first(&a, a.size, &e), 1);
	EXPECT_EQ(e.size, 10);
}

/* The longest name that there may be, and one more character. */
static void longest_name(void)
{
	static char data[2 * 4096];
	struct cpio_entry e;
	struct cpio c;

	for (unsigned size = 4095; size <= 4097; size++) {
		memset(data, 0, sizeof(data));
		scnprintf(data, sizeof(data), "070701%088x%08x%08x", 1, size, 0);
		memset(data + 110, 'x', size - 1);
		cpio_init(&c, data, sizeof(data));
		EXPECT_EQ(cpio_next(&c, &e), size <= 4096 ? 1 : -EINVAL);
	}
}

static void reads_archives_in_a_row(void)
{
	struct archive a = {.size = 0};
	struct cpio_entry e;
	struct cpio c;

	add(&a, "one", "1");
	add(&a, "TRAILER!!!", "");
	a.size += 300; /* the zeros that fill a block */
	add(&a, "two", "2");
	add(&a, "TRAILER!!!", "");
	cpio_init(&c, a.data, a.size);
	EXPECT_EQ(cpio_next(&c, &e), 1);
	EXPECT_EQ(cpio_next(&c, &e), 1);
	EXPECT_STR(e.name, "two");
	EXPECT_EQ(cpio_next(&c, &e), 0);
}

/*
 * Cut off anywhere, an archive gives its whole entries and then an error, and is never read after
 * its end.
 */
static void survives_every_cut(void)
{
	struct archive a = {.size = 0};
	size_t one_end, whole;

	add(&a, "one", "first file");
	one_end = 110 + 4 + 2 + 10; /* header, name padded to 116, data without its padding */
	add(&a, "two", "second");
	whole = a.size;
	for (size_t cut = 1; cut < whole; cut++) {
		struct archive b = {.size = cut};
		struct cpio_entry e;
		struct cpio c;
		int entries = 0, r;

		memcpy(b.data, a.data, cut);
		cpio_init(&c, b.data, cut);
		while ((r = cpio_next(&c, &e)) == 1)
			entries++;
		if (cut < one_end) {
			EXPECT_EQ(entries, 0);
			EXPECT_EQ(r, -EINVAL);
		} else {
			EXPECT(entries >= 1);
		}
	}
}

static void refuses_bad_numbers(void)
{
	struct archive a = {.size = 0};
	struct cpio_entry e;

	add(&a, "file", "data");
	EXPECT_EQ(first(&a, a.size, &e), 1);
	for (unsigned at = 0; at < 110; at++) {
		char was = a.data[at];
		a.data[at] = at == 5 ? '3' : 'g'; /* magics end in 1 or 2 */
		EXPECT_EQ(first(&a, a.size, &e), -EINVAL);
		a.data[at] = was;
	}
	a.data[0] = 0x1f; /* the beginning of a gzip stream */
	EXPECT_EQ(first(&a, a.size, &e), -EINVAL);
}

static void refuses_bad_sizes(void)
{
	static const struct {
		u32 namesize, filesize;
	} rows[] = {
	    {5, 0xffffffff},
	    {5, 0xfffffffc},
	    {5, 0x7fffffff},
	    {5, 5},
	    {0xffffffff, 4},
	    {0xffffff92, 4},
	    {0, 4},
	    {1, 4},
	    {4, 4},
	    {6, 4},
	    {4097, 4},
	    {2000, 4},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct archive a = {.size = 0};
		struct cpio_entry e;

		add_raw(&a, "file", rows[i].namesize, "data", rows[i].filesize);
		EXPECT_EQ(first(&a, a.size, &e), -EINVAL);
	}
}

static void refuses_names_that_climb(void)
{
	static const struct {
		const char *name;
		int want;
	} rows[] = {
	    {"..", -EINVAL},
	    {"../x", -EINVAL},
	    {"a/../b", -EINVAL},
	    {"a/..", -EINVAL},
	    {"/..", -EINVAL},
	    {"a//../b", -EINVAL},
	    {"..a", 1},
	    {"a..", 1},
	    {"a/..b", 1},
	    {"...", 1},
	    {".", 1},
	    {"/abs", 1},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct archive a = {.size = 0};
		struct cpio_entry e;

		add(&a, rows[i].name, "x");
		EXPECT_EQ(first(&a, a.size, &e), rows[i].want);
	}
}

/* Whatever an archive says: what is given out lies in it, and it comes to an end. */
static void random_damage(void)
{
	struct archive whole = {.size = 0};
	u64 seed = 0x5eed0003, entries = 0;

	ktap_note("seed %lx", seed);
	add(&whole, "dir/one", "hello");
	add(&whole, "a", "of some length, so that there are bytes to hit");
	add(&whole, "TRAILER!!!", "");
	add(&whole, "two/of/another", "12345678");
	for (unsigned round = 0; round < 500; round++) {
		struct archive a = whole;
		struct cpio_entry e;
		struct cpio c;

		for (unsigned n = 1 + prng_next(&seed) % 3; n; n--) {
			u64 at = prng_next(&seed) % a.size;

			a.data[at] = round & 1 ? a.data[at] ^ 1 << prng_next(&seed) % 8
					       : (int)(prng_next(&seed) % 256);
		}
		a.size -= round % 5 ? 0 : prng_next(&seed) % 64;
		cpio_init(&c, a.data, a.size);
		for (unsigned n = 0; cpio_next(&c, &e) == 1; n++, entries++) {
			const char *data = (const void *)e.data, *end = a.data + a.size;

			EXPECT(n < 8);
			EXPECT(e.name >= a.data && e.name + strlen(e.name) < end);
			EXPECT(data >= a.data && data + e.size <= end);
		}
	}
	EXPECT(entries > 500 && entries < 1500); /* some came through, some did not */
}

static void empty_is_no_error(void)
{
	struct archive a = {.size = 64};
	struct cpio_entry e;

	EXPECT_EQ(first(&a, 0, &e), 0);
	EXPECT_EQ(first(&a, 64, &e), 0);
}

static const struct ktap_case cases[] = {
    {"cpio.random_damage", random_damage},
    {"cpio.reads_entries", reads_entries},
    {"cpio.reads_other_headers", reads_other_headers},
    {"cpio.longest_name", longest_name},
    {"cpio.reads_archives_in_a_row", reads_archives_in_a_row},
    {"cpio.survives_every_cut", survives_every_cut},
    {"cpio.refuses_bad_numbers", refuses_bad_numbers},
    {"cpio.refuses_bad_sizes", refuses_bad_sizes},
    {"cpio.refuses_names_that_climb", refuses_names_that_climb},
    {"cpio.empty_is_no_error", empty_is_no_error},
    {NULL, NULL},
};
const struct ktap_suite suite_fs_cpio = {cases};
