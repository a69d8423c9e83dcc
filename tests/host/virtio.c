/*
 * drivers/virtio/virtio.c and drivers/virtio/console.c against a device made of functions: one that
 * behaves, and ones that do not. The device does its work when its doorbell is rung, as a virtual
 * machine's monitor does.
 */
#include "arch/arch.h"
#include "drivers/virtio/console.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

#define QUEUES	   64
#define PORTS_MOST 16
#define RANDOM	   3000

u64 kernel_image_offset;
static u64 waited_us;

void delay_us(unsigned us)
{
	waited_us += us;
}

/* What is wrong with the device. */
enum wrong {
	NOTHING,
	NEVER_RESETS,
	NO_VERSION_1,
	FEATURES_REFUSED,
	NEEDS_RESET, /* while it agrees */
	NO_QUEUES,
	SILENT,	    /* gives nothing back */
	JUMPS,	    /* more comes back than was handed over */
	ODD_SLOT,   /* an entry that is none */
	CHATTERS,   /* has always more to say */
	GOES_SILENT /* once its ports are known */
};

struct device_queue {
	u16 size, seen, done;
	u8 *desc, *avail, *used;
};

static struct device {
	enum wrong wrong;
	bool multiport, running;
	u32 ports;	/* what its registers say */
	unsigned added; /* ports that it tells of: 0, 1 and so on; the first is a console */
	const char *name;
	u8 status;
	u32 config[3];
	struct device_queue queue[QUEUES];
	u8 got[1 << 16]; /* written to port 1 */
	size_t bytes;
	unsigned said[8]; /* messages that came, by kind */
} dev;
static u8 memory[VIRTIO_CONSOLE_BYTES] __aligned(16);
static struct virtio_console console;

static u8 status(const struct virtio *v)
{
	(void)v;
	return dev.wrong == NEVER_RESETS ? 0xff : dev.status;
}

static void set_status(const struct virtio *v, u8 s)
{
	(void)v;
	if (s & VIRTIO_FEATURES_OK && dev.wrong == FEATURES_REFUSED)
		s &= ~VIRTIO_FEATURES_OK;
	if (s & VIRTIO_FEATURES_OK && dev.wrong == NEEDS_RESET)
		s |= 0x40;
	dev.running = s & VIRTIO_DRIVER_OK;
	dev.status = s;
}

static u32 features(const struct virtio *v, unsigned half)
{
	(void)v;
	return half ? dev.wrong != NO_VERSION_1 : dev.multiport ? 0xffffffff : 1;
}

static void set_features(const struct virtio *v, unsigned half, u32 bits)
{
	(void)v;
	EXPECT_EQ(bits, half ? 1 : dev.multiport ? 2 : 0);
}

static u16 queue_limit(const struct virtio *v, u16 queue)
{
	(void)v;
	return dev.wrong == NO_QUEUES || queue >= QUEUES ? 0 : 128;
}

static u32 queue_begin(const struct virtio *v, u16 queue, u16 size, u64 desc, u64 avail, u64 used)
{
	(void)v;
	EXPECT(!dev.running);
	EXPECT_EQ(desc % 16, 0);
	EXPECT_EQ(avail % 2, 0);
	EXPECT_EQ(used % 4, 0);
	EXPECT((u8 *)phys_to_virt(used) + 4 + 8 * size <= memory + sizeof(memory));
	dev.queue[queue] = (struct device_queue){
	    size, 0, 0, phys_to_virt(desc), phys_to_virt(avail), phys_to_virt(used)};
	return queue * 4;
}

static u64 load(const u8 *p, size_t n)
{
	u64 v = 0;

	memcpy(&v, p, n);
	return v;
}

static void give_back(struct device_queue *q, u32 id, u32 written)
{
	u32 entry[2] = {dev.wrong == ODD_SLOT ? id + q->size : id, written};
	u16 index = ++q->done + (dev.wrong == JUMPS ? 100 : 0);

	memcpy(q->used + 4 + (u16)(q->done - 1) % q->size * 8, entry, sizeof(entry));
	memcpy(q->used + 2, &index, sizeof(index));
}

/* The next entry that was handed to the device; false: none. */
static bool next(struct device_queue *q, u32 *id, u8 **data, u32 *length, bool *writes)
{
	if (!q->size || (u16)load(q->avail + 2, 2) == q->seen)
		return false;
	*id = load(q->avail + 4 + q->seen++ % q->size * 2, 2);
	*data = phys_to_virt(load(q->desc + *id * 16, 8));
	*length = load(q->desc + *id * 16 + 8, 4);
	*writes = load(q->desc + *id * 16 + 12, 2) & 2;
	return true;
}

static void tell(u32 port, u16 kind, u16 value, const char *text)
{
	struct device_queue *q = &dev.queue[2];
	u32 id, length, n = 8 + (text ? strlen(text) : 0);
	u8 *data, message[256] = {0};
	bool writes;

	memcpy(message, &port, 4);
	memcpy(message + 4, &kind, 2);
	memcpy(message + 6, &value, 2);
	if (text)
		memcpy(message + 8, text, n - 8);
	if (!next(q, &id, &data, &length, &writes))
		return;
	EXPECT(writes);
	memcpy(data, message, MIN(n, length));
	give_back(q, id, n);
}

static void answer(const u8 *message)
{
	u32 port = load(message, 4);
	u16 kind = load(message + 4, 2);

	dev.said[kind & 7]++;
	for (u32 i = 0; kind == 0 && i < dev.added; i++)
		tell(i, 1, 1, NULL);
	if (kind != 3)
		return;
	if (port == 0)
		tell(port, 4, 1, NULL);
	else
		tell(port, 7, 1, dev.name);
	tell(port, 6, 1, NULL);
}

static void ring(const struct virtio *v, u16 queue, u32 doorbell)
{
	struct device_queue *q = &dev.queue[queue];
	u32 id, length;
	u8 *data;
	bool writes;

	(void)v;
	EXPECT_EQ(doorbell, queue * 4);
	EXPECT(dev.running);
	if (queue == 2 && dev.wrong == CHATTERS)
		tell(1, 6, 0, NULL);
	if (queue == 2 || dev.wrong == SILENT || (dev.wrong == GOES_SILENT && queue != 3))
		return;
	while (next(q, &id, &data, &length, &writes)) {
		EXPECT(!writes);
		if (queue == 3)
			answer(data);
		if (queue == (dev.multiport ? 5 : 1) && dev.bytes + length <= sizeof(dev.got)) {
			memcpy(dev.got + dev.bytes, data, length);
			dev.bytes += length;
		}
		give_back(q, id, 0);
	}
}

static const struct virtio_transport transport = {
    status, set_status, features, set_features, queue_limit, queue_begin, ring};

static const char *begin(enum wrong wrong, bool multiport, u32 ports, unsigned added)
{
	memset(&dev, 0, sizeof(dev));
	memset(memory, 0, sizeof(memory));
	dev.wrong = wrong;
	dev.multiport = multiport;
	dev.config[1] = ports;
	dev.added = added;
	dev.name = "a.name";
	waited_us = 0;
	console = (struct virtio_console){.virtio = {.transport = &transport,
					      .config = (u8 *)dev.config,
					      .config_size = sizeof(dev.config)}};
	return virtio_console_begin(&console, memory);
}

static void ports(void)
{
	for (unsigned n = 0; n <= PORTS_MOST; n++) {
		EXPECT(!begin(NOTHING, true, n > 9 ? 0xffffffff : n, n));
		EXPECT_EQ(console.ports, MIN(n, VIRTIO_PORTS));
		for (unsigned i = 0; i < VIRTIO_PORTS; i++) {
			const struct virtio_port *p = &console.port[i];
			EXPECT_EQ(p->present, i < n);
			EXPECT_EQ(p->open, i < n);
			EXPECT_EQ(p->console, !i && n);
			EXPECT(!strcmp(p->name, i && i < n ? "a.name" : ""));
		}
		EXPECT_EQ(dev.said[0], 1);
		EXPECT_EQ(dev.said[3], MIN(n, VIRTIO_PORTS));
		EXPECT_EQ(dev.said[6], MIN(n, VIRTIO_PORTS));
		EXPECT_EQ(waited_us, 0);
	}
	EXPECT(!begin(NOTHING, false, 0, 0)); /* it does not talk: one console */
	EXPECT(console.ports == 1 && console.port[0].present && console.port[0].console);
}

static void bytes(void)
{
	u8 data[300];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = i;
	for (unsigned talks = 0; talks < 2; talks++) {
		EXPECT(!begin(NOTHING, talks, 2, 2));
		for (unsigned i = 0; i < 200; i++) {
			EXPECT(virtio_console_idle(&console, talks));
			virtio_console_write(&console, talks, data, sizeof(data));
		}
		EXPECT(virtio_console_idle(&console, talks));
		EXPECT_EQ(dev.bytes, 200 * sizeof(data));
		EXPECT(!memcmp(dev.got + 199 * sizeof(data), data, sizeof(data)));
	}
	EXPECT(!begin(GOES_SILENT, true, 2, 2));
	virtio_console_write(&console, 1, data, sizeof(data));
	EXPECT(!virtio_console_idle(&console, 1));
	EXPECT(!console.virtio.broken); /* who reads may be slow: that is the writer's to judge */
}

static void open_and_close(void)
{
	EXPECT(!begin(NOTHING, true, 3, 3));
	for (unsigned i = 0; i < 1000; i++) { /* more than there are entries */
		tell(1, 6, i & 1, NULL);
		virtio_console_listen(&console);
		EXPECT_EQ(console.port[1].open, i & 1);
	}
	tell(2, 2, 1, NULL);
	virtio_console_listen(&console);
	EXPECT(!console.port[2].present);
}

static void names(void)
{
	static const char long_name[] =
	    "0123456789012345678901234567890123456789012345678901234567890123456789";

	dev.name = "";
	EXPECT(!begin(NOTHING, true, 2, 2));
	tell(1, 7, 1, long_name);
	virtio_console_listen(&console);
	EXPECT_EQ(strlen(console.port[1].name), sizeof(console.port[1].name) - 1);
	tell(1, 7, 1, "a b\x1b[2J\xff");
	virtio_console_listen(&console);
	EXPECT(!strcmp(console.port[1].name, "a?b?[2J?"));
	tell(1, 7, 1, "");
	virtio_console_listen(&console);
	EXPECT(!strcmp(console.port[1].name, ""));
}

/* Each is found out, in bounded time; nothing is handed to it afterwards. */
static void hostile(void)
{
	static const enum wrong wrongs[] = {NEVER_RESETS, NO_VERSION_1, FEATURES_REFUSED,
	    NEEDS_RESET, NO_QUEUES, SILENT, JUMPS, ODD_SLOT};
	u8 byte = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(wrongs); i++) {
		EXPECT(begin(wrongs[i], true, 2, 2));
		EXPECT(console.virtio.broken);
		EXPECT(waited_us <= 5000000);
		EXPECT(!virtio_console_idle(&console, 0));
		virtio_console_listen(&console);
	}
	EXPECT(!begin(CHATTERS, true, 2, 2));	/* and comes to an end */
	EXPECT(!begin(NO_QUEUES, false, 0, 0)); /* without a port there is nothing to write to */
	EXPECT(!console.port[0].present);
	EXPECT(!begin(NOTHING, true, 2, 2));
	dev.wrong = JUMPS;
	virtio_console_write(&console, 1, &byte, 1);
	EXPECT(!virtio_console_idle(&console, 1));
	EXPECT(console.virtio.broken);
}

/* The first entry after a queue's last one is none, also where the queue has one alone. */
static void first_beyond(void)
{
	u8 byte = 0;

	for (unsigned talks = 0; talks < 2; talks++) {
		EXPECT(!begin(NOTHING, talks, 2, 2));
		dev.wrong = ODD_SLOT;
		virtio_console_write(&console, talks, &byte, 1);
		EXPECT(!virtio_console_idle(&console, talks));
		EXPECT(console.virtio.broken);
	}
	EXPECT(!begin(NOTHING, true, 2, 2));
	dev.wrong = ODD_SLOT;
	tell(1, 6, 0, NULL);
	virtio_console_listen(&console);
	EXPECT(console.virtio.broken);
	EXPECT(console.port[1].open);
}

/*
 * Messages of any kind and port, and what comes back overwritten by anything: the sanitizers look
 * on.
 */
static void noise(void)
{
	u64 state = 20241121;

	for (unsigned round = 0; round < RANDOM; round++) {
		begin(NOTHING, true, prng_next(&state), prng_next(&state) % PORTS_MOST);
		for (unsigned i = 0; i < 40; i++) {
			char text[60];
			u64 r = prng_next(&state);
			for (unsigned k = 0; k < sizeof(text) - 1; k++)
				text[k] = prng_next(&state) | 1;
			text[r % sizeof(text)] = '\0';
			text[sizeof(text) - 1] = '\0';
			tell(r >> 8 & 1 ? r >> 9 : r >> 9 & 7, r >> 16 & 7, r >> 24, text);
			if (r >> 40 & 1)
				dev.queue[2].used[prng_next(&state) % 64] = prng_next(&state);
			virtio_console_listen(&console);
			if (console.virtio.broken)
				break;
		}
	}
}

static const struct ktap_case cases[] = {
    {"virtio.ports", ports},
    {"virtio.bytes", bytes},
    {"virtio.open_and_close", open_and_close},
    {"virtio.names", names},
    {"virtio.hostile", hostile},
    {"virtio.first_beyond", first_beyond},
    {"virtio.noise", noise},
    {NULL, NULL},
};
extern const struct ktap_suite suite_virtio;
const struct ktap_suite suite_virtio = {cases};
