/*
 * Ports of a virtio console. A device that talks (VIRTIO_CONSOLE_F_MULTIPORT) says which there are:
 *
 *   we DEVICE_READY · it PORT_ADD for each · we PORT_READY for each · it CONSOLE_PORT or PORT_NAME,
 *   and PORT_OPEN · we PORT_OPEN
 *
 * It answers what we say before it gives it back, so that its answers are there when our message
 * has come back. One that does not talk has one port, which is a console. Contexts: console.h.
 */
#include "drivers/virtio/console.h"

#include "arch/arch.h"
#include "kernel/lib/string.h"

#define FEATURE_MULTIPORT 2
#define CONFIG_PORTS	  4  /* u32 */
#define HEARD_SIZE	  32 /* one for each port, for what it says of all at once */

enum message_kind {
	DEVICE_READY = 0,
	PORT_ADD = 1,
	PORT_REMOVE = 2,
	PORT_READY = 3,
	CONSOLE_PORT = 4,
	PORT_OPEN = 6,
	PORT_NAME = 7
};

struct virtio_message {
	u32 port;
	u16 kind, value;
	/* PORT_NAME: the name */
};

static u16 out_queue(unsigned port)
{
	return port ? 2 * port + 3 : 1;
}

static void virtio_console_send_control(
    struct virtio_console *c, u32 port, enum message_kind kind, u16 value)
{
	*c->saying = (struct virtio_message){port, kind, value};
	virtq_put(&c->said, 0, c->saying, sizeof(*c->saying), false);
	virtq_notify(&c->said, &c->virtio);
	virtq_wait(&c->said, &c->virtio);
}

static void take_name(struct virtio_port *p, const u8 *text, u32 n)
{
	n = MIN(n, (u32)sizeof(p->name) - 1);
	for (u32 i = 0; i < n; i++)
		p->name[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
	while (n && !text[n - 1])
		n--; /* some say the NUL, too */
	p->name[n] = '\0';
}

static void take_message(struct virtio_console *c, const u8 *data, u32 n)
{
	struct virtio_message m;
	struct virtio_port *p;

	if (n < sizeof(m))
		return;
	memcpy(&m, data, sizeof(m));
	if (m.port >= c->ports)
		return;
	p = &c->port[m.port];
	switch (m.kind) {
	case PORT_ADD:
		p->present = p->out.size;
		break;
	case PORT_REMOVE:
		p->present = false;
		break;
	case CONSOLE_PORT:
		p->console = m.value;
		break;
	case PORT_OPEN:
		p->open = m.value;
		break;
	case PORT_NAME:
		take_name(p, data + sizeof(m), n - sizeof(m));
		break;
	}
}

static void give_back(struct virtio_console *c, u16 slot)
{
	virtq_put(&c->heard, slot, c->messages[slot], sizeof(c->messages[slot]), true);
}

void virtio_console_listen(struct virtio_console *c)
{
	u32 n;
	int slot;

	/* no more at a time than there is room for: a device may go on for ever */
	for (unsigned i = 0; c->talks && i < HEARD_SIZE; i++) {
		slot = virtq_take(&c->heard, &c->virtio, &n);
		if (slot < 0)
			return;
		take_message(c, c->messages[slot], MIN(n, (u32)sizeof(c->messages[slot])));
		give_back(c, slot);
		virtq_notify(&c->heard, &c->virtio);
	}
}

/* Memory for the next queue. */
static bool virtio_console_begin_queue(
    struct virtio_console *c, struct virtq *q, u16 number, u16 size, u8 **memory)
{
	bool there = virtq_begin(q, &c->virtio, number, size, *memory);

	*memory += virtq_bytes(size);
	return there;
}

static bool begin_talk(struct virtio_console *c, u8 **memory)
{
	c->ports = MIN(*(const volatile u32 *)(c->virtio.config + CONFIG_PORTS), (u32)VIRTIO_PORTS);
	c->messages = (u8(*)[64]) * memory;
	*memory += HEARD_SIZE * sizeof(*c->messages);
	c->saying = (struct virtio_message *)*memory;
	*memory += 16;
	return virtio_console_begin_queue(c, &c->heard, 2, HEARD_SIZE, memory) &&
	       virtio_console_begin_queue(c, &c->said, 3, 1, memory);
}

/* Which ports there are, each asked for what it is. */
static void meet(struct virtio_console *c)
{
	for (u16 i = 0; i < HEARD_SIZE; i++)
		give_back(c, i);
	virtq_notify(&c->heard, &c->virtio);
	virtio_console_send_control(c, 0, DEVICE_READY, 1);
	virtio_console_listen(c);
	for (unsigned i = 0; i < c->ports && !c->virtio.broken; i++) {
		if (!c->port[i].present)
			continue;
		virtio_console_send_control(c, i, PORT_READY, 1);
		virtio_console_listen(c);
		if (!c->virtio.broken)
			virtio_console_send_control(c, i, PORT_OPEN, 1);
		virtio_console_listen(c);
	}
}

const char *virtio_console_begin(struct virtio_console *c, void *memory)
{
	struct virtio *v = &c->virtio;
	u8 *free = memory;
	u32 got;

	if (!virtio_negotiate(v, FEATURE_MULTIPORT, &got)) {
		virtio_give_up(v);
		return "it does not come to terms as virtio 1.0";
	}
	c->talks = got & FEATURE_MULTIPORT && v->config_size >= CONFIG_PORTS + sizeof(u32);
	c->ports = 1;
	if (c->talks && !begin_talk(c, &free)) {
		virtio_give_up(v);
		return "it has not the queues for messages that it should have";
	}
	for (unsigned i = 0; i < c->ports; i++)
		virtio_console_begin_queue(c, &c->port[i].out, out_queue(i), 1, &free);
	virtio_run(v);
	if (c->talks)
		meet(c);
	else
		c->port[0].present = c->port[0].console = c->port[0].out.size;
	return v->broken ? "it does not answer as it should" : NULL;
}

void virtio_console_write(struct virtio_console *c, unsigned port, const void *data, u32 n)
{
	struct virtq *q = &c->port[port].out;

	virtq_put(q, 0, data, n, false);
	virtq_notify(q, &c->virtio);
}

bool virtio_console_idle(struct virtio_console *c, unsigned port)
{
	return virtq_idle(&c->port[port].out, &c->virtio);
}
