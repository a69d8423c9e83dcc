/*
 * mmio ADDRESS [BITS [VALUE]]: reads a device's register at a physical address, or writes it, by
 * one access to /dev/mem.
 */
#include "user/command.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define MEMORY "/dev/mem"

int main(int argc, char **argv)
{
	uint64_t address, bits = 32, value = 0;
	int e;

	command_begin(argv[0], "ADDRESS [BITS [VALUE]]");
	if (argc < 2 || argc > 4)
		return command_usage();
	if (!command_number(argv[1], 0, &address) ||
	    (argc > 2 && !command_number(argv[2], 0, &bits)) ||
	    (argc > 3 && !command_number(argv[3], 0, &value)))
		return 1;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return command_fail("the width is 8, 16, 32 or 64 bits");
	if (address % (bits / 8))
		return command_fail("the address is no multiple of %" PRIu64, bits / 8);
	if (bits < 64 && value >> bits)
		return command_fail("the value has more than %" PRIu64 " bits", bits);
	e = command_access(MEMORY, address, &value, bits / 8, argc > 3);
	if (e == EPERM)
		return command_fail("0x%" PRIx64 " is memory that is in use", address);
	if (e == ENXIO || e == EINVAL)
		return command_fail("there is no address 0x%" PRIx64, address);
	if (e)
		return command_fail(MEMORY ": %s", errno_text(e));
	if (argc <= 3)
		printf("0x%0*" PRIx64 "\n", (int)bits / 4, value);
	return 0;
}
