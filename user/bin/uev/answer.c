/* The requests of uev, and its state from one request to the next. */
#include "user/bin/uev/uev.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HANDLES 64
#define EVENTS	4096

static struct {
	char name[32];
	int fd; /* -1: closed */
} handles[HANDLES];
static struct uev_event events[EVENTS];
static int handle_count, event_count;

static char out[TEXT_MAX];
static size_t out_len;

/* ---- the answer ---- */

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	out_len += vsnprintf(out + out_len, sizeof(out) - out_len, fmt, ap);
	va_end(ap);
	if (out_len >= sizeof(out))
		out_len = sizeof(out) - 1;
}

int say_failed(const char *what)
{
	say("%s = -1 %s\n", what, errno_name(errno));
	return FAILED;
}

int say_result(const char *what, long r)
{
	if (r < 0)
		return say_failed(what);
	say("%s = %ld\n", what, r);
	return DONE;
}

/* ---- handles and events ---- */

static int handle_find(const char *name)
{
	for (int i = 0; i < handle_count; i++)
		if (!strcmp(handles[i].name, name))
			return i;
	return -1;
}

int handle_fd(const char *name)
{
	int i = handle_find(name);

	return i < 0 ? -1 : handles[i].fd;
}

bool handle_set(const char *name, int fd)
{
	int i = handle_find(name);

	if (i < 0) {
		if (handle_count == HANDLES)
			return false;
		i = handle_count++;
	}
	snprintf(handles[i].name, sizeof(handles[i].name), "%s", name);
	handles[i].fd = fd;
	return true;
}

static struct uev_event *find(const char *name)
{
	for (int i = 0; i < event_count; i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

const struct uev_event *event_find(const char *name)
{
	return find(name);
}

void event_remember(const char *name, const struct user_reg *reg)
{
	struct uev_event *ev = find(name);

	if (!ev) {
		if (event_count == EVENTS)
			return;
		ev = &events[event_count++];
	}
	snprintf(ev->name, sizeof(ev->name), "%s", name);
	ev->bit = reg->status_bit;
	ev->index = reg->write_index;
}

/* ---- requests ---- */

static const struct {
	const char *name;
	bool handle;
	int least, most; /* words after the handle */
	request_fn *fn;
} requests[] = {
    {"open", false, 1, 1, req_open},
    {"openro", false, 1, 1, req_openro},
    {"openwr", false, 1, 1, req_openwr},
    {"close", true, 0, 0, req_close},
    {"reg", true, 2, 2, req_reg},
    {"regsize", true, 2, 2, req_regsize},
    {"regtail", true, 2, 2, req_regtail},
    {"regbig", true, 1, 1, req_regbig},
    {"regbadptr", true, 0, 0, req_regbadptr},
    {"regbadname", true, 0, 0, req_regbadname},
    {"del", true, 1, 1, req_del},
    {"delbadptr", true, 0, 0, req_delbadptr},
    {"ioctl", true, 1, 1, req_ioctl},
    {"write", true, 1, WORDS_MAX, req_write},
    {"writev", true, 1, WORDS_MAX, req_writev},
    {"writeidx", true, 1, WORDS_MAX, req_writeidx},
    {"rawwrite", true, 0, WORDS_MAX, req_rawwrite},
    {"pwrite", true, 2, WORDS_MAX, req_pwrite},
    {"writebad", true, 2, 2, req_writebad},
    {"read", true, 1, 1, req_read},
    {"smap", false, 0, 1, req_smap},
    {"smaprw", false, 0, 1, req_smaprw},
    {"sopen", false, 0, 0, req_sopen},
    {"bit", false, 1, 1, req_bit},
    {"page", false, 1, 1, req_page},
    {"pid", false, 0, 0, req_pid},
};

static int do_request(int n, char **words)
{
	int fd = n > 1 ? handle_fd(words[1]) : -1;

	for (size_t i = 0; n && i < sizeof(requests) / sizeof(*requests); i++) {
		int skip = 1 + requests[i].handle;

		if (strcmp(requests[i].name, words[0]))
			continue;
		if (n - skip < requests[i].least || n - skip > requests[i].most)
			break;
		if (requests[i].handle && fd < 0)
			break;
		return requests[i].fn(fd, n - skip, words + skip);
	}
	say(fd < 0 ? "uev: no such handle or request\n" : "uev: bad request\n");
	return NO_REQUEST;
}

int answer(int n, char **words, const char **text, size_t *len)
{
	out_len = 0;
	int status = do_request(n, words);
	*text = out;
	*len = out_len;
	return status;
}
