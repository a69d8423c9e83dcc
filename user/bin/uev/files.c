/* The requests of uev that name no open file: opening them, the page of bits. */
#include "user/bin/uev/uev.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char *status_page;

static int open_handle(const char *name, int flags)
{
	int fd = open(TRACING "user_events_data", flags);

	if (fd < 0)
		return say_failed("open");
	if (!handle_set(name, fd)) {
		close(fd);
		return NO_REQUEST;
	}
	say("open = ok\n");
	return DONE;
}

int req_open(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_RDWR);
}

int req_openro(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_RDONLY);
}

int req_openwr(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_WRONLY);
}

static int map_status(size_t len, int prot)
{
	int fd = open(TRACING "user_events_status", O_RDWR);
	void *p;

	if (fd < 0)
		return say_failed("sopen");
	p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return say_failed("mmap");
	status_page = p;
	say("mmap = ok\n");
	return DONE;
}

int req_smap(int fd, int n, char **words)
{
	(void)fd;
	return map_status(n ? number(words[0]) : PAGE, PROT_READ);
}

int req_smaprw(int fd, int n, char **words)
{
	(void)fd;
	return map_status(n ? number(words[0]) : PAGE, PROT_READ | PROT_WRITE);
}

int req_sopen(int fd, int n, char **words)
{
	(void)fd, (void)n, (void)words;
	if (open(TRACING "user_events_status", O_RDWR) < 0)
		return say_failed("sopen");
	say("sopen = ok\n");
	return DONE;
}

int req_bit(int fd, int n, char **words)
{
	const struct uev_event *ev = event_find(words[0]);

	(void)fd, (void)n;
	if (!ev || !status_page)
		return NO_REQUEST;
	say("bit %u = %d\n", (unsigned)ev->bit, status_page[ev->bit / 8] >> ev->bit % 8 & 1);
	return DONE;
}

int req_page(int fd, int n, char **words)
{
	int count = number(words[0]);

	(void)fd, (void)n;
	for (int i = 0; i < count && status_page; i++)
		say("%02x%c", status_page[i], i == count - 1 ? '\n' : ' ');
	return DONE;
}

int req_pid(int fd, int n, char **words)
{
	(void)fd, (void)n, (void)words;
	say("%d\n", (int)getpid());
	return DONE;
}
