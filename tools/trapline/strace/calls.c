/*
 * The table of system calls, the kinds of their arguments and results, and the probes that record
 * what arguments point at. See strace.h.
 *
 * A handler has one argument, the program's registers: a probe reads an argument of the call from
 * them, and memory of the program from there. Without a u before its offset a probe reads memory
 * of the program, too, and may read an array of it.
 */
#include "tools/trapline/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define NO_MEMORY   -14 /* a result: EFAULT */

static const char *const kernel_names[STRACE_CALLS] = {
#define ARG(type, name)
#define SYSCALL(nr, name, args) [nr] = #name,
#include "kernel/abi/syscalls.def"
};

static const char *const missing_names[STRACE_CALLS] = {
#define MISSING(nr, name) [nr] = #name,
#include "kernel/abi/syscalls_missing.def"
};

/* ---- numbers ---- */

static void put_integer(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%d", (int32_t)value);
}

static void put_count(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%u", (uint32_t)value);
}

static void put_size(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%" PRIu64, value);
}

static void put_offset(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%" PRId64, (int64_t)value);
}

static void put_hexadecimal(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%#" PRIx64, value);
}

static void put_directory(struct strace_put *p, uint64_t value)
{
	if ((int32_t)value == -100)
		fputs("AT_FDCWD", p->out);
	else
		put_integer(p, value);
}

/* -1 is no user and no group. */
static void put_id(struct strace_put *p, uint64_t value)
{
	if ((uint32_t)value == UINT32_MAX)
		fputs("-1", p->out);
	else
		put_count(p, value);
}

static void put_mode(struct strace_put *p, uint64_t value)
{
	fprintf(p->out, "%#03o", (uint32_t)value);
}

/* With the type of the file that is made. */
static void put_file_mode(struct strace_put *p, uint64_t value)
{
	strace_put_mode(p->out, value);
}

static void put_device(struct strace_put *p, uint64_t value)
{
	uint32_t type = p->call->arg[p->at - 1] & 0170000;

	if (type == 0020000 || type == 0060000) /* no other file has one */
		fprintf(p->out, "makedev(%#x, %#x)", (unsigned)(value >> 8 & 0xfff),
		    (unsigned)((value & 0xff) | (value >> 12 & 0xfff00)));
}

static void put_named(struct strace_put *p, uint64_t value)
{
	strace_put_value(p->out, p->kind->names, (uint32_t)value);
}

static void put_flags(struct strace_put *p, uint64_t value)
{
	strace_put_flags(p->out, p->kind->names, (uint32_t)value);
}

static void put_signal(struct strace_put *p, uint64_t value)
{
	strace_put_value(p->out, &strace_signals, (uint32_t)value);
}

/* ---- flags in parts ---- */

static void put_open_flags(FILE *out, uint64_t flags)
{
	strace_put_value(out, &strace_open_modes, flags & 3);
	if (flags & ~3ULL & UINT32_MAX) {
		putc('|', out);
		strace_put_flags(out, &strace_open_flags, flags & ~3ULL & UINT32_MAX);
	}
}

static void put_open(struct strace_put *p, uint64_t value)
{
	put_open_flags(p->out, value);
}

static void put_open_mode(struct strace_put *p, uint64_t value)
{
	uint64_t flags = p->call->arg[p->at - 1];

	if (flags & 0100 || (flags & 020200000) == 020200000) /* O_CREAT, O_TMPFILE */
		put_mode(p, value);
}

static void put_map_flags(struct strace_put *p, uint64_t value)
{
	strace_put_value(p->out, &strace_map_types, value & 15);
	if (value & ~15ULL) {
		putc('|', p->out);
		strace_put_flags(p->out, &strace_map_flags, value & ~15ULL);
	}
}

static void put_socket_type(struct strace_put *p, uint64_t value)
{
	strace_put_value(p->out, &strace_socket_types, value & 15);
	if (value & 0xfffffff0) {
		putc('|', p->out);
		strace_put_flags(p->out, &strace_socket_flags, value & 0xfffffff0);
	}
}

static void put_statx_flags(struct strace_put *p, uint64_t value)
{
	static const char *const syncs[] = {"AT_STATX_SYNC_AS_STAT", "AT_STATX_FORCE_SYNC",
	    "AT_STATX_DONT_SYNC", "AT_STATX_SYNC_TYPE"};
	uint32_t rest = value & ~0x6000ULL;

	fputs(syncs[value >> 13 & 3], p->out);
	if (rest) {
		putc('|', p->out);
		strace_put_flags(p->out, &(struct strace_names){strace_at_flags.name, NULL}, rest);
	}
}

static void put_mremap_to(struct strace_put *p, uint64_t value)
{
	if ((p->call->arg[3] & 3) == 3) /* MREMAP_MAYMOVE, MREMAP_FIXED */
		strace_put_address(p, value);
}

static void put_membarrier_cpu(struct strace_put *p, uint64_t value)
{
	if (p->call->arg[1] & 1) /* MEMBARRIER_CMD_FLAG_CPU */
		put_integer(p, value);
}

/* ---- arguments whose kind depends on another ---- */

enum {
	DUPFD = 0,
	SETFD = 2,
	GETFL = 3,
	SETFL = 4,
	GETLK = 5,
	SETLKW = 7,
	OFD_GETLK = 36,
	OFD_SETLKW = 38,
	DUPFD_CLOEXEC = 1030
};

static bool fcntl_asks(uint64_t command)
{
	return command == 1 || command == GETFL || command == 9 || command == 11 ||
	       command == 1025 || command == 1032 || command == 1034;
}

static void put_fcntl(struct strace_put *p, uint64_t value)
{
	uint64_t command = p->call->arg[1];

	if (fcntl_asks(command))
		return;
	if ((command >= GETLK && command <= SETLKW) ||
	    (command >= OFD_GETLK && command <= OFD_SETLKW))
		strace_put_flock(p, value);
	else if (command == SETFL)
		put_open_flags(p->out, value);
	else if (command == SETFD)
		strace_put_flags(p->out, &strace_fd_flags, value);
	else if (command == DUPFD || command == DUPFD_CLOEXEC)
		put_count(p, value);
	else
		put_hexadecimal(p, value);
}

static void put_ioctl_command(struct strace_put *p, uint64_t value)
{
	static const char *const directions[] = {
	    "_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
	const char *name = strace_name(&strace_ioctl_commands, (uint32_t)value);

	if (name)
		fputs(name, p->out);
	else
		fprintf(p->out, "_IOC(%s, %#x, %#x, %#x)", directions[value >> 30 & 3],
		    (unsigned)(value >> 8 & 0xff), (unsigned)(value & 0xff),
		    (unsigned)(value >> 16 & 0x3fff));
}

static void put_ioctl_argument(struct strace_put *p, uint64_t value)
{
	switch ((uint32_t)p->call->arg[1]) {
	case 0x5401: /* TCGETS and those that set them */
	case 0x5402:
	case 0x5403:
	case 0x5404:
		strace_put_termios(p, value);
		break;
	case 0x5413:
	case 0x5414:
		strace_put_winsize(p, value);
		break;
	case 0x540f: /* TIOCGPGRP and its like, FIONREAD, FIONBIO */
	case 0x5410:
	case 0x5429:
	case 0x541b:
	case 0x5421:
		strace_put_int_at(p, value);
		break;
	case 0x5422: /* TIOCNOTTY, FIOCLEX, FIONCLEX have none */
	case 0x5450:
	case 0x5451:
		break;
	case 0x5409: /* TCSBRK, TIOCSCTTY */
	case 0x540e:
		put_integer(p, value);
		break;
	default:
		put_hexadecimal(p, value);
	}
}

/* Of a task: at most 15 characters. */
static void put_name(struct strace_put *p, const uint8_t *name, size_t length)
{
	strace_put_text(p->out, name, LEAST(length, 15U), length > 15);
}

static void put_prctl(struct strace_put *p, uint64_t value)
{
	size_t size;
	const uint8_t *name;

	switch (p->call->arg[0]) {
	case 1: /* PR_SET_PDEATHSIG */
		put_signal(p, value);
		break;
	case 15: /* PR_SET_NAME, PR_GET_NAME */
	case 16:
		name = strace_bytes(p, "", &size);
		if (name && !strace_failed(p->call))
			put_name(p, name, strnlen((const char *)name, size));
		else
			strace_put_address(p, value);
		break;
	case 3: /* these have none */
	case 7:
	case 21:
	case 30:
		break;
	case 4:
	case 8:
	case 36:
	case 38:
		put_offset(p, value);
		break;
	default:
		put_hexadecimal(p, value);
	}
}

/* Options that use them all are not told apart. */
static void put_prctl_more(struct strace_put *p, uint64_t value)
{
	uint64_t option = p->call->arg[0];

	if (option == 38 || option == 39 || option == 41 || option == 42 || option == 0x53564d41)
		put_hexadecimal(p, value);
}

static void put_clone(struct strace_put *p, uint64_t flags)
{
	const uint64_t *arg = p->call->arg;
	const char *name = strace_name(&strace_signals, flags & 0xff);

	fputs("child_stack=", p->out);
	strace_put_address(p, arg[1]);
	fputs(", flags=", p->out);
	if (flags & ~0xffULL)
		strace_put_flags(p->out, &strace_clone_flags, flags & 0xffffff00);
	if (flags & 0xff)
		fprintf(p->out, "%s%s", flags & ~0xffULL ? "|" : "", name ? name : "???");
	if (!(flags & 0xffffffff))
		putc('0', p->out);
	if (flags & 0x101000) { /* CLONE_PARENT_SETTID, CLONE_PIDFD */
		if (strace_failed(p->call))
			fprintf(p->out, ", parent_tid=%#" PRIx64, arg[2]);
		else
			fprintf(p->out, ", parent_tid=[%" PRId64 "]", p->call->result);
	}
	if (flags & 0x80000)
		fprintf(p->out, ", tls=%#" PRIx64, arg[4]);
	if (flags & 0x1200000) /* CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID */
		fprintf(p->out, ", child_tidptr=%#" PRIx64, arg[3]);
}

/* ---- texts ---- */

static const uint8_t *entered_text(const struct strace_put *p, size_t *size)
{
	const struct record *r = &p->call->enter;
	const struct field *f = NULL, *commons = NULL;
	char name[64];
	uint32_t loc;

	commons = r->event ? r->event->field + r->event->commons + 1 : NULL;
	if (!commons || r->event->commons + 1 + p->at >= r->event->fields)
		return NULL;
	snprintf(name, sizeof(name), "__%s_val", commons[p->at].name);
	f = event_field(r->event, name);
	if (!f || f->offset + sizeof(loc) > r->size)
		return NULL;
	memcpy(&loc, r->data + f->offset, sizeof(loc));
	*size = loc >> 16;
	return (loc & 0xffff) + *size <= r->size ? r->data + (loc & 0xffff) : NULL;
}

/* A text in the event ends with a NUL, and with dots if there was more of it. */
static void put_text(struct strace_put *p, uint64_t value, size_t most)
{
	size_t size = 0;
	const uint8_t *text = value ? entered_text(p, &size) : NULL;
	size_t n = text ? strnlen((const char *)text, size) : 0;
	bool unread = !n && strace_failed(p->call) && p->call->result == NO_MEMORY;

	if (!text || unread)
		strace_put_address(p, value);
	else
		strace_put_text(p->out, text, LEAST(n, most), n > most);
}

static void put_path(struct strace_put *p, uint64_t value)
{
	put_text(p, value, strtoul(STRACE_TEXT, NULL, 10));
}

static void put_short_text(struct strace_put *p, uint64_t value)
{
	put_text(p, value, STRACE_SHOWN);
}

static void put_some(struct strace_put *p, const uint8_t *text, size_t there, uint64_t length)
{
	uint64_t shown = LEAST(LEAST(length, (uint64_t)STRACE_SHOWN), (uint64_t)there);

	strace_put_text(p->out, text, shown, length > shown);
}

/* The bytes that write() takes. */
static void put_buffer(struct strace_put *p, uint64_t value)
{
	uint64_t length = p->call->arg[p->at + 1];
	size_t size = 0;
	const uint8_t *text = value ? entered_text(p, &size) : NULL;

	if (!text && value && p->call->result != NO_MEMORY)
		text = strace_bytes(p, "", &size);
	if (!text || (length && !size))
		strace_put_address(p, value);
	else
		put_some(p, text, size, length);
}

/* The bytes that the call filled; its result is their number. */
static void put_filled(struct strace_put *p, uint64_t value)
{
	size_t size;
	const uint8_t *text = strace_failed(p->call) ? NULL : strace_bytes(p, "", &size);

	if (text) /* a message that was cut has its whole length as the result */
		put_some(p, text, size, LEAST((uint64_t)p->call->result, p->call->arg[p->at + 1]));
	else
		strace_put_address(p, value);
}

static void put_filled_path(struct strace_put *p, uint64_t value)
{
	size_t size;
	const uint8_t *text = strace_failed(p->call) ? NULL : strace_bytes(p, "", &size);

	if (text)
		strace_put_text(p->out, text, size, false);
	else
		strace_put_address(p, value);
}

static void put_random(struct strace_put *p, uint64_t value)
{
	size_t size;
	const uint8_t *b = strace_failed(p->call) ? NULL : strace_bytes(p, "", &size);
	uint64_t n = b ? LEAST(LEAST((uint64_t)p->call->result, (uint64_t)size), 32U) : 0;

	if (!b) {
		strace_put_address(p, value);
		return;
	}
	putc('"', p->out);
	for (uint64_t i = 0; i < n; i++)
		fprintf(p->out, "\\x%02x", b[i]);
	fputs((uint64_t)p->call->result > n ? "\"..." : "\"", p->out);
}

/* A number that a probe recorded by that name; 0: none. */
static uint64_t probed_number(const struct record *r, const char *name)
{
	const struct field *f = r->data ? event_field(r->event, name) : NULL;
	struct value v = {.kind = VALUE_NONE};

	if (f)
		field_value(f, r->data, r->size, &v);
	return v.kind == VALUE_INT || v.kind == VALUE_UINT ? v.n : 0;
}

static void put_argv(struct strace_put *p, uint64_t value)
{
	uint64_t words = probed_number(&p->call->before, "argc");
	size_t size = 0, at = 0;
	const uint8_t *b = strace_bytes(p, "", &size);

	if (!b) {
		strace_put_address(p, value);
		return;
	}
	putc('[', p->out);
	for (uint64_t i = 0; i < words && at < size; i++) {
		size_t length = strnlen((const char *)b + at, size - at);
		fputs(i ? ", " : "", p->out);
		put_some(p, b + at, length, length);
		at += length + 1;
	}
	fputs(at > size ? ", ...]" : "]", p->out);
}

static void put_envp(struct strace_put *p, uint64_t value)
{
	uint64_t n = probed_number(&p->call->before, "envc");

	strace_put_address(p, value);
	if (p->call->before.data)
		fprintf(p->out, " /* %" PRIu64 " var%s */", n, n == 1 ? "" : "s");
}

static void put_frame_mask(struct strace_put *p, uint64_t value)
{
	size_t size;
	const uint8_t *b = strace_bytes(p, "", &size);

	(void)value;
	if (!b || size < sizeof(uint64_t))
		return;
	fputs("{mask=", p->out);
	strace_put_set(p->out, strace_word(b, 0));
	putc('}', p->out);
}

/* Filled only if a signal ended the sleep. */
static void put_remaining(struct strace_put *p, uint64_t value)
{
	struct strace_kind in = *p->kind;
	struct strace_put q = *p;

	in.is_out = false;
	q.kind = &in;
	if (p->call->result == -4 || p->call->result == -516)
		strace_put_timespec(&q, value);
	else
		strace_put_address(p, value);
}

/* Prints the number at an address before the call, and after it if the call changed it. */
static void put_changed(struct strace_put *p, uint64_t value, size_t width, const char *between)
{
	uint64_t numbers[2] = {0, 0};
	size_t size;
	const uint8_t *was = value ? strace_bytes(p, "", &size) : NULL;
	const uint8_t *is = was && size >= width ? strace_bytes(p, "_left", &size) : NULL;

	if (!is || size < width || (p->call->result == NO_MEMORY && !strace_half(was, 0))) {
		strace_put_address(p, value);
		return;
	}
	memcpy(&numbers[0], was, width);
	memcpy(&numbers[1], is, width);
	for (int i = 0; i < 2; i++) {
		if (i && (strace_failed(p->call) || numbers[0] == numbers[1]))
			break;
		fputs(i ? between : "[", p->out);
		if (width == 4)
			fprintf(p->out, "%d", (int32_t)numbers[i]);
		else
			fprintf(p->out, "%" PRIu64, numbers[i]);
	}
	putc(']', p->out);
}

/* An offset. */
static void put_moved(struct strace_put *p, uint64_t value)
{
	put_changed(p, value, 8, "] => [");
}

/* The length of an address of a socket. */
static void put_length(struct strace_put *p, uint64_t value)
{
	put_changed(p, value, 4, " => ");
}

/* The mask of pselect6() with its size. */
static void put_sized_mask(struct strace_put *p, uint64_t value)
{
	const uint8_t *b = strace_memory(p, value, 16), *set;
	size_t size;

	if (!b)
		return;
	fputs("{sigmask=", p->out);
	set = strace_word(b, 0) && strace_word(b, 1) == 8 ? strace_bytes(p, "_set", &size) : NULL;
	if (set && size >= sizeof(uint64_t))
		strace_put_set(p->out, strace_word(set, 0));
	else
		strace_put_address(p, strace_word(b, 0));
	fprintf(p->out, ", sigsetsize=%" PRIu64 "}", strace_word(b, 1));
}

/* Which pages are there. */
static void put_pages(struct strace_put *p, uint64_t value)
{
	uint64_t pages = (p->call->arg[1] + 4095) / 4096;
	const uint8_t *b = strace_memory(p, value, 32);

	if (!b)
		return;
	putc('[', p->out);
	for (uint64_t i = 0; i < LEAST(pages, 32U); i++)
		fprintf(p->out, "%s%u", i ? ", " : "", b[i] & 1);
	fputs(pages > 32 ? ", ...]" : "]", p->out);
}

/* ---- results ---- */

static void result_dec(struct strace_put *p)
{
	fprintf(p->out, "%" PRId64, p->call->result);
}

static void result_hex(struct strace_put *p)
{
	fprintf(p->out, "%#" PRIx64, (uint64_t)p->call->result);
}

static void result_octal(struct strace_put *p)
{
	fprintf(p->out, "%#03" PRIo64, (uint64_t)p->call->result);
}

static void result_none(struct strace_put *p)
{
	putc('?', p->out);
}

static void result_signal(struct strace_put *p)
{
	result_dec(p);
	fputs(" (", p->out);
	strace_put_value(p->out, &strace_signals, p->call->result);
	putc(')', p->out);
}

static void result_scheduler(struct strace_put *p)
{
	result_dec(p);
	fputs(" (", p->out);
	strace_put_value(p->out, &strace_schedulers, p->call->result);
	putc(')', p->out);
}

/* MEMBARRIER_CMD_QUERY returns the commands that there are. */
static void result_membarrier(struct strace_put *p)
{
	if (p->call->arg[0] || !p->call->result) {
		result_dec(p);
		return;
	}
	result_hex(p);
	fputs(" (", p->out);
	strace_put_flags(p->out, &strace_membarrier_commands, p->call->result);
	putc(')', p->out);
}

static void result_fcntl(struct strace_put *p)
{
	uint64_t command = p->call->arg[1];

	if (command != 1 && command != GETFL) {
		result_dec(p);
		return;
	}
	result_hex(p);
	if (command == 1 && !p->call->result)
		return;
	fputs(" (flags ", p->out);
	if (command == GETFL)
		put_open_flags(p->out, p->call->result);
	else
		strace_put_flags(p->out, &strace_fd_flags, p->call->result);
	putc(')', p->out);
}

/* The files of poll() that have events. */
static void result_polled(struct strace_put *p)
{
	struct strace_put q = *p;
	const char *between = " ([";
	const uint8_t *b;
	size_t size;

	result_dec(p);
	if (!p->call->result)
		fputs(" (Timeout)", p->out);
	q.at = 0;
	b = p->call->result ? strace_bytes(&q, "", &size) : NULL;
	for (uint64_t i = 0; b && i < LEAST(p->call->arg[1], size / 8); i++) {
		if (!(strace_half(b, 2 * i + 1) >> 16))
			continue;
		fprintf(p->out, "%s{fd=%d, revents=", between, (int32_t)strace_half(b, 2 * i));
		strace_put_flags(p->out, &strace_poll_events, strace_half(b, 2 * i + 1) >> 16);
		putc('}', p->out);
		between = ", ";
	}
	fputs(*between == ',' ? "])" : "", p->out);
}

/* The files in the three sets of select() that are ready. */
static void result_selected(struct strace_put *p)
{
	static const char *const names[] = {"in", "out", "except"};
	const char *between = " (";
	struct strace_put q = *p;

	result_dec(p);
	if (!p->call->result)
		fputs(" (Timeout)", p->out);
	for (unsigned i = 0; p->call->result && i < 3; i++) {
		size_t size, any = 0;
		q.at = 1 + i;
		const uint8_t *b = p->call->arg[q.at] ? strace_bytes(&q, "_left", &size) : NULL;
		for (size_t k = 0; b && k < size; k++)
			any += b[k] != 0;
		if (!any)
			continue;
		fprintf(p->out, "%s%s ", between, names[i]);
		strace_put_bits(p->out, b, LEAST(p->call->arg[0], 8 * size));
		between = ", ";
	}
	fputs(*between == ',' ? ")" : "", p->out);
}

/* ---- kinds ---- */

#define KIND(id, ...)		static const struct strace_kind id = {.put = __VA_ARGS__};
#define NAMED(id, table)	KIND(id, put_named, .names = &strace_##table)
#define FLAGS(id, table)	KIND(id, put_flags, .names = &strace_##table)
/* A structure of so many bytes: the call reads it, or fills it. */
#define IN(id, type, items)	KIND(id, strace_put_##type, .after = "#=+0(@):" items)
#define OUT(id, type, items)	KIND(id, strace_put_##type, .after = "#=+0(@):" items, .is_out = true)
/* A structure that the call changes: the probe reads it before. */
#define BEFORE(id, type, items) KIND(id, strace_put_##type, .before = "#=+0(@):" items)

KIND(fd, put_integer)
KIND(integer, put_integer)
KIND(count, put_count)
KIND(size, put_size)
KIND(offset, put_offset)
KIND(hexadecimal, put_hexadecimal)
KIND(address, strace_put_address)
KIND(directory, put_directory)
KIND(id, put_id)
KIND(mode, put_mode)
KIND(file_mode, put_file_mode)
KIND(device, put_device)
KIND(path, put_path)
KIND(buffer, put_buffer)
KIND(sent, put_buffer, .after = "#=+0(@):x8[32]")
KIND(filled, put_filled, .after = "#=+0(@):x8[32]", .is_out = true)
KIND(filled_path, put_filled_path, .after = "#=+0(@):string", .is_out = true)
KIND(random_bytes, put_random, .after = "#=+0(@):x8[32]", .is_out = true)
KIND(open_flags, put_open)
KIND(open_mode, put_open_mode)
KIND(map_flags, put_map_flags)
KIND(mremap_to, put_mremap_to)
KIND(socket_type, put_socket_type)
KIND(signal_number, put_signal)
KIND(futex_operation, strace_put_futex_operation)
KIND(futex_value, strace_put_futex_value)
KIND(futex_timeout, strace_put_futex_timeout, .before = "#=+0(@):x64[2]")
KIND(futex_second, strace_put_futex_second)
KIND(futex_third, strace_put_futex_third)
KIND(fcntl_argument, put_fcntl, .after = "#=+0(@):x64[4]")
KIND(ioctl_command, put_ioctl_command)
KIND(ioctl_argument, put_ioctl_argument, .after = "#=+0(@):x64[5]", .is_out = true)
KIND(prctl_argument, put_prctl, .after = "#=+0(@):x64[2]", .is_out = true)
KIND(prctl_more, put_prctl_more)
KIND(clone_all, put_clone)
KIND(remaining, put_remaining, .after = "#=+0(@):x64[2]", .is_out = true)
KIND(frame_mask, put_frame_mask, .before = "#=+296(+152($arg1)):x64")
KIND(argv, put_argv)
KIND(envp, put_envp)

NAMED(whence, whences)
NAMED(advice, advices)
NAMED(mask_how, sigprocmask_hows)
NAMED(itimer, itimers)
NAMED(address_family, address_families)
NAMED(shutdown_how, shutdown_hows)
NAMED(socket_level, socket_levels)
NAMED(socket_option, socket_options)
NAMED(fcntl_command, fcntl_commands)
NAMED(resource, resources)
NAMED(rusage_who, rusage_whos)
NAMED(priority_which, priority_whiches)
NAMED(scheduler, schedulers)
NAMED(prctl_option, prctl_options)
NAMED(arch_code, arch_codes)
NAMED(fadvice, fadvices)
NAMED(clock, clocks)
NAMED(epoll_op, epoll_ops)
NAMED(wait_id, wait_ids)
NAMED(membarrier_command, membarrier_commands)
FLAGS(membarrier_flags, membarrier_flags)
KIND(membarrier_cpu, put_membarrier_cpu)

FLAGS(protection, protections)
FLAGS(access_mode, access_modes)
FLAGS(mremap_flags, mremap_flags)
FLAGS(msync_flags, msync_flags)
FLAGS(message_flags, message_flags)
FLAGS(wait_options, wait_options)
FLAGS(flock_operation, flock_operations)
FLAGS(mlockall_flags, mlockall_flags)
FLAGS(timer_flags, timer_flags)
FLAGS(at_flags, at_flags)
FLAGS(splice_flags, splice_flags)
FLAGS(timerfd_flags, timerfd_flags)
FLAGS(signalfd_flags, signalfd_flags)
FLAGS(fallocate_mode, fallocate_modes)
FLAGS(socket_flags, socket_flags)
FLAGS(eventfd_flags, eventfd_flags)
FLAGS(epoll_flags, epoll_flags)
FLAGS(close_on_exec_flags, close_on_exec_flags)
FLAGS(rename_flags, rename_flags)
FLAGS(getrandom_flags, getrandom_flags)
FLAGS(memfd_flags, memfd_flags)
FLAGS(statx_mask, statx_masks)
FLAGS(close_range_flags, close_range_flags)

KIND(statx_flags, put_statx_flags)
KIND(short_text, put_short_text)
KIND(moved, put_moved, .before = "#=+0(@):x64", .after = "#_left=+0(@):x64", .is_out = true)
KIND(length_out, put_length, .before = "#=+0(@):x32", .after = "#_left=+0(@):x32", .is_out = true)
KIND(sized_mask, put_sized_mask, .after = "#=+0(@):x64[2] #_set=+0(+0(@)):x64")
KIND(pages_out, put_pages, .after = "#=+0(@):x8[32]", .is_out = true)
FLAGS(timerfd_settings, timerfd_settings)
IN(sigevent_in, sigevent, "x64[8]")

IN(int_in, int_at, "x32")
OUT(int_out, int_at, "x32")
OUT(id_out, id_at, "x32")
OUT(long_out, long_at, "x64")
OUT(pair_out, pair, "x32[2]")
IN(groups_in, groups, "x32[32]")
OUT(groups_out, groups, "x32[32]")
OUT(status_out, wait_status, "x32")
IN(timespec_in, timespec, "x64[2]")
OUT(timespec_out, timespec, "x64[2]")
BEFORE(long_before, long_at, "x64")
BEFORE(timespec_before, timespec, "x64[2]")
OUT(timeval_out, timeval, "x64[2]")
BEFORE(timeval_before, timeval, "x64[2]")
IN(timespecs_in, timespecs, "x64[4]")
IN(itimerval_in, itimerval, "x64[4]")
OUT(itimerval_out, itimerval, "x64[4]")
IN(itimerspec_in, itimerspec, "x64[4]")
OUT(itimerspec_out, itimerspec, "x64[4]")
OUT(tms_out, tms, "x64[4]")
OUT(rusage_out, rusage, "x64[4]")
OUT(stat_out, stat, "x64[18]")
OUT(statx_out, statx, "x64[32]")
OUT(statfs_out, statfs, "x64[15]")
BEFORE(rlimit_in, rlimit, "x64[2]")
OUT(rlimit_out, rlimit, "x64[2]")
BEFORE(sched_attr_in, sched_attr, "x64[7]")
OUT(sched_attr_out, sched_attr, "x64[7]")
OUT(utsname_out, utsname, "x64[49]")
OUT(sysinfo_out, sysinfo, "x64[14]")
IN(cpu_set_in, cpu_set, "x64[16]")
OUT(cpu_set_out, cpu_set, "x64[16]")
BEFORE(clone_args, clone_args, "x64[11]")
IN(set_in, signal_set, "x64")
OUT(set_out, signal_set, "x64")
IN(sigaction_in, sigaction, "x64[4]")
OUT(sigaction_out, sigaction, "x64[4]")
IN(stack_in, stack, "x64[3]")
OUT(stack_out, stack, "x64[3]")
IN(siginfo_in, siginfo, "x64[16]")
OUT(siginfo_out, siginfo, "x64[16]")
IN(pollfds, pollfds, "x64[16]")
IN(epoll_event_in, epoll_event, "x32[3]")
OUT(epoll_events_out, epoll_events, "x32[48]")
IN(sockaddr_in, sockaddr, "x64[14]")
OUT(sockaddr_out, sockaddr, "x64[14]")
OUT(dirents_out, dirents,
    "x64[64] #_more1=+512(@):x64[64] #_more2=+1024(@):x64[64] #_more3=+1536(@):x64[64]")
KIND(file_set, strace_put_fd_set, .before = "#=+0(@):x64[16]", .after = "#_left=+0(@):x64[16]")

#define VECTOR(at)	" #_" #at "=+0(+" VECTOR_BASE(at) "(@)):x8[32]"
#define VECTOR_BASE(at) VECTOR_BASE_##at
#define VECTOR_BASE_0	"0"
#define VECTOR_BASE_1	"16"
#define VECTOR_BASE_2	"32"
#define VECTOR_BASE_3	"48"
#define VECTOR_BASE_4	"64"
#define VECTOR_BASE_5	"80"
#define VECTOR_BASE_6	"96"
#define VECTOR_BASE_7	"112"
#define VECTORS                                                                                    \
	"x64[16]" VECTOR(0) VECTOR(1) VECTOR(2) VECTOR(3) VECTOR(4) VECTOR(5) VECTOR(6) VECTOR(7)
IN(vectors_in, iovecs, VECTORS)
OUT(vectors_out, iovecs, VECTORS)
#define MESSAGE                                                                                    \
	"x64[7] #_name=+0(+0(@)):x64[14] #_iov=+0(+16(@)):x64[8] #_control=+0(+32(@)):x64[7] "     \
	"#_0=+0(+0(+16(@))):x8[32] #_1=+0(+16(+16(@))):x8[32]"
IN(message_in, message, MESSAGE)
OUT(message_out, message, MESSAGE)

/* ---- calls ---- */

static const struct strace_row rows[STRACE_CALLS] = {
#define CALL(nr, name_, way, ...)                                                                  \
	[nr] = {.name = name_, .result = result_##way, .arg = {__VA_ARGS__}},
#include "tools/trapline/strace/calls.def"
};

const struct strace_row *strace_row(uint32_t nr)
{
	static struct strace_row named[STRACE_CALLS];

	if (nr >= STRACE_CALLS)
		return NULL;
	if (rows[nr].name)
		return &rows[nr];
	named[nr].name = kernel_names[nr] ? kernel_names[nr] : missing_names[nr];
	return named[nr].name ? &named[nr] : NULL;
}

bool strace_never_returns(const struct strace_call *c)
{
	return c->row->result == result_none;
}

/* ---- probes ---- */

/* Ends of tasks, and what signal_deliver does not report of a signal. */
static const char *const other_probes[] = {
    "p:" STRACE_SYSTEM "/end do_exit code=code",
    "p:" STRACE_SYSTEM "/signal_sent signal_send_info target=t->pid sig=sig code=info->code "
    "pid=info->pid status=info->status address=info->value",
    "p:" STRACE_SYSTEM "/signal_forced signal_force sig=sig code=code address=addr",
    /* the kernel's copy of the words, one after another: those of argv, then those of envp */
    "p:" STRACE_SYSTEM "/before_execve bprm_execve argc=bprm->args->argc envc=bprm->args->envc "
    "a1=+0(bprm->args->strings):x64[64] a1_more1=+512(bprm->args->strings):x64[64] "
    "a1_more2=+1024(bprm->args->strings):x64[64] a1_more3=+1536(bprm->args->strings):x64[64]",
};

/* Where the registers of a program have the arguments of its call. */
static const char *const places[STRACE_ARGUMENTS] = {
    "+112($arg1)", "+104($arg1)", "+96($arg1)", "+56($arg1)", "+72($arg1)", "+64($arg1)"};

static void put_fetch(FILE *out, unsigned at, const char *fetch)
{
	putc(' ', out);
	for (; *fetch; fetch++) {
		if (*fetch == '#')
			fprintf(out, "a%u", at);
		else if (*fetch == '@')
			fputs(places[at], out);
		else
			putc(*fetch, out);
	}
}

/* A definition, or NULL if there is nothing to record. */
static char *make_probe(uint32_t nr, bool before)
{
	const struct strace_row *row = &rows[nr];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool any = false;

	if (!out)
		die(EXIT_TROUBLE, "out of memory");
	fprintf(out, "%s:" STRACE_SYSTEM "/%s%s __x64_sys_%s", before ? "p" : "r",
	    before ? "before_" : "", kernel_names[nr], kernel_names[nr]);
	for (unsigned i = 0; i < STRACE_ARGUMENTS && row->arg[i]; i++) {
		const char *fetch = before ? row->arg[i]->before : row->arg[i]->after;
		if (fetch)
			put_fetch(out, i, fetch);
		any |= fetch != NULL;
	}
	fclose(out);
	if (any)
		return text;
	free(text);
	return NULL;
}

const char *const *strace_probes(void)
{
	enum { OTHERS = sizeof(other_probes) / sizeof(other_probes[0]) };
	static const char *probes[2 * STRACE_CALLS + OTHERS + 1];
	size_t n = OTHERS;

	if (probes[0])
		return probes;
	memcpy(probes, other_probes, sizeof(other_probes));
	for (uint32_t nr = 0; nr < STRACE_CALLS; nr++) {
		for (int before = 0; rows[nr].name && kernel_names[nr] && before < 2; before++) {
			probes[n] = make_probe(nr, before);
			n += probes[n] != NULL;
		}
	}
	return probes;
}

int strace_probed(const char *event, bool *before)
{
	static const char prefix[] = "before_";

	*before = !strncmp(event, prefix, strlen(prefix));
	event += *before ? strlen(prefix) : 0;
	for (int nr = 0; nr < STRACE_CALLS; nr++)
		if (kernel_names[nr] && !strcmp(kernel_names[nr], event))
			return nr;
	return -1;
}
