/*
 * User events: programs define them (by an ioctl of user_events_data, or u: in dynamic_events) and
 * write them, as in Linux's user_events document. A record has the common fields, then the bytes
 * that the program wrote, possibly more than the fields. There are no gaps between fields.
 *
 * The core knows neither programs nor their memory: kernel/trace/user_events.c copies the data and
 * passes it in. Programs learn in two ways whether an event is enabled: by a bit in a page that
 * they map (here), or by a word of their own (kernel/trace/enablers.c).
 */
#pragma once

#include "kernel/abi/user_events.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "trace/dynevent/dynevent.h"
#include "trace/event/event.h"

#define USER_EVENT_TEXT_MAX 512			      /* bytes of a definition, with its NUL */
#define USER_EVENT_BITS	    ((unsigned)PAGE_SIZE * 8) /* bit 0 is never allocated */

/* A __data_loc or __rel_loc field; each record's value is checked. */
struct user_event_check {
	u32 offset;    /* in the record */
	bool relative; /* counted from the end of the word, else from the start of the record */
	bool text;     /* its last byte must be NUL */
};

/* [I] set before it is registered, [L] host_lock, [A] read by writers in any context. */
struct user_event {
	struct dynevent dyn;
	struct trace_event_call call; /* call.refs: files and enable words that use it */
	struct trace_key key;	      /* key.on: somebody listens */
	struct user_event *next;      /* [L] of those whose names have the same hash */
	const char *name; /* [I] as registered; call.name of a multi-format event is longer */
	const struct trace_event_field *table; /* [I] */
	const struct user_event_check *checks; /* [I] */
	u32 n_fields, n_checks;		       /* [I] */
	u32 min_size;			       /* [I] bytes of all fields */
	u32 bit;			       /* [I] in the page */
	bool persist;			       /* [L] stays registered while unused */
	bool multi;			       /* [I] USER_EVENT_REG_MULTI_FORMAT */
};

extern const struct dynevent_kind user_dynevent_kind;

/* The page of bits. Once, at boot: 0 or -ENOMEM. */
int user_events_init(void);
void user_events_exit(void);
/* The page's address, as programs map it. */
void *user_events_page(void);
/* user_events_status as text. host_lock held. */
void user_events_show_status(struct seq *s);

/*
 * user_events_enable (enable.c): add a line of names (0, -EINVAL or -ENOSPC); remove all; show
 * them. host_lock held.
 */
int user_events_enable_store(const char *line);
void user_events_enable_clear(void);
void user_events_enable_show(struct seq *s);

/* ---- of an open user_events_data: task context, takes host_lock ---- */

/*
 * A further flag of user_events_register() beside enum user_reg_flag: accept an existing event of
 * this name whatever its fields, and keep it.
 */
#define USER_EVENT_LAX 0x10000u

struct tracefs_file;
struct user_events_file;
struct user_events_file *user_events_open(struct tracefs_file *owner); /* NULL: no memory */
void user_events_release(struct user_events_file *f);		       /* host_lock held */
/*
 * "name[:flags] [field[;field ...]]". Returns the index for writes to this file (one per event),
 * and the event in *out; or -EINVAL, -ENOMEM, -EMFILE (all bits are taken), -EADDRINUSE (that name,
 * other fields). The event stays while the file is open.
 */
long user_events_register(
    struct user_events_file *f, const char *text, u32 how, struct user_event **out);
/* Deletes all events of this name: 0, -ENOENT; -EBUSY: one is in use, and none is deleted. */
int user_events_delete(const char *name);
/* Adds and removes a user of the event (an enable word of a program). */
void user_event_get(struct user_event *ev);
void user_event_put(struct user_event *ev);

/* ---- writing: task context, no lock ---- */

/*
 * Events by index, in order of registration. An outgrown table is kept until the file is closed, as
 * writers may be reading it.
 */
struct user_event_table {
	struct user_event_table *outgrown;
	u32 count, room; /* [A] an event is stored in `events` before `count` includes it */
	struct user_event *events[];
};

struct user_events_file {
	struct user_event_table *table; /* [A] NULL: none yet */
	struct tracefs_file *owner;	/* [I] the open file */
};

/*
 * Finds event `index` for a write of `size` bytes: 0 and the event, or -EINVAL, -ENOENT, -EBADF
 * (not enabled).
 */
static inline int user_events_find(
    const struct user_events_file *f, s32 index, size_t size, struct user_event **out)
{
	const struct user_event_table *t = atomic_load_acquire(&f->table);

	if (unlikely(index < 0))
		return -EINVAL;
	if (unlikely(!t || (u32)index >= atomic_load_acquire(&t->count)))
		return -ENOENT;
	struct user_event *ev = t->events[index];
	if (unlikely(size < ev->min_size))
		return -EINVAL;
	*out = ev;
	return likely(READ_ONCE(ev->call.live)) ? 0 : -EBADF;
}

/*
 * Counts a write that is larger than any record; its bytes are not copied. (user_event_write() is
 * in write.h.)
 */
void user_event_write_huge(struct user_event *ev);

/* ---- between the files of the core ---- */

/* An error in a definition, and its position. */
struct user_event_error {
	const char *text; /* NULL: nothing */
	u32 pos;
};
/*
 * Parses a definition into an unregistered event without a bit, in one block of memory. -EINVAL
 * with the error, -ENOMEM: *out is NULL. `suffix` follows the name ("" for none).
 */
int user_event_parse(
    const char *text, const char *suffix, struct user_event **out, struct user_event_error *err);
/* Bytes of the name at the beginning of a definition. */
size_t user_event_name_len(const char *text);

/* Switches a new event on if user_events_enable names it: 0 or -ENOMEM. */
int user_events_enable_new(const struct user_event *ev);

/* class->fields of user events only. */
const struct trace_event_field *user_event_table(const struct trace_event_call *call);
void user_event_print(struct trace_out *out, const void *rec, u32 len);
void user_event_show_fmt(struct seq *s, const struct trace_event_call *call);

/* Events that follow the EventHeader convention: eventheader_class.c. */
bool user_event_is_eventheader(const struct user_event *ev);
void user_eventheader_print(struct trace_out *out, const void *rec, u32 len);
void user_eventheader_print_json(struct trace_out *out, const struct trace_line *line);

static inline struct user_event *user_event_of(const struct trace_event_call *call)
{
	return container_of(call, struct user_event, call);
}
