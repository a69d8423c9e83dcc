/*
 * How the tables of tracefs are made: one table per kind of directory, a row per file, the row carries its functions. Handlers run
 * under host_lock in task context, get a seq to print to or a line to parse, and know no offsets. Files that stream (trace,
 * trace_pipe, trace_marker) have operations of their own.
 *
 * A handler is called only while what its node points at is there. Of an open file the instance always is; the event may go, and
 * then only `release` is still called, which must ask tfs_is_alive() before it follows f->node.ctx of an event.
 */
#pragma once

#include "kernel/lib/seq.h"
#include "trace/event/array.h"
#include "trace/tracefs/tracefs.h"

struct tfs_file;

/* A file whose pages programs may map. */
struct tfs_map_ops {
	int (*map)(struct tfs_file *f, u64 first, u64 pages); /* host_lock; once for each mapping */
	void (*again)(struct tfs_file *f);		      /* host_lock; a mapping became two */
	void (*unmap)(struct tfs_file *f);		      /* host_lock */
	void *(*page)(struct tfs_file *f, u64 index);	      /* while mapped; no lock */
};

struct tfs_ops {
	int (*open)(struct tfs_file *f);
	ssize (*read)(struct tfs_file *f, void *buf, size_t n, u64 *pos);
	ssize (*write)(struct tfs_file *f, const void *buf, size_t n);
	/* What splice() takes; NULL: what read() takes. Without host_lock. */
	ssize (*splice)(struct tfs_file *f, void *buf, size_t n, u64 *pos, bool nonblock);
	unsigned (*poll)(struct tfs_file *f);
	long (*ioctl)(struct tfs_file *f, u32 cmd); /* without host_lock */
	void (*release)(struct tfs_file *f);
	const struct tfs_map_ops *map; /* NULL: none may */
	bool map_any;  /* a mapping may ask for more than to read: it gets no more than that */
	bool stream;   /* has no places: lseek() and pread() are -ESPIPE */
	bool unlocked; /* read and write are called without host_lock: not for files of an event */
};

struct tfs_dir {
	const struct tfs_row *rows; /* by name; ends with a NULL name */
	/* Entries that are made. Each has a number that it keeps while it is there: the one with the next number above `after`, and
	 * that number; 0: no more. */
	u64 (*next)(const struct tfs_node *dir, u64 after, struct tfs_node *out);
	bool (*find)(const struct tfs_node *dir, const char *name, struct tfs_node *out);
	int (*mkdir)(const char *name); /* NULL: -EPERM, both */
	int (*rmdir)(const struct tfs_node *entry);
};

/* Bytes of a write that Linux looks at where it wants a number: 64 binary digits, a sign and a newline. */
#define TFS_NUMBER 66

struct tfs_row {
	const char *name;
	u32 mode;						 /* permission bits */
	int (*show)(struct seq *s, const struct tfs_node *node); /* 0 or the read's error */
	int (*store)(const struct tfs_node *node,
	    char *line); /* 0 or the write's error; the line is cut up */
	u32 cut;	 /* `store` gets no more bytes of a write than these; 0: all */
	u32 max;	 /* a write of more bytes is -EINVAL; 0: there is no such number */
	int (*clear)(const struct tfs_node *node); /* what `>` does when it opens */
	const struct tfs_ops *ops;
	const struct tfs_dir *dir;		    /* a directory; else NULL */
	bool (*exists)(const struct tfs_node *dir); /* NULL: in every such directory */
};

struct tfs_file {
	struct tfs_node node;
	struct trace_array *tr; /* counted */
	unsigned how;
	char *text; /* of `show`, from the first read on */
	size_t len;
	void *priv; /* of ops */
};

/* Bits of `poll`. */
enum { POLL_IN = 1, POLL_OUT = 4 };

/* A node of the row in directory `dir`, with its ctx. */
void tfs_fill(struct tfs_node *out, const struct tfs_node *dir, const struct tfs_row *row,
    const char *name, long arg);
/* The same, with another ctx: an object that may go away, and whose life ends then. */
void tfs_fill_object(struct tfs_node *out, const struct tfs_node *dir, const struct tfs_row *row,
    const char *name, void *ctx, long arg, const struct trace_life *life);
/* The same for an instance's directory, or the root. */
void tfs_fill_array(
    struct tfs_node *out, const struct tfs_row *row, const char *name, struct trace_array *tr);
bool tfs_is_alive(const struct tfs_node *node);

static inline struct trace_array *tfs_array(const struct tfs_node *node)
{
	return node->ctx;
}

/* The trace array of top directory, options/ and per_cpu/ nodes; CPU of the latter, -1 elsewhere. */
#define TFS_ALL_CPUS (-1L)

extern const struct tfs_ops tfs_trace_ops, tfs_snapshot_ops, tfs_pipe_ops, tfs_marker_ops,
    tfs_marker_raw_ops, tfs_free_buffer_ops, tfs_raw_ops, tfs_snapshot_raw_ops, tfs_set_event_ops,
    tfs_inject_ops, tfs_dat_ops, tfs_snapshot_dat_ops, tfs_user_data_ops, tfs_user_status_ops;
extern const struct tfs_dir tfs_top_dir, tfs_events_dir, tfs_options_dir, tfs_per_cpu_dir,
    tfs_instances_dir, tfs_hwlat_dir, tfs_past_events_dir;
extern const struct tfs_row tfs_no_rows[]; /* for directories of made entries only */
extern const char tfs_readme[];

/* For rows of the top directory that an instance does not have: .exists = tfs_is_top. */
bool tfs_is_top(const struct tfs_node *dir);
/* Shared by the top directory and per_cpu/cpuN/. */
int tfs_show_user_status(struct seq *s, const struct tfs_node *node);
int tfs_show_size(struct seq *s, const struct tfs_node *node);
int tfs_store_size(const struct tfs_node *node, char *line);
int tfs_show_total_size(struct seq *s, const struct tfs_node *node);
int tfs_show_options(struct seq *s, const struct tfs_node *node);
int tfs_store_options(const struct tfs_node *node, char *line);
int tfs_clear_trace(const struct tfs_node *node);
int tfs_store_snapshot(const struct tfs_node *node, char *line);
/* trace/tracefs/tracer.c */
int tfs_show_tracers(struct seq *s, const struct tfs_node *node);
int tfs_show_tracer(struct seq *s, const struct tfs_node *node);
int tfs_store_tracer(const struct tfs_node *node, char *line);
int tfs_show_thresh(struct seq *s, const struct tfs_node *node);
int tfs_store_thresh(const struct tfs_node *node, char *line);
int tfs_show_max_latency(struct seq *s, const struct tfs_node *node);
int tfs_store_max_latency(const struct tfs_node *node, char *line);
void tfs_snapshot_help(struct seq *s, const struct tfs_node *node); /* what it shows when empty */
