/*
 * user_events: events that programs define and write. What passes between a program and the file
 * user_events_data, byte for byte as on Linux, in both of its forms:
 *
 *   Linux 5.18 to 6.3 struct user_reg_bit: the answer names a bit of user_events_status, a page
 *   that the program maps
 *   since Linux 6.4 struct user_reg_word: the program names a bit of a word of its own, which the
 *   kernel keeps
 *
 * The kernel tells them apart by `size`. `struct user_reg` is the newer one, or the older one in a
 * program that says
 *
 *	#define USER_EVENTS_STATUS_BIT
 *
 * before it includes this. How to use them: docs/user-events.md, user/bin/uev_bit.c,
 * user/bin/uev_word.c.
 */
#pragma once

#include <stdint.h>

#define USER_EVENTS_SYSTEM	 "user_events"
#define USER_EVENTS_MULTI_SYSTEM "user_events_multi"
#define USER_EVENTS_PREFIX	 "u:" /* of a definition in dynamic_events */

/* The word of a __data_loc or __rel_loc field: where the data lies, and how many bytes. */
#define DYN_LOC(offset, size) ((uint32_t)(size) << 16 | (uint32_t)(offset))

struct user_reg_bit {
	uint32_t size;	    /* in: sizeof(struct user_reg_bit) */
	uint64_t name_args; /* in: address of "name[:flags] [field[;field ...]]" */
	/* out: which bit of user_events_status says that somebody listens; never 0 */
	uint32_t status_bit;
	uint32_t write_index; /* out: what each write begins with */
} __attribute__((packed));

enum user_reg_flag {
	USER_EVENT_REG_PERSIST = 1, /* the event stays when nobody has it registered any more */
	USER_EVENT_REG_MULTI_FORMAT =
	    2,			/* other fields make another event, NAME.N in user_events_multi */
	USER_EVENT_REG_MAX = 4, /* this and what is above is refused */
};

struct user_reg_word {
	uint32_t size;	      /* in: sizeof(struct user_reg_word) */
	uint8_t enable_bit;   /* in: which bit of the word says that somebody listens */
	uint8_t enable_size;  /* in: bytes of the word, 4 or 8 */
	uint16_t flags;	      /* in: USER_EVENT_REG_* */
	uint64_t enable_addr; /* in: address of the word, a multiple of its size */
	uint64_t name_args;   /* in: as above */
	uint32_t write_index; /* out: as above */
} __attribute__((packed));

struct user_unreg {
	uint32_t size;	       /* sizeof(struct user_unreg) */
	uint8_t disable_bit;   /* which bit ... */
	uint8_t __reserved;    /* 0 */
	uint16_t __reserved2;  /* 0 */
	uint64_t disable_addr; /* ... of which word is to be left alone from now on */
} __attribute__((packed));

#ifdef USER_EVENTS_STATUS_BIT
#define user_reg user_reg_bit
#else
#define user_reg user_reg_word
#endif

/* Linux's numbers: '*' is the family, the argument's size that of a pointer. */
#define DIAG_IOCSREG   0xc0082a00u /* struct user_reg * */
#define DIAG_IOCSDEL   0x40082a01u /* const char *: the name of an event that nobody uses */
#define DIAG_IOCSUNREG 0x40082a02u /* struct user_unreg * */

_Static_assert(sizeof(struct user_reg_bit) == 20, "Linux 6.1's struct user_reg");
_Static_assert(sizeof(struct user_reg_word) == 28, "Linux 6.4's struct user_reg");
_Static_assert(sizeof(struct user_unreg) == 16, "Linux 6.4's struct user_unreg");
