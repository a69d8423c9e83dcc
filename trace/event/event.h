/*
 * The object model of events, in the words of the field:
 *
 *   trace_event_class  fields and printing
 *   trace_event_call   one event: system (its class's), name, id
 *   trace_event_file   the state of one call in one trace_array: enabled, counts
 *   trace_array        an instance (trace/event/array.h): its ring buffer, files, options
 *
 * Legend: [I] set before the event is registered, [L] host_lock, [A] read by writers in any
 * context, changed under host_lock, [C] own CPU only.
 */
#pragma once

#include "kernel/lib/list.h"
#include "kernel/lib/seq.h"
#include "trace/event/handle.h"
#include "trace/host_key.h"

/* The first eight bytes of every record. */
struct trace_entry {
	u16 type; /* trace_event_call.id */
	u8 flags;
	u8 preempt_count;
	s32 pid;
};

/* The kind of a field, for filters, hist and inject. */
enum trace_field_kind {
	TRACE_FIELD_NUMBER,
	TRACE_FIELD_STRING,	/* char name[n], NUL-padded */
	TRACE_FIELD_DYN_STRING, /* __data_loc char[]: u32, low half offset in the record, high half
				   length */
	/* __rel_loc char[]: the same, with the offset relative to the end of the u32 */
	TRACE_FIELD_REL_STRING,
	TRACE_FIELD_PTR_STRING, /* char pointer */
	TRACE_FIELD_DYN_ARRAY,	/* __data_loc of something else */
	TRACE_FIELD_STACK,	/* the same of a stack: their count as a word, then addresses */
	TRACE_FIELD_ARRAY,
};

struct trace_event_field {
	const char *type; /* "pid_t", "char[16]", "__data_loc char[]" */
	const char *name;
	u32 offset, size;
	bool is_signed;
	u8 kind;
};

/* The destination of a record's text, and the context for printing it. */
struct trace_out {
	struct seq *seq;
	const char *fmt;	       /* the event's format as options/hash-ptr wants it */
	u64 options;		       /* of the instance: TRACE_OPT_* bits */
	const struct trace_line *line; /* the line being printed; NULL: only the event's own text */
	struct trace_symbols *symbols; /* names found before; NULL: none are kept */
	const struct trace_prevboot *past; /* the boot that made the record; NULL: this one */
	struct seq tmp;			   /* strings made on the way (flags, symbols) */
	char tmp_buf[512];
};

struct trace_event_call;
struct trace_export_format;
struct trace_line;
struct trace_event_file;

struct trace_event_class {
	const char *system;
	u32 fixed; /* bytes of a record's fixed part; 0: up to the end of its last field */
	/* Ends with a NULL name; common fields not among them. */
	const struct trace_event_field *(*fields)(const struct trace_event_call *call);
	/*
	 * Prints the record's text after "name: ", without a newline; NULL: print_line prints the
	 * whole line.
	 */
	void (*print)(struct trace_out *out, const void *rec, u32 len);
	/* The whole line with its newline, for events that do not print as "name: text". */
	void (*print_line)(
	    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len);
	/* The line as a JSON object, for options/eventheader-json; NULL: an ordinary line. */
	void (*print_json)(struct trace_out *out, const struct trace_line *line);
	/* As print_line, for options/raw; NULL: "type: N". */
	void (*print_raw)(
	    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len);
	/*
	 * Gives the record's own fields one by one to `put`, for options/hex and bin; NULL: both
	 * show "type: N".
	 */
	void (*put_fields)(struct seq *s, const void *rec, u32 len,
	    void (*put)(struct seq *s, const void *field, size_t bytes));
	/* Prints what follows "print fmt: ". NULL: call->print_fmt. */
	void (*show_fmt)(struct seq *s, const struct trace_event_call *call);
	/* Prints all of `format` after the line "format:"; NULL: the common form. */
	void (*show_format)(struct seq *s, const struct trace_event_call *call);
	/*
	 * For events made from records of another event: creates the trigger that makes them, for
	 * the other event's file in the same instance. The trigger is not yet in the file's list.
	 * NULL: no memory. Task context under host_lock.
	 */
	struct trace_trigger *(*feed)(struct trace_event_file *file);
};

/* The switch of a tracepoint's call sites, shared by all its users. [L] */
struct trace_key {
	struct host_key *host; /* NULL: `set` switches; probes by host_probe_switch() */
	void (*set)(struct trace_key *key, bool on);
	/*
	 * Takes the resource that `set` needs to switch the key on, unless the key has it: 0 or
	 * negative errno. set(false) gives it back, even if the key was never on. NULL: `set` needs
	 * none.
	 */
	int (*take)(struct trace_key *key);
	u32 users;
	bool on; /* as the text is patched now */
};

enum {
	TRACE_CALL_NO_ENABLE = 1, /* ftrace:*: records only, no enable file */
	TRACE_CALL_ENABLED = 2,	  /* `enable` is called `enabled` as well: legacy probes */
	TRACE_CALL_NOTED = 4,	  /* its format is in memory that is kept */
	/* enabled only by its own or its system's name, because it has so many hits */
	TRACE_CALL_ASKED = 8,
};

struct trace_event_call {
	const struct trace_event_class *class; /* [I] */
	const char *name;		       /* [I] */
	const char *print_fmt;		       /* [I] text after "print fmt: " */
	const char *fmt;		       /* [I] the format alone; NULL: none */
	const char *fmt_hashed;		       /* [I] the same with hashed pointers */
	struct trace_key *key; /* [I] the key that enables its call sites; NULL: there is none */
	const void *data;      /* [I] the class's */
	const void *stub;      /* [I] of a tracepoint: gives its arguments to consumers; NULL */
	struct trace_consumer *consumers;    /* [A] of a tracepoint: trace/event/consumer.h */
	struct trace_event_file *live;	     /* [A] first file that wants its records; NULL: none */
	struct trace_event_file *files;	     /* [L] its files in all instances, by next_file */
	u16 id;				     /* [I] 0 before registration: gets the next one */
	u8 flags;			     /* [I] TRACE_CALL_* */
	u8 n_args;			     /* [I] of a tracepoint */
	struct trace_system *system;	     /* [L] */
	u32 place;			     /* [L] among its calls */
	struct trace_event_call *next_named; /* [L] of those whose names have the same hash */
	struct list_head node;		     /* [L] all events, newest first */
	struct trace_handle handle;	     /* [L] from registration to removal */
	u32 refs;			     /* [L] who needs it to stay: trace_event_get() */
	struct trace_export_format *exported; /* [L] trace/export/export.c's */
};

/*
 * One per CPU and file: the outcomes of the event's hits. No hit goes uncounted: hit = recorded +
 * lost + filtered + pid_filtered + soft_off + too_deep. [C]
 */
struct trace_event_count {
	u64 hit;
	u64 lost;	    /* the ring refused it; the ring's counters give the reason */
	u64 filtered;	    /* by the file's filter */
	u64 pid_filtered;   /* by the array's pid lists */
	u64 soft_off;	    /* live, but switched off */
	u64 too_deep;	    /* no scratch memory to build it in: too deeply nested interrupts */
	u64 trigger_missed; /* actions that its triggers could not do */
} __aligned(64);

enum {
	TRACE_FILE_LIVE = 1, /* in call->live */
	TRACE_FILE_LEFT = 2, /* was removed from call->live; a walker may still be at it */
	TRACE_FILE_COMM = 4, /* counted in trace_comm_users(): names ... */
	TRACE_FILE_TGID = 8, /* ... thread groups */
};

struct trace_event_file {
	struct trace_array *tr;		    /* [I] */
	struct trace_event_call *call;	    /* [I] */
	u64 id;				    /* [I] the call's; a word, as common fields are */
	struct ring_buffer *buffer;	    /* [I] the array's */
	struct trace_event_count *counts;   /* [A] one per CPU, from the first use on */
	struct trace_event_file *next_live; /* [A] in call->live; stays for walkers */
	u32 way;			    /* [A] TRACE_WAY_* (array.h); 0: the fast path */
	u32 flags;			    /* [L] TRACE_FILE_* */
	u32 soft_users;			    /* [L] users that need it live, recorded or not */
	u32 unseen_users;		    /* [L] those of them that `enable` does not show */
	struct trace_filter *filter;	    /* [A] NULL: all pass */
	struct trace_trigger *triggers;	    /* [A] NULL: none */
	struct trace_trigger *feed; /* [L] its class's feed(), in the list while it is live; NULL */
	struct trace_event_file *next_file; /* [L] in call->files */
	struct list_head node;		    /* [L] trace_array.files, newest first */
};

/* A directory in events/. [L] */
struct trace_system {
	struct trace_handle handle;
	const char *name;
	struct list_head node; /* all systems, by name */
	struct trace_event_call **calls;
	u32 count, room;
	/* the last filter that fitted none of its events; else NULL */
	struct trace_filter *refused;
	struct trace_array *refused_in; /* in whose file */
};

/*
 * Adds and removes a use of the event that prevents its removal, apart from its being live.
 * host_lock held.
 */
static inline void trace_event_get(struct trace_event_call *call)
{
	call->refs++;
}
static inline void trace_event_put(struct trace_event_call *call)
{
	call->refs--;
}
/*
 * The registry's part of registering and unregistering (file.c does the rest). Removal has two
 * steps.
 */
void trace_event_remove(struct trace_event_call *call);
void trace_event_unlist(struct trace_event_call *call);
void trace_event_free_id(struct trace_event_call *call);
/* Gives it a name, a format and an id; it is not in the list yet and has no files. */
int trace_event_add(struct trace_event_call *call);

struct trace_event_call *trace_event_by_id(unsigned id); /* any context; NULL */
struct trace_event_call *trace_event_find(const char *system, const char *name);
struct trace_system *trace_system_find(const char *name);
extern struct list_head trace_events;  /* of trace_event_call.node */
extern struct list_head trace_systems; /* of trace_system.node */

/* A static event. Its call is made of this when it is registered, and takes no room in an image. */
struct trace_event_row {
	struct trace_event_call *call; /* nothing but zeros */
	const struct trace_event_class *class;
	const char *name, *print_fmt, *fmt;
	struct trace_key *key;
	const void *stub;
	u16 id;
	u8 flags, n_args;
};

struct trace_event_call *trace_event_make(const struct trace_event_row *row);
/* Registers the host's static events (kernel/trace/events.c gives its table). */
void trace_events_register(const struct trace_event_row *rows, unsigned n);
/* Likewise one whose call the host has made itself: the last declared comes first. */
void trace_event_register_made(struct trace_event_call *call);
