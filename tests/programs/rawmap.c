/*
 * trace_pipe_raw mapped by a program: the valid ranges and flags, the contents of the pages,
 * several mappings of several files, the operations refused meanwhile, and that nothing is left of
 * it after munmap, close, fork and exit; and every event once while all CPUs write.
 */
#include "kernel/abi/trace_mmap.h"
#include "tests/programs/raw.h"

#define TRACING	     "/sys/kernel/tracing/"
#define RAW	     TRACING "per_cpu/cpu0/trace_pipe_raw"
#define BUSY	     (-16)
#define SPIPE	     (-29)
#define O_NONBLOCK_L 04000
#define GET	     TRACE_MMAP_IOCTL_GET_READER
#define STAMP	     0x77617277 /* the id of our raw records */
#define WRITERS	     4
#define EACH	     3000

struct page {
	uint64_t time, commit;
	uint8_t data[PAGE - 16];
};

struct raw_record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint32_t id, seq, writer;
} __attribute__((packed));

static long open_file(const char *path, int flags)
{
	return syscall3(SYS_open, (long)path, flags, 0);
}

/* What `echo -n text > path` returns. */
static long put(const char *path, const char *text)
{
	long fd = open_file(path, 1 | 01000), r;

	if (fd < 0)
		return fd;
	r = syscall3(SYS_write, fd, (long)text, strlen(text));
	syscall1(SYS_close, fd);
	return r < 0 ? r : 0;
}

static long map(long fd, unsigned long first, unsigned long pages, int prot, int flags)
{
	return syscall6(SYS_mmap, 0, pages * PAGE, prot, flags, fd, first * PAGE);
}

static long unmap(long at, unsigned long pages)
{
	return syscall2(SYS_munmap, at, pages * PAGE);
}

static void stay_on(unsigned cpu)
{
	unsigned long mask = 1UL << cpu;

	CHECK_EQ(syscall3(SYS_sched_setaffinity, 0, sizeof(mask), (long)&mask), 0);
}

static unsigned cpu_count(void)
{
	unsigned long mask = 0;

	syscall3(SYS_sched_getaffinity, 0, sizeof(mask), (long)&mask);
	return __builtin_popcountl(mask);
}

static void write_records(uint32_t writer, uint32_t from, uint32_t n)
{
	long fd = open_file(TRACING "trace_marker_raw", 1);

	for (uint32_t i = from; i < from + n; i++) {
		uint32_t text[] = {STAMP, i, writer};
		CHECK_EQ(syscall3(SYS_write, fd, (long)text, sizeof(text)), sizeof(text));
	}
	syscall1(SYS_close, fd);
}

static void fresh(void)
{
	CHECK_EQ(put(TRACING "set_event", ""), 0);
	CHECK_EQ(put(TRACING "tracing_on", "1"), 0);
	CHECK_EQ(put(TRACING "buffer_percent", "50"), 0);
	CHECK_EQ(put(TRACING "buffer_size_kb", "64"), 0);
	CHECK_EQ(put(TRACING "trace", ""), 0);
}

/* ---- one CPU's buffer, mapped whole ---- */

struct mapping {
	long fd, at;
	unsigned long pages;
	const volatile struct trace_buffer_meta *meta;
};

static struct mapping map_all(const char *path, int flags)
{
	struct mapping m = {.fd = open_file(path, flags)};
	long meta = map(m.fd, 0, 1, P_READ, M_SHARED);

	CHECK(meta > 0);
	if (meta <= 0)
		exit_now(99);
	m.pages = 1 + ((const struct trace_buffer_meta *)meta)->nr_subbufs;
	CHECK_EQ(unmap(meta, 1), 0);
	m.at = map(m.fd, 0, m.pages, P_READ, M_SHARED);
	CHECK(m.at > 0);
	if (m.at <= 0)
		exit_now(99);
	m.meta = (void *)m.at;
	return m;
}

static void unmap_all(struct mapping *m)
{
	CHECK_EQ(unmap(m->at, m->pages), 0);
	CHECK_EQ(syscall1(SYS_close, m->fd), 0);
}

static const struct page *reader_page(const struct mapping *m)
{
	return (void *)(m->at + (1 + (unsigned long)m->meta->reader.id) * PAGE);
}

static const struct page *next_page(const struct mapping *m)
{
	CHECK_EQ(syscall3(SYS_ioctl, m->fd, GET, 0), 0);
	CHECK(m->meta->reader.id < m->meta->nr_subbufs);
	return reader_page(m);
}

/* The records in a page that write_records() made: fn for each. */
static void each_record(const struct page *page, void (*fn)(const struct raw_record *r))
{
	unsigned size = page->commit & 0xfffff;

	CHECK(size <= sizeof(page->data));
	for (unsigned at = 0; at < size && size <= sizeof(page->data);) {
		const uint32_t *w = (void *)(page->data + at);
		unsigned type = *w & 3, len = *w >> 2 & 7;

		if (type == 3 && ((const struct raw_record *)(w + 1))->id == STAMP)
			fn((void *)(w + 1));
		at += type == 1		 ? 8
		      : type == 2	 ? 12
		      : type == 3 && len ? 4 + len * 4
		      : type == 3	 ? 8 + w[1]
					 : 4 + w[1];
	}
}

static uint32_t expected[WRITERS], wrong;

static void in_order(const struct raw_record *r)
{
	if (r->writer >= WRITERS || r->seq != expected[r->writer])
		wrong++;
	else
		expected[r->writer]++;
}

static void expect_from_zero(void)
{
	memset(expected, 0, sizeof(expected));
	wrong = 0;
}

/* ---- what may be mapped ---- */

static void bounds(void)
{
	long fd = open_file(RAW, O_NONBLOCK_L), at;
	unsigned long n;

	CHECK_EQ(syscall3(SYS_ioctl, fd, GET, 0), NODEV); /* nobody maps it */
	at = map(fd, 0, 1, P_READ, M_SHARED);
	CHECK(at > 0);
	n = 1 + ((const struct trace_buffer_meta *)at)->nr_subbufs;
	CHECK_EQ(unmap(at, 1), 0);
	CHECK_EQ(map(fd, 0, 0, P_READ, M_SHARED), INVAL);
	CHECK_EQ(map(fd, 0, n + 1, P_READ, M_SHARED), INVAL);
	CHECK_EQ(map(fd, 1, n, P_READ, M_SHARED), INVAL);
	CHECK_EQ(map(fd, n, 1, P_READ, M_SHARED), INVAL);
	CHECK_EQ(map(fd, n - 1, 2, P_READ, M_SHARED), INVAL);
	CHECK_EQ(map(fd, 1UL << 51, 1, P_READ, M_SHARED), INVAL);
	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ, M_SHARED, fd, 100), INVAL);
	static const unsigned long good[][2] = {{0, 2}, {1, 1}, {3, 2}};
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		at = map(fd, good[i][0], good[i][1], P_READ, M_SHARED);
		CHECK(at > 0);
		CHECK_EQ(unmap(at, good[i][1]), 0);
	}
	at = map(fd, n - 1, 1, P_READ, M_SHARED);
	CHECK(at > 0);
	CHECK_EQ(unmap(at, 1), 0);
	at = map(fd, 1, n - 1, P_READ, M_SHARED);
	CHECK(at > 0);
	CHECK_EQ(unmap(at, n - 1), 0);
	at = syscall6(SYS_mmap, 0, PAGE - 1, P_READ, M_SHARED, fd, 0); /* a part is a page */
	CHECK(at > 0);
	CHECK_EQ(unmap(at, 1), 0);
	CHECK_EQ(syscall3(SYS_ioctl, fd, GET, 0), NODEV);
	CHECK_EQ(syscall3(SYS_ioctl, fd, 0, 0), 0);
	CHECK_EQ(syscall3(SYS_ioctl, fd, GET + 1, 0), NOTTY);
	syscall1(SYS_close, fd);
}

static void protections(void)
{
	long fd = open_file(RAW, O_NONBLOCK_L), both = open_file(RAW, O_NONBLOCK_L | 2), at;

	CHECK_EQ(map(fd, 0, 1, P_READ | P_WRITE, M_SHARED), ACCES);
	CHECK_EQ(map(both, 0, 1, P_READ | P_WRITE, M_SHARED), PERM);
	CHECK_EQ(map(fd, 0, 1, P_READ | P_EXEC, M_SHARED), PERM);
	CHECK_EQ(map(fd, 0, 1, P_READ, M_PRIVATE), PERM);
	CHECK_EQ(map(fd, 0, 1, P_READ | P_WRITE, M_PRIVATE), PERM);
	at = map(both, 0, 2, P_READ, M_SHARED);
	CHECK(at > 0);
	CHECK_EQ(syscall3(SYS_mprotect, at, PAGE, P_READ | P_WRITE), ACCES);
	CHECK_EQ(syscall3(SYS_mprotect, at, PAGE, P_READ | P_EXEC), ACCES);
	CHECK_EQ(syscall3(SYS_mprotect, at, PAGE, 0), 0);
	CHECK_EQ(syscall3(SYS_mprotect, at, PAGE, P_READ), 0);
	CHECK_EQ(((const struct trace_buffer_meta *)at)->subbuf_size, PAGE);
	CHECK_EQ(unmap(at, 2), 0);
	syscall1(SYS_close, fd);
	syscall1(SYS_close, both);
	fd = open_file(TRACING "trace", 0);
	CHECK_EQ(map(fd, 0, 1, P_READ, M_SHARED), NODEV);
	CHECK_EQ(map(fd, 0, 1, P_READ, M_PRIVATE), NODEV);
	syscall1(SYS_close, fd);
}

static struct mapping mine;

static void write_meta(void)
{
	*(volatile char *)mine.at = 1;
}

static void write_data(void)
{
	*(volatile char *)(mine.at + PAGE) = 1;
}

static void run_data(void)
{
	((void (*)(void))(mine.at + PAGE))();
}

static void read_into_meta(void)
{
	long ends[1];

	CHECK_EQ(syscall1(SYS_pipe, (long)ends), 0);
	CHECK_EQ(syscall1(SYS_pipe, mine.at), FAULT);
}

/* The mapping of each child is its own, for it has none of its parent's. */
static void map_and(void (*fn)(void))
{
	mine = map_all(RAW, O_NONBLOCK_L);
	fn();
}

static void try_write_meta(void)
{
	map_and(write_meta);
}

static void try_write_data(void)
{
	map_and(write_data);
}

static void try_run(void)
{
	map_and(run_data);
}

static void try_system_call(void)
{
	map_and(read_into_meta);
}

static void faults(void)
{
	CHECK_EQ(in_child(try_write_meta) & 0x7f, L_SEGV);
	CHECK_EQ(in_child(try_write_data) & 0x7f, L_SEGV);
	CHECK_EQ(in_child(try_run) & 0x7f, L_SEGV);
	CHECK_EQ(in_child(try_system_call), 0);
}

/* ---- what it shows ---- */

static void records(void)
{
	fresh();
	struct mapping m = map_all(RAW, O_NONBLOCK_L), other = map_all(RAW, O_NONBLOCK_L);

	expect_from_zero();
	CHECK_EQ(m.meta->entries, 0);
	CHECK_EQ(next_page(&m)->commit, 0);
	write_records(0, 0, 10);
	const struct page *page = next_page(&m);
	CHECK_EQ(page->commit, 10 * (4 + 20));
	each_record(page, in_order);
	CHECK_EQ(m.meta->entries, 10);
	CHECK_EQ(m.meta->read, 10);
	/*
	 * The same pages by the other file's mapping; each of the two takes what the other has not.
	 */
	CHECK_EQ(other.meta->reader.id, m.meta->reader.id);
	CHECK(memcmp(reader_page(&other), page, PAGE) == 0);
	write_records(0, 10, 500);
	/* What is given a second time is looked at once. */
	for (unsigned i = 0; expected[0] < 510 && i < 10; i++)
		each_record(next_page(i % 2 ? &m : &other), in_order);
	CHECK_EQ(expected[0], 510);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(m.meta->overrun, 0);
	unmap_all(&other);
	write_records(0, 510, 1);
	each_record(next_page(&m), in_order);
	CHECK_EQ(expected[0], 511);
	unmap_all(&m);
}

/* Read and mapped at once: read() copies. */
static void reads(void)
{
	static struct page copy;

	fresh();
	struct mapping m = map_all(RAW, O_NONBLOCK_L);
	expect_from_zero();
	write_records(0, 0, 400);
	CHECK_EQ(syscall3(SYS_read, m.fd, (long)&copy, PAGE), PAGE);
	each_record(&copy, in_order);
	while (expected[0] < 400 && !wrong)
		each_record(next_page(&m), in_order);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(syscall3(SYS_read, m.fd, (long)&copy, PAGE), AGAIN);
	unmap_all(&m);
}

/* ---- how long it lasts ---- */

static long resize(const char *kb)
{
	return put(TRACING "buffer_size_kb", kb);
}

static void refused_meanwhile(void)
{
	fresh();
	struct mapping m = map_all(RAW, O_NONBLOCK_L);
	CHECK_EQ(resize("100"), BUSY);
	CHECK_EQ(put(TRACING "per_cpu/cpu0/buffer_size_kb", "100"), BUSY);
	CHECK_EQ(put(TRACING "snapshot", "1"), BUSY);
	CHECK_EQ(put(TRACING "trace", ""), 0);
	CHECK_EQ(syscall1(SYS_close, m.fd), 0); /* the mapping holds the file */
	CHECK_EQ(resize("100"), BUSY);
	CHECK_EQ(m.meta->nr_subbufs, m.pages - 1);
	/* In pieces: as long as one is left. */
	CHECK_EQ(unmap(m.at + PAGE, 2), 0);
	CHECK_EQ(m.meta->nr_subbufs, m.pages - 1);
	CHECK_EQ(resize("100"), BUSY);
	CHECK_EQ(unmap(m.at, 1), 0);
	CHECK_EQ(resize("100"), BUSY);
	CHECK_EQ(unmap(m.at, m.pages), 0);
	CHECK_EQ(resize("100"), 0);
	CHECK_EQ(resize("64"), 0);
	/* Mapped over. */
	m = map_all(RAW, O_NONBLOCK_L);
	CHECK_EQ(
	    syscall6(SYS_mmap, m.at, m.pages * PAGE, P_READ, M_PRIVATE | M_ANON | M_FIXED, -1, 0),
	    m.at);
	CHECK_EQ(syscall1(SYS_close, m.fd), 0);
	CHECK_EQ(resize("100"), 0);
	CHECK_EQ(unmap(m.at, m.pages), 0);
}

static void look_at_it(void)
{
	exit_now(((const struct trace_buffer_meta *)mine.at)->subbuf_size == PAGE);
}

static void map_and_end(void)
{
	map_all(RAW, O_NONBLOCK_L);
	map_all(RAW, O_NONBLOCK_L);
	CHECK_EQ(resize("100"), BUSY);
}

static void map_and_be_killed(void)
{
	map_all(RAW, O_NONBLOCK_L);
	syscall2(SYS_kill, syscall0(SYS_getpid), L_KILL);
}

static void map_and_exec(void)
{
	const char *argv[] = {"/bin/true", NULL};

	map_all(RAW, O_NONBLOCK_L);
	syscall3(SYS_execve, (long)argv[0], (long)argv, 0);
}

static void children(void)
{
	fresh();
	mine = map_all(RAW, O_NONBLOCK_L);
	CHECK_EQ(in_child(look_at_it) & 0x7f, L_SEGV); /* not inherited */
	CHECK_EQ(mine.meta->subbuf_size, PAGE);
	unmap_all(&mine);
	CHECK_EQ(in_child(map_and_end), 0);
	CHECK_EQ(in_child(map_and_be_killed) & 0x7f, L_KILL);
	CHECK_EQ(in_child(map_and_exec), 0);
	CHECK_EQ(resize("100"), 0);
	CHECK_EQ(resize("64"), 0);
}

/* ---- waiting ---- */

/*
 * A call that waits returns when the buffer is filled so far, when recording is switched off, and
 * on a signal.
 */
static void fill_slowly(void)
{
	sleep_ms(20);
	stay_on(0);
	write_records(0, 0, 2000);
}

static void switch_off(void)
{
	sleep_ms(20);
	CHECK_EQ(put(TRACING "tracing_on", "0"), 0);
}

static void start(void (*fn)(void))
{
	fflush(stdout);
	if (syscall0(SYS_fork) == 0) {
		fn();
		fflush(stdout);
		exit_now(check_failures ? 99 : 0);
	}
}

static void nothing(int sig)
{
	(void)sig;
}

static void waiting(void)
{
	fresh();
	struct mapping m = map_all(RAW, 0);
	unsigned long half = (m.pages - 3) / 2;
	struct abi_itimerval often = {{0, 20000}, {0, 20000}}, never = {0};

	start(fill_slowly);
	CHECK_EQ(syscall3(SYS_ioctl, m.fd, GET, 0), 0);
	CHECK(m.meta->entries + 256 >=
	      half * (sizeof(reader_page(&m)->data) / 24)); /* when it returned */
	CHECK_EQ(wait_for(-1), 0);
	CHECK_EQ(put(TRACING "trace", ""), 0);
	start(switch_off);
	CHECK_EQ(syscall3(SYS_ioctl, m.fd, GET, 0), 0);
	CHECK_EQ(m.meta->entries, 0);
	CHECK_EQ(wait_for(-1), 0);
	CHECK_EQ(put(TRACING "tracing_on", "1"), 0);
	set_handler(L_ALRM, (void *)nothing, 0);
	syscall3(SYS_setitimer, 0, (long)&often, 0); /* one comes while the call waits */
	CHECK_EQ(syscall3(SYS_ioctl, m.fd, GET, 0), INTR);
	syscall3(SYS_setitimer, 0, (long)&never, 0);
	CHECK_EQ(put(TRACING "buffer_percent", "0"), 0);
	write_records(0, 0, 1);
	CHECK_EQ(syscall3(SYS_ioctl, m.fd, GET, 0), 0);
	CHECK_EQ(m.meta->read, 1);
	CHECK_EQ(put(TRACING "buffer_percent", "50"), 0);
	unmap_all(&m);
}

/* ---- all CPUs write ---- */

static uint32_t this_writer;

static void write_many(void)
{
	stay_on(this_writer % cpu_count());
	write_records(this_writer, 0, EACH);
}

/* In one mapping for each CPU, every record of every writer is found once, in its order. */
static void conservation(void)
{
	static struct mapping m[WRITERS];
	unsigned cpus = cpu_count(), left = WRITERS;
	uint64_t read = 0;

	if (cpus > WRITERS)
		cpus = WRITERS;
	fresh();
	CHECK_EQ(resize("2000"), 0);
	expect_from_zero();
	for (unsigned i = 0; i < cpus; i++) {
		char path[80];
		snprintf(path, sizeof(path), TRACING "per_cpu/cpu%u/trace_pipe_raw", i);
		m[i] = map_all(path, O_NONBLOCK_L);
	}
	for (this_writer = 0; this_writer < WRITERS; this_writer++)
		start(write_many);
	for (unsigned last = 0; last < 2;) {
		int status = 0;
		if (left && syscall4(SYS_wait4, -1, (long)&status, ABI_WNOHANG, 0) > 0)
			left--;
		CHECK_EQ(status, 0);
		last = left ? 0 : last + 1;
		for (unsigned i = 0; i < cpus; i++)
			for (uint64_t before = ~0UL; before != m[i].meta->read;) {
				before = m[i].meta->read;
				const struct page *page = next_page(&m[i]);
				if (m[i].meta->read != before)
					each_record(page, in_order);
			}
	}
	for (unsigned i = 0; i < cpus; i++) {
		CHECK_EQ(m[i].meta->overrun, 0);
		CHECK_EQ(m[i].meta->read, m[i].meta->entries);
		read += m[i].meta->read;
		unmap_all(&m[i]);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		CHECK_EQ(expected[i], EACH);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(read, WRITERS * EACH);
}

int main(void)
{
	unsigned long all = ~0UL;

	fresh();
	stay_on(0);
	bounds();
	protections();
	faults();
	records();
	reads();
	refused_meanwhile();
	children();
	waiting();
	syscall3(SYS_sched_setaffinity, 0, sizeof(all), (long)&all);
	conservation();
	fresh();
	return check_failures != 0;
}
