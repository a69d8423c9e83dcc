/* Virtio over memory-mapped registers (section 4.2), as microvm has it. Contexts: virtio.h. */
#include "arch/arch.h"
#include "drivers/virtio/virtio.h"

enum {
	MAGIC = 0,
	VERSION = 4,
	DEVICE = 8,
	FEATURES = 0x10,
	FEATURE_SELECT = 0x14,
	DRIVER_FEATURES = 0x20,
	DRIVER_FEATURE_SELECT = 0x24,
	QUEUE_SELECT = 0x30,
	QUEUE_LIMIT = 0x34,
	QUEUE_SIZE = 0x38,
	QUEUE_READY = 0x44,
	NOTIFY = 0x50,
	STATUS = 0x70,
	QUEUE_DESC = 0x80,
	QUEUE_AVAIL = 0x90,
	QUEUE_USED = 0xa0,
	CONFIG = 0x100
};
#define MAGIC_VALUE   0x74726976 /* "virt" */
#define VERSION_1_0   2
#define DEVICE_SERIAL 3

static u32 get(const struct virtio *v, unsigned at)
{
	return *(volatile u32 *)(v->common + at);
}

static void put(const struct virtio *v, unsigned at, u32 value)
{
	*(volatile u32 *)(v->common + at) = value;
}

static u8 virtio_mmio_status(const struct virtio *v)
{
	return get(v, STATUS);
}

static void virtio_mmio_set_status(const struct virtio *v, u8 value)
{
	put(v, STATUS, value);
}

static u32 virtio_mmio_features(const struct virtio *v, unsigned half)
{
	put(v, FEATURE_SELECT, half);
	return get(v, FEATURES);
}

static void virtio_mmio_set_features(const struct virtio *v, unsigned half, u32 bits)
{
	put(v, DRIVER_FEATURE_SELECT, half);
	put(v, DRIVER_FEATURES, bits);
}

static u16 virtio_mmio_queue_limit(const struct virtio *v, u16 queue)
{
	put(v, QUEUE_SELECT, queue);
	return MIN(get(v, QUEUE_LIMIT), 0x8000u);
}

static void put64(const struct virtio *v, unsigned at, u64 value)
{
	put(v, at, value);
	put(v, at + 4, value >> 32);
}

static u32 virtio_mmio_queue_begin(
    const struct virtio *v, u16 queue, u16 size, u64 desc, u64 avail, u64 used)
{
	put(v, QUEUE_SELECT, queue);
	put(v, QUEUE_SIZE, size);
	put64(v, QUEUE_DESC, desc);
	put64(v, QUEUE_AVAIL, avail);
	put64(v, QUEUE_USED, used);
	put(v, QUEUE_READY, 1);
	return NOTIFY;
}

static void virtio_mmio_notify(const struct virtio *v, u16 queue, u32 doorbell)
{
	put(v, doorbell, queue);
}

static const struct virtio_transport mmio_transport = {virtio_mmio_status, virtio_mmio_set_status,
    virtio_mmio_features, virtio_mmio_set_features, virtio_mmio_queue_limit,
    virtio_mmio_queue_begin, virtio_mmio_notify};

const char *virtio_mmio_begin(struct virtio *v, u64 base, u64 size)
{
	*v = (struct virtio){.transport = &mmio_transport};
	v->common = size > CONFIG ? device_map(base, size) : NULL;
	if (!v->common || get(v, MAGIC) != MAGIC_VALUE)
		return "there are no registers of virtio";
	if (get(v, VERSION) != VERSION_1_0)
		return "it is not virtio 1.0";
	if (get(v, DEVICE) != DEVICE_SERIAL)
		return "it is no serial device";
	v->config = v->common + CONFIG;
	v->config_size = size - CONFIG;
	return NULL;
}
