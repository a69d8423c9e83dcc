/*
 * The integer types and the handful of macros everybody uses. Freestanding and pure: may be
 * included anywhere, in any context.
 */
#pragma once

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef long ssize;

#define S64_MAX INT64_MAX

#define likely(x)	 __builtin_expect(!!(x), 1)
#define unlikely(x)	 __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)	 (sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	 (((x) + ((a)-1)) & ~((typeof(x))(a)-1))
#define ALIGN_DOWN(x, a) ((x) & ~((typeof(x))(a)-1))
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) a_ = (a);                                                                \
		typeof(b) b_ = (b);                                                                \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) a_ = (a);                                                                \
		typeof(b) b_ = (b);                                                                \
		a_ > b_ ? a_ : b_;                                                                 \
	})
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))
#define __printf(fmt, args)	      __attribute__((format(printf, fmt, args)))
#define __packed		      __attribute__((packed))
#define __aligned(n)		      __attribute__((aligned(n)))
/*
 * Called as it stands, with what it is called with: no copies of it, and nothing known about it at
 * its callers.
 */
#ifdef __clang__
#define __noipa __attribute__((noinline, optnone))
#else
#define __noipa __attribute__((noipa))
#endif
/*
 * Its last calls are jumps, so that it needs no frame. The Makefile's FRAMES forbid that to others.
 */
#ifdef __clang__
#define LEAVES_BY_JUMP
#else
#define LEAVES_BY_JUMP __attribute__((optimize("optimize-sibling-calls")))
#endif
/* Without a hook at its beginning (kernel/kprobe/hook.h). */
#define __notrace      __attribute__((patchable_function_entry(0)))
#define __noinline     __attribute__((noinline))
#define __noreturn     __attribute__((noreturn))
#define __maybe_unused __attribute__((unused))

/* The compiler may not move memory accesses over this; the CPU may. */
#define barrier() __asm__ volatile("" ::: "memory")
/* The same value, of which the compiler knows nothing: it keeps it instead of making it anew. */
#define HIDE(x)                                                                                    \
	({                                                                                         \
		typeof(x) hidden_ = (x);                                                           \
		__asm__("" : "+r"(hidden_));                                                       \
		hidden_;                                                                           \
	})
/* One access, not torn, not repeated, not left out. */
#ifdef WATCH_THREADS /* for ThreadSanitizer: what x86 does anyway */
#define READ_ONCE(x)	 __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)
#else
#define READ_ONCE(x)	 (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))
#endif
/* A read whose race is harmless, plain for the compiler: for a word that it cannot tear. */
#ifdef SANITIZE_thread
#define data_race(x) READ_ONCE(x)
#else
#define data_race(x) (x)
#endif

#define PAGE_SIZE 4096UL
#define MAX_CPUS  64
