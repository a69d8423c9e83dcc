/* Path text: kernel/fs/path.c. */
#include "kernel/fs/path.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static void cleans(void)
{
	static const struct {
		const char *cwd, *path, *want;
	} rows[] = {
	    {"/", "", "/"},
	    {"/", "/", "/"},
	    {"/", "a", "/a"},
	    {"/a/b", "c", "/a/b/c"},
	    {"/a/b", "/c", "/c"},
	    {"/a/b", "..", "/a"},
	    {"/a/b", "../..", "/"},
	    {"/a/b", "../../../../x", "/x"},
	    {"/a", "./././b/.", "/a/b"},
	    {"/a", "//b///c//", "/b/c"},
	    {"/a", "b/../c/../d", "/a/d"},
	    {"/a", "...", "/a/..."},
	    {"/a", "..b", "/a/..b"},
	    {"/a", ".b", "/a/.b"},
	    {"/a/", "b/", "/a/b"},
	};
	char out[64];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(
		    path_join(rows[i].cwd, rows[i].path, out, sizeof(out)), strlen(rows[i].want));
		EXPECT_STR(out, rows[i].want);
	}
}

/* Room for N-1, N and N+1 characters. */
static void limits(void)
{
	char out[8];

	EXPECT_EQ(path_join("/", "abcdef", out, 9), 7);
	EXPECT_EQ(path_join("/", "abcdef", out, 8), 7);
	EXPECT_STR(out, "/abcdef");
	EXPECT_EQ(path_join("/", "abcdef", out, 7), -ENAMETOOLONG);
	EXPECT_EQ(path_join("/abc", "def", out, 8), -ENAMETOOLONG);
	EXPECT_EQ(path_join("/abc", "de", out, 8), 7);
	EXPECT_EQ(path_join("/", "", out, 2), 1);
	EXPECT_EQ(path_join("/", "", out, 1), -ENAMETOOLONG);
}

static void push_keeps_on_error(void)
{
	char path[8] = "/abc";

	EXPECT_EQ(path_push(path, sizeof(path), "defg", 4), -ENAMETOOLONG);
	EXPECT_STR(path, "/abc");
	EXPECT_EQ(path_push(path, sizeof(path), "def", 3), -ENAMETOOLONG);
	EXPECT_EQ(path_push(path, sizeof(path), "xy", (size_t)-1), -ENAMETOOLONG);
	EXPECT_EQ(path_push(path, sizeof(path), "de", 2), 0);
	EXPECT_STR(path, "/abc/de");
}

static const struct ktap_case cases[] = {
    {"path.cleans", cleans},
    {"path.limits", limits},
    {"path.push_keeps_on_error", push_keeps_on_error},
    {NULL, NULL},
};
const struct ktap_suite suite_fs_path = {cases};
