/*
 * The memory of the flight recorder. A warm reset keeps what is in RAM, and most firmware leaves
 * most of it alone; so it has to lie where it lay the last time. What the last kernel left is also
 * written to the volume, where it outlives the power supply.
 */
#include "boot/efi/kept.h"
#include "boot/efi/loader.h"

/*
 * Always the same places, the first that is free: apart from where firmware puts itself (low, and
 * below the end of RAM).
 */
static const EFI_PHYSICAL_ADDRESS places[] = {
    0x10000000, 0x08000000, 0x06000000, 0x04000000, 0x03000000, 0x20000000};

static bool take_at(struct boot_info *bi, EFI_PHYSICAL_ADDRESS at, UINTN size)
{
	UINTN pages = EFI_SIZE_TO_PAGES(size);

	if (BS->AllocatePages(AllocateAddress, EfiLoaderData, pages, &at) != EFI_SUCCESS)
		return false;
	bi->lastboot_base = at;
	bi->lastboot_size = size;
	return true;
}

/*
 * A machine with little memory keeps half of it, or a quarter, and so on: it finds the same place
 * each boot all the same.
 */
static bool take(struct boot_info *bi, UINTN size)
{
	for (; size >= EFI_PAGE_SIZE; size /= 2)
		for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			if (take_at(bi, places[i], size))
				return true;
	return false;
}

void lastboot_keep(struct boot_info *bi, EFI_FILE_HANDLE volume, UINTN size)
{
	const CHAR16 *wrong;
	UINT64 kept;

	if (!take(bi, size))
		return;
	kept = kept_bytes((const void *)bi->lastboot_base, bi->lastboot_base, bi->lastboot_size);
	if (!kept)
		return;
	wrong = file_write(volume, "lastboot.bin", (const void *)bi->lastboot_base, kept);
	if (wrong)
		say(L"lastboot.bin %s. Only instances/lastboot will have the last boot's trace.",
		    wrong);
	else
		say(L"The last boot's trace is in lastboot.bin.");
	stamp(bi, "lastboot_saved");
}
