/* The file tree when memory runs out, read only, and with several tasks at the same names. */
#include "kernel/fs/file.h"
#include "kernel/fs/pipe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/objects.h"

static int op_create(void)
{
	return touch("/tmp/t/new");
}

static int op_mkdir(void)
{
	return vfs_mkdir("/tmp/t/new", 0755);
}

static int op_symlink(void)
{
	return vfs_symlink("file", "/tmp/t/new");
}

static int op_rename(void)
{
	return vfs_rename("/tmp/t/file", "/tmp/t/new");
}

static int op_write(void)
{
	struct file *f;
	ssize n = file_open("/tmp/t/new", O_RDWR | O_CREAT, 0644, &f);

	if (n)
		return n;
	n = vfs_pwrite(f, "far", 3, 1 << 30);
	file_put(f);
	return n < 0 ? n : 0;
}

static int op_pipe(void)
{
	struct file *rd, *wr;
	int r = pipe_create(&rd, &wr, 0);

	if (!r) {
		file_put(rd);
		file_put(wr);
	}
	return r;
}

static int op_proc(void)
{
	struct file *f;
	char c;
	ssize n = file_open("/proc/self/status", O_RDONLY, 0, &f);

	if (n)
		return n;
	n = kernel_read(f, &c, 1);
	file_put(f);
	return n < 0 ? n : 0;
}

/*
 * Lets the first allocation of an operation fail, then the second, and so on until it gets through:
 * each failure is an error that says so, and leaves names and files as they were.
 */
static void out_of_memory(void)
{
	static int (*const ops[])(void) = {
	    op_create, op_mkdir, op_symlink, op_rename, op_write, op_pipe, op_proc};
	struct vstat st;

	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(touch("/tmp/t/file"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(ops); i++) {
		int r = -ENOMEM;
		u64 n = 0;
		while (r && n < 50) {
			mem_fail_nth(++n);
			r = ops[i]();
			mem_fail_nth(0);
			EXPECT(!r || r == -ENOMEM || r == -ENOSPC);
			if (r && ops[i] != op_write)
				EXPECT(!is_there("/tmp/t/new"));
		}
		EXPECT_EQ(r, 0);
		EXPECT(n > 1); /* there was something to fail */
		if (ops[i] == op_rename)
			EXPECT_EQ(vfs_rename("/tmp/t/new", "/tmp/t/file"), 0);
		if (vfs_stat("/tmp/t/new", false, &st) == 0)
			EXPECT_EQ((st.mode & S_IFMT) == S_IFDIR ? vfs_rmdir("/tmp/t/new")
								: vfs_unlink("/tmp/t/new"),
			    0);
	}
	EXPECT_EQ(vfs_unlink("/tmp/t/file"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

/* Calls that succeed and calls that are refused, each undone. */
static void change_names(void)
{
	struct vattr mode = {.set = VATTR_MODE, .mode = 0600};
	struct file *f;

	EXPECT_EQ(touch("/tmp/t/file"), 0);
	EXPECT_EQ(touch("/tmp/t/file"), -EEXIST);
	EXPECT_EQ(vfs_link("/tmp/t/file", true, "/tmp/t/other"), 0);
	EXPECT_EQ(vfs_link("/tmp/t/file", true, "/tmp/t/other"), -EEXIST);
	EXPECT_EQ(vfs_link("/tmp/t", true, "/tmp/t/dir"), -EPERM);
	EXPECT_EQ(vfs_symlink("file", "/tmp/t/link"), 0);
	EXPECT_EQ(vfs_symlink("file", "/tmp/t/link"), -EEXIST);
	EXPECT_EQ(vfs_mknod("/tmp/t/pipe", S_IFIFO | 0600, 0), 0);
	EXPECT_EQ(vfs_mknod("/tmp/t/pipe", S_IFIFO | 0600, 0), -EEXIST);
	EXPECT_EQ(file_open("/tmp/t/link", O_RDWR, 0, &f), 0);
	EXPECT_EQ(vfs_fsetattr(f, &mode), 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/file"), 0);
	EXPECT_EQ(vfs_fsetattr(f, &mode), 0);
	file_put(f);
	EXPECT_EQ(open_result("/tmp/t/other/", O_RDWR), -ENOTDIR);
	EXPECT_EQ(open_result("/tmp/t/other", O_RDWR | O_DIRECTORY), -ENOTDIR);
	EXPECT_EQ(open_result("/tmp/t", O_RDWR), -EISDIR);
	EXPECT_EQ(open_result("/tmp/t/link", O_RDWR), -ENOENT);
	EXPECT_EQ(vfs_rename("/tmp/t/other", "/tmp/t/link"), 0);
	EXPECT_EQ(vfs_rename("/tmp/t/other", "/tmp/t/link"), -ENOENT);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), -ENOTEMPTY);
	EXPECT_EQ(vfs_unlink("/tmp/t/link"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/pipe"), 0);
}

/* A device's node as often as it was: each call gives its reference back. */
static void nothing_is_left(void)
{
	struct vnode *null;
	u64 objects;
	u32 refs;

	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(vfs_lookup("/dev/null", true, &null), 0);
	change_names();
	objects = objects_in_use();
	refs = null->refs;
	for (unsigned i = 0; i < 3; i++)
		change_names();
	EXPECT_EQ(objects_in_use(), objects);
	EXPECT_EQ(vfs_mknod("/tmp/t/null", S_IFCHR | 0600, null->rdev), 0);
	EXPECT_EQ(vfs_mknod("/tmp/t/null", S_IFCHR | 0600, null->rdev), -EEXIST);
	EXPECT_EQ(open_result("/tmp/t/null", O_RDWR), 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/null"), 0);
	EXPECT_EQ(null->refs, refs);
	EXPECT_EQ(objects_in_use(), objects);
	vnode_put(null);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

/* Below a directory that is read only nothing changes, whichever name leads there; devices work. */
static void read_only(void)
{
	struct vattr mode = {.set = VATTR_MODE, .mode = 0600};
	struct file *f;

	if (!is_there("/tmp/read only")) {
		EXPECT_EQ(vfs_mkdir("/tmp/read only", 0755), 0);
		EXPECT_EQ(vfs_mkdir("/tmp/read only/dir", 0755), 0);
		EXPECT_EQ(touch("/tmp/read only/dir/file"), 0);
		EXPECT_EQ(vfs_mknod("/tmp/read only/null", S_IFCHR | 0666, 0x103), 0);
		EXPECT_EQ(vfs_set_readonly("/tmp/read only/dir/file"), -ENOTDIR);
		EXPECT_EQ(vfs_set_readonly("/tmp/none"), -ENOENT);
		EXPECT_EQ(touch("/tmp/read only/dir/second"), 0);
		EXPECT_EQ(vfs_set_readonly("/tmp/read only"), 0); /* for good */
	}
	EXPECT_EQ(touch("/tmp/outside"), 0);
	EXPECT_EQ(vfs_symlink("/tmp/read only/dir/file", "/tmp/way in"), 0);
	EXPECT_EQ(vfs_rename("/tmp/read only/dir/file", "/tmp/read only/dir/new"), -EROFS);
	EXPECT_EQ(vfs_rename("/tmp/read only/dir/file", "/tmp/new"), -EROFS);
	EXPECT_EQ(vfs_rename("/tmp/outside", "/tmp/read only/dir/new"), -EROFS);
	EXPECT_EQ(vfs_rename("/tmp/outside", "/tmp/read only/dir/file"), -EROFS);
	EXPECT_EQ(vfs_unlink("/tmp/read only/dir/file"), -EROFS);
	EXPECT_EQ(vfs_rmdir("/tmp/read only/dir"), -EROFS);
	EXPECT_EQ(vfs_mkdir("/tmp/read only/new", 0755), -EROFS);
	EXPECT_EQ(vfs_symlink("x", "/tmp/read only/new"), -EROFS);
	EXPECT_EQ(vfs_mknod("/tmp/read only/new", S_IFIFO | 0600, 0), -EROFS);
	EXPECT_EQ(vfs_link("/tmp/outside", true, "/tmp/read only/new"), -EROFS);
	EXPECT_EQ(vfs_truncate("/tmp/read only/dir/file", 3), -EROFS);
	EXPECT_EQ(vfs_truncate("/tmp/way in", 3), -EROFS);
	EXPECT_EQ(vfs_setattr("/tmp/read only/dir/file", true, &mode), -EROFS);
	EXPECT_EQ(vfs_setattr("/tmp/way in", true, &mode), -EROFS);
	EXPECT_EQ(touch("/tmp/read only/dir/new"), -EROFS);
	EXPECT_EQ(open_result("/tmp/read only/dir/file", O_WRONLY), -EROFS);
	EXPECT_EQ(open_result("/tmp/read only/dir/file", O_RDWR), -EROFS);
	EXPECT_EQ(open_result("/tmp/read only/dir/file", O_RDONLY | O_TRUNC), -EROFS);
	EXPECT_EQ(open_result("/tmp/way in", O_WRONLY | O_APPEND), -EROFS);
	EXPECT_EQ(open_result("/tmp/way in", O_RDONLY), 0);
	EXPECT_EQ(open_result("/tmp/read only/dir/file", O_RDONLY | O_CREAT), 0);
	EXPECT_EQ(file_open("/tmp/read only/null", O_RDWR, 0, &f), 0);
	EXPECT_EQ(kernel_write(f, "x", 1), 1);
	file_put(f);
	EXPECT_EQ(file_open("/tmp/way in", O_RDONLY, 0, &f), 0);
	EXPECT_EQ(vfs_fsetattr(f, &mode), -EROFS);
	EXPECT_EQ(vfs_ftruncate(f, 0), -EINVAL);
	file_put(f);
	EXPECT(is_there("/tmp/read only/dir/file") && is_there("/tmp/outside"));
	EXPECT_EQ(vfs_unlink("/tmp/way in"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/outside"), 0);
}

/* ---- From several tasks at once ---- */

#define TASKS  4
#define ROUNDS 400

static u32 running; /* [A] */
static u32 strange; /* [A] results no order of these calls can give */

static void expect_one_of(int r, int a, int b, int c)
{
	if (r && r != a && r != b && r != c)
		atomic_add(&strange, 1);
}

/* Makes, moves and removes the same few names as the others do. */
static void disturb(void *arg)
{
	u64 x = (u64)arg * 2654435761u + 1;
	char a[32], b[32];
	struct vstat st;

	for (unsigned i = 0; i < ROUNDS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		fmt_snprintf(a, sizeof(a), "/tmp/t/%u/%u", (u32)(x >> 60) & 1, (u32)(x >> 50) & 3);
		fmt_snprintf(b, sizeof(b), "/tmp/t/%u/%u", (u32)(x >> 40) & 1, (u32)(x >> 30) & 3);
		switch (x >> 20 & 7) {
		case 0:
		case 1:
			expect_one_of(touch(a), -EEXIST, -EEXIST, -EEXIST);
			break;
		case 2:
			expect_one_of(vfs_mkdir(a, 0755), -EEXIST, -EEXIST, -EEXIST);
			break;
		case 3:
			expect_one_of(vfs_unlink(a), -ENOENT, -EISDIR, -EISDIR);
			break;
		case 4:
			expect_one_of(vfs_rmdir(a), -ENOENT, -ENOTDIR, -ENOTDIR);
			break;
		case 5:
			expect_one_of(vfs_rename(a, b), -ENOENT, -EISDIR, -ENOTDIR);
			break;
		case 6:
			expect_one_of(
			    open_result(a, O_RDWR | O_CREAT | O_TRUNC), -EISDIR, -EISDIR, -EISDIR);
			break;
		default:
			strscpy(a + strlen(a), "/..", 4);
			expect_one_of(vfs_stat(a, true, &st), -ENOENT, -ENOTDIR, -ENOTDIR);
		}
	}
	atomic_sub(&running, 1);
}

static void many_tasks(void)
{
	char name[32];

	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/0", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/1", 0755), 0);
	strange = 0;
	atomic_store(&running, TASKS);
	for (u64 i = 0; i < TASKS; i++)
		EXPECT(kthread_run(disturb, (void *)i, -1, "vfs-test") != NULL);
	while (atomic_load(&running))
		sleep_ns(1000000, NULL);
	EXPECT_EQ(strange, 0);
	for (unsigned i = 0; i < 8; i++) {
		fmt_snprintf(name, sizeof(name), "/tmp/t/%u/%u", i / 4, i % 4);
		if (vfs_unlink(name))
			vfs_rmdir(name);
	}
	EXPECT_EQ(vfs_rmdir("/tmp/t/0"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/1"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

static const struct ktap_case cases[] = {
    {"vfs.out_of_memory", out_of_memory},
    {"vfs.nothing_is_left", nothing_is_left},
    {"vfs.read_only", read_only},
    {"vfs.many_tasks", many_tasks},
    {NULL, NULL},
};
const struct ktap_suite suite_vfs_hard = {cases};
