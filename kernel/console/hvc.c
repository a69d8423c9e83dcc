/*
 * Virtio consoles as devices to write to, a way out for traces: /dev/hvcN, a console;
 * /dev/vportDpN, port N of device D. The bytes go out as they are; nothing is read. A write comes
 * back when the host has taken all of it, or with EIO when the host has taken nothing for
 * GIVE_UP_NS.
 *
 * Task context. A device's list of ports is constant from boot on. A port's buffer is protected by
 * its mutex, what the device has to say by the device's lock.
 */
#include "kernel/console/hvc.h"
#include "arch/arch.h"
#include "drivers/pci.h"
#include "drivers/virtio/console.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

#define VENDOR	     0x1af4
#define TRANSITIONAL 0x1003 /* of before 1.0, and 1.0 too perhaps */
#define MODERN	     0x1043
#define BUFFER_ORDER 4 /* 64 KiB: each costs a round trip to the host */
#define BUFFER_SIZE  (PAGE_SIZE << BUFFER_ORDER)
#define SPIN_US	     1000
#define SLEEP_NS     1000000UL
#define GIVE_UP_NS   30000000000UL
#define POLLOUT_BIT  4u

struct hvc_device {
	struct virtio_console console;
	struct spinlock lock;
};

struct hvc_port {
	struct hvc_device *device;
	unsigned number;
	struct mutex writing;
	u8 *buffer; /* [writing] NULL: nobody has written yet */
};

static unsigned devices, consoles;

/* The port has given its buffer back, and somebody may be there to read. */
static bool hvc_is_ready(struct hvc_port *p)
{
	struct hvc_device *d = p->device;
	const struct virtio_port *port = &d->console.port[p->number];

	spin_lock(&d->lock);
	virtio_console_listen(&d->console);
	spin_unlock(&d->lock);
	return virtio_console_idle(&d->console, p->number) && (port->console || port->open);
}

/* Mutex held. Most hosts answer at once; one that does not gets time, and the CPU somebody else. */
static int hvc_wait_ready(struct hvc_port *p)
{
	u64 until = clock_ns() + GIVE_UP_NS;

	for (unsigned us = 0; us < SPIN_US && !p->device->console.virtio.broken; us++) {
		if (hvc_is_ready(p))
			return 0;
		delay_us(1);
	}
	while (!hvc_is_ready(p)) {
		if (p->device->console.virtio.broken || clock_ns() > until)
			return -EIO;
		if (sleep_ns(SLEEP_NS, NULL))
			return -EINTR;
	}
	return 0;
}

/* Mutex held. */
static int make_buffer(struct hvc_port *p)
{
	u64 pa = p->buffer ? 0 : page_alloc(BUFFER_ORDER, false);

	if (pa)
		p->buffer = phys_to_virt(pa);
	return p->buffer ? 0 : -ENOMEM;
}

/* What was handed over will come out, even if we do not wait for that any more: it counts. */
static ssize hvc_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct hvc_port *p = f->priv;
	size_t done = 0;
	int e;

	(void)pos;
	mutex_lock(&p->writing);
	e = make_buffer(p);
	while (!e && done < n) {
		size_t some = MIN(n - done, BUFFER_SIZE);
		e = hvc_wait_ready(p);
		if (e)
			break;
		memcpy(p->buffer, (const u8 *)buf + done, some);
		virtio_console_write(&p->device->console, p->number, p->buffer, some);
		done += some;
	}
	if (!e)
		e = hvc_wait_ready(p);
	mutex_unlock(&p->writing);
	return e && (e != -EINTR || !done) ? e : (ssize)done;
}

static unsigned hvc_poll(struct file *f)
{
	(void)f;
	return POLLOUT_BIT;
}

static const struct file_ops hvc_ops = {.write = hvc_write, .poll = hvc_poll};

/* ---- Finding them ---- */

static void add_port(struct hvc_device *d, unsigned number, const char *place)
{
	const struct virtio_port *port = &d->console.port[number];
	struct hvc_port *p = kzalloc(sizeof(*p));
	char name[24];

	if (port->console)
		fmt_snprintf(name, sizeof(name), "hvc%u", consoles++);
	else
		fmt_snprintf(name, sizeof(name), "vport%up%u", devices, number);
	if (p) {
		*p = (struct hvc_port){.device = d, .number = number};
		mutex_init(&p->writing);
	}
	if (!p || dev_register(name, 0600, &hvc_ops, p))
		pr_err("cannot make /dev/%s", name);
	else
		pr_info("virtio: %s: %s%s%s", place, name, *port->name ? " is " : "", port->name);
}

/*
 * A device whose registers are known. What a device was given stays its own, whatever comes of it.
 */
static void hvc_add_device(const struct virtio *v, const char *place)
{
	struct hvc_device *d = kzalloc(sizeof(*d));
	u64 memory = page_alloc(0, true);
	const char *wrong = "no memory";

	if (d && memory) {
		d->console.virtio = *v;
		wrong = virtio_console_begin(&d->console, phys_to_virt(memory));
	}
	if (wrong) {
		pr_warn("virtio: %s is not used: %s", place, wrong);
		return;
	}
	for (unsigned i = 0; i < d->console.ports; i++)
		if (d->console.port[i].present)
			add_port(d, i, place);
	devices++;
}

static void find_on_pci(void)
{
	const struct pci_function *f;
	struct virtio v;
	char place[24];

	for (unsigned i = 0; (f = pci_nth(i)); i++) {
		if (f->vendor != VENDOR || (f->id != TRANSITIONAL && f->id != MODERN))
			continue;
		fmt_snprintf(place, sizeof(place), "%02x:%02x.%u", f->bus, f->device, f->function);
		const char *wrong = virtio_pci_begin(&v, f);
		if (wrong)
			pr_warn("virtio: %s is not used: %s", place, wrong);
		else
			hvc_add_device(&v, place);
	}
}

/*
 * virtio_mmio.device=SIZE@ADDRESS:IRQ[:ID], as Linux has it; microvm's host says so of each device.
 */
static void find_on_cmdline(void)
{
	const char *word;
	struct virtio v;

	for (unsigned i = 0; (word = cmdline_nth("virtio_mmio.device", i)); i++) {
		const char *end;
		u64 size = parse_digits(word, &end, 0), base;

		if (*end == 'K' || *end == 'k') {
			size *= 1024;
			end++;
		}
		if (end == word || *end != '@') {
			pr_warn("virtio_mmio.device=%s: SIZE@ADDRESS:IRQ is wanted", word);
			continue;
		}
		base = parse_digits(end + 1, &end, 0);
		if (!virtio_mmio_begin(&v, base, size))
			hvc_add_device(&v, word);
	}
}

void hvc_init(void)
{
	find_on_pci();
	find_on_cmdline();
}
