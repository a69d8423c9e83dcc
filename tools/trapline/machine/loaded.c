/* Libraries for QEMU: see loaded.h. */
#include "tools/trapline/machine/loaded.h"
#include <sys/mman.h>
#include <unistd.h>

#include "tools/trapline/lib/util.h"

/* The assembler finds the files in the build directory. */
#define LIBRARY(name, file)                                                                        \
	extern const char name[], name##_end[];                                                    \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #name ", " #name "_end\n" #name ":\n"                                   \
		".incbin \"" file "\"\n" #name "_end:\n"                                           \
		".popsection\n")

LIBRARY(loaded_turns, "turns.so");
LIBRARY(loaded_stop_plugin, "stop_plugin.so");

int loaded_open(enum loaded which)
{
	static const struct {
		const char *name, *data, *end;
	} libraries[] = {
	    [LOADED_TURNS] = {"turns.so", loaded_turns, loaded_turns_end},
	    [LOADED_STOP_PLUGIN] = {"stop_plugin.so", loaded_stop_plugin, loaded_stop_plugin_end},
	};
	const char *name = libraries[which].name, *data = libraries[which].data;
	size_t size = (size_t)(libraries[which].end - data);
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		return fd;
	say_errno(name);
	if (fd >= 0)
		close(fd);
	return -1;
}
