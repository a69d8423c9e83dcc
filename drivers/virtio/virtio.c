/* The handshake, and split virtqueues. Contexts: virtio.h. */
#include "drivers/virtio/virtio.h"

#include "arch/arch.h"
#include "kernel/lib/atomic.h"

#define FEATURE_VERSION_1 1u /* of the upper half */
#define DESC_WRITES	  2
#define POLL_US		  10
#define POLLS		  500000 /* 5 s: what emulates it may not be given a CPU for long */

struct virtq_desc {
	u64 address;
	u32 length;
	u16 flags, next;
};

struct virtq_avail {
	u16 flags, index;
	u16 ring[];
};

struct virtq_used {
	u16 flags, index;
	struct {
		u32 id, length;
	} ring[];
};

/* ---- The handshake ---- */

static bool reset(struct virtio *v)
{
	v->transport->set_status(v, 0);
	for (unsigned i = 0; i < POLLS; i++) {
		if (!v->transport->status(v))
			return true;
		delay_us(POLL_US);
	}
	return false;
}

bool virtio_negotiate(struct virtio *v, u32 wanted, u32 *got)
{
	const struct virtio_transport *t = v->transport;
	u8 status = VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER;

	if (!reset(v))
		return false;
	t->set_status(v, VIRTIO_ACKNOWLEDGE);
	t->set_status(v, status);
	if (!(t->features(v, 1) & FEATURE_VERSION_1))
		return false;
	*got = t->features(v, 0) & wanted;
	t->set_features(v, 0, *got);
	t->set_features(v, 1, FEATURE_VERSION_1);
	t->set_status(v, status | VIRTIO_FEATURES_OK);
	return t->status(v) == (status | VIRTIO_FEATURES_OK);
}

void virtio_run(struct virtio *v)
{
	v->transport->set_status(
	    v, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER | VIRTIO_FEATURES_OK | VIRTIO_DRIVER_OK);
}

void virtio_give_up(struct virtio *v)
{
	v->broken = true;
	v->transport->set_status(v, VIRTIO_FAILED);
}

/* ---- Queues ---- */

static size_t avail_bytes(u16 size)
{
	return ALIGN_UP(sizeof(struct virtq_avail) + size * sizeof(u16), 4);
}

size_t virtq_bytes(u16 size)
{
	return ALIGN_UP(size * sizeof(struct virtq_desc) + avail_bytes(size) +
			    sizeof(struct virtq_used) +
			    size * sizeof(((struct virtq_used *)0)->ring[0]),
	    16);
}

bool virtq_begin(struct virtq *q, struct virtio *v, u16 number, u16 size, void *memory)
{
	if (v->transport->queue_limit(v, number) < size)
		return false;
	*q = (struct virtq){.number = number, .size = size, .desc = memory};
	q->avail = (struct virtq_avail *)(q->desc + size);
	q->used = (struct virtq_used *)((u8 *)q->avail + avail_bytes(size));
	q->doorbell = v->transport->queue_begin(
	    v, number, size, virt_to_phys(q->desc), virt_to_phys(q->avail), virt_to_phys(q->used));
	return true;
}

void virtq_put(struct virtq *q, u16 slot, const void *data, u32 n, bool writes)
{
	q->desc[slot] = (struct virtq_desc){
	    .address = virt_to_phys(data), .length = n, .flags = writes ? DESC_WRITES : 0};
	q->avail->ring[q->put % q->size] = slot;
	q->put++;
	atomic_store_release(&q->avail->index, q->put); /* the entry before its number */
}

void virtq_notify(struct virtq *q, struct virtio *v)
{
	smp_mb();
	v->transport->ring(v, q->number, q->doorbell);
}

int virtq_take(struct virtq *q, struct virtio *v, u32 *written)
{
	u16 come;
	u32 id;

	if (v->broken)
		return -1;
	come = atomic_load_acquire(&q->used->index) - q->taken;
	if (!come)
		return -1;
	id = READ_ONCE(q->used->ring[q->taken % q->size].id);
	*written = READ_ONCE(q->used->ring[q->taken % q->size].length);
	if (come > (u16)(q->put - q->taken) || id >= q->size) {
		virtio_give_up(v);
		return -1;
	}
	q->taken++;
	return id;
}

bool virtq_idle(struct virtq *q, struct virtio *v)
{
	u32 written;

	while (virtq_take(q, v, &written) >= 0)
		;
	return !v->broken && q->taken == q->put;
}

bool virtq_wait(struct virtq *q, struct virtio *v)
{
	for (unsigned i = 0; i < POLLS && !v->broken; i++) {
		if (virtq_idle(q, v))
			return true;
		delay_us(POLL_US);
	}
	virtio_give_up(v);
	return false;
}
