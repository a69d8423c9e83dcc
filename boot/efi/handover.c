/*
 * The end of the firmware: the kernel into its place, page tables, ExitBootServices(), and in. From
 * the first memory map on nothing is printed and nothing allocated: either would change the map,
 * and without its key the firmware does not let go.
 */
#include "boot/efi/loader.h"
#include "boot/efi/memory_map.h"
#include "boot/efi/page_tables.h"

#define MAP_SLACK                                                                                  \
	(64 * 128u) /* the map grows by the pages it is put in, and by events of the firmware */
#define EXIT_TRIES 16
#define ROOM_MIN   (2u << 20)
#define GIB	   (1ull << 30)

struct map {
	char *data;
	UINTN room, size, key, each;
	UINT32 version;
};

static void add_stamp(struct boot_info *bi, const char *name, uint64_t tsc)
{
	struct boot_stamp *s = &bi->stamps[bi->stamp_count];

	if (bi->stamp_count == BOOT_MAX_STAMPS)
		return;
	s->tsc = tsc;
	for (unsigned i = 0; name[i] && i + 1 < sizeof(s->name); i++)
		s->name[i] = name[i];
	bi->stamp_count++;
}

void stamp(struct boot_info *bi, const char *name)
{
	add_stamp(bi, name, __builtin_ia32_rdtsc());
}

void stamp_firmware(
    struct boot_info *bi, const char *name, uint64_t ns, uint64_t cycles, uint64_t us)
{
	uint64_t tsc;

	if (!__builtin_mul_overflow(ns, cycles, &tsc) && ns && tsc / us / 1000 < bi->entry_tsc)
		add_stamp(bi, name, tsc / us / 1000);
}

static EFI_STATUS get_map(struct map *m)
{
	m->size = m->room;
	return BS->GetMemoryMap(&m->size, (void *)m->data, &m->key, &m->each, &m->version);
}

static void map_alloc(struct map *m)
{
	m->data = NULL;
	m->room = 0;
	get_map(m); /* fails, and says how large it is */
	m->room = m->size + MAP_SLACK;
	m->data = (char *)pages_below_4g(m->room);
	if (!m->data || get_map(m) != EFI_SUCCESS)
		refuse(L"the firmware does not give its memory map");
}

/* Tries again as long as something changes the map between the two calls. */
static void exit_boot_services(EFI_HANDLE image, struct map *m)
{
	for (unsigned i = 0; i < EXIT_TRIES; i++)
		if (get_map(m) == EFI_SUCCESS && BS->ExitBootServices(image, m->key) == EFI_SUCCESS)
			return;
	reboot(); /* half of the firmware may be gone: there is no console to say it on */
}

/*
 * The image below 4 GiB, with room after it for the tables of all RAM in pages of 2 MiB, and more.
 */
static void place_kernel(
    struct boot_info *bi, const struct kernel_image *kernel, const void *file, uint64_t ram_end)
{
	bi->kernel_size = kernel->size;
	bi->kernel_room = ROOM_MIN + (ram_end / GIB + 1) * EFI_PAGE_SIZE;
	bi->kernel_base = pages_below_4g(kernel->size + bi->kernel_room);
	if (!bi->kernel_base)
		refuse(L"there is no room for the kernel in memory: it needs %lu KiB in one piece "
		       L"below 4 GiB",
		    (kernel->size + bi->kernel_room) >> 10);
	kernel_image_load(kernel, file, (void *)bi->kernel_base);
}

static void enter(uint64_t tables, uint64_t entry, struct boot_info *bi) __attribute__((noreturn));

static void enter(uint64_t tables, uint64_t entry, struct boot_info *bi)
{
	__asm__ volatile("cli\n\t"
			 "mov %0, %%cr3\n\t"
			 "jmp *%1"
			 :
			 : "r"(tables), "r"(entry), "D"(bi)
			 : "memory");
	__builtin_unreachable();
}

void handover(
    EFI_HANDLE image, struct boot_info *bi, const struct kernel_image *kernel, const void *file)
{
	struct page_tables tables;
	struct map m;

	map_alloc(&m);
	uint64_t ram_end = memory_map_end(m.data, m.size, m.each);
	uint64_t memory = pages_below_4g(page_tables_bytes(ram_end, kernel->size));
	if (!memory)
		refuse(L"there is no memory for page tables");
	place_kernel(bi, kernel, file, ram_end);
	page_tables_make(&tables, memory, ram_end, BOOT_DIRECT_BASE, kernel->base, bi->kernel_base,
	    kernel->size);
	stamp(bi, "kernel_placed");
	stamp(bi, "exit_boot_services");
	exit_boot_services(image, &m);
	stamp(bi, "boot_services_ended");
	memory_map_take(bi, m.data, m.size, m.each);
	if (bi->lastboot_size)
		memory_map_keep(bi, bi->lastboot_base, bi->lastboot_size);
	stamp(bi, "enters_kernel");
	enter((uint64_t)tables.top, kernel->entry, bi);
}
