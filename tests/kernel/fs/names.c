/*
 * Names in the file tree: paths, limits, symlinks, directories, rename. Works below /tmp/t and
 * leaves nothing there.
 */
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "tests/kernel/fs/tools.h"

/*
 * /tmp/t with: dir/ dir/file file lfile -> file, ldir -> dir, dangling -> nowhere, loop -> loop, up
 * -> dir/..
 */
static void make_tree(void)
{
	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/dir", 0755), 0);
	EXPECT_EQ(touch("/tmp/t/dir/file"), 0);
	EXPECT_EQ(touch("/tmp/t/file"), 0);
	EXPECT_EQ(vfs_symlink("file", "/tmp/t/lfile"), 0);
	EXPECT_EQ(vfs_symlink("dir", "/tmp/t/ldir"), 0);
	EXPECT_EQ(vfs_symlink("nowhere", "/tmp/t/dangling"), 0);
	EXPECT_EQ(vfs_symlink("loop", "/tmp/t/loop"), 0);
	EXPECT_EQ(vfs_symlink("dir/..", "/tmp/t/up"), 0);
}

static void remove_tree(void)
{
	static const char *const files[] = {
	    "dir/file", "file", "lfile", "ldir", "dangling", "loop", "up"};
	char path[64] = "/tmp/t/";

	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		strscpy(path + 7, files[i], sizeof(path) - 7);
		EXPECT_EQ(vfs_unlink(path), 0);
	}
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

static void lookups(void)
{
	static const struct {
		const char *path;
		bool follow;
		int want;
	} rows[] = {
	    {"/", true, 0},
	    {"", true, -ENOENT},
	    {"///tmp//t/.//dir/../file", true, 0},
	    {"/..", true, 0},
	    {"/../../tmp/t/file", true, 0},
	    {"/tmp/t/none", true, -ENOENT},
	    {"/tmp/t/none/x", true, -ENOENT},
	    {"/tmp/t/file/x", true, -ENOTDIR},
	    {"/tmp/t/file/", true, -ENOTDIR},
	    {"/tmp/t/file/.", true, -ENOTDIR},
	    {"/tmp/t/file/..", true, -ENOTDIR},
	    {"/tmp/t/dir/", true, 0},
	    {"/tmp/t/dir/.", true, 0},
	    {"/tmp/t/lfile", true, 0},
	    {"/tmp/t/lfile/", true, -ENOTDIR},
	    {"/tmp/t/lfile/", false, -ENOTDIR},
	    {"/tmp/t/ldir/file", true, 0},
	    {"/tmp/t/ldir/", false, 0},
	    {"/tmp/t/up/file", true, 0},
	    {"/tmp/t/dangling", true, -ENOENT},
	    {"/tmp/t/dangling", false, 0},
	    {"/tmp/t/dangling/x", true, -ENOENT},
	    {"/tmp/t/loop", true, -ELOOP},
	    {"/tmp/t/loop", false, 0},
	    {"/tmp/t/loop/", false, -ELOOP},
	    {"/tmp/t/loop/x", false, -ELOOP},
	    {"/proc/../dev/../tmp/t/file", true, 0}, /* up across mounts */
	    {"/sys/kernel/tracing/../tracing/..", true, 0},
	    {"/sys/kernel/debug/tracing/../../tracing/trace", true, 0},
	};

	make_tree();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vnode *v;
		int r = vfs_lookup(rows[i].path, rows[i].follow, &v);
		if (r != rows[i].want)
			ktap_fail(
			    __FILE__, __LINE__, "%s: %d, not %d", rows[i].path, r, rows[i].want);
		if (!r)
			vnode_put(v);
	}
	remove_tree();
}

/* NAME_MAX and PATH_MAX at N-1, N, N+1. */
static void long_names(void)
{
	char *path = kmalloc(2 * PATH_MAX);
	static const struct {
		unsigned length;
		int want;
	} names[] = {{NAME_MAX - 1, -ENOENT}, {NAME_MAX, -ENOENT}, {NAME_MAX + 1, -ENAMETOOLONG}},
	  paths[] = {{PATH_MAX - 2, 0}, {PATH_MAX - 1, 0}, {PATH_MAX, -ENAMETOOLONG}};
	struct vstat st;

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		strscpy(path, "/tmp/", PATH_MAX);
		memset(path + 5, 'n', names[i].length);
		path[5 + names[i].length] = '\0';
		EXPECT_EQ(vfs_stat(path, true, &st), names[i].want);
		EXPECT_EQ(touch(path), names[i].want == -ENOENT ? 0 : names[i].want);
		if (names[i].want == -ENOENT)
			EXPECT_EQ(vfs_unlink(path), 0);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
		memset(path, '/', paths[i].length);
		memcpy(path + paths[i].length - 3, "tmp", 4);
		EXPECT_EQ(strlen(path), paths[i].length);
		EXPECT_EQ(vfs_stat(path, true, &st), paths[i].want);
	}
	kfree(path);
}

/* 40 links are followed, 41 are not. */
static void link_chains(void)
{
	char from[32], to[32] = "/tmp/chain.0";
	struct vstat st;

	EXPECT_EQ(touch(to), 0);
	for (unsigned i = 1; i <= 41; i++) {
		fmt_snprintf(from, sizeof(from), "/tmp/chain.%u", i);
		EXPECT_EQ(vfs_symlink(to, from), 0);
		EXPECT_EQ(vfs_stat(from, true, &st), i <= 40 ? 0 : -ELOOP);
		strscpy(to, from, sizeof(to));
	}
	for (unsigned i = 0; i <= 41; i++) {
		fmt_snprintf(from, sizeof(from), "/tmp/chain.%u", i);
		EXPECT_EQ(vfs_unlink(from), 0);
	}
}

static void opens(void)
{
	static const struct {
		const char *path;
		u32 flags;
		int want;
	} rows[] = {
	    {"/tmp/t/file", O_RDONLY, 0},
	    {"/tmp/t/none", O_RDWR, -ENOENT},
	    {"/tmp/t/dir", O_RDONLY, 0},
	    {"/tmp/t/dir", O_RDONLY | O_DIRECTORY, 0},
	    {"/tmp/t/file", O_RDONLY | O_DIRECTORY, -ENOTDIR},
	    {"/tmp/t/dir", O_WRONLY, -EISDIR},
	    {"/tmp/t/dir", O_RDWR, -EISDIR},
	    {"/tmp/t/dir", O_RDONLY | O_CREAT, -EISDIR},
	    {"/tmp/t/dir", O_RDONLY | O_TRUNC, -EISDIR},
	    {"/tmp/t/dir/", O_RDWR | O_CREAT, -EISDIR},
	    {"/tmp/t/new/", O_RDWR | O_CREAT, -EISDIR},
	    {"/tmp/t/file/", O_RDWR, -ENOTDIR},
	    {"/tmp/t/.", O_RDWR | O_CREAT, -EISDIR},
	    {"/tmp/t/file", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
	    {"/tmp/t/dir", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
	    {"/tmp/t/lfile", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
	    {"/tmp/t/dangling", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
	    {"/tmp/t/lfile", O_RDONLY | O_NOFOLLOW, -ELOOP},
	    {"/tmp/t/ldir/file", O_RDONLY | O_NOFOLLOW, 0},
	    {"/tmp/t/loop", O_RDWR | O_CREAT, -ELOOP},
	    {"/tmp/t/none/new", O_RDWR | O_CREAT, -ENOENT},
	    {"/tmp/t/file/new", O_RDWR | O_CREAT, -ENOTDIR},
	    {"/sys/kernel/tracing/new", O_RDWR | O_CREAT, -EACCES},
	    {"/proc/new", O_RDWR | O_CREAT, -EACCES},
	};

	make_tree();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = open_result(rows[i].path, rows[i].flags);
		if (r != rows[i].want)
			ktap_fail(__FILE__, __LINE__, "%s %o: %d, not %d", rows[i].path,
			    rows[i].flags, r, rows[i].want);
	}
	EXPECT(!is_there("/tmp/t/new"));
	/* through a link that points at nothing, the file it names is made */
	EXPECT_EQ(open_result("/tmp/t/dangling", O_RDWR | O_CREAT), 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/nowhere"), 0);
	remove_tree();
}

static void makes_and_removes(void)
{
	make_tree();
	EXPECT_EQ(vfs_mkdir("/tmp/t/dir", 0755), -EEXIST);
	EXPECT_EQ(vfs_mkdir("/tmp/t/file", 0755), -EEXIST);
	EXPECT_EQ(vfs_mkdir("/tmp/t/dangling", 0755), -EEXIST);
	EXPECT_EQ(vfs_mkdir("/tmp/t/.", 0755), -EEXIST);
	EXPECT_EQ(vfs_mkdir("/", 0755), -EEXIST);
	EXPECT_EQ(vfs_mkdir("/tmp/t/none/x", 0755), -ENOENT);
	EXPECT_EQ(vfs_mkdir("/tmp/t/d2/", 0755), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/d2/"), 0);
	EXPECT_EQ(vfs_mkdir("/sys/kernel/tracing/x", 0755), -EPERM);
	EXPECT_EQ(vfs_mkdir("/proc/x", 0755), -EPERM);
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir"), -ENOTEMPTY);
	EXPECT_EQ(vfs_rmdir("/tmp/t/file"), -ENOTDIR);
	EXPECT_EQ(vfs_rmdir("/tmp/t/ldir"), -ENOTDIR);
	EXPECT_EQ(vfs_rmdir("/tmp/t/none"), -ENOENT);
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir/."), -EINVAL);
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir/.."), -ENOTEMPTY);
	EXPECT_EQ(vfs_rmdir("/"), -EBUSY);
	EXPECT_EQ(vfs_rmdir("/proc"), -EBUSY);
	EXPECT_EQ(vfs_unlink("/tmp/t/dir"), -EISDIR);
	EXPECT_EQ(vfs_unlink("/tmp/t/dir/"), -EISDIR);
	EXPECT_EQ(vfs_unlink("/tmp/t/file/"), -ENOTDIR);
	EXPECT_EQ(vfs_unlink("/tmp/t/none/"), -ENOENT);
	EXPECT_EQ(vfs_unlink("/tmp/t/."), -EISDIR);
	EXPECT_EQ(vfs_unlink("/proc/version"), -EPERM);
	EXPECT_EQ(vfs_unlink("/proc/none"), -ENOENT);
	EXPECT_EQ(vfs_unlink("/sys/kernel/tracing/events"), -EISDIR);
	EXPECT_EQ(vfs_rmdir("/proc/none"), -ENOENT);
	EXPECT_EQ(vfs_rmdir("/proc/version"), -ENOTDIR);
	EXPECT_EQ(vfs_symlink("", "/tmp/t/x"), -ENOENT);
	EXPECT_EQ(vfs_symlink("a", "/tmp/t/file"), -EEXIST);
	EXPECT_EQ(vfs_symlink("a", "/tmp/t/x/"), -ENOENT);
	remove_tree();
}

static void renames(void)
{
	static const struct {
		const char *from, *to;
		int want;
	} refused[] = {
	    {"/tmp/t/none", "/tmp/t/x", -ENOENT},
	    {"/tmp/t/file", "/tmp/t/none/x", -ENOENT},
	    {"/tmp/t/file", "/tmp/t/dir", -EISDIR},
	    {"/tmp/t/dir", "/tmp/t/file", -ENOTDIR},
	    {"/tmp/t/file", "/tmp/t/x/", -ENOTDIR},
	    {"/tmp/t/file/", "/tmp/t/x", -ENOTDIR},
	    {"/tmp/t/dir", "/tmp/t/dir/sub", -EINVAL},
	    {"/tmp/t/dir/.", "/tmp/t/x", -EBUSY},
	    {"/tmp/t/dir", "/", -EBUSY},
	    {"/tmp/t/file", "/proc/x", -EXDEV},
	    {"/proc", "/tmp/t/x", -EBUSY},
	    {"/proc/version", "/proc/x", -EPERM},
	    {"/proc/none", "/proc/x", -ENOENT},
	    {"/sys/kernel/tracing/events", "/sys/kernel/tracing/x", -EPERM},
	    {"/sys/kernel/tracing/events", "/sys/kernel/tracing/events/sched/x", -EINVAL},
	};
	struct vstat a, b;

	make_tree();
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		int r = vfs_rename(refused[i].from, refused[i].to);
		if (r != refused[i].want)
			ktap_fail(
			    __FILE__, __LINE__, "%s %s: %d", refused[i].from, refused[i].to, r);
	}
	EXPECT_EQ(vfs_rename("/tmp/t/file", "/tmp/t/file"), 0);
	vfs_stat("/tmp/t/file", true, &a);
	EXPECT_EQ(vfs_rename("/tmp/t/file", "/tmp/t/dir/file"), 0); /* over another file */
	vfs_stat("/tmp/t/dir/file", true, &b);
	EXPECT_EQ(a.ino, b.ino);
	EXPECT(!is_there("/tmp/t/file"));
	EXPECT_EQ(vfs_mkdir("/tmp/t/d2", 0755), 0);
	EXPECT_EQ(vfs_rename("/tmp/t/d2", "/tmp/t/dir"), -ENOTEMPTY);
	EXPECT_EQ(vfs_rename("/tmp/t/dir", "/tmp/t/d2"), 0); /* over an empty directory */
	EXPECT(is_there("/tmp/t/d2/file"));
	vfs_stat("/tmp/t", true, &a);
	EXPECT_EQ(a.nlink, 3);
	EXPECT_EQ(vfs_mkdir("/tmp/t/d3", 0755), 0);
	EXPECT_EQ(vfs_rename("/tmp/t/d2", "/tmp/t/d3/dir/"), 0); /* and up goes elsewhere now */
	vfs_stat("/tmp/t/d3/dir/..", true, &a);
	vfs_stat("/tmp/t/d3", true, &b);
	EXPECT_EQ(a.ino, b.ino);
	EXPECT_EQ(vfs_rename("/tmp/t/d3/dir", "/tmp/t/dir"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/d3"), 0);
	EXPECT_EQ(touch("/tmp/t/file"), 0);
	remove_tree();
}

static void working_directory(void)
{
	char out[64],
	    *path = kmalloc(PATH_MAX),
	    *before = kstrdup(current()->fs && current()->fs->path ? current()->fs->path : "/");
	struct vstat st;

	make_tree();
	EXPECT_EQ(vfs_chdir("/tmp/t/ldir"), 0);
	EXPECT_STR(current()->fs->path, "/tmp/t/dir"); /* the real way, without the link */
	EXPECT_EQ(vfs_stat("file", true, &st), 0);
	EXPECT_EQ(vfs_chdir("../up/./dir/.."), 0);
	EXPECT_STR(current()->fs->path, "/tmp/t");
	EXPECT_EQ(vfs_chdir("file"), -ENOTDIR);
	EXPECT_EQ(vfs_chdir("none"), -ENOENT);
	EXPECT_STR(current()->fs->path, "/tmp/t");
	EXPECT_EQ(vfs_chdir("/sys/kernel/tracing/.."), 0);
	EXPECT_STR(current()->fs->path, "/sys/kernel");
	/* what is moved under somebody's feet is found again, across a mount too */
	EXPECT_EQ(vfs_getcwd(path), 0);
	EXPECT_STR(path, "/sys/kernel");
	EXPECT_EQ(vfs_mkdir("/tmp/t/a", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/a/b", 0755), 0);
	EXPECT_EQ(vfs_chdir("/tmp/t/a/b"), 0);
	EXPECT_EQ(vfs_rename("/tmp/t/a", "/tmp/t/moved"), 0);
	EXPECT_EQ(vfs_getcwd(path), 0);
	EXPECT_STR(path, "/tmp/t/moved/b");
	EXPECT_EQ(vfs_mkdir("/tmp/t/a", 0755), 0); /* another one in the old place */
	EXPECT_EQ(vfs_mkdir("/tmp/t/a/b", 0755), 0);
	EXPECT_EQ(vfs_rename("/tmp/t/moved", "/tmp/t/dir/again"), 0);
	EXPECT_EQ(vfs_getcwd(path), 0);
	EXPECT_STR(path, "/tmp/t/dir/again/b");
	EXPECT_EQ(vfs_rmdir("/tmp/t/a/b"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/a"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir/again/b"), 0);
	EXPECT_EQ(vfs_getcwd(path), -ENOENT);
	EXPECT_EQ(vfs_rmdir("/tmp/t/dir/again"), 0);
	EXPECT_EQ(vfs_chdir("/"), 0);
	EXPECT_EQ(vfs_getcwd(path), 0);
	EXPECT_STR(path, "/");
	kfree(path);
	/* a directory that is removed under somebody's feet */
	EXPECT_EQ(vfs_mkdir("/tmp/t/gone", 0755), 0);
	EXPECT_EQ(vfs_chdir("/tmp/t/gone"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/gone"), 0);
	EXPECT_EQ(touch("x"), -ENOENT);
	EXPECT_EQ(vfs_mkdir("x", 0755), -ENOENT);
	EXPECT_EQ(vfs_stat(".", true, &st), 0);
	EXPECT_EQ(st.nlink, 0);
	EXPECT_EQ(vfs_chdir(".."), 0);
	EXPECT_EQ(vfs_stat("file", true, &st), 0);
	EXPECT_EQ(vfs_chdir(before), 0);
	kfree(before);
	EXPECT_EQ(vfs_readlink("/tmp/t/lfile", out, sizeof(out)), 4);
	EXPECT_EQ(vfs_readlink("/tmp/t/lfile", out, 2), 2);
	EXPECT_EQ(vfs_readlink("/tmp/t/file", out, sizeof(out)), -EINVAL);
	remove_tree();
}

/*
 * Reads all of dir; returns the entries, and -1 when one came twice. Removes each name but the dots
 * when told to.
 */
static int list(const char *path, bool remove)
{
	static struct dirent d; /* large, and tests run one at a time */
	u64 seen[4] = {0};
	char name[64];
	struct file *f;
	int n = 0;

	if (file_open(path, O_RDONLY | O_DIRECTORY, 0, &f))
		return -2;
	for (u64 pos = 0; vfs_readdir(f, pos, &d) == 1; pos++) {
		n++;
		if (d.name[0] != 'f')
			continue;
		u64 i = parse_digits(d.name + 1, NULL, 10);
		if (seen[i / 64] >> (i % 64) & 1)
			n = -1000;
		seen[i / 64] |= 1UL << (i % 64);
		if (remove) {
			fmt_snprintf(name, sizeof(name), "%s/%s", path, d.name);
			EXPECT_EQ(vfs_unlink(name), 0);
		}
	}
	file_put(f);
	return n;
}

static void listing_while_removing(void)
{
	char name[64];

	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	for (unsigned i = 0; i < 200; i++) {
		fmt_snprintf(name, sizeof(name), "/tmp/t/f%u", i);
		EXPECT_EQ(touch(name), 0);
	}
	EXPECT_EQ(list("/tmp/t", false), 202);
	EXPECT_EQ(list("/tmp/t", true), 202);
	EXPECT_EQ(list("/tmp/t", false), 2);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

static void append(const char *path, const char *text)
{
	struct file *f;

	EXPECT_EQ(file_open(path, O_WRONLY | O_APPEND, 0, &f), 0);
	EXPECT_EQ(kernel_write(f, text, strlen(text)), (ssize)strlen(text));
	file_put(f);
}

static void expect_stat(const char *path, int want)
{
	struct vstat st;
	int r = vfs_stat(path, true, &st);

	if (r != want)
		ktap_fail(__FILE__, __LINE__, "%s: %d, not %d", path, r, want);
}

/* A directory that a path led to lately is looked up anew when the way to it has changed. */
static void ways_that_change(void)
{
	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/a", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/a/b", 0755), 0);
	EXPECT_EQ(touch("/tmp/t/a/b/file"), 0);
	expect_stat("/tmp/t/a/b/file", 0);
	/* Renamed, at its end and above. */
	EXPECT_EQ(vfs_rename("/tmp/t/a", "/tmp/t/c"), 0);
	expect_stat("/tmp/t/a/b/file", -ENOENT);
	expect_stat("/tmp/t/c/b/file", 0);
	EXPECT_EQ(vfs_rename("/tmp/t/c/b", "/tmp/t/c/d"), 0);
	expect_stat("/tmp/t/c/b/file", -ENOENT);
	expect_stat("/tmp/t/c/d/file", 0);
	/* Removed, and another one made of that name; then a symlink in its place. */
	EXPECT_EQ(vfs_unlink("/tmp/t/c/d/file"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/c/d"), 0);
	expect_stat("/tmp/t/c/d/file", -ENOENT);
	EXPECT_EQ(vfs_mkdir("/tmp/t/c/d", 0755), 0);
	EXPECT_EQ(touch("/tmp/t/c/d/new"), 0);
	expect_stat("/tmp/t/c/d/new", 0);
	EXPECT_EQ(vfs_rename("/tmp/t/c/d", "/tmp/t/e"), 0);
	EXPECT_EQ(vfs_symlink("../e", "/tmp/t/c/d"), 0);
	expect_stat("/tmp/t/c/d/new", 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/c/d"), 0);
	expect_stat("/tmp/t/c/d/new", -ENOENT);
	EXPECT_EQ(vfs_unlink("/tmp/t/e/new"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/e"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/c"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

/* The same of directories of the tracer: of an instance, of an event. */
static void tracefs_ways_that_change(void)
{
	static const char file[] = "/sys/kernel/tracing/instances/ways/tracing_on",
			  dir[] = "/sys/kernel/tracing/instances/ways",
			  event[] = "/sys/kernel/tracing/events/synthetic/ways/format",
			  events[] = "/sys/kernel/tracing/synthetic_events";

	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(vfs_mkdir(dir, 0755), 0);
		EXPECT_EQ(open_result(file, O_RDWR), 0);
		EXPECT_EQ(open_result(file, O_RDWR), 0);
		EXPECT_EQ(vfs_rmdir(dir), 0);
		EXPECT_EQ(open_result(file, O_RDWR), -ENOENT);
		append(events, "ways int a");
		EXPECT_EQ(open_result(event, O_RDONLY), 0);
		EXPECT_EQ(open_result(event, O_RDONLY), 0);
		append(events, "!ways");
		EXPECT_EQ(open_result(event, O_RDONLY), -ENOENT);
	}
}

/* A directory shows when one last came, by each of its names. */
static void times_of_directories(void)
{
	static const char dir[] = "/sys/kernel/tracing/instances/ways",
			  dot[] = "/sys/kernel/tracing/instances/.",
			  name[] = "/sys/kernel/tracing/instances";
	struct vstat before, by_dot, by_name;

	EXPECT_EQ(vfs_stat(dot, true, &before), 0);
	expect_stat(dir, -ENOENT);
	EXPECT_EQ(vfs_mkdir(dir, 0755), 0);
	EXPECT_EQ(vfs_stat(dot, true, &by_dot), 0);
	EXPECT_EQ(vfs_stat(name, true, &by_name), 0);
	EXPECT_EQ(vfs_rmdir(dir), 0);
	EXPECT(by_dot.mtime_ns > before.mtime_ns);
	EXPECT_EQ(by_dot.mtime_ns, by_name.mtime_ns);
}

/* The path of an open file is the real one, however its directory was found. */
static void paths_of_open_files(void)
{
	static const char *const rows[] = {"/tmp/t/a/f", "/tmp/t/a/f", "//tmp/t/a/f", "/tmp//t/a/f",
	    "/tmp/t/a//f", "/tmp/t/a/f", "/tmp/t/./a/f", "/tmp/t/a/../a/f", "/tmp/t/l/f",
	    "/tmp/t/l/f", "/tmp/t/a/./f"};

	EXPECT_EQ(vfs_mkdir("/tmp/t", 0755), 0);
	EXPECT_EQ(vfs_mkdir("/tmp/t/a", 0755), 0);
	EXPECT_EQ(vfs_symlink("a", "/tmp/t/l"), 0);
	EXPECT_EQ(touch("/tmp/t/a/f"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct file *f;

		EXPECT_EQ(file_open(rows[i], O_RDONLY, 0, &f), 0);
		EXPECT_STR(f->path, "/tmp/t/a/f");
		file_put(f);
	}
	EXPECT_EQ(open_result("/f", O_RDONLY), -ENOENT);
	EXPECT_EQ(open_result("//f", O_RDONLY), -ENOENT);
	EXPECT_EQ(vfs_unlink("/tmp/t/a/f"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/t/l"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t/a"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/t"), 0);
}

static const struct ktap_case cases[] = {
    {"vfs.lookups", lookups},
    {"vfs.long_names", long_names},
    {"vfs.link_chains", link_chains},
    {"vfs.opens", opens},
    {"vfs.makes_and_removes", makes_and_removes},
    {"vfs.renames", renames},
    {"vfs.working_directory", working_directory},
    {"vfs.listing_while_removing", listing_while_removing},
    {"vfs.ways_that_change", ways_that_change},
    {"vfs.tracefs_ways_that_change", tracefs_ways_that_change},
    {"vfs.times_of_directories", times_of_directories},
    {"vfs.paths_of_open_files", paths_of_open_files},
    {NULL, NULL},
};
const struct ktap_suite suite_vfs_names = {cases};
