/* Pipes: order, atomic writes, ends that close, O_NONBLOCK, and waiting for the other side. */
#include "kernel/fs/file.h"
#include "kernel/fs/pipe.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/group.h"
#include "kernel/task/timer.h"

#define CAPACITY 65536

static u8 *pattern(size_t n)
{
	u8 *p = kmalloc(n);

	for (size_t i = 0; i < n; i++)
		p[i] = i ^ (i >> 8) * 3;
	return p;
}

static void capacity(void)
{
	u8 *data = pattern(CAPACITY + 1), *back = kzalloc(CAPACITY);
	struct file *rd, *wr;
	struct vstat st;

	EXPECT_EQ(pipe_create(&rd, &wr, O_NONBLOCK), 0);
	EXPECT_EQ(kernel_read(rd, back, 1), -EAGAIN);
	EXPECT_EQ(kernel_read(rd, back, 0), 0);
	EXPECT_EQ(kernel_write(wr, data, 0), 0);
	EXPECT_EQ(rd->ops->poll(rd), 0);
	EXPECT_EQ(wr->ops->poll(wr), 4);
	/* a large write takes what fits, an atomic one everything or nothing */
	EXPECT_EQ(kernel_write(wr, data, CAPACITY + 1), CAPACITY);
	EXPECT_EQ(kernel_write(wr, data, 1), -EAGAIN);
	EXPECT_EQ(wr->ops->poll(wr), 0);
	EXPECT_EQ(rd->ops->poll(rd), 1);
	EXPECT_EQ(kernel_read(rd, back, 4095), 4095);
	EXPECT_EQ(kernel_write(wr, data, 4096), -EAGAIN);
	EXPECT_EQ(kernel_write(wr, data + CAPACITY, 1), 1);
	EXPECT_EQ(kernel_write(wr, data, 4097), 4094);
	EXPECT_EQ(kernel_read(rd, back + 4095, CAPACITY - 4095), CAPACITY - 4095);
	EXPECT(memcmp(data, back, CAPACITY) == 0);
	EXPECT_EQ(kernel_read(rd, back, 1), 1);
	EXPECT_EQ(back[0], data[CAPACITY]);
	EXPECT_EQ(kernel_read(rd, back, CAPACITY), 4094);
	EXPECT(memcmp(data, back, 4094) == 0);
	EXPECT_EQ(vfs_seek(rd, 0, 0), -ESPIPE);
	EXPECT_EQ(vfs_pread(rd, back, 1, 0), -ESPIPE);
	EXPECT_EQ(kernel_write(rd, data, 1), -EBADF);
	EXPECT_EQ(kernel_read(wr, back, 1), -EBADF);
	EXPECT_EQ(vfs_fstat(rd, &st), 0);
	EXPECT_EQ(st.mode & S_IFMT, S_IFIFO);
	file_put(rd);
	file_put(wr);
	kfree(data);
	kfree(back);
}

static void ends(void)
{
	struct file *rd, *wr;
	u64 pending = current()->sig.pending.set;
	char c;

	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	EXPECT_EQ(kernel_write(wr, "ab", 2), 2);
	file_put(wr);
	EXPECT_EQ(rd->ops->poll(rd), 1 | 16);
	EXPECT_EQ(kernel_read(rd, &c, 1), 1);
	EXPECT_EQ(kernel_read(rd, &c, 1), 1);
	EXPECT_EQ(c, 'b');
	EXPECT_EQ(kernel_read(rd, &c, 1), 0);
	EXPECT_EQ(kernel_read(rd, &c, 1), 0);
	file_put(rd);
	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	file_put(rd);
	EXPECT_EQ(wr->ops->poll(wr), 4 | 8);
	EXPECT_EQ(kernel_write(wr, "x", 1), -EPIPE);
	file_put(wr);
	current()->sig.pending.set = pending; /* the SIGPIPE that came with it */
}

/* No page is lost with a pipe that was full. */
static void memory_comes_back(void)
{
	u8 *data = pattern(CAPACITY);
	u64 before = page_free_count();
	struct file *rd, *wr;

	for (unsigned i = 0; i < 100; i++) {
		EXPECT_EQ(pipe_create(&rd, &wr, O_NONBLOCK), 0);
		EXPECT_EQ(kernel_write(wr, data, CAPACITY), CAPACITY);
		file_put(rd);
		file_put(wr);
	}
	EXPECT(page_free_count() + 16 >= before);
	kfree(data);
}

/* ---- With other tasks ---- */

#define BLOCK	4096
#define BLOCKS	64
#define WRITERS 3

struct side {
	struct file *f;
	u8 mark;
	s64 result;
	u32 done; /* [A] */
};

static void wait_for(struct side *s)
{
	while (!atomic_load(&s->done))
		sleep_ns(1000000, NULL);
}

/* Blocks that each hold one byte over and over. */
static void write_blocks(void *arg)
{
	struct side *s = arg;
	u8 *block = kmalloc(BLOCK);

	memset(block, s->mark, BLOCK);
	for (unsigned i = 0; i < BLOCKS; i++)
		s->result += kernel_write(s->f, block, BLOCK);
	kfree(block);
	file_put(s->f);
	atomic_store(&s->done, 1);
}

/* Writers that fill the pipe all at once: every block comes out in one piece, and none is lost. */
static void blocks_are_never_mixed(void)
{
	static struct side writers[WRITERS];
	u8 *block = kmalloc(BLOCK);
	unsigned seen[WRITERS] = {0};
	struct file *rd, *wr;
	bool mixed = false;

	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct side){file_get(wr), i, 0, 0};
		kthread_run(write_blocks, &writers[i], -1, "pipe-writer");
	}
	file_put(wr);
	for (;;) {
		size_t have = 0;
		ssize n = 1;
		while (have < BLOCK && (n = kernel_read(rd, block + have, BLOCK - have)) > 0)
			have += n;
		if (n <= 0)
			break;
		mixed |= block[0] >= WRITERS || memcmp(block, block + 1, BLOCK - 1) != 0;
		seen[block[0] % WRITERS]++;
	}
	EXPECT(!mixed);
	for (unsigned i = 0; i < WRITERS; i++) {
		wait_for(&writers[i]);
		EXPECT_EQ(writers[i].result, BLOCK * BLOCKS);
		EXPECT_EQ(seen[i], BLOCKS);
	}
	file_put(rd);
	kfree(block);
}

/* Reads until the end, in odd pieces, and checks the pattern. */
static void read_pattern(void *arg)
{
	struct side *s = arg;
	u8 *want = pattern(3 * CAPACITY), *buf = kmalloc(5000);
	ssize n;

	while ((n = kernel_read(s->f, buf, 5000)) > 0) {
		if (memcmp(buf, want + s->result, n) != 0)
			break;
		s->result += n;
	}
	kfree(want);
	kfree(buf);
	file_put(s->f);
	atomic_store(&s->done, 1);
}

/* One write larger than the pipe waits for its reader and arrives whole. */
static void large_write_waits(void)
{
	u8 *data = pattern(3 * CAPACITY);
	static struct side reader;
	struct file *rd, *wr;

	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	reader = (struct side){rd, 0, 0, 0};
	kthread_run(read_pattern, &reader, -1, "pipe-reader");
	EXPECT_EQ(kernel_write(wr, data, 3 * CAPACITY), 3 * CAPACITY);
	file_put(wr);
	wait_for(&reader);
	EXPECT_EQ(reader.result, 3 * CAPACITY);
	kfree(data);
}

static void read_once(void *arg)
{
	struct side *s = arg;
	char c;

	/* Meanwhile it is no kernel thread, which would take no signals. */
	current()->flags &= ~TASK_KTHREAD;
	s->result = kernel_read(s->f, &c, 1);
	current()->flags |= TASK_KTHREAD;
	file_put(s->f);
	atomic_store(&s->done, 1);
}

/* A reader that waits goes on when the last writer goes, and when a signal comes. */
static void waiting_ends(void)
{
	static struct side reader;
	struct file *rd, *wr;
	struct task *t;

	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	reader = (struct side){file_get(rd), 0, 1, 0};
	kthread_run(read_once, &reader, -1, "pipe-reader");
	sleep_ns(5000000, NULL);
	EXPECT_EQ(reader.done, 0);
	file_put(wr);
	wait_for(&reader);
	EXPECT_EQ(reader.result, 0);
	file_put(rd);

	EXPECT_EQ(pipe_create(&rd, &wr, 0), 0);
	reader = (struct side){file_get(rd), 0, 1, 0};
	t = kthread_run(read_once, &reader, -1, "pipe-reader");
	sleep_ns(5000000, NULL);
	EXPECT_EQ(signal_send(t, SIGINT), 0);
	wait_for(&reader);
	EXPECT_EQ(reader.result, -EINTR);
	file_put(rd);
	file_put(wr);
}

static const struct ktap_case cases[] = {
    {"pipe.capacity", capacity},
    {"pipe.ends", ends},
    {"pipe.memory_comes_back", memory_comes_back},
    {"pipe.blocks_are_never_mixed", blocks_are_never_mixed},
    {"pipe.large_write_waits", large_write_waits},
    {"pipe.waiting_ends", waiting_ends},
    {NULL, NULL},
};
const struct ktap_suite suite_pipe = {cases};
