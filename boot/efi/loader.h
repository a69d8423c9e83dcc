/*
 * Shared by the files of the loader. The loader is one thread of the firmware, from efi_main() to
 * handover(), which ends boot services and enters the kernel; nothing of it is left afterwards but
 * struct boot_info. Every function that can fail for the sake of the machine or the files says so
 * on the console; what the kernel cannot do without ends in refuse().
 */
#pragma once

#include "boot/boot_info.h"
#include "boot/efi/config.h"
#include "boot/efi/kernel_image.h"

#include <efi.h>
#include <efilib.h>
#include <stdbool.h>

/* ---- main.c: called by the firmware, through gnu-efi's start-up code ---- */

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/* ---- console.c ---- */

/* A line on the firmware's console: Print()'s formats, without the end of the line. */
void say(const CHAR16 *fmt, ...);
/* Waits so long for a key. False: none came. */
bool key_within(unsigned ms, EFI_INPUT_KEY *key);
void key_wait(EFI_INPUT_KEY *key);
/* Says "Trapline cannot start: " and why, waits for a key and reboots. */
void refuse(const CHAR16 *fmt, ...) __attribute__((noreturn));
void reboot(void) __attribute__((noreturn));

/* ---- file.c ---- */

struct file {
	void *data; /* NULL: there is none */
	UINTN size;
};

/* The file system this loader came from; refuses if there is none. */
EFI_FILE_HANDLE volume_open(EFI_HANDLE image);
/*
 * Reads a whole file of at most `max` bytes into pages of its own below 4 GiB, and checks its
 * CRC-32 if `crc` is not NULL. NULL, or the end of a sentence that begins with the file's name;
 * then there are no data.
 */
const CHAR16 *file_read(
    EFI_FILE_HANDLE volume, const char *path, UINTN max, const uint32_t *crc, struct file *out);
/*
 * Writes a file; one of that name that was there is gone. NULL, or the end of a sentence that
 * begins with the file's name.
 */
const CHAR16 *file_write(EFI_FILE_HANDLE volume, const char *path, const void *data, UINTN size);
/* Pages below 4 GiB; 0: there are none. */
EFI_PHYSICAL_ADDRESS pages_below_4g(UINTN size);

/* ---- menu.c ---- */

/*
 * Shows the entries and waits as the configuration says; the entry to start. Its command line may
 * have been edited.
 */
struct config_entry *menu_choose(struct config *c);

/* ---- machine.c ---- */

/* Refuses a CPU or a state of it that the kernel cannot start from. */
void machine_check(void);
/* ACPI, SMBIOS and the picture, as far as they are there. */
void machine_take(struct boot_info *bi);

/* ---- lastboot.c ---- */

/*
 * Takes the memory that a warm reset keeps for the next kernel; what the last one left there
 * becomes lastboot.bin on the volume.
 */
void lastboot_keep(struct boot_info *bi, EFI_FILE_HANDLE volume, UINTN size);

/* ---- handover.c ---- */

/* A moment of the loader's way; the names are shown by the kernel's boot events. */
void stamp(struct boot_info *bi, const char *name);
/*
 * One of the firmware's, told in ns since the reset, where the TSC has `cycles` in `us`. None where
 * that is 0 or not before the loader.
 */
void stamp_firmware(
    struct boot_info *bi, const char *name, uint64_t ns, uint64_t cycles, uint64_t us);
/* Puts the kernel in its place, ends boot services, and enters it. */
void handover(EFI_HANDLE image, struct boot_info *bi, const struct kernel_image *kernel,
    const void *file) __attribute__((noreturn));
