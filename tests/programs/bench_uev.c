/*
 * The cost of user events for a program: checking whether an event is enabled, in both forms of the
 * interface, and writing: 4 bytes, 16 as a vector, and to a disabled event.
 */
#include "kernel/abi/user_events.h"
#include "tests/programs/bench.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

static int data;
static const volatile unsigned char *status_byte;
static unsigned char status_mask;
static volatile uint32_t word;

static struct {
	int index;
	int payload;
} event;
static int index16;
static struct {
	int a, b, c, d;
} payload = {1, 2, 3, 4};
static struct iovec vec[2] = {{&index16, sizeof(index16)}, {&payload, sizeof(payload)}};

static inline void check_bit(void)
{
	if (*status_byte & status_mask)
		call3(39, 0, 0, 0);
}

static inline void check_word(void)
{
	if (word)
		call3(39, 0, 0, 0);
}

static inline void write4(void)
{
	call3(1, data, (long)&event, sizeof(event));
}

static inline void writev16(void)
{
	call3(20, data, (long)vec, 2);
}

static void register_events(const unsigned char *status)
{
	static const char *const text[] = {"bench4 int a", "bench16 int a; int b; int c; int d"};
	struct user_reg_bit reg = {.size = sizeof(reg), .name_args = (uintptr_t)text[0]};
	struct user_reg_word reg_word = {.size = sizeof(reg_word), .enable_size = sizeof(word)};

	must(!ioctl(data, DIAG_IOCSREG, &reg), "register");
	status_byte = status + reg.status_bit / 8;
	status_mask = 1 << reg.status_bit % 8;
	event.index = reg.write_index;
	reg_word.enable_addr = (uintptr_t)&word;
	reg_word.name_args = (uintptr_t)text[1];
	must(!ioctl(data, DIAG_IOCSREG, &reg_word), "register");
	index16 = reg_word.write_index;
}

int main(void)
{
	unsigned long base = median(nothing);
	void *page;
	int fd = open(TRACING "user_events_status", O_RDWR);

	data = open(TRACING "user_events_data", O_RDWR);
	must(fd >= 0 && data >= 0, "open");
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	must(page != MAP_FAILED, "mmap");
	register_events(page);
	report("ue.check_bit", median(check_bit), base);
	report("ue.check_word", median(check_word), base);
	report("ue.write4_off", median(write4), base);
	put(TRACING "events/user_events/bench4/enable", "1");
	put(TRACING "events/user_events/bench16/enable", "1");
	must(*status_byte & status_mask && word == 1, "the bits");
	report("ue.write4", median(write4), base);
	report("ue.writev16", median(writev16), base);
	put(TRACING "events/user_events/bench4/enable", "0");
	put(TRACING "events/user_events/bench16/enable", "0");
	put(TRACING "trace", " ");
	return 0;
}
