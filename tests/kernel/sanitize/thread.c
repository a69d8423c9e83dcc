/*
 * Finds races: the functions that the compiler calls at each access of a test kernel (`make
 * sanitized-thread`; the names are its own).
 *
 * Now and then a CPU *watches* a plain access before it does it: it says in its slot which bytes,
 * waits a little with interrupts off, and looks whether they have changed meanwhile. All accesses
 * of the other CPUs look into its slot, so that both sides can be named. An access is *marked* if
 * it is atomic or volatile (READ_ONCE, WRITE_ONCE). What two CPUs use at once, and one of them
 * writes, must be marked on both sides or be kept apart by a lock.
 *
 * Reported is a plain access whose bytes another CPU changed while they were watched. A plain write
 * that another CPU reads is not, nor one that changes nothing: x86 does a word in one.
 *
 * Any context, NMI too. What assembler does (local_add() and its kin) is seen by the changed value
 * alone.
 */
#include "arch/arch.h"
#include "kernel/lib/types.h"
#include "tests/kernel/sanitize/places.h"
#include "tests/kernel/sanitize/sanitize.h"

#define EVERY 128u /* of so many plain accesses, some two are watched */
#define DELAY 6000 /* turns of a loop */

enum { WRITE = 1, MARKED = 2 };

struct watch {
	u64 address; /* [A] 0: nothing is watched */
	u32 size, how;
	u64 hit_by; /* [A] the instruction of another CPU's access */
	u32 hit_how;
	u32 until;  /* [C] accesses until the next one is watched */
	u32 random; /* [C] */
} __aligned(64);

static struct watch watches[MAX_CPUS];
static bool armed;
static u32 active;	  /* [A] a bit per CPU that watches */
static u64 watched, hits; /* [A] */

void sanitize_begin(void)
{
	__atomic_store_n(&armed, true, __ATOMIC_RELEASE);
}

static void look(struct watch *w, u64 a, u64 size, u32 how, u64 ip)
{
	u64 other = __atomic_load_n(&w->address, __ATOMIC_ACQUIRE), none = 0;

	if (!other || a + size <= other || other + w->size <= a || !((how | w->how) & WRITE))
		return;
	if (__atomic_compare_exchange_n(
		&w->hit_by, &none, ip, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		w->hit_how = how;
}

static u64 value_at(const void *p, u64 size)
{
	switch (size) {
	case 1:
		return *(const volatile u8 *)p;
	case 2:
		return *(const volatile u16 *)p;
	case 4:
		return *(const volatile u32 *)p;
	default:
		return *(const volatile u64 *)p;
	}
}

static __noinline void watch(
    struct watch *w, u32 bit, const void *p, u64 size, u32 how, const u64 *frame)
{
	u64 was = value_at(p, size), is;

	w->size = size;
	w->how = how;
	w->hit_by = 0;
	__atomic_store_n(&w->address, (u64)p, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&active, bit, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < DELAY; i++)
		barrier();
	is = value_at(p, size);
	__atomic_fetch_and(&active, ~bit, __ATOMIC_SEQ_CST);
	__atomic_store_n(&w->address, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&watched, 1, __ATOMIC_RELAXED);
	u64 by = __atomic_load_n(&w->hit_by, __ATOMIC_SEQ_CST);
	if (by)
		__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	if (was == is)
		return;
	struct place *place = place_take(frame[1]);
	if (!place)
		return;
	place->kind = how & WRITE ? "race of a write" : "race of a read";
	place->address = (u64)p;
	place->size = size;
	place->was = was;
	place->is = is;
	place->other = by;
	place->cpu = cpu_id();
	place_callers(place, (const u64 *)frame[0]);
}

/* One of the words that an access touches. */
static const void *word_of(const void *p, u64 size, u32 random)
{
	return size <= 8 ? p : (const char *)p + random % (size / 8) * 8;
}

static __noinline void watch_now_and_then(
    struct watch *w, unsigned me, const void *p, u64 size, u32 how, const u64 *frame)
{
	u64 flags;

	w->random = w->random * 1103515245 + 12345 + me;
	w->until = (w->random >> 16) % EVERY;
	__asm__ volatile("pushf; pop %0; cli" : "=r"(flags)::"memory");
	if (me == cpu_id() && !w->address)
		watch(w, 1u << me, word_of(p, size, w->random >> 8), MIN(size, 8UL), how, frame);
	__asm__ volatile("push %0; popf" ::"r"(flags) : "memory", "cc");
}

static inline __attribute__((always_inline)) void access(
    const void *p, u64 size, u32 how, const u64 *frame)
{
	if (!__atomic_load_n(&armed, __ATOMIC_RELAXED) || (u64)p < DIRECT_MAP_BASE)
		return; /* it is relative to %gs: this CPU's own */
	unsigned me = cpu_id();
	struct watch *w = &watches[me];
	u32 others = __atomic_load_n(&active, __ATOMIC_RELAXED) & ~(1u << me);

	for (; unlikely(others); others &= others - 1)
		look(&watches[__builtin_ctz(others)], (u64)p, size, how, frame[1]);
	if (!(how & MARKED) && unlikely(--w->until >= EVERY))
		watch_now_and_then(w, me, p, size, how, frame);
}

#define FRAME ((const u64 *)__builtin_frame_address(0))
#define ACCESS(name, size, how)                                                                    \
	void __tsan_##name(const void *p);                                                         \
	void __tsan_##name(const void *p)                                                          \
	{                                                                                          \
		access(p, size, how, FRAME);                                                       \
	}
#define ACCESS_N(name, how)                                                                        \
	void __tsan_##name(const void *p, u64 size);                                               \
	void __tsan_##name(const void *p, u64 size)                                                \
	{                                                                                          \
		access(p, size, how, FRAME);                                                       \
	}
#define ACCESSES(kind, how)                                                                        \
	ACCESS(kind##1, 1, how)                                                                    \
	ACCESS(kind##2, 2, how)                                                                    \
	ACCESS(kind##4, 4, how)                                                                    \
	ACCESS(kind##8, 8, how)                                                                    \
	ACCESS(kind##16, 16, how)

ACCESSES(read, 0)
ACCESSES(write, WRITE)
ACCESSES(unaligned_read, 0)
ACCESSES(unaligned_write, WRITE)
ACCESSES(volatile_read, MARKED)
ACCESSES(volatile_write, WRITE | MARKED)
ACCESSES(unaligned_volatile_read, MARKED)
ACCESSES(unaligned_volatile_write, WRITE | MARKED)
ACCESS_N(read_range, 0)
ACCESS_N(write_range, WRITE)

/* ---- Atomic operations, which the compiler leaves to these ---- */

#define SEQ __ATOMIC_SEQ_CST
#define FETCH(bits, op)                                                                            \
	u##bits __tsan_atomic##bits##_fetch_##op(u##bits *p, u##bits v, int order);                \
	u##bits __tsan_atomic##bits##_fetch_##op(u##bits *p, u##bits v, int order __maybe_unused)  \
	{                                                                                          \
		access(p, sizeof(*p), WRITE | MARKED, FRAME);                                      \
		return __atomic_fetch_##op(p, v, SEQ);                                             \
	}
#define ATOMIC(bits)                                                                               \
	u##bits __tsan_atomic##bits##_load(const u##bits *p, int order);                           \
	u##bits __tsan_atomic##bits##_load(const u##bits *p, int order __maybe_unused)             \
	{                                                                                          \
		access(p, sizeof(*p), MARKED, FRAME);                                              \
		return __atomic_load_n(p, SEQ);                                                    \
	}                                                                                          \
	void __tsan_atomic##bits##_store(u##bits *p, u##bits v, int order);                        \
	void __tsan_atomic##bits##_store(u##bits *p, u##bits v, int order __maybe_unused)          \
	{                                                                                          \
		access(p, sizeof(*p), WRITE | MARKED, FRAME);                                      \
		__atomic_store_n(p, v, SEQ);                                                       \
	}                                                                                          \
	u##bits __tsan_atomic##bits##_exchange(u##bits *p, u##bits v, int order);                  \
	u##bits __tsan_atomic##bits##_exchange(u##bits *p, u##bits v, int order __maybe_unused)    \
	{                                                                                          \
		access(p, sizeof(*p), WRITE | MARKED, FRAME);                                      \
		return __atomic_exchange_n(p, v, SEQ);                                             \
	}                                                                                          \
	FETCH(bits, add)                                                                           \
	FETCH(bits, sub)                                                                           \
	FETCH(bits, and)                                                                           \
	FETCH(bits, or)                                                                            \
	FETCH(bits, xor)                                                                           \
	bool __tsan_atomic##bits##_compare_exchange_strong(                                        \
	    u##bits *p, u##bits *old, u##bits v, int order, int fail);                             \
	bool __tsan_atomic##bits##_compare_exchange_strong(u##bits *p, u##bits *old, u##bits v,    \
	    int order __maybe_unused, int fail __maybe_unused)                                     \
	{                                                                                          \
		access(p, sizeof(*p), WRITE | MARKED, FRAME);                                      \
		return __atomic_compare_exchange_n(p, old, v, false, SEQ, SEQ);                    \
	}

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (order == SEQ)
		__atomic_thread_fence(SEQ);
}

void __tsan_init(void);
void __tsan_init(void)
{
}
