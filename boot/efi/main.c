/*
 * The UEFI loader: from efi_main(), which the firmware calls, in order. All of boot/efi/ runs on
 * the boot CPU alone, with the firmware's services until handover.c ends them.
 *
 *   entry.S         switches SSE on, which some firmware leaves off
 *   config.c        trapline.cfg
 *   file.c          reads files; kernel_image.c places the kernel, anywhere below 4 GiB
 *   machine.c       ACPI, SMBIOS and the framebuffer
 *   handover.c      page tables that map the kernel where it is linked, ExitBootServices(), the
 *                   jump to uefi_start (boot/uefi_entry.S)
 *
 * An unusable file is reported in a sentence on the firmware's console, and a key reboots. The
 * files that know nothing of the firmware (configuration, ELF, memory map, page tables, checksums)
 * are pure, and their unit tests run on the host.
 */
#include "boot/efi/loader.h"

#define KERNEL_FILE_MAX	 (256u << 20)
#define ARCHIVE_FILE_MAX (1u << 30)
#define COMPLAINTS_MAX	 5 /* a file that is no text at all should not fill the screen */
#define ARCHIVE_SECONDS	 10

static struct config config;

static void complain(void *count, uint32_t line, const char *what)
{
	unsigned n = (*(unsigned *)count)++;

	if (n >= COMPLAINTS_MAX)
		return;
	if (line)
		say(L"trapline.cfg, line %u: %a. This line is left out.", line, what);
	else
		say(L"trapline.cfg: %a.", what);
}

static void read_config(EFI_FILE_HANDLE volume)
{
	const CHAR16 *wrong;
	unsigned complaints = 0;
	struct file f;

	wrong = file_read(volume, "trapline.cfg", CONFIG_MAX_SIZE, NULL, &f);
	if (wrong) {
		say(L"trapline.cfg %s. Trapline goes on with kernel.elf and no command line.",
		    wrong);
		config_default(&config);
		return;
	}
	config_parse(&config, f.data, f.size, complain, &complaints);
	if (complaints > COMPLAINTS_MAX)
		say(L"trapline.cfg: %u more lines like that.", complaints - COMPLAINTS_MAX);
}

static void read_kernel(EFI_FILE_HANDLE volume, struct file *f, struct kernel_image *img)
{
	const struct config_file *c = &config.kernel;
	const CHAR16 *wrong =
	    file_read(volume, c->path, KERNEL_FILE_MAX, c->has_crc ? &c->crc : NULL, f);
	const char *damage;

	if (wrong)
		refuse(L"%a %s", c->path, wrong);
	damage = kernel_image_check(img, f->data, f->size);
	if (damage)
		refuse(L"%a %a", c->path, damage);
}

/* The kernel has an archive of its own: without this one it is poorer, but runs. */
static void go_without(const char *path, const CHAR16 *wrong)
{
	EFI_INPUT_KEY key;

	say(L"%a %s. Trapline starts without it in %u seconds, or by a key; r reboots.", path,
	    wrong, ARCHIVE_SECONDS);
	if (key_within(ARCHIVE_SECONDS * 1000, &key) && key.UnicodeChar == L'r')
		reboot();
}

static const CHAR16 *check_archive(const struct file *f)
{
	if (f->size < 110 || (CompareMem(f->data, "070701", 6) && CompareMem(f->data, "070702", 6)))
		return L"is damaged: it is not a cpio archive of the newc kind";
	return NULL;
}

static void read_archive(EFI_FILE_HANDLE volume, struct boot_info *bi)
{
	const struct config_file *c = &config.archive;
	const CHAR16 *wrong;
	struct file f;

	if (!*c->path)
		return;
	wrong = file_read(volume, c->path, ARCHIVE_FILE_MAX, c->has_crc ? &c->crc : NULL, &f);
	if (!wrong)
		wrong = check_archive(&f);
	if (wrong) {
		go_without(c->path, wrong);
		return;
	}
	bi->initrd_base = (uint64_t)f.data;
	bi->initrd_size = f.size;
}

static struct boot_info *info_make(uint64_t entry_tsc)
{
	struct boot_info *bi = (void *)pages_below_4g(sizeof(*bi));

	if (!bi)
		refuse(L"there is no memory below 4 GiB");
	ZeroMem(bi, sizeof(*bi));
	CopyMem(bi->loader, "uefi", 5);
	bi->entry_tsc = entry_tsc;
	return bi;
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
	uint64_t entry_tsc = __builtin_ia32_rdtsc();
	struct kernel_image kernel;
	struct boot_info *bi;
	struct file file;

	InitializeLib(image, table);
	BS->SetWatchdogTimer(0, 0, 0, NULL); /* the menu may wait for ever */
	Print(L"\nTrapline\n");
	bi = info_make(entry_tsc);
	machine_check();
	EFI_FILE_HANDLE volume = volume_open(image);
	read_config(volume);
	stamp(bi, "config_read");
	lastboot_keep(bi, volume, (UINTN)config.lastboot_kib << 10);
	const struct config_entry *entry = menu_choose(&config);
	CopyMem(bi->cmdline, entry->cmdline, sizeof(bi->cmdline));
	stamp(bi, "entry_chosen");
	read_kernel(volume, &file, &kernel);
	stamp(bi, "kernel_read");
	read_archive(volume, bi);
	stamp(bi, "archive_read");
	machine_take(bi);
	stamp(bi, "tables_taken");
	handover(image, bi, &kernel, file.data);
}
