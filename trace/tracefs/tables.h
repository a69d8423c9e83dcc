/*
 * How the tables of tracefs are made: one table per kind of directory, a row per file, the row
 * carries its functions. Handlers run under host_lock in task context, get a seq to print to or a
 * line to parse, and know no offsets. Files that stream (trace, trace_pipe, trace_marker) have
 * operations of their own.
 *
 * A handler is called only while what its node points at is there. Of an open file the instance
 * always is; the event may go, and then only `release` is still called, which must ask
 * tracefs_is_alive() before it follows f->node.ctx of an event.
 */
#pragma once

#include "kernel/lib/seq.h"
#include "trace/event/array.h"
#include "trace/tracefs/tracefs.h"

struct tracefs_file;

/* A file whose pages programs may map. */
struct tracefs_map_ops {
	int (*map)(
	    struct tracefs_file *f, u64 first, u64 pages); /* host_lock; once for each mapping */
	void (*again)(struct tracefs_file *f);		   /* host_lock; a mapping became two */
	void (*unmap)(struct tracefs_file *f);		   /* host_lock */
	void *(*page)(struct tracefs_file *f, u64 index);  /* while mapped; no lock */
};

struct tracefs_ops {
	int (*open)(struct tracefs_file *f);
	ssize (*read)(struct tracefs_file *f, void *buf, size_t n, u64 *pos);
	ssize (*write)(struct tracefs_file *f, const void *buf, size_t n);
	/* What splice() takes; NULL: what read() takes. Without host_lock. */
	ssize (*splice)(struct tracefs_file *f, void *buf, size_t n, u64 *pos, bool nonblock);
	unsigned (*poll)(struct tracefs_file *f);
	long (*ioctl)(struct tracefs_file *f, u32 cmd); /* without host_lock */
	void (*release)(struct tracefs_file *f);
	const struct tracefs_map_ops *map; /* NULL: none may */
	bool map_any;  /* a mapping may ask for more than to read: it gets no more than that */
	bool stream;   /* has no places: lseek() and pread() are -ESPIPE */
	bool waits;    /* a read takes what there is, and may wait for it */
	bool unlocked; /* read and write are called without host_lock: not for files of an event */
};

struct tracefs_dir {
	const struct tracefs_row *rows; /* by name; ends with a NULL name */
	/*
	 * Generated entries. Each keeps its number as long as it exists. next() returns the next
	 * number above `after`, and gives that entry's name (tracefs_put_name()); 0: no more.
	 */
	u64 (*next)(
	    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name);
	bool (*find)(const struct tracefs_node *dir, const char *name, struct tracefs_node *out);
	int (*mkdir)(const char *name); /* NULL: -EPERM, both */
	int (*rmdir)(const struct tracefs_node *entry);
};

/*
 * Bytes of a write that Linux looks at where it wants a number: 64 binary digits, a sign and a
 * newline.
 */
#define TRACEFS_NUMBER 66

struct tracefs_row {
	const char *name;
	u32 mode;						     /* permission bits */
	int (*show)(struct seq *s, const struct tracefs_node *node); /* 0 or the read's error */
	int (*store)(const struct tracefs_node *node,
	    char *line); /* 0 or the write's error; the line is cut up */
	u32 cut;	 /* `store` gets no more bytes of a write than these; 0: all */
	u32 max;	 /* a write of more bytes is -EINVAL; 0: there is no such number */
	int (*clear)(const struct tracefs_node *node); /* what `>` does when it opens */
	const struct tracefs_ops *ops;
	const struct tracefs_dir *dir;			/* a directory; else NULL */
	bool (*exists)(const struct tracefs_node *dir); /* NULL: in every such directory */
};

struct tracefs_file {
	struct tracefs_node node;
	struct trace_array *tr; /* counted */
	unsigned how;
	char *text; /* of `show`, from the first read on */
	size_t len, room;
	void *priv; /* of ops */
};

/* Bits of `poll`. */
enum { POLL_IN = 1, POLL_OUT = 4 };

/* A node of the row in directory `dir`, with its ctx. */
void tracefs_fill(struct tracefs_node *out, const struct tracefs_node *dir,
    const struct tracefs_row *row, long arg);
/* The same, with another ctx: an object that may go away; its handle is not valid then. */
void tracefs_fill_object(struct tracefs_node *out, const struct tracefs_node *dir,
    const struct tracefs_row *row, void *ctx, long arg, const struct trace_handle *handle);
/* The same for an instance's directory, or the root. */
void tracefs_fill_array(
    struct tracefs_node *out, const struct tracefs_row *row, struct trace_array *tr);
/* The name of an entry that tracefs_dir.next() gives. */
void tracefs_put_name(char *to, const char *name);

static inline struct trace_array *tracefs_array(const struct tracefs_node *node)
{
	return node->ctx;
}

/*
 * The trace array of top directory, options/ and per_cpu/ nodes; CPU of the latter, -1 elsewhere.
 */
#define TRACEFS_ALL_CPUS (-1L)

extern const struct tracefs_ops tracefs_trace_ops, tracefs_snapshot_ops, tracefs_pipe_ops,
    tracefs_marker_ops, tracefs_marker_raw_ops, tracefs_free_buffer_ops, tracefs_raw_ops,
    tracefs_snapshot_raw_ops, tracefs_set_event_ops, tracefs_inject_ops, tracefs_dat_ops,
    tracefs_snapshot_dat_ops, tracefs_user_data_ops, tracefs_user_status_ops, tracefs_filter_ops,
    tracefs_notrace_ops, tracefs_graph_wanted_ops, tracefs_graph_silent_ops,
    tracefs_stack_filter_ops;
extern const struct tracefs_dir tracefs_top_dir, tracefs_events_dir, tracefs_options_dir,
    tracefs_per_cpu_dir, tracefs_instances_dir, tracefs_hwlat_dir, tracefs_osnoise_dir,
    tracefs_prevboot_events_dir, tracefs_stat_dir, tracefs_rv_dir;

/* next() and find() of a directory with an entry for each CPU: the prefix and its number. */
u64 tracefs_next_of_cpus(const struct tracefs_node *dir, const struct tracefs_row *row,
    const char *prefix, u64 after, struct tracefs_node *out, char *name);
bool tracefs_find_of_cpus(const struct tracefs_node *dir, const struct tracefs_row *row,
    const char *prefix, const char *name, struct tracefs_node *out);
extern const struct tracefs_row tracefs_no_rows[]; /* for directories of made entries only */
extern const char tracefs_readme[];

/* For rows of the top directory that an instance does not have: .exists = tracefs_is_top. */
bool tracefs_is_top(const struct tracefs_node *dir);
/* Shared by the top directory and per_cpu/cpuN/. */
int tracefs_show_user_status(struct seq *s, const struct tracefs_node *node);
int tracefs_show_size(struct seq *s, const struct tracefs_node *node);
int tracefs_store_size(const struct tracefs_node *node, char *line);
int tracefs_show_total_size(struct seq *s, const struct tracefs_node *node);
int tracefs_show_options(struct seq *s, const struct tracefs_node *node);
int tracefs_store_options(const struct tracefs_node *node, char *line);
int tracefs_clear_trace(const struct tracefs_node *node);
int tracefs_store_snapshot(const struct tracefs_node *node, char *line);
/* trace/tracefs/events.c */
int tracefs_show_filters(struct seq *s, const struct tracefs_node *node);
int tracefs_show_triggers(struct seq *s, const struct tracefs_node *node);
/* trace/tracefs/function.c */
int tracefs_show_functions(struct seq *s, const struct tracefs_node *node);
int tracefs_show_function_addresses(struct seq *s, const struct tracefs_node *node);
int tracefs_show_enabled_functions(struct seq *s, const struct tracefs_node *node);
int tracefs_show_touched_functions(struct seq *s, const struct tracefs_node *node);
int tracefs_show_traced(struct seq *s, const struct tracefs_node *node);
int tracefs_show_untraced(struct seq *s, const struct tracefs_node *node);
int tracefs_show_graph_wanted(struct seq *s, const struct tracefs_node *node);
int tracefs_show_graph_silent(struct seq *s, const struct tracefs_node *node);
int tracefs_show_graph_depth(struct seq *s, const struct tracefs_node *node);
int tracefs_store_graph_depth(const struct tracefs_node *node, char *line);
int tracefs_show_profile_on(struct seq *s, const struct tracefs_node *node);
int tracefs_store_profile_on(const struct tracefs_node *node, char *line);
int tracefs_show_stack_filter(struct seq *s, const struct tracefs_node *node);
int tracefs_show_stack(struct seq *s, const struct tracefs_node *node);
int tracefs_show_stack_max(struct seq *s, const struct tracefs_node *node);
int tracefs_store_stack_max(const struct tracefs_node *node, char *line);
/* trace/tracefs/tracer.c */
int tracefs_show_tracers(struct seq *s, const struct tracefs_node *node);
int tracefs_show_tracer(struct seq *s, const struct tracefs_node *node);
int tracefs_store_tracer(const struct tracefs_node *node, char *line);
int tracefs_show_thresh(struct seq *s, const struct tracefs_node *node);
int tracefs_store_thresh(const struct tracefs_node *node, char *line);
int tracefs_show_max_latency(struct seq *s, const struct tracefs_node *node);
int tracefs_store_max_latency(const struct tracefs_node *node, char *line);
void tracefs_snapshot_help(
    struct seq *s, const struct tracefs_node *node); /* what it shows when empty */
