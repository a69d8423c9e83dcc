/*
 * The requests of uev that are calls with a file: registering, deleting, writing, and what is wrong
 * with each.
 */
#include "user/bin/uev/uev.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define VECTORS 16

static unsigned char data[2 * TEXT_MAX];

static int do_register(int fd, const char *name, struct user_reg *reg)
{
	int r = ioctl(fd, DIAG_IOCSREG, reg);

	if (r < 0)
		return say_failed("reg");
	say("reg = %d status_bit=%u write_index=%u\n", r, (unsigned)reg->status_bit,
	    (unsigned)reg->write_index);
	if (name)
		event_remember(name, reg);
	return DONE;
}

/* A struct with as many zeros after it as a size may ask for. */
static struct {
	struct user_reg reg;
	unsigned char tail[PAGE];
} longer;

static struct user_reg *new_reg(const char *definition)
{
	memset(&longer, 0, sizeof(longer));
	longer.reg.size = sizeof(longer.reg);
	longer.reg.name_args = (uintptr_t)definition;
	return &longer.reg;
}

int req_reg(int fd, int n, char **words)
{
	(void)n;
	return do_register(fd, words[0], new_reg(words[1]));
}

int req_regsize(int fd, int n, char **words)
{
	struct user_reg *reg = new_reg(words[1]);

	(void)n;
	reg->size = number(words[0]);
	return do_register(fd, NULL, reg);
}

int req_regtail(int fd, int n, char **words)
{
	struct user_reg *reg = new_reg(words[1]);

	(void)n;
	reg->size += 8;
	memset(longer.tail, number(words[0]), 8);
	return do_register(fd, NULL, reg);
}

int req_regbig(int fd, int n, char **words)
{
	static const char end[] = "u32 a";
	size_t size = number(words[0]), at = size - strlen(end);

	(void)n;
	if (size < 16 || size >= sizeof(data))
		return NO_REQUEST;
	memset(data, ' ', size);
	memcpy(data, "big", 3);
	memcpy(data + at, end, sizeof(end));
	return do_register(fd, NULL, new_reg((char *)data));
}

int req_regbadptr(int fd, int n, char **words)
{
	(void)n, (void)words;
	return say_result("reg", ioctl(fd, DIAG_IOCSREG, (void *)NOWHERE));
}

int req_regbadname(int fd, int n, char **words)
{
	(void)n, (void)words;
	return do_register(fd, NULL, new_reg((char *)NOWHERE));
}

int req_del(int fd, int n, char **words)
{
	(void)n;
	return say_result("del", ioctl(fd, DIAG_IOCSDEL, words[0]));
}

int req_delbadptr(int fd, int n, char **words)
{
	(void)n, (void)words;
	return say_result("del", ioctl(fd, DIAG_IOCSDEL, (void *)NOWHERE));
}

int req_ioctl(int fd, int n, char **words)
{
	(void)n;
	return say_result("ioctl", ioctl(fd, '*' << 8 | (number(words[0]) & 0xff), 0));
}

int req_read(int fd, int n, char **words)
{
	(void)n;
	return say_result("read", read(fd, data, number(words[0])));
}

static int write_items(int fd, uint32_t index, int n, char **items)
{
	int size = put_items(data + sizeof(index), n, items);

	memcpy(data, &index, sizeof(index));
	return size < 0 ? NO_REQUEST : say_result("write", write(fd, data, size + sizeof(index)));
}

int req_write(int fd, int n, char **words)
{
	const struct uev_event *ev = event_find(words[0]);

	return ev ? write_items(fd, ev->index, n - 1, words + 1) : NO_REQUEST;
}

int req_writeidx(int fd, int n, char **words)
{
	return write_items(fd, number(words[0]), n - 1, words + 1);
}

int req_rawwrite(int fd, int n, char **words)
{
	int size = put_items(data, n, words);

	return size < 0 ? NO_REQUEST : say_result("write", write(fd, data, size));
}

int req_pwrite(int fd, int n, char **words)
{
	const struct uev_event *ev = event_find(words[1]);
	int size = put_items(data + 4, n - 2, words + 2);

	if (!ev || size < 0)
		return NO_REQUEST;
	memcpy(data, &ev->index, 4);
	return say_result("pwrite", pwrite(fd, data, size + 4, number(words[0])));
}

/* The index at the end of a page after which there is none. */
int req_writebad(int fd, int n, char **words)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct uev_event *ev = event_find(words[0]);
	int r;

	(void)n;
	if (!ev || p == MAP_FAILED)
		return NO_REQUEST;
	munmap(p + PAGE, PAGE);
	memcpy(p + PAGE - 4, &ev->index, 4);
	r = say_result("write", write(fd, p + PAGE - 4, 4 + number(words[1])));
	munmap(p, PAGE);
	return r;
}

int req_writev(int fd, int n, char **words)
{
	const struct uev_event *ev = event_find(words[0]);
	struct iovec vec[VECTORS];
	int count = 1, from = 1, used = 4;

	if (!ev)
		return NO_REQUEST;
	memcpy(data, &ev->index, 4);
	vec[0] = (struct iovec){data, 4};
	for (int w = 1; w <= n && count < VECTORS; w++) {
		if (w < n && strcmp(words[w], "/"))
			continue;
		int size = put_items(data + used, w - from, words + from);
		if (size < 0)
			return NO_REQUEST;
		vec[count++] = (struct iovec){data + used, size};
		used += size;
		from = w + 1;
	}
	return say_result("writev", writev(fd, vec, count));
}

int req_close(int fd, int n, char **words)
{
	(void)n;
	handle_set(words[-1], -1);
	return say_result("close", close(fd));
}
