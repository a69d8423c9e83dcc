/* Sets of files of which some wake nobody: those are asked each time. */
#include "kernel/fs/epoll.h"
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/ktap.h"

static struct file *open_file(const char *path, u32 flags)
{
	struct file *f = NULL;

	EXPECT_EQ(file_open(path, flags, 0, &f), 0);
	return f;
}

struct one_event {
	struct epoll_sink sink;
	struct epoll_event got;
};

static bool keep(struct epoll_sink *sink, unsigned n __maybe_unused, const struct epoll_event *e)
{
	container_of(sink, struct one_event, sink)->got = *e;
	return true;
}

/* trace_pipe becomes ready with the next event, and is so until that is read. */
static void asks(void)
{
	struct file *ep = epoll_create(),
		    *in = open_file("/sys/kernel/tracing/trace_pipe", O_RDONLY | O_NONBLOCK),
		    *out = open_file("/sys/kernel/tracing/trace_marker", O_WRONLY);
	struct epoll_event e = {1, 7};
	struct one_event to = {.sink = {keep}};
	char text[256];

	while (kernel_read(in, text, sizeof(text)) > 0)
		;
	EXPECT_EQ(epoll_control(ep, EPOLL_ADD, 3, in, &e), 0);
	for (unsigned round = 0; round < 2; round++) {
		EXPECT_EQ(epoll_wait(ep, &to.sink, 1, 0), 0);
		EXPECT(kernel_write(out, "mark\n", 5) == 5);
		EXPECT_EQ(epoll_wait(ep, &to.sink, 1, 0), 1);
		EXPECT_EQ(to.got.data, 7);
		EXPECT_EQ(epoll_wait(ep, &to.sink, 1, 0), 1);
		while (kernel_read(in, text, sizeof(text)) > 0)
			;
	}
	EXPECT_EQ(epoll_control(ep, EPOLL_DEL, 3, in, &e), 0);
	EXPECT(kernel_write(out, "mark\n", 5) == 5);
	EXPECT_EQ(epoll_wait(ep, &to.sink, 1, 0), 0);
	file_put(ep);
	file_put(in);
	file_put(out);
}

static const struct ktap_case cases[] = {
    {"epoll.asks", asks},
    {NULL, NULL},
};
const struct ktap_suite suite_epoll = {cases};
