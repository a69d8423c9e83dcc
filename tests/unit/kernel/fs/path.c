/* Path text: kernel/fs/path.c. */
#include "kernel/fs/path.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static void components(void)
{
	static const struct {
		const char *path, *name, *want;
	} rows[] = {
	    {"/", "a", "/a"},
	    {"/a/b", "c", "/a/b/c"},
	    {"/a/b", "..", "/a"},
	    {"/a", "..", "/"},
	    {"/", "..", "/"},
	    {"/a", ".", "/a"},
	    {"/a", "...", "/a/..."},
	    {"/a", "..b", "/a/..b"},
	    {"/a", ".b", "/a/.b"},
	};
	char path[64];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		strscpy(path, rows[i].path, sizeof(path));
		EXPECT_EQ(path_push(path, sizeof(path), rows[i].name, strlen(rows[i].name)), 0);
		EXPECT_STR(path, rows[i].want);
	}
}

/* Room for N-1, N and N+1 characters. */
static void limits(void)
{
	for (size_t size = 7; size <= 9; size++) {
		char path[9] = "/";
		EXPECT_EQ(path_push(path, size, "abcdef", 6), size < 8 ? -ENAMETOOLONG : 0);
		EXPECT_STR(path, size < 8 ? "/" : "/abcdef");
	}
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
    {"path.components", components},
    {"path.limits", limits},
    {"path.push_keeps_on_error", push_keeps_on_error},
    {NULL, NULL},
};
const struct ktap_suite suite_fs_path = {cases};
