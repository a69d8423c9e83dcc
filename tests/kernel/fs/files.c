/* Open files: contents, positions, flags, descriptors, unlinked files, devices, /proc, archives. */
#include "kernel/base/printk.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/unpack.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "tests/kernel/objects.h"

static struct file *must_open(const char *path, u32 flags)
{
	struct file *f = NULL;
	int r = file_open(path, flags, 0644, &f);

	if (r)
		ktap_fail(__FILE__, __LINE__, "open %s: %d", path, r);
	return f;
}

/* What the file holds, as a string in a buffer of this function's own. */
static const char *contents(const char *path)
{
	static char buf[256];
	struct file *f = must_open(path, O_RDONLY);
	ssize n = f ? kernel_read(f, buf, sizeof(buf) - 1) : -1;

	buf[n > 0 ? n : 0] = '\0';
	file_put(f);
	return buf;
}

static void put(const char *path, u32 flags, const char *text)
{
	struct file *f = must_open(path, flags);

	EXPECT_EQ(kernel_write(f, text, strlen(text)), strlen(text));
	file_put(f);
}

static void write_modes(void)
{
	struct file *a, *b;
	char c;

	put("/tmp/f", O_WRONLY | O_CREAT, "0123456789");
	put("/tmp/f", O_WRONLY, "ab");
	EXPECT_STR(contents("/tmp/f"), "ab23456789");
	put("/tmp/f", O_WRONLY | O_APPEND, "+");
	EXPECT_STR(contents("/tmp/f"), "ab23456789+");
	put("/tmp/f", O_WRONLY | O_TRUNC, "new");
	EXPECT_STR(contents("/tmp/f"), "new");
	/* two that append write one after the other, wherever their positions are */
	a = must_open("/tmp/f", O_RDWR | O_APPEND);
	b = must_open("/tmp/f", O_RDWR | O_APPEND);
	EXPECT_EQ(kernel_write(a, "1", 1), 1);
	EXPECT_EQ(kernel_write(b, "2", 1), 1);
	EXPECT_EQ(vfs_seek(a, 0, 0), 0);
	EXPECT_EQ(kernel_write(a, "3", 1), 1);
	EXPECT_EQ(vfs_seek(a, 0, 1), 6);
	EXPECT_STR(contents("/tmp/f"), "new123");
	file_put(a);
	file_put(b);
	a = must_open("/tmp/f", O_RDONLY);
	EXPECT_EQ(kernel_write(a, "x", 1), -EBADF);
	EXPECT_EQ(vfs_ftruncate(a, 0), -EINVAL);
	file_put(a);
	a = must_open("/tmp/f", O_WRONLY);
	EXPECT_EQ(kernel_read(a, &c, 1), -EBADF);
	file_put(a);
	EXPECT_EQ(vfs_unlink("/tmp/f"), 0);
}

static void positions(void)
{
	struct file *f = must_open("/tmp/f", O_RDWR | O_CREAT);
	char buf[8];

	EXPECT_EQ(kernel_write(f, "abcdef", 6), 6);
	EXPECT_EQ(vfs_seek(f, 2, 0), 2);
	EXPECT_EQ(kernel_read(f, buf, 2), 2);
	EXPECT_EQ(vfs_seek(f, -1, 1), 3);
	EXPECT_EQ(vfs_seek(f, -1, 2), 5);
	EXPECT_EQ(vfs_seek(f, -7, 2), -EINVAL);
	EXPECT_EQ(vfs_seek(f, 0, 9), -EINVAL);
	EXPECT_EQ(vfs_seek(f, 0x7fffffffffffffff, 2), -EOVERFLOW);
	EXPECT_EQ(vfs_seek(f, 0, 1), 5);
	EXPECT_EQ(vfs_pread(f, buf, 8, 4), 2);
	EXPECT_EQ(vfs_pread(f, buf, 8, -1), -EINVAL);
	EXPECT_EQ(vfs_pwrite(f, "Z", 1, 0), 1);
	EXPECT_EQ(vfs_seek(f, 0, 1), 5);
	/* after the end nothing is read; writing there leaves zeros between */
	EXPECT_EQ(vfs_seek(f, 100000, 0), 100000);
	EXPECT_EQ(kernel_read(f, buf, 8), 0);
	EXPECT_EQ(kernel_write(f, "!", 1), 1);
	EXPECT_EQ(f->vnode->size, 100001);
	EXPECT_EQ(vfs_pread(f, buf, 8, 50000), 8);
	EXPECT(memcmp(buf, "\0\0\0\0\0\0\0", 8) == 0);
	EXPECT_EQ(vfs_seek(f, 5, 3), 5);      /* SEEK_DATA */
	EXPECT_EQ(vfs_seek(f, 5, 4), 100001); /* SEEK_HOLE */
	EXPECT_EQ(vfs_seek(f, 100001, 3), -ENXIO);
	EXPECT_EQ(vfs_pwrite(f, "x", 1, 0x7fffffffffffffff), -EFBIG);
	EXPECT_EQ(vfs_ftruncate(f, 3), 0);
	EXPECT_EQ(vfs_ftruncate(f, -1), -EINVAL);
	EXPECT_EQ(vfs_truncate("/tmp", 0), -EISDIR);
	file_put(f);
	EXPECT_STR(contents("/tmp/f"), "Zbc");
	EXPECT_EQ(vfs_unlink("/tmp/f"), 0);
}

/* Addresses of a device have no end: from the start or from here, and nothing else. */
static void device_seek(void)
{
	struct file *f;

	EXPECT_EQ(file_open("/dev/mem", O_RDONLY, 0, &f), 0);
	EXPECT_EQ(vfs_seek(f, 0x1000, 0), 0x1000);
	EXPECT_EQ(vfs_seek(f, -0x1000, 1), 0);
	EXPECT_EQ(vfs_seek(f, -1, 1), -EINVAL);
	EXPECT_EQ(vfs_seek(f, -1, 0), -EINVAL);
	EXPECT_EQ(vfs_seek(f, 0, 2), -EINVAL);
	EXPECT_EQ(vfs_seek(f, 0, -1), -EINVAL);
	EXPECT_EQ(vfs_seek(f, 0x7fffffffffffffff, 0), 0x7fffffffffffffff);
	EXPECT_EQ(vfs_seek(f, 1, 1), -EOVERFLOW);
	EXPECT_EQ(vfs_seek(f, 0, 1), 0x7fffffffffffffff);
	file_put(f);
}

/* A file lives as long as it is open, and its memory goes with it. */
static void unlinked_files(void)
{
	struct file *f = must_open("/tmp/f", O_RDWR | O_CREAT), *dir;
	u64 before = page_free_count(), used;
	struct vstat st;
	char c;

	EXPECT_EQ(vfs_pwrite(f, "end", 3, 1 << 20), 3);
	used = before - page_free_count();
	EXPECT(used >= 1);
	EXPECT_EQ(vfs_unlink("/tmp/f"), 0);
	EXPECT_EQ(vfs_fstat(f, &st), 0);
	EXPECT_EQ(st.nlink, 0);
	EXPECT_EQ(st.size, (1 << 20) + 3);
	EXPECT_EQ(vfs_pread(f, &c, 1, 1 << 20), 1);
	EXPECT_EQ(c, 'e');
	file_put(f);
	EXPECT(page_free_count() + 2 >= before);
	EXPECT_EQ(vfs_mkdir("/tmp/d", 0755), 0);
	dir = must_open("/tmp/d", O_RDONLY);
	EXPECT_EQ(kernel_read(dir, &c, 1), -EISDIR);
	EXPECT_EQ(vfs_rmdir("/tmp/d"), 0);
	file_put(dir);
}

static void mask_and_modes(void)
{
	struct vstat st;
	u32 umask = fs_set_umask(027);

	file_put(must_open("/tmp/f", O_RDWR | O_CREAT));
	EXPECT_EQ(vfs_mkdir("/tmp/d", 0777), 0);
	fs_set_umask(umask);
	vfs_stat("/tmp/f", true, &st);
	EXPECT_EQ(st.mode, S_IFREG | 0640);
	EXPECT_EQ(vfs_access(&st, 6), 0);
	EXPECT_EQ(vfs_access(&st, 1), -EACCES); /* nobody may run it */
	vfs_stat("/tmp/d", true, &st);
	EXPECT_EQ(st.mode, S_IFDIR | 0750);
	EXPECT_EQ(vfs_access(&st, 7), 0);
	EXPECT_EQ(vfs_unlink("/tmp/f"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/d"), 0);
}

static unsigned releases;

static void count_release(struct file *f)
{
	(void)f;
	releases++;
}

static const struct file_ops counting = {.release = count_release};

static void descriptors(void)
{
	u64 objects = objects_in_use();
	struct files *a = files_create(), *b;
	struct file *f = file_new(&counting, O_RDWR, NULL);
	unsigned before = releases;

	EXPECT_EQ(files_install(a, file_get(f), 0, false), 0);
	EXPECT_EQ(files_install(a, file_get(f), 0, true), 1);
	EXPECT_EQ(files_install(a, file_get(f), 10, false), 10);
	EXPECT_EQ(files_install_at(a, 300, file_get(f), true), 300);
	EXPECT_EQ(files_close(a, 0), 0);
	EXPECT_EQ(files_close(a, 0), -EBADF);
	EXPECT_EQ(files_close(a, -1), -EBADF);
	EXPECT_EQ(files_close(a, FILES_MAX), -EBADF);
	EXPECT_EQ(files_install(a, file_get(f), 0, false), 0); /* the lowest again */
	EXPECT(files_get(a, 2) == NULL && files_get(a, -1) == NULL && files_get(a, 5000) == NULL);
	EXPECT_EQ(files_install_at(a, FILES_MAX, f, false), -EBADF);
	EXPECT_EQ(files_install(a, f, FILES_MAX, false), -EMFILE);
	EXPECT_EQ(files_install(a, file_get(f), FILES_MAX - 1, false), FILES_MAX - 1);
	EXPECT_EQ(files_install(a, f, FILES_MAX - 1, false), -EMFILE);
	b = files_copy(a);
	EXPECT_EQ(f->refs, 1 + 2 * 5);
	EXPECT(files_cloexec(b, 1) && files_cloexec(b, 300) && !files_cloexec(b, 0));
	files_set_cloexec(b, 0, true);
	files_close_exec(b);
	EXPECT(files_get(b, 0) == NULL && files_get(b, 1) == NULL && files_get(b, 300) == NULL);
	EXPECT_EQ(f->refs, 1 + 5 + 2);
	files_put(b);
	files_put(a);
	EXPECT_EQ(f->refs, 1);
	EXPECT_EQ(releases, before);
	file_put(f);
	EXPECT_EQ(releases, before + 1);
	EXPECT_EQ(objects_in_use(), objects);
}

static void devices(void)
{
	struct file *f = must_open("/dev/null", O_RDWR);
	char a[64], b[64];
	struct vstat st;

	EXPECT_EQ(kernel_read(f, a, 64), 0);
	EXPECT_EQ(kernel_write(f, a, 64), 64);
	EXPECT_EQ(vfs_fstat(f, &st), 0);
	EXPECT_EQ(st.mode, S_IFCHR | 0666);
	EXPECT_EQ(st.rdev, 0x103);
	file_put(f);
	f = must_open("/dev/zero", O_RDWR);
	memset(a, 1, sizeof(a));
	EXPECT_EQ(kernel_read(f, a, 64), 64);
	EXPECT(a[0] == 0 && memcmp(a, a + 1, 63) == 0);
	file_put(f);
	f = must_open("/dev/full", O_RDWR);
	EXPECT_EQ(kernel_write(f, a, 1), -ENOSPC);
	file_put(f);
	f = must_open("/dev/urandom", O_RDWR | O_TRUNC);
	EXPECT_EQ(kernel_read(f, a, 64), 64);
	EXPECT_EQ(kernel_read(f, b, 64), 64);
	EXPECT(memcmp(a, b, 64) != 0);
	file_put(f);
}

static int show_numbers(struct seq *s, void *ctx)
{
	for (unsigned i = 0; i < *(unsigned *)ctx; i++)
		seq_printf(s, "%06u\n", i);
	return 0;
}

static int store_number(char *line, size_t n, void *ctx)
{
	u32 v;
	int r = parse_u32(strstrip(line), 10, &v);

	(void)n;
	if (!r)
		*(unsigned *)ctx = v;
	return r;
}

/* Registered for good, as all of /proc: once. */
static void proc_files(void)
{
	static unsigned lines = 3000;
	static bool registered;
	static char long_line[4096];
	struct file *f;
	char buf[8] = "";

	if (!registered) {
		EXPECT_EQ(
		    proc_register("test/deep/numbers", show_numbers, store_number, &lines), 0);
		EXPECT_EQ(proc_register("test/deep/numbers", show_numbers, store_number, &lines),
		    -EEXIST);
		EXPECT_EQ(proc_register("test/fixed", show_numbers, NULL, &lines), 0);
		registered = true;
	}
	lines = 3000;
	memset(long_line, ' ', sizeof(long_line));
	long_line[0] = '5';
	f = must_open("/proc/test/deep/numbers", O_RDWR);
	EXPECT_EQ(vfs_pread(f, buf, 7, 7 * 2999), 7);
	EXPECT_STR(buf, "002999\n");
	EXPECT_EQ(vfs_pread(f, buf, 7, 7 * 3000), 0);
	EXPECT_EQ(kernel_write(f, "5\n", 2), 2);
	EXPECT_EQ(kernel_write(f, "five\n", 5), -EINVAL);
	EXPECT_EQ(kernel_write(f, long_line, 4095), 4095);
	EXPECT_EQ(kernel_write(f, long_line, 4096), -EINVAL);
	EXPECT_EQ(vfs_pread(f, buf, 7, 7 * 2999),
	    7); /* the text of the first read, until read from the start */
	EXPECT_EQ(vfs_pread(f, buf, 7, 0), 7);
	EXPECT_EQ(vfs_pread(f, buf, 7, 7 * 5), 0);
	file_put(f);
	put("/proc/test/deep/numbers", O_WRONLY | O_TRUNC, "1");
	EXPECT_STR(contents("/proc/test/deep/numbers"), "000000\n");
	f = must_open("/proc/test/fixed", O_WRONLY);
	EXPECT_EQ(kernel_write(f, "1", 1), -EIO);
	file_put(f);
	EXPECT(str_has_prefix(contents("/proc/version"), "Trapline version "));
}

/* The directories of tasks: ours is there, and says what we are. */
static void proc_tasks(void)
{
	static struct dirent d;
	struct file *f = must_open("/proc", O_RDONLY);
	char name[32], comm[32];
	bool self = false, ours = false;
	struct vstat st;

	for (u64 pos = 0; vfs_readdir(f, pos, &d) == 1; pos++) {
		fmt_snprintf(name, sizeof(name), "%d", current()->pid);
		self |= strcmp(d.name, "self") == 0;
		ours |= strcmp(d.name, name) == 0;
	}
	file_put(f);
	EXPECT(self && ours);
	fmt_snprintf(comm, sizeof(comm), "%s\n", current()->comm);
	EXPECT_STR(contents("/proc/self/comm"), comm);
	EXPECT(str_has_prefix(contents("/proc/self/status"), "Name:\t"));
	fmt_snprintf(name, sizeof(name), "/proc/%d/../self/stat", current()->pid);
	fmt_snprintf(comm, sizeof(comm), "%d (%s) R ", current()->pid, current()->comm);
	EXPECT(str_has_prefix(contents(name), comm));
	EXPECT_STR(contents("/proc/self/cmdline"), ""); /* kernel threads have no arguments */
	EXPECT_EQ(vfs_readlink("/proc/self/exe", name, sizeof(name)), -ENOENT);
	EXPECT_EQ(vfs_stat("/proc/0", true, &st), -ENOENT);
	EXPECT_EQ(vfs_stat("/proc/01", true, &st), -ENOENT);
	EXPECT_EQ(vfs_stat("/proc/99999999999", true, &st), -ENOENT);
	EXPECT_EQ(vfs_stat("/proc/self/none", true, &st), -ENOENT);
}

/* What cpio -o -H newc writes for: a/ a/file "text\n" (two names of it) link -> a/file. */
static size_t make_archive(char *out)
{
	static const struct {
		const char *name, *data;
		u32 mode, nlink, ino;
	} rows[] = {
	    {"tmp/ar", "", S_IFDIR | 0700, 2, 1},
	    {"tmp/ar/one", "", S_IFREG | 0640, 2, 2},
	    {"tmp/ar/two", "text\n", S_IFREG | 0640, 2, 2},
	    {"tmp/ar/new/deep", "d", S_IFREG | 0600, 1, 3},
	    {"tmp/ar/link", "two", S_IFLNK | 0777, 1, 4},
	    {"proc/no", "x", S_IFREG | 0600, 1, 5},
	    {"TRAILER!!!", "", 0, 1, 0},
	};
	size_t at = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 size = strlen(rows[i].data), name = strlen(rows[i].name) + 1;
		at += fmt_snprintf(out + at, 111,
		    "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", rows[i].ino,
		    rows[i].mode, 0, 0, rows[i].nlink, 0, size, 0, 0, 0, 0, name, 0);
		memcpy(out + at, rows[i].name, name);
		at = ALIGN_UP(at + name, 4);
		memcpy(out + at, rows[i].data, size);
		at = ALIGN_UP(at + size, 4);
	}
	return at;
}

static void archives(void)
{
	static char archive[2048]; /* files stay where they lie in it */
	size_t size = make_archive(archive);
	struct vstat st;
	char out[8];

	EXPECT_EQ(cpio_unpack(archive, size), 0);
	EXPECT_EQ(vfs_stat("/tmp/ar", true, &st), 0);
	EXPECT_EQ(st.mode, S_IFDIR | 0700);
	EXPECT_STR(contents("/tmp/ar/one"), "text\n");
	EXPECT_EQ(vfs_stat("/tmp/ar/one", true, &st), 0);
	EXPECT_EQ(st.nlink, 2);
	EXPECT_EQ(st.mode, S_IFREG | 0640);
	EXPECT_STR(contents("/tmp/ar/new/deep"), "d");
	EXPECT_EQ(vfs_readlink("/tmp/ar/link", out, 8), 3);
	/* writing copies: the archive stays as it is */
	put("/tmp/ar/one", O_WRONLY, "T");
	EXPECT_STR(contents("/tmp/ar/link"), "Text\n");
	EXPECT_EQ(cpio_unpack(archive, size), 0); /* again, over what is there */
	EXPECT_STR(contents("/tmp/ar/link"), "text\n");
	EXPECT_EQ(cpio_unpack(archive, size - 130), -EINVAL); /* cut off: what came before stays */
	EXPECT_STR(contents("/tmp/ar/link"), "text\n");
	EXPECT_EQ(vfs_unlink("/tmp/ar/one"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/ar/two"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/ar/link"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/ar/new/deep"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/ar/new"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/ar"), 0);
}

/*
 * Writing to the root file system ends in ENOSPC with half of the memory left, and removing the
 * file gives it back.
 */
static void memory_is_bounded(void)
{
	enum { CHUNK = 65536 };
	u64 before = page_free_count(), written = 0;
	char *chunk = kzalloc(CHUNK);
	struct file *f;
	ssize n;

	if (page_total() > 1 << 17) {
		ktap_skip("too much memory to fill in a test");
		return;
	}
	f = must_open("/tmp/f", O_WRONLY | O_CREAT);
	while ((n = kernel_write(f, chunk, CHUNK)) > 0)
		written += n;
	EXPECT_EQ(n, -ENOSPC);
	EXPECT(written > page_total() * PAGE_SIZE / 2 - (2 << 20));
	EXPECT(page_free_count() > page_total() / 4);
	EXPECT_EQ(f->vnode->size, written);
	file_put(f);
	EXPECT_EQ(vfs_unlink("/tmp/f"), 0);
	EXPECT(page_free_count() + 64 >= before);
	kfree(chunk);
}

/* The console's level can be read and set, as with dmesg -n. */
static void printk_level_file(void)
{
	int level = printk_level();
	char text[16];

	put("/proc/sys/kernel/printk", O_WRONLY, "3 4 1 7\n");
	EXPECT_EQ(printk_level(), 3);
	EXPECT_STR(contents("/proc/sys/kernel/printk"), "3\t4\t1\t7\n");
	fmt_snprintf(text, sizeof(text), "%d\n", level);
	put("/proc/sys/kernel/printk", O_WRONLY, text);
	EXPECT_EQ(printk_level(), level);
}

static const struct ktap_case cases[] = {
    {"file.write_modes", write_modes},
    {"file.positions", positions},
    {"file.device_seek", device_seek},
    {"file.unlinked_files", unlinked_files},
    {"file.mask_and_modes", mask_and_modes},
    {"file.descriptors", descriptors},
    {"file.devices", devices},
    {"file.proc_files", proc_files},
    {"file.proc_tasks", proc_tasks},
    {"file.archives", archives},
    {"file.memory_is_bounded", memory_is_bounded},
    {"file.printk_level", printk_level_file},
    {NULL, NULL},
};
const struct ktap_suite suite_vfs_files = {cases};
