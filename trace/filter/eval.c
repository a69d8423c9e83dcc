/*
 * The predicates that a filter's program calls. Any context; they change only the stack. The caller
 * has checked that the record has its fixed part; predicates check every access beyond it.
 */
/* hot: runs with each event */
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"

/*
 * What is taken at a time of a string elsewhere: aligned, so that no block reaches into another
 * page.
 */
#define BLOCK 64

/* ---- numbers ---- */

#define LOAD(type)                                                                                 \
	struct load_##type {                                                                       \
		type v;                                                                            \
	} __packed;                                                                                \
	static inline __attribute__((always_inline))                                               \
	type load_##type(const struct filter_insn *in, const void *rec)                            \
	{                                                                                          \
		return ((const struct load_##type *)((const char *)rec + in->offset))->v;          \
	}
/* Every comparison is a range: signed numbers are widened, and one subtraction finds both ends. */
#define RANGE(type, wide)                                                                          \
	static bool filter_range_##type(                                                           \
	    const struct filter_insn *in, const void *rec, u32 len __maybe_unused)                 \
	{                                                                                          \
		return (u64)(wide)load_##type(in, rec) - in->first <= in->span;                    \
	}
#define UNSIGNED(type)                                                                             \
	LOAD(type)                                                                                 \
	static bool filter_bits_##type(                                                            \
	    const struct filter_insn *in, const void *rec, u32 len __maybe_unused)                 \
	{                                                                                          \
		return load_##type(in, rec) & in->mask;                                            \
	}                                                                                          \
	static bool filter_cpus_##type(                                                            \
	    const struct filter_insn *in, const void *rec, u32 len __maybe_unused)                 \
	{                                                                                          \
		u64 v = load_##type(in, rec);                                                      \
		return v < MAX_CPUS && (in->mask >> v & 1);                                        \
	}
UNSIGNED(u8)
UNSIGNED(u16)
UNSIGNED(u32)
UNSIGNED(u64)
LOAD(s8)
LOAD(s16)
LOAD(s32)
RANGE(u8, u64)
RANGE(u16, u64)
RANGE(s8, s64)
RANGE(s16, s64)
RANGE(s32, s64)

void filter_set_range(struct filter_insn *in, u32 size, bool is_signed)
{
	if (size == 8)
		in->kind = FILTER_NUMBER;
	else if (size == 4 && in->offset >= sizeof(struct trace_entry))
		in->kind = is_signed ? FILTER_NUMBER_S32 : FILTER_NUMBER_U32;
	else if (size == 4)
		in->test = filter_range_s32; /* common_pid */
	else if (size == 2)
		in->test = is_signed ? filter_range_s16 : filter_range_u16;
	else
		in->test = is_signed ? filter_range_s8 : filter_range_u8;
}

/* 1, 2, 4, 8 -> 0..3 */
static u32 width(u32 size)
{
	return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

filter_test filter_test_bits(u32 size)
{
	static const filter_test tests[] = {
	    filter_bits_u8, filter_bits_u16, filter_bits_u32, filter_bits_u64};

	return tests[width(size)];
}

filter_test filter_test_cpu_set(u32 size)
{
	static const filter_test tests[] = {
	    filter_cpus_u8, filter_cpus_u16, filter_cpus_u32, filter_cpus_u64};

	return tests[width(size)];
}

bool filter_test_cpu_range(
    const struct filter_insn *in, const void *rec __maybe_unused, u32 len __maybe_unused)
{
	return host_cpu() - in->first <= in->span;
}

bool filter_test_cpu_bits(
    const struct filter_insn *in, const void *rec __maybe_unused, u32 len __maybe_unused)
{
	return host_cpu() & in->mask;
}

bool filter_test_cpu_in(
    const struct filter_insn *in, const void *rec __maybe_unused, u32 len __maybe_unused)
{
	return in->mask >> host_cpu() & 1;
}

/* ---- what lies after the fields ---- */

/*
 * Returns the data that a __data_loc word locates, counted from `from` in the record; NULL: it is
 * not in this record. The word itself may be missing: a system call's is there only while the
 * tracer keeps the argument's memory.
 */
static const char *located(
    const struct filter_insn *in, const void *rec, u32 len, u32 from, u32 *size)
{
	if (unlikely(in->offset + sizeof(u32) > len))
		return NULL;
	u32 word = load_u32(in, rec), at = (word & 0xffff) + from;
	*size = word >> 16;
	return at <= len && *size <= len - at ? (const char *)rec + at : NULL;
}

/* A mask of CPUs, of any length: bits beyond the first 64 are no CPU's. */
bool filter_test_mask(const struct filter_insn *in, const void *rec, u32 len)
{
	u32 size;
	const char *p = located(in, rec, len, 0, &size);
	u64 mask = 0;
	bool more = false;

	if (!p)
		return false;
	memcpy(&mask, p, MIN(size, (u32)sizeof(mask)));
	for (u32 i = sizeof(mask); i < size; i++)
		more |= p[i];
	return (in->same ? mask == in->mask && !more : (mask & in->mask) != 0) != in->negate;
}

bool filter_test_dyn(const struct filter_insn *in, const void *rec, u32 len)
{
	u32 size;
	const char *s = located(in, rec, len, 0, &size);

	return s && in->match(in, s, size) != in->negate;
}

/* Counted from the end of the word itself. */
bool filter_test_rel(const struct filter_insn *in, const void *rec, u32 len)
{
	u32 size;
	const char *s = located(in, rec, len, in->offset + sizeof(u32), &size);

	return s && in->match(in, s, size) != in->negate;
}

/* ---- strings ---- */

/* A string without a size of its own is the rest of the record, to its NUL if there is one. */
bool filter_test_string(const struct filter_insn *in, const void *rec, u32 len)
{
	const char *s = (const char *)rec + in->offset;
	u32 size = in->size ? in->size : len - in->offset;

	if (!in->size)
		size = MIN(size, (u32)strnlen(s, size) + 1);
	return in->match(in, s, size) != in->negate;
}

bool filter_test_comm(
    const struct filter_insn *in, const void *rec __maybe_unused, u32 len __maybe_unused)
{
	char comm[16];

	host_current_comm(comm);
	return in->match(in, comm, sizeof(comm)) != in->negate;
}

/* Up to and with its NUL; a longer one is cut. The bytes taken, 0 for a fault. */
static u32 copy_string(char *to, u64 from, bool user)
{
	u32 done = 0;

	while (done < FILTER_POINTED_MAX) {
		u32 n = BLOCK - (from + done) % BLOCK;
		n = MIN(n, FILTER_POINTED_MAX - done);
		int err = user ? host_copy_user(to + done, from + done, n)
			       : host_copy_kernel(to + done, (const void *)(from + done), n);
		if (err)
			return 0;
		const char *end = memchr(to + done, '\0', n);
		if (end)
			return end - to + 1;
		done += n;
	}
	to[done - 1] = '\0';
	return done;
}

static __noinline bool filter_match_pointer(
    const struct filter_insn *in, const void *rec, bool user)
{
	char text[FILTER_POINTED_MAX];
	u32 len = copy_string(text, load_u64(in, rec), user);

	return len && in->match(in, text, len) != in->negate;
}

bool filter_test_pointer(const struct filter_insn *in, const void *rec, u32 len __maybe_unused)
{
	return filter_match_pointer(in, rec, false);
}

bool filter_test_user(const struct filter_insn *in, const void *rec, u32 len __maybe_unused)
{
	return filter_match_pointer(in, rec, true);
}
