/* Sockets in messages of sockets, and the memory that messages take. */
#include "kernel/fs/socket_data.h"
#include "kernel/fs/file.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"

static struct file *pair[8][2];

static void begin(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++)
		EXPECT_EQ(socket_pair(SOCK_STREAM, O_NONBLOCK, pair[i]), 0);
}

static void end(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		file_put(pair[i][0]);
		file_put(pair[i][1]);
	}
}

/* Sends the reader of one pair to the reader of another: 0 or an error. */
static int put_into(unsigned what, unsigned to)
{
	struct socket_message *m = socket_message_new(1);
	int err;

	m->files = kmalloc(sizeof(*m->files));
	m->files[0] = file_get(pair[what][0]);
	m->file_count = 1;
	err = socket_send(pair[to][1], m, NULL, true);
	if (err)
		socket_message_free(m);
	return err;
}

/* Sockets lie SOCKET_DEPTH_MAX deep in each other at most, however shallow the last one is. */
static void nesting(void)
{
	begin(7);
	for (unsigned i = 0; i < SOCKET_DEPTH_MAX; i++)
		EXPECT_EQ(put_into(i, i + 1), 0);
	EXPECT_EQ(put_into(SOCKET_DEPTH_MAX, 6), -ETOOMANYREFS);
	EXPECT_EQ(put_into(5, SOCKET_DEPTH_MAX), 0); /* which has nothing in it */
	EXPECT_EQ(put_into(SOCKET_DEPTH_MAX, 6), -ETOOMANYREFS);
	EXPECT_EQ(put_into(5, 6), 0);
	end(7);
}

/* Messages take an eighth of the memory at most; the memory of one that is freed counts no more. */
static void memory(void)
{
	struct list_head all = LIST_HEAD_INIT(all);
	struct socket_message *m = socket_message_new(60000), *next;
	u64 most = page_total() * PAGE_SIZE / 8 / ksize(m) + 2, n;

	socket_message_free(m);
	for (unsigned round = 0; round < 3; round++) {
		for (n = 0; n < most && (m = socket_message_new(60000)); n++)
			list_add_tail(&m->node, &all);
		EXPECT(n + 8 > most && n < most);
		list_for_each_entry_safe (m, next, &all, node) {
			list_del(&m->node);
			socket_message_free(m);
		}
	}
}

static const struct ktap_case cases[] = {
    {"socket.nesting", nesting},
    {"socket.memory", memory},
    {NULL, NULL},
};
const struct ktap_suite suite_socket = {cases};
