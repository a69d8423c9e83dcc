/*
 * /dev/mem: physical memory that is not the kernel's, with its position as address. Device
 * registers take accesses of one width only: a read or write of 1, 2, 4 or 8 bytes at an address
 * that is a multiple of it is one access; any other is done in bytes. RAM above the first MiB is
 * refused (EPERM), as Linux does where it is strict. Each access is an event (rwmmio). Task
 * context; `window` is protected by its lock.
 */
#include "arch/arch.h"
#include "kernel/base/events.h"
#include "kernel/base/printk.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "kernel/machine/resource.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"

#define LOW_MEMORY	0x100000UL
#define LEAF_ADDRESS	0x80000008u
#define FIRST_WINDOW	0xa0000UL /* anything that may be mapped: it is not touched */
#define PHYS_BITS_LEAST 36

static u64 phys_end;
static struct {
	struct mutex lock;
	u64 va, page; /* [lock] which physical page is seen at va */
} window = {.lock = MUTEX_INIT(window.lock)};

static int check(u64 pa, size_t n)
{
	if (pa >= phys_end || n > phys_end - pa)
		return -ENXIO;
	return pa + n > LOW_MEMORY && resource_is_ram(MAX(pa, LOW_MEMORY), pa + n) ? -EPERM : 0;
}

/* Lock held. The place where the byte at pa is seen; NULL: no memory for tables. */
static volatile void *look_at(u64 pa)
{
	u64 page = ALIGN_DOWN(pa, PAGE_SIZE);

	if (page != window.page) {
		kernel_unmap(window.va, PAGE_SIZE);
		window.page = ~0UL;
		if (kernel_map(window.va, page, PAGE_SIZE, PROT_R | PROT_W | PROT_NOCACHE))
			return NULL;
		window.page = page;
	}
	return (volatile char *)window.va + (pa - page);
}

static u64 load(volatile const void *p, unsigned width)
{
	switch (width) {
	case 1:
		return *(volatile const u8 *)p;
	case 2:
		return *(volatile const u16 *)p;
	case 4:
		return *(volatile const u32 *)p;
	default:
		return *(volatile const u64 *)p;
	}
}

static void store(volatile void *p, unsigned width, u64 v)
{
	switch (width) {
	case 1:
		*(volatile u8 *)p = v;
		break;
	case 2:
		*(volatile u16 *)p = v;
		break;
	case 4:
		*(volatile u32 *)p = v;
		break;
	default:
		*(volatile u64 *)p = v;
	}
}

static unsigned width_of(u64 pa, size_t n)
{
	return (n == 2 || n == 4 || n == 8) && pa % n == 0 ? n : 1;
}

/* Lock held: one access. */
static int access_one(u64 caller, u64 pa, void *data, unsigned width, bool write)
{
	u64 v = 0;
	volatile void *p = look_at(pa);

	if (!p)
		return -ENOMEM;
	if (write) {
		memcpy(&v, data, width);
		trace_rwmmio_write(caller, v, width * 8, pa);
		store(p, width, v);
		trace_rwmmio_post_write(caller, v, width * 8, pa);
	} else {
		trace_rwmmio_read(caller, width * 8, pa);
		v = load(p, width);
		memcpy(data, &v, width);
		trace_rwmmio_post_read(caller, v, width * 8, pa);
	}
	return 0;
}

static ssize dev_mem_access(char *data, size_t n, u64 *pos, bool write)
{
	u64 caller = (u64)__builtin_return_address(0);
	unsigned width = width_of(*pos, n);
	size_t done = 0;
	int r = check(*pos, n);

	if (!r && write && !pci_may_move_memory() && pci_config_holds(*pos, n)) {
		pr_warn("mem: %s[%d] may not write to %#lx, which is PCI's configuration space "
			"(pci_write=all allows it)",
		    current()->comm, current()->pid, (unsigned long)*pos);
		r = -EPERM;
	}
	mutex_lock(&window.lock);
	while (!r && done < n) {
		r = access_one(caller, *pos + done, data + done, width, write);
		if (!r)
			done += width;
	}
	mutex_unlock(&window.lock);
	*pos += done;
	return done ? (ssize)done : r;
}

static ssize dev_mem_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	(void)f;
	return dev_mem_access(buf, n, pos, false);
}

static ssize dev_mem_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	(void)f;
	return dev_mem_access((char *)buf, n, pos, true);
}

static const struct file_ops mem_ops = {
    .read = dev_mem_read, .write = dev_mem_write, .seek = dev_seek};

void dev_mem_init(void)
{
	u32 id[4];
	void *va = device_map(FIRST_WINDOW, PAGE_SIZE);

	arch_cpuid(0x80000000, 0, id);
	if (id[0] >= LEAF_ADDRESS)
		arch_cpuid(LEAF_ADDRESS, 0, id);
	else
		id[0] = PHYS_BITS_LEAST;
	phys_end = 1UL << (id[0] & 0xff);
	window.va = (u64)va;
	window.page = FIRST_WINDOW;
	if (!va || dev_register("mem", 0600, &mem_ops, NULL))
		pr_err("cannot make /dev/mem");
}
