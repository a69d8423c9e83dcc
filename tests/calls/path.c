/* Names at their edges: directories that are gone, links, lengths, what a name may not become. */
#include "tests/calls/calls.h"

#include <dirent.h>

#define LONGEST 4095 /* of a path, without its end */

static void make(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	write(fd, text, strlen(text));
	close(fd);
}

/* Its number of names, and what it holds. */
static void show(const char *name)
{
	char text[20] = "";
	struct stat st;
	int fd = open(name, O_RDONLY);

	if (stat(name, &st)) {
		say("%s: %s", name, strerrorname_np(errno));
		return;
	}
	if (S_ISREG(st.st_mode))
		read(fd, text, sizeof(text) - 1);
	say("%s: %lu names, %s", name, (long)st.st_nlink, text);
	close(fd);
}

/* A directory that was removed while it is open takes no names. */
static void test_removed_directory(void)
{
	int dir;

	make("f", "file");
	mkdir("d", 0755);
	dir = open("d", O_RDONLY | O_DIRECTORY);
	R(rmdir("d"));
	R(renameat(AT_FDCWD, "f", dir, "g"));
	show("f");
	R(linkat(AT_FDCWD, "f", dir, "g", 0));
	R(symlinkat("f", dir, "g"));
	R(mkdirat(dir, "g", 0755));
	R(mknodat(dir, "g", S_IFIFO | 0600, 0));
	R(openat(dir, "g", O_WRONLY | O_CREAT, 0644));
	R(openat(dir, "g", O_RDONLY));
	R(unlinkat(dir, "g", 0));
	R(fchdir(dir));
	R(rename("g", "h"));
	R(mkdir("g", 0755));
	show("f");
}

/* The working directory, too, takes no names once it is removed, neither new ones nor others'. */
static void test_removed_own_directory(void)
{
	int fd;

	make("f", "file");
	mkdir("other", 0755);
	mkdir("d", 0755);
	chdir("d");
	fd = open("../f", O_RDONLY);
	R(rmdir("../d"));
	R(rename("../f", "g"));
	R(rename("../other", "g"));
	R(link("../f", "g"));
	R(symlink("f", "g"));
	R(mknod("g", S_IFREG | 0600, 0));
	R(open("g", O_WRONLY | O_CREAT, 0600));
	R(rename("g", "../f"));
	R(chdir(".."));
	show("f");
	show("other");
	close(fd);
}

/* A descriptor stays with its directory, where that is moved to, and whatever has its old name. */
static void test_moved_directory(void)
{
	int dir;

	mkdir("a", 0755);
	mkdir("a/d", 0755);
	make("a/d/f", "first");
	dir = open("a/d", O_RDONLY | O_DIRECTORY);
	R(rename("a/d", "e"));
	R(faccessat(dir, "f", F_OK, 0));
	mkdir("a/d", 0755);
	make("a/d/f", "second");
	R(renameat(dir, "f", dir, "g"));
	R(mkdirat(dir, "sub", 0755));
	show("e/g");
	show("a/d/f");
	show("e");
	R(rename("e", "a/e"));
	R(faccessat(dir, "../d/f", F_OK, 0));
	R(fchdir(dir));
	R(rename("../e", "../../h"));
	R(linkat(dir, "g", AT_FDCWD, "i", 0));
	show("../h/i");
	R(unlinkat(dir, "g", 0));
	R(unlinkat(dir, "sub", AT_REMOVEDIR));
	show("../h/g");
}

/* A rename replaces the name it takes; of two names of one file it leaves both. */
static void test_rename(void)
{
	struct stat st;
	int fd;

	make("a", "first");
	make("b", "second");
	R(link("b", "c"));
	fd = open("b", O_RDONLY);
	R(rename("a", "b"));
	show("a");
	show("b");
	show("c");
	fstat(fd, &st);
	say("%lu", (long)st.st_nlink);
	R(link("b", "d"));
	R(rename("b", "d")); /* both stay */
	show("b");
	show("d");
	R(rename("b", "b"));
	show("b");
	R(rename("d", "c"));
	fstat(fd, &st);
	say("%lu", (long)st.st_nlink);
	show("c");
	R(unlink("c"));
	show("b");
}

/* Directories count their own: ".." of those below is a name, too. */
static void test_rename_directories(void)
{
	mkdir("a", 0755);
	mkdir("b", 0755);
	mkdir("a/sub", 0755);
	make("a/sub/f", "below");
	show("a");
	show("b");
	R(rename("a/sub", "b/sub"));
	show("a");
	show("b");
	show("b/sub/f");
	R(rename("b", "b/sub/b"));
	R(rename("b", "b/b"));
	R(rename("a", "b"));
	R(rename("b", "a"));
	show("a");
	R(rename("a/sub/f", "a/sub"));
	R(rename("a/sub", "a/sub/f"));
	R(rename("a/.", "x"));
	R(rename("a/..", "x"));
	R(rename("a", "."));
	chdir("a/sub");
	R(rename("../../a", "../../moved"));
	R(access("../../moved/sub/f", F_OK));
	show("f");
}

/* A slash after either name of a rename asks for a directory. */
static void test_rename_slashes(void)
{
	make("f", "file");
	make("g", "other");
	mkdir("d", 0755);
	R(rename("f", "x/"));
	R(rename("f", "g/"));
	R(rename("f/", "x"));
	R(rename("f/", "x/"));
	R(rename("none/", "x"));
	R(rename("d", "e/"));
	R(rename("e/", "d"));
	R(rename("d/", "e/"));
	R(rename("f", "e/"));
	show("f");
	show("g");
	show("e");
}

static void test_links(void)
{
	struct stat st;

	make("f", "file");
	mkdir("d", 0755);
	symlink("f", "l");
	symlink("none", "dangling");
	R(linkat(AT_FDCWD, "d", AT_FDCWD, "x", 0));
	R(linkat(AT_FDCWD, "l", AT_FDCWD, "of link", 0));
	R(linkat(AT_FDCWD, "l", AT_FDCWD, "of file", AT_SYMLINK_FOLLOW));
	R(lstat("of link", &st));
	say("%o %lu", st.st_mode & S_IFMT, (long)st.st_nlink);
	show("of file");
	R(link("f", "d"));
	R(link("f", "l"));
	R(link("f", "new/"));
	R(link("f", "none/x"));
	R(linkat(AT_FDCWD, "dangling", AT_FDCWD, "x", AT_SYMLINK_FOLLOW));
	R(linkat(AT_FDCWD, "f", AT_FDCWD, "x", 0x10));
	R(link("/proc/version", "x"));
	show("f");
	R(unlink("f"));
	show("of file");
	R(symlink("x", "d"));
	R(symlink("x", "dangling"));
	R(readlink("dangling", (char *)&st, 3));
	R(readlink("d", (char *)&st, 3));
}

/* Of the longest name, path and target each one that is too long by a byte, too. */
static void test_lengths(void)
{
	static char path[LONGEST + 2], found[LONGEST + 2];

	make("f", "file");
	memset(path, 't', sizeof(path) - 1);
	R(symlink(path, "l"));
	path[LONGEST] = 0;
	R(symlink(path, "l"));
	R(readlink("l", found, sizeof(found)));
	R(open("l", O_RDONLY));
	for (int i = 0; i < LONGEST; i++)
		path[i] = "./"[i % 2];
	path[LONGEST - 1] = 'f';
	path[LONGEST] = 0;
	R(access(path, F_OK));
	memmove(path + 2, path, LONGEST - 1);
	memcpy(path, "././", 4);
	path[LONGEST + 1] = 0;
	R(access(path, F_OK));
	memset(path, 'n', 256);
	path[256] = 0;
	R(mkdir(path, 0755));
	path[255] = 0;
	R(mkdir(path, 0755));
	R(access(path, F_OK));
	R(rename("f", path));
	R(rmdir(path));
	R(rename("f", path));
	path[255] = 'n';
	R(access(path, F_OK));
}

/* Chains of links: as many as may be followed, and one more. */
static void test_link_chain(void)
{
	char name[20], to[20];

	make("0", "end");
	for (int i = 1; i <= 42; i++) {
		snprintf(name, sizeof(name), "%d", i);
		snprintf(to, sizeof(to), "%d", i - 1);
		symlink(to, name);
	}
	R(access("39", F_OK));
	R(access("40", F_OK));
	R(access("41", F_OK));
	symlink("self/x", "self");
	R(access("self", F_OK));
}

static void show_by(const char *dir, const char *below)
{
	char path[200];
	size_t n;

	if (getcwd(path, sizeof(path) - 20)) {
		n = strlen(path);
		snprintf(path + n, sizeof(path) - n, "/%s/%s", dir, below);
	}
	say("by %s", dir);
	close(open(path, O_RDONLY)); /* the way is known now, if it ever is */
	char text[20] = "";
	int fd = open(path, O_RDONLY);

	say("%s", fd < 0 ? strerrorname_np(errno) : (read(fd, text, sizeof(text) - 1), text));
	close(fd);
}

/* A link leads where it points to now, and so does a name that another directory has got. */
static void test_link_changed(void)
{
	mkdir("a", 0755);
	mkdir("b", 0755);
	make("a/f", "first");
	make("b/f", "second");
	symlink("a", "l");
	show_by("l", "f");
	R(unlink("l"));
	show_by("l", "f");
	symlink("b", "l");
	show_by("l", "f");
	symlink("a", "new");
	R(rename("new", "l"));
	show_by("l", "f");
	show_by("a", "f");
	R(rename("a", "c"));
	show_by("a", "f");
	show_by("l", "f");
	R(rename("b", "a"));
	show_by("a", "f");
	show_by("l", "f");
}

/* The room for the name of the working directory, and one byte less. */
static void test_getcwd(void)
{
	char whole[200], part[200];
	long n;

	mkdir("below", 0755);
	chdir("below");
	n = syscall(SYS_getcwd, whole, sizeof(whole));
	T(n == (long)strlen(whole) + 1);
	T(syscall(SYS_getcwd, part, n) == n && !strcmp(part, whole));
	R(syscall(SYS_getcwd, part, n - 1));
	R(syscall(SYS_getcwd, part, 0));
	R(rename("../below", "../moved"));
	getcwd(whole, sizeof(whole));
	T(!strcmp(strrchr(whole, '/'), "/moved"));
	R(chdir(".."));
	getcwd(whole, sizeof(whole));
	T(strrchr(whole, '/')[1] == 'c');
}

/* A file without a name lives on: it has no links, but contents and attributes. */
static void test_nameless(void)
{
	char buf[10] = "", path[40];
	struct stat st;
	int fd = open("f", O_RDWR | O_CREAT, 0600), again;

	R(unlink("f"));
	R(fstat(fd, &st));
	say("%lu", (long)st.st_nlink);
	R(write(fd, "still here", 10));
	R(fchmod(fd, 0640));
	R(ftruncate(fd, 5));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	R(read(again, buf, 10));
	say("%s", buf);
	make("f", "another");
	R(fchmod(fd, 0604));
	R(fstat(fd, &st));
	say("%o", st.st_mode & 07777);
	R(stat("f", &st));
	say("%o", st.st_mode & 07777);
}

static int count_entries(int dir, char *buf, size_t room)
{
	int n = 0;
	long got;

	while ((got = syscall(SYS_getdents64, dir, buf, room)) > 0)
		for (long at = 0; at < got; n++)
			at += ((struct dirent64 *)(buf + at))->d_reclen;
	return got < 0 ? -errno : n;
}

/* A listing in small pieces has each entry once, again after a seek, and while entries go. */
static void test_listing(void)
{
	char buf[4096], name[20];
	int dir;

	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		make(name, "");
	}
	dir = open(".", O_RDONLY | O_DIRECTORY);
	say("%d", count_entries(dir, buf, 64));
	say("%d", count_entries(dir, buf, 64));
	R(lseek(dir, 0, SEEK_SET));
	say("%d", count_entries(dir, buf, sizeof(buf)));
	R(lseek(dir, 0, SEEK_SET));
	say("%d", count_entries(dir, buf, 23));
	R(lseek(dir, 0, SEEK_SET));
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		R(unlink(name));
	}
	say("%d", count_entries(dir, buf, 64));
}

/* Entries that could not be given to the caller come again. */
static void test_listing_unreported(void)
{
	char buf[4096];
	int dir = open(".", O_RDONLY | O_DIRECTORY);

	make("a", "");
	make("b", "");
	R(syscall(SYS_getdents64, dir, BAD, sizeof(buf)));
	say("%d", count_entries(dir, buf, sizeof(buf)));
}

/* Each flag of open() with what it does not go with. */
static void test_open_flags(void)
{
	struct stat st;
	int fd;

	make("f", "contents");
	mkdir("d", 0755);
	symlink("f", "l");
	R(open("new", O_RDWR | O_CREAT | O_EXCL | O_TRUNC, 0400) >= 0);
	R(open("new", O_RDWR | O_CREAT | O_EXCL, 0400));
	R(open("l", O_RDWR | O_CREAT | O_EXCL, 0400));
	R(open("l", O_RDONLY | O_NOFOLLOW));
	R(open("d", O_RDONLY | O_TRUNC));
	R(open("d", O_RDONLY | O_CREAT, 0600));
	R(open("d/", O_RDWR));
	R(open("f/", O_RDWR));
	R(open("l", O_RDONLY | O_DIRECTORY));
	fd = open("f", O_WRONLY | O_APPEND);
	R(lseek(fd, 0, SEEK_CUR));
	R(write(fd, "+", 1));
	R(lseek(fd, 2, SEEK_SET));
	R(write(fd, "+", 1));
	R(lseek(fd, 0, SEEK_CUR));
	R(fcntl(fd, F_SETFL, 0));
	R(lseek(fd, 0, SEEK_SET));
	R(write(fd, "C", 1));
	show("f");
	R(open("f", O_WRONLY | O_TRUNC) >= 0);
	R(stat("f", &st));
	say("%ld", (long)st.st_size);
	R(truncate("l", 3));
	R(lstat("l", &st));
	say("%ld", (long)st.st_size);
	R(stat("f", &st));
	say("%ld", (long)st.st_size);
}

static long access_at(int dir, const char *name, int mode, int flags)
{
	return syscall(SYS_faccessat2, dir, name, mode, flags);
}

/* faccessat2() looks at a link itself, or at a descriptor alone, if its flags say so. */
static void test_access(void)
{
	int fd, dir, ends[2];

	make("f", "file");
	mkdir("d", 0);
	symlink("none", "dangling");
	fd = open("f", O_RDONLY);
	dir = open("d", O_RDONLY | O_DIRECTORY);
	pipe(ends);
	R(access_at(AT_FDCWD, "dangling", F_OK, 0));
	R(access_at(AT_FDCWD, "dangling", F_OK, AT_SYMLINK_NOFOLLOW));
	R(access_at(AT_FDCWD, "dangling", R_OK | W_OK | X_OK, AT_SYMLINK_NOFOLLOW));
	R(access_at(fd, "", R_OK, 0));
	R(access_at(fd, "", R_OK | W_OK, AT_EMPTY_PATH));
	R(access_at(fd, "", X_OK, AT_EMPTY_PATH));
	R(access_at(ends[0], "", X_OK, AT_EMPTY_PATH));
	R(access_at(ends[0], "", R_OK, AT_EMPTY_PATH | AT_EACCESS));
	R(access_at(dir, "", X_OK, AT_EMPTY_PATH));
	R(access_at(99, "", F_OK, AT_EMPTY_PATH));
	R(access_at(fd, "x", F_OK, AT_EMPTY_PATH));
	R(access_at(dir, "x", F_OK, 0));
	R(access_at(dir, "../f", R_OK, 0));
	R(access_at(AT_FDCWD, "f", 8, 0));
	R(access_at(AT_FDCWD, "none", 8, 0));
	R(access_at(AT_FDCWD, "f", F_OK, 1));
	R(access_at(AT_FDCWD, BAD, F_OK, AT_EMPTY_PATH));
	R(fchmod(fd, 0100));
	R(access_at(fd, "", R_OK | W_OK | X_OK, AT_EMPTY_PATH));
}

const struct call_case path_cases[] = {
    {"path_removed_directory", test_removed_directory},
    {"path_removed_own_directory", test_removed_own_directory},
    {"path_moved_directory", test_moved_directory},
    {"path_rename", test_rename},
    {"path_rename_directories", test_rename_directories},
    {"path_rename_slashes", test_rename_slashes},
    {"path_links", test_links},
    {"path_lengths", test_lengths},
    {"path_link_chain", test_link_chain},
    {"path_link_changed", test_link_changed},
    {"path_getcwd", test_getcwd},
    {"path_nameless", test_nameless},
    {"path_listing", test_listing},
    {"path_listing_unreported", test_listing_unreported},
    {"path_open_flags", test_open_flags},
    {"path_access", test_access},
    {NULL, NULL},
};
