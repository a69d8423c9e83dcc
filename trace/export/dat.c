/*
 * Making a trace.dat file: which sub-buffers are in it, and giving them out after the header. See
 * dat.h for contexts.
 *
 * THE CUT. The file has what was recorded up to one time, the cut, on all CPUs; what is recorded
 * later is left out.
 *
 *   D1 read the clock: the cut. What is committed by then lies in the sub-buffers up to each CPU's
 *      tail of D2.
 *   D2 for each CPU, how many sub-buffers there are from the oldest to the tail.
 *   D3 copy them, the first of each CPU, then the second, and so on: the oldest are the first to be
 *      overwritten. No snapshot is taken meanwhile. At most half of the memory that is free is used
 *      for that.
 *   D4 make the header. It has to say how much follows, and now that is known: what was copied, and
 *      for what there was no memory to copy, as many sub-buffers as there may be.
 *   D5 give it out, and the sub-buffers: copies are turned into the file's format one by one and
 *      freed; after them what was not copied is looked at now, when its turn has come. If it is
 *      overwritten by then, the file says so where it would have been: the next sub-buffer says how
 *      many events are missing before it, and empty ones fill up what the header promised.
 *
 * So a file larger than memory is made in little memory, and a trace that fits is what it was at
 * one moment, however slow the reader.
 *
 * dat_header.c gives the parts of what precedes the sub-buffers, and dat_head.c puts them together.
 * dat_page.c converts one sub-buffer to Linux's present record format, dat_pages.c holds growing
 * lists of pages. export.c is separate: it publishes the page by which a reader outside the machine
 * finds the rings (kernel/abi/trace_export.h).
 */
#include "trace/export/dat.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/snapshot.h"
#include "trace/export/dat_header.h"
#include "trace/export/dat_page.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/persist/lastboot.h"

/* A copy's commit: bytes:20, events lost before it:44 (all ones: nobody knows how many). */
#define HELD_BYTES RB_COMMIT_BYTES
#define HELD_LOST  20

struct dat_cpu {
	struct ring_buffer_live *live;
	struct dat_pages held; /* copies, as they are in the ring */
	u64 promised;	       /* sub-buffers of the ring, in all */
	u64 given;	       /* of these */
};

struct trace_dat {
	struct trace_array *tr;
	struct ring_buffer *buffer; /* NULL: none */
	unsigned order;		    /* of its sub-buffers, and the file's, when it began */
	bool snapshot;
	u32 frees; /* tr->snapshot_frees when it began */
	struct dat_convert convert;
	struct dat_text header;
	u64 header_given;
	unsigned cpu, cpus;
	struct ring_buffer_page *source; /* what is being turned */
	struct rb_page_iter walk;	 /* in it */
	u64 lost;			 /* before it */
	struct ring_buffer_page *out;	 /* what is being given out */
	u64 out_given;			 /* bytes of it */
	u32 out_per_source;		 /* pages of the file for each of the ring */
	u32 out_number;			 /* which one of these is next */
	u64 pages[MAX_CPUS];		 /* of the file */
	struct dat_cpu of[];
};

static u64 dat_file_time(const void *tr, u64 stamp)
{
	return trace_clock_ns(tr, stamp);
}

/* Nanoseconds need no more room than cycles do, unless those are longer. */
static u32 pages_for_one(const struct trace_array *tr)
{
	u64 now = tr->past ? trace_prevboot_begin(tr->past) : host_clock(),
	    later = now + (1UL << 40);

	return trace_clock_ns(tr, later) - trace_clock_ns(tr, now) > later - now ? 2 : 1;
}

/* ---- D1 to D3 ---- */

static bool begin_cpus(struct trace_dat *dat)
{
	for (unsigned cpu = 0; cpu < dat->cpus; cpu++) {
		struct dat_cpu *of = &dat->of[cpu];

		of->live = ring_buffer_live_start(dat->buffer, cpu);
		if (!of->live)
			return false;
	}
	/* D1; another boot's time stamps mean nothing to this clock, and no more of them come. */
	dat->convert.until = dat->tr->past ? INT64_MAX : ring_buffer_time_stamp(dat->buffer);
	for (unsigned cpu = 0; cpu < dat->cpus; cpu++)
		dat->of[cpu].promised = ring_buffer_live_limit(dat->of[cpu].live); /* D2 */
	return true;
}

/* What there is is held from now on; the CPU has no more to give. */
static void end_cpu(struct dat_cpu *of)
{
	ring_buffer_live_finish(of->live);
	of->live = NULL;
	of->promised = of->held.count;
}

/* Copies the CPU's next sub-buffer; false: no memory. */
static bool hold_next(struct trace_dat *dat, struct dat_cpu *of)
{
	struct ring_buffer_page *page = dat_pages_add(&of->held);
	u64 lost;

	if (!page)
		return false;
	if (!ring_buffer_live_page(of->live, page, &lost) ||
	    (s64)(page->time_stamp - dat->convert.until) > 0) {
		dat_pages_drop(&of->held, --of->held.count);
		end_cpu(of);
		return true;
	}
	page->commit |= lost << HELD_LOST;
	if (of->held.count == of->promised)
		end_cpu(of);
	return true;
}

static void hold(struct trace_dat *dat) /* D3 */
{
	u64 room = (host_pages_free() / 2) >> dat->order, held = 0;
	bool more = true;

	while (more) {
		more = false;
		for (unsigned cpu = 0; cpu < dat->cpus; cpu++) {
			struct dat_cpu *of = &dat->of[cpu];

			if (!of->live)
				continue;
			u64 before = of->held.count;
			if (held == room || !hold_next(dat, of))
				return;
			held += of->held.count - before;
			more = true;
		}
	}
}

static int take(struct trace_dat *dat)
{
	bool begun;

	if (!dat->buffer)
		return 0;
	trace_snapshot_hold(dat->tr);
	begun = begin_cpus(dat);
	if (begun)
		hold(dat);
	trace_snapshot_release(dat->tr);
	return begun ? 0 : -ENOMEM;
}

/* ---- D4 ---- */

static int make_header(struct trace_dat *dat)
{
	struct dat_source src = {dat->tr, dat->buffer, dat->convert.size, dat->pages};

	for (unsigned cpu = 0; cpu < dat->cpus; cpu++)
		dat->pages[cpu] = dat->of[cpu].promised * dat->out_per_source;
	return dat_header_make(&dat->header, &src) ? 0 : -ENOMEM;
}

int trace_dat_create(struct trace_array *tr, bool snapshot, struct trace_dat **out)
{
	unsigned cpus = host_cpu_count();
	struct trace_dat *dat = host_alloc(sizeof(*dat) + cpus * sizeof(dat->of[0]));
	int err = -ENOMEM;

	if (!dat)
		return err;
	dat_text_init(&dat->header);
	dat->tr = tr;
	dat->buffer = snapshot ? tr->snapshot : tr->buffer;
	dat->snapshot = snapshot;
	dat->frees = tr->snapshot_frees;
	dat->cpus = cpus;
	dat->order = dat->buffer ? ring_buffer_order(dat->buffer) : 0;
	dat->convert =
	    (struct dat_convert){.time = dat_file_time, .arg = tr, .size = PAGE_SIZE << dat->order};
	dat->out_per_source = pages_for_one(tr);
	dat->out_given = dat->convert.size;
	dat->out = host_block_alloc(dat->order);
	dat->source = host_block_alloc(dat->order);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		dat->of[cpu].held.order = dat->order;
	if (dat->out && dat->source)
		err = take(dat);
	if (!err)
		err = make_header(dat);
	if (err)
		trace_dat_free(dat);
	else
		*out = dat;
	return err;
}

void trace_dat_free(struct trace_dat *dat)
{
	for (unsigned cpu = 0; cpu < dat->cpus; cpu++) {
		ring_buffer_live_finish(dat->of[cpu].live);
		dat_pages_free(&dat->of[cpu].held);
	}
	dat_text_free(&dat->header);
	host_block_free(dat->out, dat->order);
	host_block_free(dat->source, dat->order);
	host_free(dat);
}

/* ---- D5 ---- */

/* Is the buffer still there that this was made of? */
static bool is_there(const struct trace_dat *dat)
{
	return !dat->snapshot || dat->frees == dat->tr->snapshot_frees;
}

/* The CPU's next sub-buffer, into `source`: a copy, or what there is now, or an empty one. */
static void next_source(struct trace_dat *dat, struct dat_cpu *of)
{
	struct ring_buffer_page *page = dat->source;

	dat->lost = page->commit = 0;
	if (of->given < of->held.count) {
		memcpy(page, of->held.page[of->given], dat->convert.size);
		dat_pages_drop(&of->held, of->given);
		dat->lost = (s64)page->commit >> HELD_LOST;
		page->commit &= HELD_BYTES;
	} else if (!of->live || !is_there(dat) ||
		   !ring_buffer_live_page(of->live, page, &dat->lost)) {
		page->commit = 0;
	}
	of->given++;
	rb_page_iter_start(&dat->walk, page, 0);
}

/* The next page of the file; false: that was all. */
static bool next_page(struct trace_dat *dat)
{
	if (dat->out_number == 0) {
		while (
		    dat->cpu < dat->cpus && dat->of[dat->cpu].given == dat->of[dat->cpu].promised)
			dat->cpu++;
		if (dat->cpu == dat->cpus)
			return false;
		next_source(dat, &dat->of[dat->cpu]);
	}
	dat_page_convert(&dat->convert, &dat->walk, dat->lost, dat->out);
	dat->lost = 0;
	dat->out_number = (dat->out_number + 1) % dat->out_per_source;
	dat->out_given = 0;
	return true;
}

ssize trace_dat_read(struct trace_dat *dat, void *buf, size_t n)
{
	size_t done = dat_text_read(&dat->header, dat->header_given, buf, n);

	dat->header_given += done;
	while (done < n && (dat->out_given < dat->convert.size || next_page(dat))) {
		size_t part = MIN(n - done, dat->convert.size - dat->out_given);

		memcpy((u8 *)buf + done, (const u8 *)dat->out + dat->out_given, part);
		dat->out_given += part;
		done += part;
	}
	return done;
}
