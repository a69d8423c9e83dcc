/*
 * The virtio console device (section 5.3): ports to which bytes are written. What comes in is not
 * taken. Task context. Two may write to two ports at a time; all else, and one port, callers keep
 * apart.
 */
#pragma once

#include "drivers/virtio/virtio.h"

#define VIRTIO_PORTS	     8 /* of a device; more are left alone */
#define VIRTIO_CONSOLE_BYTES 4096

struct virtio_port {
	bool present;  /* it can be written to */
	bool console;  /* else a port for programs */
	bool open;     /* somebody in the host has it open */
	char name[40]; /* the host's, "" if it has none */
	struct virtq out;
};

struct virtio_console {
	struct virtio virtio;
	unsigned ports; /* that there may be */
	bool talks;	/* the device reports its ports by messages */
	struct virtq heard, said;
	u8 (*messages)[64]; /* of `heard` */
	struct virtio_message *saying;
	struct virtio_port port[VIRTIO_PORTS];
};

/*
 * Begins to use the device, whose registers c->virtio has, and finds its ports. `memory`:
 * VIRTIO_CONSOLE_BYTES zeroed bytes, a page, the device's from now on even after an error. NULL, or
 * what is wrong.
 */
const char *virtio_console_begin(struct virtio_console *c, void *memory);
/* Takes what the device has to say: ports open and close. */
void virtio_console_listen(struct virtio_console *c);
/*
 * Hands n bytes at `data`, which lie in one piece of memory, to a port that is idle. They are the
 * device's until it is idle again.
 */
void virtio_console_write(struct virtio_console *c, unsigned port, const void *data, u32 n);
bool virtio_console_idle(struct virtio_console *c, unsigned port);
