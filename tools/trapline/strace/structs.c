/* Structures that arguments of system calls point at. See strace.h. Layouts are those of x86-64. */
#include "tools/trapline/strace/strace.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define MOST(a, b)  ((a) > (b) ? (a) : (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

/* ---- numbers in memory ---- */

void strace_put_bits(FILE *out, const uint8_t *bits, uint64_t n)
{
	const char *between = "";

	putc('[', out);
	for (uint64_t i = 0; i < n; i++) {
		if (!(bits[i / 8] >> (i % 8) & 1))
			continue;
		fprintf(out, "%s%" PRIu64, between, i);
		between = " ";
	}
	putc(']', out);
}

void strace_put_int_at(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 4);

	if (b)
		fprintf(p->out, "[%d]", (int32_t)strace_half(b, 0));
}

/* A user or a group. */
void strace_put_id_at(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 4);

	if (b)
		fprintf(p->out, "[%u]", strace_half(b, 0));
}

void strace_put_long_at(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 8);

	if (b)
		fprintf(p->out, "[%" PRId64 "]", (int64_t)strace_word(b, 0));
}

void strace_put_pair(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 8);

	if (b)
		fprintf(p->out, "[%d, %d]", (int32_t)strace_half(b, 0), (int32_t)strace_half(b, 1));
}

void strace_put_groups(struct strace_put *p, uint64_t value)
{
	uint64_t n = p->kind->is_out ? (uint64_t)p->call->result : p->call->arg[0];
	const uint8_t *b;

	if (p->kind->is_out && !strace_failed(p->call) && !p->call->arg[0]) {
		strace_put_address(p, value);
		return;
	}
	b = strace_memory(p, value, 4 * LEAST(n, 32));
	if (!b)
		return;
	putc('[', p->out);
	for (uint64_t i = 0; i < LEAST(n, 32); i++)
		fprintf(p->out, "%s%u", i ? ", " : "", strace_half(b, i));
	fputs(n > 32 ? ", ...]" : "]", p->out);
}

void strace_put_wait_status(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = p->call->result ? strace_memory(p, value, 4) : NULL;

	if (!p->call->result) {
		strace_put_address(p, value);
	} else if (b) {
		putc('[', p->out);
		strace_put_status(p->out, strace_half(b, 0));
		putc(']', p->out);
	}
}

/* ---- times ---- */

static void put_time(FILE *out, const uint8_t *b, const char *fraction)
{
	fprintf(out, "{tv_sec=%" PRId64 ", %s=%" PRId64 "}", (int64_t)strace_word(b, 0), fraction,
	    (int64_t)strace_word(b, 1));
}

void strace_put_timespec(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 16);

	if (b)
		put_time(p->out, b, "tv_nsec");
}

void strace_put_timeval(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 16);

	if (b)
		put_time(p->out, b, "tv_usec");
}

/* A time that may be a date: its date, too. */
static void put_date(FILE *out, const uint8_t *b)
{
	time_t seconds = strace_word(b, 0);
	struct tm date;
	char text[32], zone[8];

	put_time(out, b, "tv_nsec");
	if (!seconds || !localtime_r(&seconds, &date))
		return;
	strftime(text, sizeof(text), "%FT%T", &date);
	strftime(zone, sizeof(zone), "%z", &date);
	fprintf(out, " /* %s", text);
	if (strace_word(b, 1))
		fprintf(out, ".%09" PRIu64, strace_word(b, 1));
	fprintf(out, "%s */", zone);
}

/* One of the two of utimensat(). */
static void put_touch(FILE *out, const uint8_t *b)
{
	uint64_t ns = strace_word(b, 1);

	if (ns == 0x3fffffff)
		fputs("UTIME_NOW", out);
	else if (ns == 0x3ffffffe)
		fputs("UTIME_OMIT", out);
	else
		put_date(out, b);
}

void strace_put_timespecs(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 32);

	if (!b)
		return;
	putc('[', p->out);
	put_touch(p->out, b);
	fputs(", ", p->out);
	put_touch(p->out, b + 16);
	putc(']', p->out);
}

static void put_timer(struct strace_put *p, uint64_t value, const char *fraction)
{
	const uint8_t *b = strace_memory(p, value, 32);

	if (!b)
		return;
	fputs("{it_interval=", p->out);
	put_time(p->out, b, fraction);
	fputs(", it_value=", p->out);
	put_time(p->out, b + 16, fraction);
	putc('}', p->out);
}

void strace_put_itimerval(struct strace_put *p, uint64_t value)
{
	put_timer(p, value, "tv_usec");
}

void strace_put_itimerspec(struct strace_put *p, uint64_t value)
{
	put_timer(p, value, "tv_nsec");
}

void strace_put_tms(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 32);

	if (b)
		fprintf(p->out,
		    "{tms_utime=%" PRId64 ", tms_stime=%" PRId64 ", tms_cutime=%" PRId64
		    ", tms_cstime=%" PRId64 "}",
		    (int64_t)strace_word(b, 0), (int64_t)strace_word(b, 1),
		    (int64_t)strace_word(b, 2), (int64_t)strace_word(b, 3));
}

void strace_put_rusage(struct strace_put *p, uint64_t value)
{
	bool none = p->kind->is_out && !p->call->result && p->call->nr == 61;
	const uint8_t *b = none ? NULL : strace_memory(p, value, 32);

	if (none)
		strace_put_address(p, value);
	if (!b)
		return;
	fputs("{ru_utime=", p->out);
	put_time(p->out, b, "tv_usec");
	fputs(", ru_stime=", p->out);
	put_time(p->out, b + 16, "tv_usec");
	fputs(", ...}", p->out);
}

/* ---- files ---- */

static void put_device(FILE *out, uint64_t device)
{
	unsigned major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfffU),
		 minor = (device & 0xff) | (device >> 12 & ~0xffU);

	fprintf(out, "makedev(%#x, %#x)", major, minor);
}

void strace_put_stat(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 144);
	uint32_t mode = b ? strace_half(b, 6) : 0, type = mode & 0170000;

	if (!b)
		return;
	fputs("{st_mode=", p->out);
	strace_put_mode(p->out, mode);
	if (type == 0020000 || type == 0060000) {
		fputs(", st_rdev=", p->out);
		put_device(p->out, strace_word(b, 5));
	} else {
		fprintf(p->out, ", st_size=%" PRIu64, strace_word(b, 6));
	}
	fputs(", ...}", p->out);
}

void strace_put_statx(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 256);

	if (!b)
		return;
	fputs("{stx_mask=", p->out);
	strace_put_flags(p->out, &strace_statx_masks, strace_half(b, 0));
	fprintf(p->out, ", stx_attributes=%s%" PRIx64, strace_word(b, 1) ? "0x" : "",
	    strace_word(b, 1));
	fputs(", stx_mode=", p->out);
	strace_put_mode(p->out, strace_half(b, 7) & 0xffff);
	fprintf(p->out, ", stx_size=%" PRIu64 ", ...}", strace_word(b, 5));
}

void strace_put_statfs(struct strace_put *p, uint64_t value)
{
	static const struct strace_name types[] = {{0x01021994, "TMPFS_MAGIC"},
	    {0x858458f6, "RAMFS_MAGIC"}, {0x9fa0, "PROC_SUPER_MAGIC"},
	    {0x74726163, "TRACEFS_MAGIC"}, {0x62656572, "SYSFS_MAGIC"},
	    {0xef53, "EXT2_SUPER_MAGIC"}, {0, NULL}};
	const struct strace_names names = {types, NULL};
	const uint8_t *b = strace_memory(p, value, 120);

	if (!b)
		return;
	fputs("{f_type=", p->out);
	if (strace_name(&names, strace_word(b, 0)))
		strace_put_value(p->out, &names, strace_word(b, 0));
	else
		fprintf(p->out, "%#" PRIx64, strace_word(b, 0));
	fprintf(p->out,
	    ", f_bsize=%" PRIu64 ", f_blocks=%" PRIu64 ", f_bfree=%" PRIu64 ", f_bavail=%" PRIu64
	    ", f_files=%" PRIu64 ", f_ffree=%" PRIu64
	    ", f_fsid={val=[%#x, %#x]}, f_namelen=%" PRIu64 ", f_frsize=%" PRIu64
	    ", f_flags=%#" PRIx64 "}",
	    strace_word(b, 1), strace_word(b, 2), strace_word(b, 3), strace_word(b, 4),
	    strace_word(b, 5), strace_word(b, 6), strace_half(b, 14), strace_half(b, 15),
	    strace_word(b, 8), strace_word(b, 9), strace_word(b, 10));
}

/* Entries of a directory: how many, if the record has all of them. */
void strace_put_dirents(struct strace_put *p, uint64_t value)
{
	uint64_t bytes = p->call->result, n = 0, at = 0;
	size_t size;
	const uint8_t *b = strace_failed(p->call) ? NULL : strace_bytes(p, "", &size);

	strace_put_address(p, value);
	while (b && at + 18 <= LEAST(bytes, size)) {
		uint16_t length;
		memcpy(&length, b + at + 16, sizeof(length));
		at += MOST(length, 1);
		n++;
	}
	if (b && at == bytes)
		fprintf(p->out, " /* %" PRIu64 " entries */", n);
}

void strace_put_flock(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 28);

	if (!b)
		return;
	fputs("{l_type=", p->out);
	strace_put_value(p->out, &strace_lock_types, strace_half(b, 0) & 0xffff);
	fputs(", l_whence=", p->out);
	strace_put_value(p->out, &strace_whences, strace_half(b, 0) >> 16);
	fprintf(p->out, ", l_start=%" PRId64 ", l_len=%" PRId64, (int64_t)strace_word(b, 1),
	    (int64_t)strace_word(b, 2));
	if (p->call->arg[1] == 5 || p->call->arg[1] == 36) /* F_GETLK, F_OFD_GETLK */
		fprintf(p->out, ", l_pid=%d", (int32_t)strace_half(b, 6));
	putc('}', p->out);
}

/* ---- limits, the machine ---- */

static void put_limit(FILE *out, uint64_t limit)
{
	if (limit == UINT64_MAX)
		fputs("RLIM64_INFINITY", out);
	else if (limit > 1024 && limit % 1024 == 0)
		fprintf(out, "%" PRIu64 "*1024", limit / 1024);
	else
		fprintf(out, "%" PRIu64, limit);
}

void strace_put_rlimit(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 16);

	if (!b)
		return;
	fputs("{rlim_cur=", p->out);
	put_limit(p->out, strace_word(b, 0));
	fputs(", rlim_max=", p->out);
	put_limit(p->out, strace_word(b, 1));
	putc('}', p->out);
}

#define TOO_BIG (-7) /* -E2BIG */

/* Sizes: the first version's, of which 0 is another name, and that with limits of utilization. */
enum {
	SCHED_ATTR_SIZE = 48,
	SCHED_ATTR_SIZE_LIMITS = 56,
	SCHED_FLAG_KEEP_POLICY = 8,
	SCHED_FLAG_KEEP_PARAMS = 16
};

static void put_sched_attr_fields(struct strace_put *p, const uint8_t *b, uint32_t size)
{
	uint32_t flags = strace_half(b, 2);

	if (!(flags & SCHED_FLAG_KEEP_POLICY)) {
		fputs(", sched_policy=", p->out);
		strace_put_value(p->out, &strace_schedulers, strace_half(b, 1));
	}
	fputs(", sched_flags=", p->out);
	strace_put_flags(p->out, &strace_sched_flags, strace_word(b, 1));
	if (!(flags & SCHED_FLAG_KEEP_PARAMS))
		fprintf(p->out,
		    ", sched_nice=%d, sched_priority=%u, sched_runtime=%" PRIu64
		    ", sched_deadline=%" PRIu64 ", sched_period=%" PRIu64,
		    (int32_t)strace_half(b, 4), strace_half(b, 5), strace_word(b, 3),
		    strace_word(b, 4), strace_word(b, 5));
	if (size >= SCHED_ATTR_SIZE_LIMITS)
		fprintf(p->out, ", sched_util_min=%u, sched_util_max=%u", strace_half(b, 12),
		    strace_half(b, 13));
	if (size > SCHED_ATTR_SIZE_LIMITS)
		fputs(", ...", p->out);
}

/* If the kernel refuses a size, it returns the size it knows. */
void strace_put_sched_attr(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, SCHED_ATTR_SIZE_LIMITS);

	if (!b)
		return;
	uint32_t size = strace_half(b, 0);
	fprintf(p->out, "{size=%u", size);
	if (!size || size >= SCHED_ATTR_SIZE)
		put_sched_attr_fields(p, b, size);
	putc('}', p->out);
	if (p->call->result == TOO_BIG)
		fprintf(p->out, " => {size=%u}", SCHED_ATTR_SIZE_LIMITS);
}

void strace_put_utsname(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 390);

	if (!b)
		return;
	fputs("{sysname=", p->out);
	strace_put_text(p->out, b, strnlen((const char *)b, 65), false);
	fputs(", nodename=", p->out);
	strace_put_text(p->out, b + 65, strnlen((const char *)b + 65, 65), false);
	fputs(", ...}", p->out);
}

void strace_put_sysinfo(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 112);

	if (!b)
		return;
	fprintf(p->out,
	    "{uptime=%" PRId64 ", loads=[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], totalram=%" PRIu64
	    ", freeram=%" PRIu64 ", sharedram=%" PRIu64 ", bufferram=%" PRIu64
	    ", totalswap=%" PRIu64 ", freeswap=%" PRIu64 ", procs=%u, totalhigh=%" PRIu64
	    ", freehigh=%" PRIu64 ", mem_unit=%u}",
	    (int64_t)strace_word(b, 0), strace_word(b, 1), strace_word(b, 2), strace_word(b, 3),
	    strace_word(b, 4), strace_word(b, 5), strace_word(b, 6), strace_word(b, 7),
	    strace_word(b, 8), strace_word(b, 9), strace_half(b, 20) & 0xffff, strace_word(b, 11),
	    strace_word(b, 12), strace_half(b, 26));
}

void strace_put_cpu_set(struct strace_put *p, uint64_t value)
{
	uint64_t bytes = p->kind->is_out ? (uint64_t)p->call->result : p->call->arg[1];
	const uint8_t *b = strace_memory(p, value, STRACE_BITS / 8);

	if (b)
		strace_put_bits(p->out, b, LEAST(bytes, STRACE_BITS / 8) * 8);
}

enum {
	CLONE_PARENT_TID = 0x100000,
	CLONE_CHILD_TID = 0x1200000, /* CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID */
	CLONE_PIDFD = 0x1000,
	CLONE_TLS = 0x80000,
	CLONE_ARGS_SIZE = 64,
	CLONE_ARGS_SIZE_SET_TID = 80,
	CLONE_ARGS_SIZE_CGROUP = 88
};
#define CLONE_CGROUP 0x200000000UL

/* What later kernels have added. */
static void put_clone_later(struct strace_put *p, const uint8_t *b, uint64_t size)
{
	if (size >= CLONE_ARGS_SIZE_SET_TID && (strace_word(b, 8) || strace_word(b, 9))) {
		fputs(", set_tid=", p->out);
		strace_put_address(p, strace_word(b, 8));
		fprintf(p->out, ", set_tid_size=%" PRIu64, strace_word(b, 9));
	}
	if (size >= CLONE_ARGS_SIZE_CGROUP &&
	    (strace_word(b, 10) || strace_word(b, 0) & CLONE_CGROUP))
		fprintf(p->out, ", cgroup=%" PRIu64, strace_word(b, 10));
}

static void put_clone_fields(struct strace_put *p, const uint8_t *b)
{
	static const struct {
		const char *name;
		uint64_t flags;
		unsigned word;
	} fields[] = {{"pidfd", CLONE_PIDFD, 1}, {"child_tid", CLONE_CHILD_TID, 2},
	    {"parent_tid", CLONE_PARENT_TID, 3}};
	uint64_t flags = strace_word(b, 0);

	fputs("flags=", p->out);
	strace_put_flags(p->out, &strace_clone_flags, flags);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (flags & fields[i].flags)
			fprintf(p->out, ", %s=%#" PRIx64, fields[i].name,
			    strace_word(b, fields[i].word));
	fputs(", exit_signal=", p->out);
	strace_put_value(p->out, &strace_signals, strace_word(b, 4));
	fputs(", stack=", p->out);
	strace_put_address(p, strace_word(b, 5));
	fprintf(
	    p->out, ", stack_size=%s%" PRIx64, strace_word(b, 6) ? "0x" : "", strace_word(b, 6));
	if (flags & CLONE_TLS) {
		fputs(", tls=", p->out);
		strace_put_address(p, strace_word(b, 7));
	}
}

/* The kernel also stores the number that it returns, for the parent. */
void strace_put_clone_args(struct strace_put *p, uint64_t value)
{
	uint64_t size = p->call->arg[1];
	const uint8_t *b;

	if (size < CLONE_ARGS_SIZE) {
		strace_put_address(p, value);
		return;
	}
	b = strace_memory(p, value, CLONE_ARGS_SIZE_CGROUP);
	if (!b)
		return;
	putc('{', p->out);
	put_clone_fields(p, b);
	put_clone_later(p, b, size);
	putc('}', p->out);
	if (strace_word(b, 0) & CLONE_PARENT_TID && !strace_failed(p->call))
		fprintf(p->out, " => {parent_tid=[%" PRId64 "]}", p->call->result);
}

void strace_put_winsize(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 8);
	uint16_t n[4];

	if (!b)
		return;
	memcpy(n, b, sizeof(n));
	fprintf(
	    p->out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", n[0], n[1], n[2], n[3]);
}

void strace_put_termios(struct strace_put *p, uint64_t value)
{
	static const struct strace_name speeds[] = {{0, "B0"}, {1, "B50"}, {7, "B300"},
	    {9, "B1200"}, {11, "B2400"}, {12, "B4800"}, {13, "B9600"}, {14, "B19200"},
	    {15, "B38400"}, {0x1001, "B57600"}, {0x1002, "B115200"}, {0, NULL}};
	static const struct {
		const char *name;
		unsigned word, bit;
	} modes[] = {
	    {"icanon", 3, 2}, {"echo", 3, 8}, {"isig", 3, 1}, {"icrnl", 0, 0x100}, {"opost", 1, 1}};
	const uint8_t *b = strace_memory(p, value, 36);

	if (!b)
		return;
	putc('{', p->out);
	strace_put_value(
	    p->out, &(struct strace_names){speeds, "B???"}, strace_half(b, 2) & 0x100f);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(p->out, " %s%s", strace_half(b, modes[i].word) & modes[i].bit ? "" : "-",
		    modes[i].name);
	fputs(" ...}", p->out);
}

/* ---- signals ---- */

void strace_put_signal_set(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 8);

	if (b)
		strace_put_set(p->out, strace_word(b, 0));
}

void strace_put_sigaction(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 32);
	uint64_t handler = b ? strace_word(b, 0) : 0, flags = b ? strace_word(b, 1) : 0;

	if (!b)
		return;
	fputs("{sa_handler=", p->out);
	if (handler < 2)
		fputs(handler ? "SIG_IGN" : "SIG_DFL", p->out);
	else
		fprintf(p->out, "%#" PRIx64, handler);
	fputs(", sa_mask=", p->out);
	strace_put_set(p->out, strace_word(b, 3));
	fputs(", sa_flags=", p->out);
	strace_put_flags(p->out, &strace_sigaction_flags, flags);
	if (flags & 0x04000000)
		fprintf(p->out, ", sa_restorer=%#" PRIx64, strace_word(b, 2));
	putc('}', p->out);
}

void strace_put_stack(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 24);

	if (!b)
		return;
	fputs("{ss_sp=", p->out);
	strace_put_address(p, strace_word(b, 0));
	fputs(", ss_flags=", p->out);
	strace_put_flags(p->out, &strace_sigaltstack_flags, strace_half(b, 2));
	fprintf(p->out, ", ss_size=%" PRIu64 "}", strace_word(b, 2));
}

static void put_child_info(FILE *out, const uint8_t *b)
{
	fputs(", si_status=", out);
	if (strace_half(b, 2) == 1)
		fprintf(out, "%d", (int32_t)strace_half(b, 6));
	else
		strace_put_value(out, &strace_signals, strace_half(b, 6));
	fprintf(
	    out, ", si_utime=%" PRIu64 ", si_stime=%" PRIu64, strace_word(b, 4), strace_word(b, 5));
}

void strace_put_siginfo(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 128);
	int code = b ? (int32_t)strace_half(b, 2) : 0;
	enum strace_cause cause;

	if (!b)
		return;
	if (!strace_half(b, 0)) {
		fputs("{}", p->out);
		return;
	}
	fputs("{si_signo=", p->out);
	strace_put_value(p->out, &strace_signals, strace_half(b, 0));
	fputs(", si_code=", p->out);
	cause = strace_put_code(p->out, strace_half(b, 0), code);
	if (cause == STRACE_FAULT) {
		fputs(", si_addr=", p->out);
		strace_put_address(p, strace_word(b, 2));
	} else if (code != 0x80) {
		fprintf(p->out,
		    code == -2 ? ", si_timerid=%d, si_overrun=%u" : ", si_pid=%d, si_uid=%u",
		    (int32_t)strace_half(b, 4), strace_half(b, 5));
	}
	if (code == -2 || (code == -1 && strace_word(b, 3))) { /* strace leaves out a value of 0 */
		fprintf(p->out, ", si_int=%d, si_ptr=", (int32_t)strace_half(b, 6));
		strace_put_address(p, strace_word(b, 3));
	}
	if (cause == STRACE_CHILD)
		put_child_info(p->out, b);
	putc('}', p->out);
}

void strace_put_sigevent(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 20);

	if (!b)
		return;
	putc('{', p->out);
	if (strace_word(b, 0)) {
		fprintf(
		    p->out, "sigev_value={sival_int=%d, sival_ptr=", (int32_t)strace_half(b, 0));
		strace_put_address(p, strace_word(b, 0));
		fputs("}, ", p->out);
	}
	fputs("sigev_signo=", p->out);
	strace_put_value(p->out, &strace_signals, strace_half(b, 2));
	fputs(", sigev_notify=", p->out);
	strace_put_value(p->out, &strace_sigevent_kinds, strace_half(b, 3));
	if (strace_half(b, 3) == 4)
		fprintf(p->out, ", sigev_notify_thread_id=%d", (int32_t)strace_half(b, 4));
	putc('}', p->out);
}

/* ---- waiting for files ---- */

#define POLLED 16 /* structures that the probe keeps */

/* The files to wait for, before the call; its result names those that are ready. */
void strace_put_pollfds(struct strace_put *p, uint64_t value)
{
	uint64_t n = LEAST(p->call->arg[1], POLLED);
	const uint8_t *b = n ? strace_memory(p, value, 8 * n) : NULL;

	if (!n)
		strace_put_address(p, value);
	if (!b)
		return;
	putc('[', p->out);
	for (uint64_t i = 0; i < n; i++) {
		fprintf(p->out, "%s{fd=%d", i ? ", " : "", (int32_t)strace_half(b, 2 * i));
		if ((int32_t)strace_half(b, 2 * i) >= 0) {
			fputs(", events=", p->out);
			strace_put_flags(
			    p->out, &strace_poll_events, strace_half(b, 2 * i + 1) & 0xffff);
		}
		putc('}', p->out);
	}
	fputs(p->call->arg[1] > POLLED ? ", ...]" : "]", p->out);
}

void strace_put_fd_set(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, STRACE_BITS / 8);

	if (b)
		strace_put_bits(p->out, b, LEAST(p->call->arg[0], STRACE_BITS));
}

#define EPOLL_SIZE 12 /* of a structure, which is packed */

static void put_epoll(FILE *out, const uint8_t *b)
{
	uint64_t data;

	memcpy(&data, b + 4, sizeof(data));
	fputs("{events=", out);
	strace_put_flags(out, &strace_epoll_events, strace_half(b, 0));
	if (data <= INT32_MAX)
		fprintf(out, ", data={u32=%" PRIu64 ", u64=%" PRIu64 "}}", data, data);
	else
		fprintf(out, ", data={u32=%u, u64=%" PRIu64 "}}", (uint32_t)data, data);
}

void strace_put_epoll_event(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = p->call->arg[1] == 2 ? NULL : strace_memory(p, value, EPOLL_SIZE);

	if (p->call->arg[1] == 2) /* EPOLL_CTL_DEL does not read it */
		strace_put_address(p, value);
	if (b)
		put_epoll(p->out, b);
}

void strace_put_epoll_events(struct strace_put *p, uint64_t value)
{
	size_t size = 0;
	const uint8_t *b = strace_memory(p, value, 0);

	if (!b)
		return;
	strace_bytes(p, "", &size);
	putc('[', p->out);
	for (uint64_t i = 0; i < (uint64_t)p->call->result; i++) {
		fputs(i ? ", " : "", p->out);
		if ((i + 1) * EPOLL_SIZE > size) {
			fputs("...", p->out);
			break;
		}
		put_epoll(p->out, b + i * EPOLL_SIZE);
	}
	putc(']', p->out);
}

/* ---- sockets and vectors ---- */

#define ADDRESS_SIZE 110 /* of the longest */

static void put_address_of(FILE *out, const uint8_t *b, uint64_t size)
{
	unsigned family = strace_half(b, 0) & 0xffff;

	fputs("{sa_family=", out);
	strace_put_value(out, &strace_address_families, family);
	if (family == 1 && size > 2) {
		bool abstract = !b[2];
		const uint8_t *name = b + 2 + abstract;
		size_t n = abstract ? size - 3 : strnlen((const char *)name, size - 2);
		fputs(abstract ? ", sun_path=@" : ", sun_path=", out);
		strace_put_text(out, name, n, false);
	} else if (family == 2 && size >= 8) {
		fprintf(out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%u.%u.%u.%u\")",
		    b[2] << 8 | b[3], b[4], b[5], b[6], b[7]);
	}
	putc('}', out);
}

/* The next argument is its size, or points at it. */
void strace_put_sockaddr(struct strace_put *p, uint64_t value)
{
	struct strace_put next = *p;
	uint64_t size = p->call->arg[p->at + 1];
	const uint8_t *b, *length;
	size_t n;

	next.at++;
	if (p->kind->is_out) { /* as much of it as there was room for */
		length = strace_bytes(&next, "_left", &n);
		size = length && n >= 4 ? strace_half(length, 0) : 0;
		length = strace_bytes(&next, "", &n);
		size = length && n >= 4 ? LEAST(size, strace_half(length, 0)) : size;
	}
	b = strace_memory(p, value, ADDRESS_SIZE);
	if (b && size >= 2)
		put_address_of(p->out, b, LEAST(size, ADDRESS_SIZE));
	else if (b)
		strace_put_address(p, value);
}

#define VECTORS 8 /* that the probe keeps */

/* One buffer, which holds `size` of the call's bytes. */
static void put_vector(struct strace_put *p, const uint8_t *b, unsigned i, uint64_t size)
{
	char name[8];
	size_t there;
	const uint8_t *text;

	snprintf(name, sizeof(name), "_%u", i);
	text =
	    strace_word(b, 2 * i) && !strace_failed(p->call) ? strace_bytes(p, name, &there) : NULL;
	fputs(i ? ", {iov_base=" : "{iov_base=", p->out);
	if (text)
		strace_put_text(
		    p->out, text, LEAST(LEAST(size, STRACE_SHOWN), there), size > STRACE_SHOWN);
	else
		strace_put_address(p, strace_word(b, 2 * i));
	fprintf(p->out, ", iov_len=%" PRIu64 "}", strace_word(b, 2 * i + 1));
}

/* `n` buffers, of which there are `there`. */
static void put_vectors(struct strace_put *p, const uint8_t *b, uint64_t n, uint64_t there)
{
	uint64_t left = p->kind->is_out ? (uint64_t)p->call->result : UINT64_MAX;

	putc('[', p->out);
	for (uint64_t i = 0; i < LEAST(n, there); i++) {
		uint64_t size = LEAST(strace_word(b, 2 * i + 1), left);
		put_vector(p, b, i, size);
		left -= size;
	}
	fputs(n > there ? ", ...]" : "]", p->out);
}

/* Also shows buffers that a failed call did not fill. */
void strace_put_iovecs(struct strace_put *p, uint64_t value)
{
	uint64_t n = p->call->arg[p->at + 1];
	size_t size = 0;
	const uint8_t *b = value && p->call->result != -14 ? strace_bytes(p, "", &size) : NULL;

	if (b && size >= 16 * VECTORS)
		put_vectors(p, b, n, VECTORS);
	else
		strace_put_address(p, value);
}

#define CONTROL_HEAD 16u /* bytes of a struct cmsghdr */

/* What one control message says, of which `n` bytes are there: files, or their sender. */
static void put_control_data(FILE *out, const uint8_t *c, uint64_t n)
{
	bool files = strace_half(c, 3) == 1;

	fputs(files ? "SCM_RIGHTS" : "SCM_CREDENTIALS", out);
	if (n < CONTROL_HEAD + (files ? 4 : 12))
		return;
	fputs(files ? ", cmsg_data=[" : ", cmsg_data={", out);
	if (!files)
		fprintf(out, "pid=%d, uid=%d, gid=%d", (int32_t)strace_half(c, 4),
		    (int32_t)strace_half(c, 5), (int32_t)strace_half(c, 6));
	for (uint64_t i = 4; files && 4 * i + 4 <= n; i++)
		fprintf(out, "%s%d", i > 4 ? ", " : "", (int32_t)strace_half(c, i));
	putc(files ? ']' : '}', out);
}

static bool is_known_control(const uint8_t *c)
{
	return strace_half(c, 2) == 1 && (strace_half(c, 3) == 1 || strace_half(c, 3) == 2);
}

/* What comes or goes with a message: `size` bytes. */
static void put_control(struct strace_put *p, uint64_t size)
{
	size_t there;
	const uint8_t *c = strace_bytes(p, "_control", &there);
	uint64_t at = 0, len;

	fputs(", msg_control=", p->out);
	if (!c || size < CONTROL_HEAD || there < CONTROL_HEAD || !is_known_control(c)) {
		strace_put_address(p, size);
		return;
	}
	there = LEAST(there, size);
	while (at + CONTROL_HEAD <= there && is_known_control(c + at)) {
		len = strace_word(c + at, 0);
		if (len < CONTROL_HEAD)
			break;
		fprintf(p->out,
		    "%s{cmsg_len=%" PRIu64 ", cmsg_level=SOL_SOCKET, cmsg_type=", at ? ", " : "[",
		    len);
		put_control_data(p->out, c + at, LEAST(len, there - at));
		putc('}', p->out);
		at = len < size - at ? at + ((len + 7) & ~7ul) : size;
	}
	fputs(at < size ? ", ...]" : "]", p->out);
}

void strace_put_message(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 56), *iov, *name;
	size_t size;

	if (!b)
		return;
	fputs("{msg_name=", p->out);
	name = strace_half(b, 2) ? strace_bytes(p, "_name", &size) : NULL;
	if (name && size >= ADDRESS_SIZE)
		put_address_of(p->out, name, LEAST(strace_half(b, 2), size));
	else
		strace_put_address(p, strace_word(b, 0));
	fprintf(p->out, ", msg_namelen=%u, msg_iov=", strace_half(b, 2));
	iov = strace_bytes(p, "_iov", &size);
	if (iov)
		put_vectors(p, iov, strace_word(b, 3), size / 16);
	else
		strace_put_address(p, strace_word(b, 2));
	fprintf(p->out, ", msg_iovlen=%" PRIu64, strace_word(b, 3));
	if (strace_word(b, 5))
		put_control(p, strace_word(b, 5));
	fprintf(p->out, ", msg_controllen=%" PRIu64 ", msg_flags=", strace_word(b, 5));
	strace_put_flags(p->out, &strace_message_flags, strace_half(b, 12));
	putc('}', p->out);
}
