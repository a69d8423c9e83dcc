/* The areas of an address space: gaps, cuts, merges, and what they do to the count of a file. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/process/area.h"

#include "kernel/fs/vfs.h"

#define P PAGE_SIZE

static struct mm mm;
static struct file file;

static void begin(void)
{
	memset(&mm, 0, sizeof(mm));
	memset(&file, 0, sizeof(file));
	list_init(&mm.areas);
	file.refs = 1;
}

static void end(void)
{
	while (!list_empty(&mm.areas))
		area_remove(&mm, list_first_entry(&mm.areas, struct vm_area, node));
	EXPECT_EQ(mm.area_count, 0);
	EXPECT_EQ(file.refs, 1);
}

/* An area of pages [from, to); of the file from page `offset` on when `with_file`. */
static struct vm_area *add(u64 from, u64 to, unsigned prot, bool with_file, u64 offset)
{
	struct vm_area *a = area_new(from * P, to * P, prot, with_file ? &file : NULL, offset * P);

	area_insert(&mm, a);
	return a;
}

/* The whole list as text: "2-5rw 7-9r@3" (@: page of the file). */
static void expect_list(int line, const char *want)
{
	char got[256] = "";
	struct vm_area *a;
	size_t n = 0;
	unsigned count = 0;

	list_for_each_entry (a, &mm.areas, node) {
		n += scnprintf(got + n, sizeof(got) - n, "%s%lu-%lu%s%s%s", n ? " " : "",
		    (unsigned long)(a->start / P), (unsigned long)(a->end / P),
		    a->prot & PROT_R ? "r" : "", a->prot & PROT_W ? "w" : "",
		    a->prot & PROT_X ? "x" : "");
		if (a->file)
			n += scnprintf(
			    got + n, sizeof(got) - n, "@%lu", (unsigned long)(a->offset / P));
		count++;
	}
	if (strcmp(got, want))
		ktap_fail(__FILE__, line, "\"%s\", not \"%s\"", got, want);
	if (count != mm.area_count)
		ktap_fail(__FILE__, line, "%u areas, counted %u", count, mm.area_count);
}
#define EXPECT_LIST(want) expect_list(__LINE__, want)

static void find(void)
{
	begin();
	add(20, 30, PROT_R, false, 0);
	add(10, 12, PROT_R, false, 0);
	add(12, 13, PROT_W, false, 0);
	EXPECT_LIST("10-12r 12-13w 20-30r");
	EXPECT(!area_find(&mm, 10 * P - 1));
	EXPECT_EQ(area_find(&mm, 10 * P)->end, 12 * P);
	EXPECT_EQ(area_find(&mm, 12 * P - 1)->end, 12 * P);
	EXPECT_EQ(area_find(&mm, 12 * P)->end, 13 * P);
	EXPECT(!area_find(&mm, 13 * P));
	EXPECT(!area_find(&mm, 30 * P));
	EXPECT_EQ(area_find_above(&mm, 13 * P)->start, 20 * P);
	EXPECT(!area_find_above(&mm, 30 * P));
	EXPECT(area_range_free(&mm, 13 * P, 20 * P));
	EXPECT(!area_range_free(&mm, 13 * P, 20 * P + 1));
	EXPECT(!area_range_free(&mm, 13 * P - 1, 14 * P));
	EXPECT(area_range_full(&mm, 10 * P, 13 * P));
	EXPECT(!area_range_full(&mm, 9 * P, 13 * P));
	EXPECT(!area_range_full(&mm, 10 * P, 14 * P));
	EXPECT(!area_range_full(&mm, 12 * P, 21 * P));
	EXPECT(!area_range_full(&mm, 40 * P, 41 * P));
	end();
}

/* The highest place that fits, between areas, below them and above. */
static void gap(void)
{
	static const struct {
		u64 len, low, high, want;
	} rows[] = {
	    {1, 5, 40, 39},
	    {10, 5, 40, 30},
	    {11, 5, 40, 0},
	    {7, 5, 40, 33},
	    {8, 5, 30, 0},
	    {7, 5, 30, 13},
	    {5, 5, 30, 15},
	    {5, 5, 21, 15},
	    {5, 5, 19, 14},
	    {7, 5, 20, 13},
	    {5, 5, 13, 5},
	    {6, 5, 13, 0},
	    {5, 5, 10, 5},
	    {1, 5, 5, 0},
	    {1, 9, 13, 9},
	    {1, 10, 13, 0},
	    {1, 11, 13, 0},
	    {1, 40, 5, 0},
	    {100, 5, 40, 0},
	    {1, 30, 31, 30},
	    {1, 25, 31, 30},
	    {~0UL / P, 5, 40, 0},
	};

	begin();
	add(20, 30, PROT_R, false, 0);
	add(10, 12, PROT_R, false, 0);
	add(12, 13, PROT_W, false, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 got = area_gap(&mm, rows[i].len * P, rows[i].low * P, rows[i].high * P) / P;

		if (got != rows[i].want)
			ktap_fail(__FILE__, __LINE__, "row %u: %lu, not %lu", i, (unsigned long)got,
			    (unsigned long)rows[i].want);
	}
	end();
}

static void cut(void)
{
	begin();
	add(10, 20, PROT_R, true, 3);
	EXPECT_EQ(file.refs, 2);
	EXPECT_EQ(area_cut(&mm, 10 * P, 20 * P), 0); /* boundaries already */
	EXPECT_LIST("10-20r@3");
	EXPECT_EQ(area_cut(&mm, 5 * P, 25 * P), 0); /* outside */
	EXPECT_LIST("10-20r@3");
	EXPECT_EQ(area_cut(&mm, 12 * P, 15 * P), 0);
	EXPECT_LIST("10-12r@3 12-15r@5 15-20r@8");
	EXPECT_EQ(file.refs, 4);
	EXPECT_EQ(area_cut(&mm, 19 * P, 30 * P), 0);
	EXPECT_LIST("10-12r@3 12-15r@5 15-19r@8 19-20r@12");
	area_merge(&mm, 10 * P, 20 * P);
	EXPECT_LIST("10-20r@3");
	EXPECT_EQ(file.refs, 2);
	end();
}

/* Neighbours join only when nothing tells them apart. */
static void merge(void)
{
	struct vm_area *a;

	begin();
	add(1, 2, PROT_R, false, 0);
	add(2, 3, PROT_R | PROT_W, false, 0);
	add(3, 4, PROT_R | PROT_W, false, 0);
	add(5, 6, PROT_R | PROT_W, false, 0); /* a hole before it */
	add(6, 7, PROT_R | PROT_W, true, 0);
	add(7, 8, PROT_R | PROT_W, true, 1);
	add(8, 9, PROT_R | PROT_W, true, 3); /* not the next page of the file */
	a = add(9, 10, PROT_R | PROT_W, true, 4);
	a->shared = true;
	a = add(10, 11, PROT_R | PROT_W, false, 0);
	a->max_prot = PROT_R;
	area_merge(&mm, 0, 100 * P);
	EXPECT_LIST("1-2r 2-4rw 5-6rw 6-8rw@0 8-9rw@3 9-10rw@4 10-11rw");
	end();
}

/* Nor do those that only a limit, advice or the source of their pages tells apart. */
static void merge_not(void)
{
	struct vm_area *a;

	begin();
	add(1, 2, PROT_R, false, 0);
	a = add(2, 3, PROT_R, false, 0);
	a->max_prot = PROT_R;
	a = add(3, 4, PROT_R, false, 0);
	a->dont_fork = true;
	a = add(4, 5, PROT_R, false, 0);
	a->wipe_on_fork = true;
	a = add(5, 6, PROT_R, false, 0);
	a->page_arg = &mm;
	add(6, 7, PROT_R, false, 0);
	a = add(7, 8, PROT_R, false, 0);
	a->shared = true;
	area_merge(&mm, 0, 100 * P);
	EXPECT_LIST("1-2r 2-3r 3-4r 4-5r 5-6r 6-7r 7-8r");
	end();
}

/* Around the range it is told about, and on from there as long as areas join. */
static void merge_range(void)
{
	begin();
	for (u64 i = 10; i < 20; i++)
		add(i, i + 1, PROT_R, false, 0);
	area_merge(&mm, 14 * P, 15 * P);
	EXPECT_LIST("10-11r 11-12r 12-13r 13-20r");
	area_merge(&mm, 0, 9 * P);
	EXPECT_EQ(mm.area_count, 4);
	area_merge(&mm, 0, ~0UL);
	EXPECT_LIST("10-20r");
	end();
}

static int counted;

static void one_more(struct vm_area *a)
{
	(void)a;
	counted++;
}

static void one_less(struct vm_area *a)
{
	(void)a;
	counted--;
}

/* Who counts the areas of its pages is told of each that comes and goes by cutting and joining. */
static void counting(void)
{
	begin();
	struct vm_area *a = add(10, 20, PROT_R, true, 0);
	a->again = one_more;
	a->gone = one_less;
	counted = 1;
	EXPECT_EQ(area_cut(&mm, 12 * P, 15 * P), 0);
	EXPECT_EQ(counted, 3);
	area_remove(&mm, area_find(&mm, 12 * P));
	EXPECT_EQ(counted, 2);
	EXPECT_EQ(area_cut(&mm, 17 * P, 17 * P), 0);
	EXPECT_EQ(counted, 3);
	area_merge(&mm, 0, ~0UL);
	EXPECT_EQ(counted, 2);
	end();
	EXPECT_EQ(counted, 0);
}

static const struct ktap_case cases[] = {
    {"area.counting", counting},
    {"area.find", find},
    {"area.gap", gap},
    {"area.cut", cut},
    {"area.merge", merge},
    {"area.merge_range", merge_range},
    {"area.merge_not", merge_not},
    {NULL, NULL},
};
const struct ktap_suite suite_task_area = {cases};
