/*
 * Fills struct boot_info with the firmware's description of the machine: ACPI's root, SMBIOS, the
 * firmware's own times (FPDT), the picture. (UEFI 2.10: 4.6 configuration tables, 12.9 graphics
 * output; ACPI 6.4: 5.2.5, 5.2.8)
 */
#include "boot/efi/fpdt.h"
#include "boot/efi/loader.h"

#define CPUID_NX      (1u << 20)
#define CPUID_SYSCALL (1u << 11)
#define CR4_LA57      (1u << 12)
#define TABLE_MAX     (1u << 20)

struct acpi_rsdp {
	char signature[8];
	UINT8 checksum, oem[6], revision;
	UINT32 rsdt, length;
	UINT64 xsdt;
} __attribute__((packed));

struct acpi_table {
	char signature[4];
	UINT32 length;
	UINT8 rest[28];
} __attribute__((packed));

void machine_check(void)
{
	UINT32 a = 0x80000001, b, c = 0, d;
	UINT64 cr4;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(d & CPUID_NX))
		refuse(L"the CPU has no NX (no-execute) page protection");
	if (!(d & CPUID_SYSCALL))
		refuse(L"the CPU has no SYSCALL instruction");
	__asm__("mov %%cr4, %0" : "=r"(cr4));
	if (cr4 & CR4_LA57)
		refuse(L"the firmware runs with five levels of page tables; switch that off in its "
		       L"setup");
}

static bool same_guid(const EFI_GUID *a, const EFI_GUID *b)
{
	return CompareGuid((EFI_GUID *)a, (EFI_GUID *)b) == 0;
}

static UINT64 config_table(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < ST->NumberOfTableEntries; i++)
		if (same_guid(&ST->ConfigurationTable[i].VendorGuid, guid))
			return (UINT64)ST->ConfigurationTable[i].VendorTable;
	return 0;
}

/* The first of two tables that is there. */
static UINT64 newer(const EFI_GUID *first, const EFI_GUID *second)
{
	UINT64 at = config_table(first);

	return at ? at : config_table(second);
}

static bool sums_to_zero(const void *p, UINTN n)
{
	const UINT8 *b = p;
	UINT8 sum = 0;

	while (n--)
		sum += *b++;
	return !sum;
}

/* By the XSDT alone: the FPDT is younger than it. */
static UINT64 find_fpdt(UINT64 rsdp)
{
	const struct acpi_rsdp *r = (const void *)rsdp;
	const struct acpi_table *xsdt;

	if (!r || r->revision < 2 || !r->xsdt)
		return 0;
	xsdt = (const void *)r->xsdt;
	if (CompareMem(xsdt->signature, "XSDT", 4) || xsdt->length < sizeof(*xsdt) ||
	    xsdt->length > TABLE_MAX || !sums_to_zero(xsdt, xsdt->length))
		return 0;
	for (UINT32 at = sizeof(*xsdt); at + 8 <= xsdt->length; at += 8) {
		UINT64 table;
		CopyMem(&table, (char *)xsdt + at, sizeof(table));
		if (table && !CompareMem((void *)table, "FPDT", 4))
			return table;
	}
	return 0;
}

#define STALL_US 2000
#define STALLS	 10

/*
 * TSC ticks in STALL_US of the firmware's clock. It may stall for longer (SMIs, a busy host), never
 * for less: the shortest counts.
 */
static UINT64 stall_cycles(void)
{
	UINT64 start, cycles, best = ~0UL;

	for (unsigned i = 0; i < STALLS; i++) {
		start = __builtin_ia32_rdtsc();
		BS->Stall(STALL_US);
		cycles = __builtin_ia32_rdtsc() - start;
		best = cycles < best ? cycles : best;
	}
	return best;
}

/* The firmware's times as stamps: nanoseconds since the reset, where the TSC counted from, too. */
static void take_times(struct boot_info *bi)
{
	struct fpdt_times t;
	UINT64 cycles;

	fpdt_read(bi->fpdt, &t);
	if (!t.reset_end)
		return;
	cycles = stall_cycles();
	stamp_firmware(bi, "firmware_reset_end", t.reset_end, cycles, STALL_US);
	stamp_firmware(bi, "firmware_loads_loader", t.loader_load, cycles, STALL_US);
	stamp_firmware(bi, "firmware_starts_loader", t.loader_start, cycles, STALL_US);
}

static UINT32 format_of(const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info)
{
	const EFI_PIXEL_BITMASK *m = &info->PixelInformation;

	switch (info->PixelFormat) {
	case PixelBlueGreenRedReserved8BitPerColor:
		return BOOT_FB_BGRX;
	case PixelRedGreenBlueReserved8BitPerColor:
		return BOOT_FB_RGBX;
	case PixelBitMask:
		if (m->GreenMask != 0xff00)
			return BOOT_FB_NONE;
		if (m->RedMask == 0xff0000 && m->BlueMask == 0xff)
			return BOOT_FB_BGRX;
		return m->RedMask == 0xff && m->BlueMask == 0xff0000 ? BOOT_FB_RGBX : BOOT_FB_NONE;
	default:
		return BOOT_FB_NONE;
	}
}

static void take_picture(struct boot_framebuffer *fb)
{
	EFI_GRAPHICS_OUTPUT_PROTOCOL *gop = NULL;

	if (BS->LocateProtocol(&GraphicsOutputProtocol, NULL, (void **)&gop) != EFI_SUCCESS ||
	    !gop->Mode || !gop->Mode->Info || !gop->Mode->FrameBufferBase)
		return;
	const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info = gop->Mode->Info;
	fb->format = format_of(info);
	if (fb->format == BOOT_FB_NONE)
		return;
	fb->base = gop->Mode->FrameBufferBase;
	fb->width = info->HorizontalResolution;
	fb->height = info->VerticalResolution;
	fb->pitch = info->PixelsPerScanLine * 4;
}

void machine_take(struct boot_info *bi)
{
	static const EFI_GUID acpi2 = ACPI_20_TABLE_GUID, acpi1 = ACPI_TABLE_GUID;
	static const EFI_GUID smbios3 = SMBIOS3_TABLE_GUID, smbios = SMBIOS_TABLE_GUID;

	bi->efi_system_table = (UINT64)ST;
	bi->rsdp = newer(&acpi2, &acpi1);
	bi->smbios = newer(&smbios3, &smbios);
	bi->fpdt = find_fpdt(bi->rsdp);
	take_times(bi);
	take_picture(&bi->framebuffer);
	if (!bi->rsdp)
		refuse(L"the firmware has no ACPI tables");
}
