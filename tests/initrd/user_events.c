/*
 * A program for Linux, built with `gcc -static` against glibc from nothing but the user_events
 * document and its successor, and brought in by -initrd: once for the interface of Linux 6.1, once
 * (-DENABLE_WORD) for that of 6.4. The listings of the document stand here as they are there.
 */
#include <asm/bitsperlong.h>
#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRACING "/sys/kernel/debug/tracing/"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#pragma pack(push, 1)
#ifndef ENABLE_WORD
struct user_reg {
	u32 size;
	u64 name_args;
	u32 status_bit;
	u32 write_index;
};
#else
struct user_reg {
	u32 size;
	u8 enable_bit;
	u8 enable_size;
	u16 flags;
	u64 enable_addr;
	u64 name_args;
	u32 write_index;
};
struct user_unreg {
	u32 size;
	u8 disable_bit;
	u8 __reserved;
	u16 __reserved2;
	u64 disable_addr;
};
#define DIAG_IOCSUNREG _IOW('*', 2, struct user_unreg *)
#endif
#pragma pack(pop)

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg *)
#define DIAG_IOCSDEL _IOW('*', 1, char *)

struct payload {
	int src;
	int dst;
	int flags;
};

struct mytype {
	char data[20];
};

static int failures;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);                        \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static void enable(const char *event, const char *how)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "events/user_events/%s/enable", event);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && write(fd, how, 1) == 1);
	close(fd);
}

/* How often the text stands in the file. */
static int count(const char *file, const char *text)
{
	static char all[1 << 20];
	int fd = open(file, O_RDONLY), n = 0;
	ssize_t got, used = 0;

	while ((got = read(fd, all + used, sizeof(all) - 1 - used)) > 0)
		used += got;
	close(fd);
	all[used] = '\0';
	for (const char *p = all; (p = strstr(p, text)); p++)
		n++;
	return n;
}

#ifndef ENABLE_WORD
static char *page;

static int is_enabled_by_byte(int status_bit)
{
	int index, mask;
	char *status_page;

	index = status_bit / 8;
	mask = 1 << (status_bit % 8);

	status_page = page;

	if (status_page[index] & mask) {
		/* Enabled */
		return 1;
	}
	return 0;
}

#if __BITS_PER_LONG == 64
#define endian_swap(x) htole64(x)
#else
#define endian_swap(x) htole32(x)
#endif

static int is_enabled_by_long(int status_bit)
{
	long index, mask, *status_page;

	index = status_bit / __BITS_PER_LONG;
	mask = 1L << (status_bit % __BITS_PER_LONG);
	mask = endian_swap(mask);

	status_page = (long *)page;

	if (status_page[index] & mask) {
		/* Enabled */
		return 1;
	}
	return 0;
}

static int do_register(int fd, const char *command, struct user_reg *reg)
{
	memset(reg, 0, sizeof(*reg));
	reg->size = sizeof(*reg);
	reg->name_args = (u64)(uintptr_t)command;
	return ioctl(fd, DIAG_IOCSREG, reg);
}

static int is_enabled(const struct user_reg *reg)
{
	int by_byte = is_enabled_by_byte(reg->status_bit);

	CHECK(by_byte == is_enabled_by_long(reg->status_bit));
	return by_byte;
}

static void map_status(void)
{
	int fd = open(TRACING "user_events_status", O_RDWR);

	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	close(fd);
}

static void done_with(int fd, const struct user_reg *reg, const char *name)
{
	int other = open(TRACING "user_events_data", O_RDWR);

	CHECK(reg->status_bit != 0);
	CHECK(ioctl(other, DIAG_IOCSDEL, name) == -1);
	close(fd);
	CHECK(ioctl(other, DIAG_IOCSDEL, "payload") == 0);
	CHECK(ioctl(other, DIAG_IOCSDEL, "withstruct") == 0);
	CHECK(ioctl(other, DIAG_IOCSDEL, name) == 0);
	close(other);
}
#else
static u32 words[3];
static int used;

static void map_status(void)
{
}

static int do_register(int fd, const char *command, struct user_reg *reg)
{
	memset(reg, 0, sizeof(*reg));
	reg->size = sizeof(*reg);
	reg->enable_bit = 31;
	reg->enable_size = sizeof(words[0]);
	reg->enable_addr = (u64)(uintptr_t)&words[used++];
	reg->name_args = (u64)(uintptr_t)command;
	return ioctl(fd, DIAG_IOCSREG, reg);
}

static int is_enabled(const struct user_reg *reg)
{
	return *(volatile u32 *)(uintptr_t)reg->enable_addr >> 31;
}

static void done_with(int fd, const struct user_reg *reg, const char *name)
{
	struct user_unreg unreg = {.size = sizeof(unreg), .disable_bit = 31};

	(void)reg, (void)name;
	for (int i = 0; i < used; i++) {
		unreg.disable_addr = (u64)(uintptr_t)&words[i];
		CHECK(ioctl(fd, DIAG_IOCSUNREG, &unreg) == 0);
	}
	close(fd);
	CHECK(count(TRACING "dynamic_events", "u:") == 0);
}
#endif

int main(void)
{
	struct user_reg test, payload, withstruct;
	struct mytype mine = {"nineteen characters"};
	struct iovec io[2];
	struct payload e = {1, 2, 3};
	int fd = open(TRACING "user_events_data", O_RDWR), pair[2] = {0, 5};
	u32 write_index;

	CHECK(fd >= 0);
	CHECK(close(open(TRACING "trace", O_WRONLY | O_TRUNC)) ==
	      0); /* of the program of the other ABI: the same events */
	map_status();
	CHECK(do_register(fd, "test int count", &test) == 0);
	CHECK(do_register(fd, "payload int src; int dst; int flags", &payload) == 0);
	CHECK(do_register(fd, "withstruct struct mytype myname 20", &withstruct) == 0);
	CHECK(count(TRACING "dynamic_events", "u:withstruct struct mytype myname 20\n") == 1);
	CHECK(!is_enabled(&test) && !is_enabled(&payload));
	enable("test", "1");
	CHECK(is_enabled(&test) && !is_enabled(&payload));
	CHECK(count(TRACING "user_events_status", ":test # Used by ftrace\n") == 1);
	CHECK(count(TRACING "user_events_status", "\n\nActive: 3\nBusy: 1\nMax: 32768\n") == 1);
	pair[0] = test.write_index;
	CHECK(write(fd, pair, sizeof(pair)) == sizeof(pair));
	enable("payload", "1");
	write_index = payload.write_index;

	io[0].iov_base = &write_index;
	io[0].iov_len = sizeof(write_index);
	io[1].iov_base = &e;
	io[1].iov_len = sizeof(e);

	CHECK(writev(fd, (const struct iovec *)io, 2) == sizeof(write_index) + sizeof(e));
	enable("withstruct", "1");
	write_index = withstruct.write_index;
	io[1].iov_base = &mine;
	io[1].iov_len = sizeof(mine);
	CHECK(writev(fd, (const struct iovec *)io, 2) == sizeof(write_index) + sizeof(mine));
	CHECK(count(TRACING "trace", ": test: count=5\n") == 1);
	CHECK(count(TRACING "trace", ": payload: src=1 dst=2 flags=3\n") == 1);
	CHECK(count(TRACING "trace", ": withstruct: myname={0x6e,0x69,0x6e,") == 1);
	enable("test", "0");
	enable("payload", "0");
	enable("withstruct", "0");
	CHECK(!is_enabled(&test) && !is_enabled(&payload) && !is_enabled(&withstruct));
	done_with(fd, &test, "test");
	return failures != 0;
}
