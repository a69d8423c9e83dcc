/* The cost of calls on files for a program: devices, files of the tracer, directories. */
#include "kernel/abi/user_events.h"
#include "tests/programs/bench.h"

#include <sys/ioctl.h>
#include <sys/stat.h>

#define BUFFER	 65536
#define ENABLE	 TRACING "events/sched/sched_switch/enable"
#define FEW	 100
#define MANY	 10000
#define ONE_PASS 5 /* rounds of what is measured as a whole */

enum { READ = 0, WRITE = 1, STAT = 4, PREAD = 17, PWRITE = 18, GETDENTS64 = 217 };

static int fd;
static char buffer[BUFFER];
static struct stat st;

static inline long call4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline void write_1(void)
{
	call3(WRITE, fd, (long)buffer, 1);
}

static inline void write_64k(void)
{
	call3(WRITE, fd, (long)buffer, BUFFER);
}

static inline void read_1(void)
{
	call3(READ, fd, (long)buffer, 1);
}

static inline void pread_2(void)
{
	call4(PREAD, fd, (long)buffer, 2, 0);
}

static inline void pwrite_1(void)
{
	call4(PWRITE, fd, (long)"1", 1, 0);
}

static inline void stat_enable(void)
{
	call3(STAT, (long)ENABLE, (long)&st, 0);
}

static inline void open_close(void)
{
	close(open(ENABLE, O_RDONLY));
}

static inline void write_mark(void)
{
	call3(WRITE, fd, (long)"fifteen letters\n", 16);
}

/* The body is inlined in its loop. */
#define ON_FILE(row, path, flags, body)                                                            \
	do {                                                                                       \
		fd = open(path, flags);                                                            \
		must(fd >= 0, path);                                                               \
		report("file." row, median(body), base);                                           \
		close(fd);                                                                         \
	} while (0)

/* Ticks of the median of a few passes, as if it were one of a loop. */
static void report_one(const char *row, void (*body)(void), unsigned per)
{
	unsigned long v[ONE_PASS];

	body();
	for (int r = 0; r < ONE_PASS; r++) {
		unsigned long start = ticks();
		body();
		v[r] = ticks() - start;
	}
	qsort(v, ONE_PASS, sizeof(v[0]), by_value);
	report(row, v[ONE_PASS / 2] * N / per, 0);
}

static const char *path;

static void read_whole(void)
{
	int f = open(path, O_RDONLY);

	must(f >= 0, path);
	while (read(f, buffer, sizeof(buffer)) > 0)
		;
	close(f);
}

static void read_directory(void)
{
	int f = open(path, O_RDONLY);

	must(f >= 0, path);
	while (call3(GETDENTS64, f, (long)buffer, sizeof(buffer)) > 0)
		;
	close(f);
}

static struct user_reg_bit reg = {
    .size = sizeof(reg), .name_args = (uintptr_t) "bench_known u32 a"};

static inline void register_known(void)
{
	ioctl(fd, DIAG_IOCSREG, &reg);
}

static void make_files(unsigned from, unsigned to)
{
	char name[64];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), "/tmp/bench/%u", i);
		close(open(name, O_CREAT | O_WRONLY, 0600));
	}
}

static void directories(void)
{
	path = "/tmp/bench";
	mkdir(path, 0700);
	make_files(0, FEW);
	report_one("file.readdir_entry.100", read_directory, FEW);
	unsigned long start = ticks();
	make_files(FEW, MANY);
	report("file.create.10000", (ticks() - start) * N / (MANY - FEW), 0);
	report_one("file.readdir_entry.10000", read_directory, MANY);
}

int main(void)
{
	unsigned long base = median(nothing);

	ON_FILE("null.write1", "/dev/null", O_WRONLY, write_1);
	ON_FILE("null.write64k", "/dev/null", O_WRONLY, write_64k);
	ON_FILE("zero.read1", "/dev/zero", O_RDONLY, read_1);
	ON_FILE("tracing_on.pread", TRACING "tracing_on", O_RDONLY, pread_2);
	ON_FILE("tracing_on.pwrite", TRACING "tracing_on", O_WRONLY, pwrite_1);
	report("file.enable.stat", median(stat_enable), base);
	report("file.enable.open_close", median(open_close), base);
	put(TRACING "tracing_on", "0");
	ON_FILE("marker.off", TRACING "trace_marker", O_WRONLY, write_mark);
	put(TRACING "tracing_on", "1");
	ON_FILE("user_event.known", TRACING "user_events_data", O_RDWR, register_known);
	path = TRACING "user_events_status";
	report_one("file.user_events_status.read", read_whole, 1);
	path = TRACING "set_event_pid";
	report_one("file.set_event_pid.read", read_whole, 1);
	directories();
	return 0;
}
