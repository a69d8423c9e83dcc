/* Files of the volume that the loader came from, read whole. */
#include "boot/efi/loader.h"
#include "kernel/abi/crc32.h"

#define CHUNK (1u << 20) /* some firmware fails at more */
#define LIMIT 0xffffffffull

EFI_PHYSICAL_ADDRESS pages_below_4g(UINTN size)
{
	EFI_PHYSICAL_ADDRESS at = LIMIT;

	if (BS->AllocatePages(AllocateMaxAddress, EfiLoaderData, EFI_SIZE_TO_PAGES(size), &at) !=
	    EFI_SUCCESS)
		return 0;
	return at;
}

EFI_FILE_HANDLE volume_open(EFI_HANDLE image)
{
	EFI_FILE_IO_INTERFACE *fs = NULL;
	EFI_LOADED_IMAGE *self = NULL;
	EFI_FILE_HANDLE root = NULL;

	if (BS->HandleProtocol(image, &LoadedImageProtocol, (void **)&self) != EFI_SUCCESS ||
	    BS->HandleProtocol(self->DeviceHandle, &FileSystemProtocol, (void **)&fs) !=
		EFI_SUCCESS)
		refuse(L"the firmware does not give access to the file system of its loader");
	if (fs->OpenVolume(fs, &root) != EFI_SUCCESS)
		refuse(L"the file system of its loader is damaged");
	return root;
}

/* The firmware's path: backslashes, 16 bits a character. */
static EFI_FILE_HANDLE open_file(
    EFI_FILE_HANDLE volume, const char *path, UINT64 mode, EFI_STATUS *status)
{
	CHAR16 name[CONFIG_MAX_PATH];
	EFI_FILE_HANDLE f = NULL;
	unsigned i;

	for (i = 0; path[i] && i + 1 < CONFIG_MAX_PATH; i++)
		name[i] = path[i] == '/' ? L'\\' : (CHAR16)path[i];
	name[i] = 0;
	*status = volume->Open(volume, &f, name, mode, 0);
	return *status == EFI_SUCCESS ? f : NULL;
}

/* Bytes of an open file; false: that cannot be known, or it is a directory. */
static bool size_of(EFI_FILE_HANDLE f, UINT64 *size)
{
	union {
		EFI_FILE_INFO info;
		char room[SIZE_OF_EFI_FILE_INFO + 512];
	} u;
	UINTN n = sizeof(u);

	if (f->GetInfo(f, &GenericFileInfo, &n, &u) != EFI_SUCCESS ||
	    u.info.Attribute & EFI_FILE_DIRECTORY)
		return false;
	*size = u.info.FileSize;
	return true;
}

static bool read_all(EFI_FILE_HANDLE f, char *to, UINTN size)
{
	while (size) {
		UINTN n = size < CHUNK ? size : CHUNK;
		if (f->Read(f, &n, to) != EFI_SUCCESS || !n)
			return false;
		to += n;
		size -= n;
	}
	return true;
}

static const CHAR16 *take(EFI_FILE_HANDLE f, UINTN max, const uint32_t *crc, struct file *out)
{
	UINT64 size;
	EFI_PHYSICAL_ADDRESS at;

	if (!size_of(f, &size))
		return L"is no plain file, or its entry in the directory is damaged";
	if (!size)
		return L"is empty";
	if (size > max)
		return L"is too large to be right";
	at = pages_below_4g(size);
	if (!at)
		return L"does not fit in memory";
	if (!read_all(f, (char *)at, size)) {
		BS->FreePages(at, EFI_SIZE_TO_PAGES(size));
		return L"cannot be read to its end: the file system or the medium is damaged";
	}
	if (crc && abi_crc32(0, (void *)at, size) != *crc) {
		BS->FreePages(at, EFI_SIZE_TO_PAGES(size));
		return L"is damaged: its checksum is not the one in trapline.cfg";
	}
	*out = (struct file){(void *)at, size};
	return NULL;
}

const CHAR16 *file_read(
    EFI_FILE_HANDLE volume, const char *path, UINTN max, const uint32_t *crc, struct file *out)
{
	EFI_STATUS status;
	EFI_FILE_HANDLE f = open_file(volume, path, EFI_FILE_MODE_READ, &status);
	const CHAR16 *wrong;

	*out = (struct file){0};
	if (status == EFI_NOT_FOUND)
		return L"is missing";
	if (!f)
		return L"cannot be opened: the file system or the medium is damaged";
	wrong = take(f, max, crc, out);
	f->Close(f);
	return wrong;
}

static bool write_all(EFI_FILE_HANDLE f, const char *from, UINTN size)
{
	while (size) {
		UINTN n = size < CHUNK ? size : CHUNK;
		if (f->Write(f, &n, (void *)from) != EFI_SUCCESS || !n)
			return false;
		from += n;
		size -= n;
	}
	return f->Flush(f) == EFI_SUCCESS;
}

const CHAR16 *file_write(EFI_FILE_HANDLE volume, const char *path, const void *data, UINTN size)
{
	const UINT64 mode = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE;
	EFI_STATUS status;
	EFI_FILE_HANDLE f = open_file(volume, path, mode, &status);

	if (f)
		f->Delete(f); /* and closes it */
	f = open_file(volume, path, mode | EFI_FILE_MODE_CREATE, &status);
	if (!f)
		return L"cannot be written: the volume is read-only or damaged";
	if (!write_all(f, data, size)) {
		f->Delete(f);
		return L"cannot be written: the volume is full or damaged";
	}
	f->Close(f);
	return NULL;
}
