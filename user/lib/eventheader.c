/*
 * Registering tracepoints of EventHeader providers, and writing their events. A tracepoint is
 * registered and unregistered by one thread at a time; any number may write meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel/abi/user_events.h"
#include "user/eventheader.h"

#define RECORD_MAX 4096 /* bytes of an event, its index in front */

/* ---- names ---- */

/*
 * The end of the option at p: an upper-case letter, then digits and lower-case letters. NULL: it is
 * none.
 */
static const char *skip_option(const char *p)
{
	if (*p < 'A' || *p > 'Z')
		return NULL;
	for (p++; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z'); p++)
		;
	return p;
}

/* Are they options, each after the one before it in the alphabet? */
static bool are_options(const char *p)
{
	const char *before = "", *end;
	size_t len = 0, n;

	for (; *p; before = p, len = n, p = end) {
		end = skip_option(p);
		if (!end)
			return false;
		n = end - p;
		int order = memcmp(before, p, len < n ? len : n);
		if (order > 0 || (order == 0 && len >= n))
			return false;
	}
	return true;
}

int eh_tracepoint_name(const struct eh_tracepoint *tp, char name[EVENTHEADER_NAME_MAX])
{
	const struct eh_provider *p = tp->provider;
	int n;

	if (!*p->name || strpbrk(p->name, " :") || !tp->level || !are_options(p->options))
		return EINVAL;
	n = snprintf(name, EVENTHEADER_NAME_MAX, "%s_L%xK%llx%s", p->name, tp->level,
	    (unsigned long long)tp->keyword, p->options);
	return n < EVENTHEADER_NAME_MAX ? 0 : ENAMETOOLONG;
}

/* ---- registering ---- */

static int open_data(void)
{
	int fd = open("/sys/kernel/tracing/user_events_data", O_RDWR);

	return fd < 0 ? open("/sys/kernel/debug/tracing/user_events_data", O_RDWR) : fd;
}

static int tell_kernel(struct eh_tracepoint *tp, const char *command)
{
	struct user_reg_word reg = {.size = sizeof(reg),
	    .enable_size = sizeof(tp->enabled),
	    .enable_addr = (uintptr_t)&tp->enabled,
	    .name_args = (uintptr_t)command};

	if (ioctl(tp->provider->fd, DIAG_IOCSREG, &reg) < 0)
		return errno;
	tp->write_index = reg.write_index;
	tp->registered = true;
	return 0;
}

static void leave_provider(struct eh_provider *p)
{
	if (p->users || p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
}

int eh_register(struct eh_tracepoint *tp)
{
	char command[EVENTHEADER_NAME_MAX + sizeof(EVENTHEADER_FIELDS)];
	int before = errno, err = tp->registered ? EALREADY : eh_tracepoint_name(tp, command);

	if (err)
		return err;
	strcat(strcat(command, " "), EVENTHEADER_FIELDS);
	if (tp->provider->fd < 0)
		tp->provider->fd = open_data();
	err = tp->provider->fd < 0 ? errno : tell_kernel(tp, command);
	if (!err)
		tp->provider->users++;
	leave_provider(tp->provider);
	errno = before;
	return err;
}

void eh_unregister(struct eh_tracepoint *tp)
{
	struct user_unreg unreg = {.size = sizeof(unreg), .disable_addr = (uintptr_t)&tp->enabled};
	int before = errno;

	if (!tp->registered)
		return;
	ioctl(tp->provider->fd, DIAG_IOCSUNREG, &unreg);
	tp->enabled = 0;
	tp->registered = false;
	tp->provider->users--;
	leave_provider(tp->provider);
	errno = before;
}

/* ---- writing ---- */

/* What precedes the metadata. */
struct front {
	uint32_t write_index;
	struct eventheader header;
	struct eventheader_extension extension; /* if there is an activity, and what is after it */
	uint8_t activity[16], related[16];
} __attribute__((packed));

static size_t make_front(
    struct front *f, const struct eh_tracepoint *tp, const struct eh_attributes *a)
{
	f->write_index = tp->write_index;
	f->header = (struct eventheader){
	    EVENTHEADER_FLAGS, a->version, a->id, a->tag, a->opcode, tp->level};
	if (!a->activity)
		return offsetof(struct front, extension);
	f->extension.size = a->related ? 32 : 16;
	f->extension.kind = EVENTHEADER_KIND_ACTIVITY | EVENTHEADER_CHAIN;
	memcpy(f->activity, a->activity, 16);
	if (a->related)
		memcpy(f->related, a->related, 16);
	return offsetof(struct front, activity) + f->extension.size;
}

/*
 * memcpy() where most are numbers: up to 16 bytes by two moves, which overlap if it is no power of
 * 2.
 */
static inline void copy(char *to, const char *from, size_t n)
{
	if (n > 16) {
		memcpy(to, from, n);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else {
		while (n--)
			to[n] = from[n];
	}
}

/* Puts n bytes at *at; false: the record is full. */
static inline bool put(char *record, size_t *at, const void *p, size_t n)
{
	if (n > RECORD_MAX - *at)
		return false;
	copy(record + *at, p, n);
	*at += n;
	return true;
}

static bool put_part(char *record, size_t *at, const struct eh_part *part)
{
	uint16_t count = part->count;

	if (part->counted && (count != part->count || !put(record, at, &count, sizeof(count))))
		return false;
	return put(record, at, part->data, part->size);
}

struct eh_part eh_zstring(const void *s, unsigned unit)
{
	static const uint32_t nul;
	const char *p = s ? s : &nul;
	size_t n = 0;

	if (unit == 1)
		n = strlen(p);
	else
		while (memcmp(p + n, &nul, unit))
			n += unit;
	return (struct eh_part){p, n + unit, 0, false};
}

/*
 * One write of one piece: that is cheaper for the kernel than many small ones are to be put
 * together there.
 */
int eh_emit(const struct eh_tracepoint *tp, const struct eh_attributes *attributes,
    const void *meta, size_t meta_size, const struct eh_part *parts, unsigned n)
{
	char record[RECORD_MAX];
	struct front front;
	size_t at = 0, front_size = make_front(&front, tp, attributes);
	int before = errno, err = 0;

	if (!put(record, &at, &front, front_size) || !put(record, &at, meta, meta_size))
		return E2BIG;
	for (unsigned i = 0; i < n; i++)
		if (!put_part(record, &at, &parts[i]))
			return E2BIG;
	if (write(tp->provider->fd, record, at) < 0 && errno != EBADF)
		err = errno; /* EBADF: nobody listens any more */
	errno = before;
	return err;
}
