/* The last words. Any context. */
#pragma once

#include "kernel/lib/types.h"

struct regs;

/*
 * Message, registers if known, symbolised backtrace; then by panic= (Linux: 0 halt, n>0 reboot
 * after n s, <0 at once).
 */
void __noreturn panic(const char *fmt, ...) __printf(1, 2);
void __noreturn panic_regs(const struct regs *r, const char *fmt, ...) __printf(2, 3);
/* Called by the compiler: a function found its canary changed, and does not return. */
void __noreturn __stack_chk_fail(void);
/* Prints a register dump and a backtrace. */
void show_regs(const struct regs *r);
void show_stack(const struct regs *r);
void warn_at(const char *file, int line, const char *what);

#define BUG_ON(c)                                                                                  \
	do {                                                                                       \
		if (unlikely(c))                                                                   \
			panic("%s:%d: %s", __FILE__, __LINE__, #c);                                \
	} while (0)
#define WARN_ON_ONCE(c)                                                                            \
	({                                                                                         \
		static bool warned_;                                                               \
		bool c_ = (c);                                                                     \
		if (unlikely(c_) && !warned_) {                                                    \
			warned_ = true;                                                            \
			warn_at(__FILE__, __LINE__, #c);                                           \
		}                                                                                  \
		c_;                                                                                \
	})
