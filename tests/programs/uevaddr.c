/*
 * Writes to user_events_data from addresses that are not the program's: each is EFAULT, whatever
 * its size and however it is cut, and no record of it appears. The kernel's memory would be
 * readable to a write that forgot to check.
 */
#include "tests/programs/user_events.h"

#define USER_END 0x7ffffffff000UL

static const unsigned long kernel_places[] = {
    USER_END, 0x800000000000, /* not canonical */
    0xffff7fffffffffff,	      /* neither */
    0xffff888000000000,	      /* all memory */
    0xffffffff80100000,	      /* the kernel's text */
    ~0UL - 3,		      /* the last bytes there are */
};

/*
 * The smallest, two on the stack of the kernel, the last of these and the first beyond, a page,
 * more than a record can hold.
 */
static const unsigned long sizes[] = {4, 8, 64, 252, 256, 260, 4000, 4096, 8192, 1 << 20};

static volatile uint32_t word;
static uint32_t record[2]; /* index and payload */
static long data;

static void refused(long got, unsigned long at, unsigned long size, const char *how)
{
	if (got == FAULT)
		return;
	printf("# %s of %lu bytes at %#lx: %ld\n", how, size, at, got);
	check_failures++;
}

static long writev_of(struct abi_iovec *v, int n)
{
	return syscall3(SYS_writev, data, (long)v, n);
}

static void write_from(unsigned long at, unsigned long size)
{
	struct abi_iovec v[3] = {{at, size}};

	refused(syscall3(SYS_write, data, at, size), at, size, "write");
	refused(syscall4(SYS_pwrite64, data, at, size, 0), at, size, "pwrite");
	refused(writev_of(v, 1), at, size, "writev, one piece,");
	/* The index is the program's own, and right. */
	v[0] = (struct abi_iovec){(uintptr_t)record, 4};
	v[1] = (struct abi_iovec){at, size};
	refused(writev_of(v, 2), at, size, "writev, payload,");
	v[1] = (struct abi_iovec){(uintptr_t)&record[1], 4};
	v[2] = (struct abi_iovec){at, size};
	refused(writev_of(v, 3), at, size, "writev, third piece,");
	/* The index is the kernel's. */
	v[0] = (struct abi_iovec){at, 4};
	v[1] = (struct abi_iovec){(uintptr_t)record, 8};
	refused(writev_of(v, 2), at, 4, "writev, index,");
}

/*
 * The address is checked before the index: EFAULT also where the index is nobody's, and where
 * nobody listens. Each call's beginning can be read.
 */
static void address_comes_first(uint32_t index)
{
	uint32_t begins[2] = {index, 1};
	static const unsigned long too_long[] = {USER_END, 1UL << 62, 1UL << 63, ~0UL};
	struct abi_iovec v[2] = {{(uintptr_t)begins, 4}};

	for (unsigned i = 0; i < sizeof(too_long) / sizeof(*too_long); i++) {
		unsigned long at = (uintptr_t)begins, size = too_long[i];

		refused(syscall3(SYS_write, data, at, size), at, size, "write");
		refused(syscall4(SYS_pwrite64, data, at, size, 0), at, size, "pwrite");
	}
	for (unsigned i = 0; i < sizeof(kernel_places) / sizeof(*kernel_places); i++)
		for (unsigned long size = 4; size <= 4096; size *= 2) {
			v[1] = (struct abi_iovec){kernel_places[i], size};
			refused(writev_of(v, 2), kernel_places[i], size, "writev, payload,");
		}
}

/* A write that begins in the program's memory and ends in what is not. */
static void write_over_the_end(void)
{
	long page = syscall6(
	    SYS_mmap, USER_END - PAGE, PAGE, P_READ | P_WRITE, M_PRIVATE | M_ANON | M_FIXED, -1, 0);

	if (page != (long)(USER_END - PAGE))
		return; /* the stack may be there */
	memcpy((char *)(USER_END - 8), record, sizeof(record));
	CHECK_EQ(syscall3(SYS_write, data, USER_END - 8, 8), 8);
	refused(syscall3(SYS_write, data, USER_END - 8, 9), USER_END - 8, 9, "write");
	refused(syscall3(SYS_write, data, USER_END - 8, 4096), USER_END - 8, 4096, "write");
	syscall2(SYS_munmap, page, PAGE);
	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
}

static bool trace_is_empty(void)
{
	return has_line("trace", "# entries-in-buffer/entries-written: 0/0   #P:1") ||
	       has_line("trace", "# entries-in-buffer/entries-written: 0/0   #P:2") ||
	       has_line("trace", "# entries-in-buffer/entries-written: 0/0   #P:4");
}

static void structs(unsigned long at)
{
	struct user_reg_word r = {sizeof(r), 1, 4, 0, (uintptr_t)&word, at, 0};

	refused(syscall3(SYS_ioctl, data, DIAG_IOCSREG, at), at, 0, "a registration");
	refused(syscall3(SYS_ioctl, data, DIAG_IOCSUNREG, at), at, 0, "an unregistration");
	refused(syscall3(SYS_ioctl, data, DIAG_IOCSDEL, at), at, 0, "a deletion");
	refused(syscall3(SYS_ioctl, data, DIAG_IOCSREG, (long)&r), at, 0, "a definition");
}

int main(void)
{
	data = open_data();
	record[0] = reg_word(data, "kernel_address u32 a", &word, 4, 0, 0);
	CHECK_EQ(put_text("events/user_events/kernel_address/enable", 0, "1"), 0);
	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	write_over_the_end();
	for (unsigned i = 0; i < sizeof(kernel_places) / sizeof(*kernel_places); i++) {
		for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
			write_from(kernel_places[i], sizes[k]);
		structs(kernel_places[i]);
	}
	CHECK(trace_is_empty());
	address_comes_first(record[0]);
	address_comes_first(record[0] + 1000);
	CHECK_EQ(put_text("events/user_events/kernel_address/enable", 0, "0"), 0);
	address_comes_first(record[0]);
	CHECK_EQ(unreg(data, &word, 0), 0);
	syscall1(SYS_close, data);
	return check_failures != 0;
}
