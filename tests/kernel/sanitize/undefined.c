/*
 * The functions that the compiler calls at undefined behaviour (`make sanitized-undefined`; names
 * and layouts are its own). Any context, before there is a %gs too: each place is noted once and
 * reported at the end.
 */
#include "tests/kernel/sanitize/sanitize.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"

#define PLACES_MAX 64

/* Where the source has it; the compiler's struct of each kind begins with this. */
struct ubsan_place {
	const char *file;
	u32 line, column;
};

static struct {
	const struct ubsan_place *place;
	const char *kind;
} places[PLACES_MAX];
static u32 place_count; /* [A] may be more than there is room for */

static void ubsan_note(struct ubsan_place *place, const char *kind)
{
	if (atomic_xchg(&place->column, ~0u) == ~0u)
		return; /* this place is noted */
	u32 n = atomic_add(&place_count, 1) - 1;

	if (n < PLACES_MAX) {
		places[n].place = place;
		places[n].kind = kind;
	}
}

#define HANDLER(name, kind, ...)                                                                   \
	void __ubsan_handle_##name(__VA_ARGS__);                                                   \
	void __ubsan_handle_##name(__VA_ARGS__)                                                    \
	{                                                                                          \
		ubsan_note(place, kind);                                                           \
	}
#define ONE struct ubsan_place *place
#define TWO struct ubsan_place *place, u64 a __maybe_unused
#define ALL struct ubsan_place *place, u64 a __maybe_unused, u64 b __maybe_unused

HANDLER(add_overflow, "addition overflows", ALL)
HANDLER(sub_overflow, "subtraction overflows", ALL)
HANDLER(mul_overflow, "multiplication overflows", ALL)
HANDLER(negate_overflow, "negation overflows", TWO)
HANDLER(divrem_overflow, "division by zero, or it overflows", ALL)
HANDLER(shift_out_of_bounds, "shift out of bounds", ALL)
HANDLER(out_of_bounds, "index out of bounds", TWO)
HANDLER(type_mismatch_v1, "null, unaligned or too small for its type", TWO)
HANDLER(load_invalid_value, "no value of its type", TWO)
HANDLER(vla_bound_not_positive, "array of no size", TWO)
HANDLER(pointer_overflow, "pointer overflows", ALL)
HANDLER(nonnull_arg, "null argument", ONE)
HANDLER(invalid_builtin, "argument of a builtin", ONE)
HANDLER(builtin_unreachable, "unreachable", ONE)
HANDLER(missing_return, "no value returned", ONE)

unsigned sanitize_count(void)
{
	return atomic_load(&place_count);
}

unsigned sanitize_report(void)
{
	u32 n = atomic_load(&place_count);

	for (u32 i = 0; i < n && i < PLACES_MAX; i++)
		ktap_note("runtime error: %s:%u: %s", places[i].place->file, places[i].place->line,
		    places[i].kind);
	ktap_note("undefined behaviour at %u places", n);
	return n;
}

/* What is looked for here is looked for from the first instruction on. */
void sanitize_begin(void)
{
}
