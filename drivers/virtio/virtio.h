/*
 * Virtio 1.0 devices: the handshake and split virtqueues, polled, over whatever leads to the
 * device's registers (struct virtio_transport). No device is trusted: what it writes is looked at
 * before it is used, and every wait has an end. Task context; callers keep each other apart. (OASIS
 * Virtual I/O Device Version 1.0, sections 2.4, 3.1 and 4.1.)
 */
#pragma once

#include "kernel/lib/types.h"

struct pci_function;
struct virtio;

enum virtio_status {
	VIRTIO_ACKNOWLEDGE = 1,
	VIRTIO_DRIVER = 2,
	VIRTIO_DRIVER_OK = 4,
	VIRTIO_FEATURES_OK = 8,
	VIRTIO_FAILED = 128
};

struct virtio_transport {
	u8 (*status)(const struct virtio *v);
	void (*set_status)(const struct virtio *v, u8 status); /* 0: reset */
	u32 (*features)(const struct virtio *v, unsigned half);
	void (*set_features)(const struct virtio *v, unsigned half, u32 bits);
	/* How many entries a queue may have, 0: there is none. */
	u16 (*queue_limit)(const struct virtio *v, u16 queue);
	/* It begins, with that many. Returns where its doorbell is, for ring(). */
	u32 (*queue_begin)(
	    const struct virtio *v, u16 queue, u16 size, u64 desc, u64 avail, u64 used);
	void (*ring)(const struct virtio *v, u16 queue, u32 doorbell);
};

struct virtio {
	const struct virtio_transport *transport;
	volatile u8 *common; /* registers: of PCI the common structure, of MMIO all */
	volatile u8 *doorbells;
	u32 doorbells_size, doorbell_step;
	const volatile u8 *config; /* of the device's kind */
	u32 config_size;
	/* it did what no device does, or did not answer: it is left alone from then on */
	bool broken;
};

/* One of its queues, in memory of ours. */
struct virtq {
	u16 number, size;
	u16 put, taken; /* free-running: entries handed over, and come back */
	u32 doorbell;
	struct virtq_desc *desc;
	struct virtq_avail *avail;
	struct virtq_used *used;
};

/* Is it there? NULL, or why not. */
const char *virtio_pci_begin(struct virtio *v, const struct pci_function *f);
const char *virtio_mmio_begin(struct virtio *v, u64 base, u64 size);

/*
 * Resets it and agrees on version 1 and on those of the `wanted` features (the lower 32) that it
 * has: *got. False: it does not.
 */
bool virtio_negotiate(struct virtio *v, u32 wanted, u32 *got);
/* Queues are there: it may begin. */
void virtio_run(struct virtio *v);
/* It is not used. */
void virtio_give_up(struct virtio *v);

/* Bytes that a queue of `size` entries needs, a multiple of 16. */
size_t virtq_bytes(u16 size);
/*
 * With `size` entries (a power of two), in zeroed memory aligned to 16. False: the device has no
 * such queue.
 */
bool virtq_begin(struct virtq *q, struct virtio *v, u16 number, u16 size, void *memory);
/*
 * Hands entry `slot` over: n bytes for the device to read, or to write to. The device learns of it
 * by virtq_notify().
 */
void virtq_put(struct virtq *q, u16 slot, const void *data, u32 n, bool writes);
void virtq_notify(struct virtq *q, struct virtio *v);
/* The next entry that came back, and how much the device says it wrote; -1: none. */
int virtq_take(struct virtq *q, struct virtio *v, u32 *written);
/* Has all that was handed over come back? Takes it. */
bool virtq_idle(struct virtq *q, struct virtio *v);
/* Waits until then, seconds at most; false, and it is broken: it never did. */
bool virtq_wait(struct virtq *q, struct virtio *v);
