/*
 * Virtio on PCI (section 4.1): the registers are where capabilities in the configuration space say.
 * Contexts: virtio.h.
 */
#include "arch/arch.h"
#include "drivers/pci.h"
#include "drivers/virtio/virtio.h"

enum { PCI_STATUS = 6, PCI_STATUS_CAPABILITIES = 0x10, PCI_CAPABILITIES = 0x34 };
enum { CAPABILITY_VENDOR = 9, CAPABILITIES_MOST = 48 }; /* a list that leads back ends */
/* A capability: id, next, length, kind, BAR, ... */
enum { CAP_KIND = 3, CAP_BAR = 4, CAP_OFFSET = 8, CAP_LENGTH = 12, CAP_STEP = 16 };
enum { KIND_COMMON = 1, KIND_DOORBELLS = 2, KIND_CONFIG = 4 };
/* The common structure. */
enum {
	FEATURE_SELECT = 0,
	FEATURES = 4,
	DRIVER_FEATURE_SELECT = 8,
	DRIVER_FEATURES = 12,
	QUEUES = 18,
	STATUS = 20,
	QUEUE_SELECT = 22,
	QUEUE_SIZE = 24,
	QUEUE_ENABLE = 28,
	QUEUE_DOORBELL = 30,
	QUEUE_DESC = 32,
	QUEUE_AVAIL = 40,
	QUEUE_USED = 48,
	COMMON_SIZE = 56
};

static void put16(const struct virtio *v, unsigned at, u16 value)
{
	*(volatile u16 *)(v->common + at) = value;
}

static u16 get16(const struct virtio *v, unsigned at)
{
	return *(volatile u16 *)(v->common + at);
}

static void put32(const struct virtio *v, unsigned at, u32 value)
{
	*(volatile u32 *)(v->common + at) = value;
}

static u8 virtio_pci_status(const struct virtio *v)
{
	return v->common[STATUS];
}

static void virtio_pci_set_status(const struct virtio *v, u8 value)
{
	v->common[STATUS] = value;
}

static u32 virtio_pci_features(const struct virtio *v, unsigned half)
{
	put32(v, FEATURE_SELECT, half);
	return *(volatile u32 *)(v->common + FEATURES);
}

static void virtio_pci_set_features(const struct virtio *v, unsigned half, u32 bits)
{
	put32(v, DRIVER_FEATURE_SELECT, half);
	put32(v, DRIVER_FEATURES, bits);
}

static u16 virtio_pci_queue_limit(const struct virtio *v, u16 queue)
{
	if (queue >= get16(v, QUEUES))
		return 0;
	put16(v, QUEUE_SELECT, queue);
	return get16(v, QUEUE_SIZE);
}

static void put64(const struct virtio *v, unsigned at, u64 value)
{
	put32(v, at, value);
	put32(v, at + 4, value >> 32);
}

static u32 virtio_pci_queue_begin(
    const struct virtio *v, u16 queue, u16 size, u64 desc, u64 avail, u64 used)
{
	put16(v, QUEUE_SELECT, queue);
	put16(v, QUEUE_SIZE, size);
	put64(v, QUEUE_DESC, desc);
	put64(v, QUEUE_AVAIL, avail);
	put64(v, QUEUE_USED, used);
	put16(v, QUEUE_ENABLE, 1);
	return get16(v, QUEUE_DOORBELL) * v->doorbell_step;
}

static void virtio_pci_notify(const struct virtio *v, u16 queue, u32 doorbell)
{
	if ((u64)doorbell + sizeof(u16) <= v->doorbells_size)
		*(volatile u16 *)(v->doorbells + doorbell) = queue;
}

static const struct virtio_transport pci_transport = {virtio_pci_status, virtio_pci_set_status,
    virtio_pci_features, virtio_pci_set_features, virtio_pci_queue_limit, virtio_pci_queue_begin,
    virtio_pci_notify};

/* Maps the registers that the capability at `cap` names; NULL: outside of the function's memory. */
static volatile u8 *virtio_pci_map(const struct pci_function *f, u8 cap, u32 *length)
{
	unsigned bar = pci_read(f, cap + CAP_BAR, 1);
	u32 offset = pci_read(f, cap + CAP_OFFSET, 4);
	const struct pci_bar *b = bar < PCI_BARS ? &f->bar[bar] : NULL;

	*length = pci_read(f, cap + CAP_LENGTH, 4);
	if (!b || b->ports || !b->base || !*length || offset > b->size ||
	    *length > b->size - offset)
		return NULL;
	return device_map(b->base + offset, *length);
}

/* The first of each kind that can be used counts. */
static void take(struct virtio *v, const struct pci_function *f, u8 cap)
{
	unsigned kind = pci_read(f, cap + CAP_KIND, 1);
	u32 length;

	if (kind == KIND_COMMON && !v->common) {
		v->common = virtio_pci_map(f, cap, &length);
		if (length < COMMON_SIZE)
			v->common = NULL;
	} else if (kind == KIND_DOORBELLS && !v->doorbells) {
		v->doorbells = virtio_pci_map(f, cap, &v->doorbells_size);
		v->doorbell_step = pci_read(f, cap + CAP_STEP, 4);
	} else if (kind == KIND_CONFIG && !v->config) {
		v->config = virtio_pci_map(f, cap, &v->config_size);
	}
}

const char *virtio_pci_begin(struct virtio *v, const struct pci_function *f)
{
	u8 cap = 0;

	*v = (struct virtio){.transport = &pci_transport};
	pci_write(f, PCI_COMMAND, 2,
	    pci_read(f, PCI_COMMAND, 2) | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	if (pci_read(f, PCI_STATUS, 2) & PCI_STATUS_CAPABILITIES)
		cap = pci_read(f, PCI_CAPABILITIES, 1) & ~3;
	for (unsigned i = 0; cap >= 0x40 && i < CAPABILITIES_MOST; i++) {
		if (pci_read(f, cap, 1) == CAPABILITY_VENDOR)
			take(v, f, cap);
		cap = pci_read(f, cap + 1, 1) & ~3;
	}
	return v->common && v->doorbells && v->config
		   ? NULL
		   : "it has no registers of virtio 1.0, or the firmware gave them no address";
}
