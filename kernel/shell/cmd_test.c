/* test and [: POSIX's operators, with ( ) ! -a -o. Task context (looks at files). */
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"

#define TEST_DEPTH 8

struct test {
	struct sh_io *io;
	char **v;
	int n, at, depth;
	bool bad;
};

static bool test_or(struct test *t);

static bool test_number(struct test *t, const char *s, s64 *out)
{
	while (is_space(*s))
		s++;
	s += *s == '+';
	if (!parse_s64(s, 10, out))
		return true;
	if (!t->bad)
		sh_fail(t->io, "%s: bad number", s);
	t->bad = true;
	return false;
}

static bool test_file(char op, const char *name)
{
	struct vstat st;

	if (vfs_stat(name, op != 'h' && op != 'L', &st))
		return false;
	switch (op) {
	case 'f':
		return (st.mode & S_IFMT) == S_IFREG;
	case 'd':
		return (st.mode & S_IFMT) == S_IFDIR;
	case 'h':
	case 'L':
		return (st.mode & S_IFMT) == S_IFLNK;
	case 'p':
		return (st.mode & S_IFMT) == S_IFIFO;
	case 'c':
		return (st.mode & S_IFMT) == S_IFCHR;
	case 's':
		return st.size > 0;
	case 'r':
		return !vfs_access(name, 4);
	case 'w':
		return !vfs_access(name, 2);
	case 'x':
		return !vfs_access(name, 1);
	default:
		return true; /* -e */
	}
}

static bool is_unary(const char *s)
{
	return s[0] == '-' && s[1] && !s[2] && strchr("fdhLpcsrwxeznt", s[1]);
}

static bool unary(struct test *t, char op, const char *s)
{
	s64 fd;

	if (op == 'n' || op == 'z')
		return (op == 'n') == (*s != 0);
	if (op == 't')
		return test_number(t, s, &fd) && fd >= 0 && fd < SH_FDS && t->io->sh->fd[fd] &&
		       os_is_tty(t->io->sh->fd[fd]);
	return test_file(op, s);
}

static const char *const binaries[] = {
    "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};

static int binary_index(const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++)
		if (!strcmp(binaries[i], s))
			return i;
	return -1;
}

static bool compare_files(int op, const char *a, const char *b)
{
	struct vstat x, y;
	bool has_x = !vfs_stat(a, true, &x), has_y = !vfs_stat(b, true, &y);

	if (op == 13)
		return has_x && has_y && x.ino == y.ino && x.dev == y.dev;
	if (!has_x || !has_y)
		return op == 11 ? has_x && !has_y : !has_x && has_y;
	return op == 11 ? x.mtime_ns > y.mtime_ns : x.mtime_ns < y.mtime_ns;
}

static bool binary(struct test *t, int op, const char *a, const char *b)
{
	int d = strcmp(a, b);
	s64 x, y;

	if (op < 5)
		return op <= 1 ? !d : op == 2 ? d != 0 : op == 3 ? d < 0 : d > 0;
	if (op >= 11)
		return compare_files(op, a, b);
	if (!test_number(t, a, &x) || !test_number(t, b, &y))
		return false;
	switch (op) {
	case 5:
		return x == y;
	case 6:
		return x != y;
	case 7:
		return x < y;
	case 8:
		return x <= y;
	case 9:
		return x > y;
	default:
		return x >= y;
	}
}

static bool test_error(struct test *t, const char *why)
{
	if (!t->bad)
		sh_fail(t->io, "%s", why);
	t->bad = true;
	return false;
}

static bool test_primary(struct test *t)
{
	int left = t->n - t->at, op;
	char **v = t->v + t->at;
	bool r;

	if (left <= 0)
		return test_error(t, "argument expected");
	op = left >= 3 ? binary_index(v[1]) : -1;
	if (op >= 0) {
		t->at += 3;
		return binary(t, op, v[0], v[2]);
	}
	if (left >= 2 && !strcmp(v[0], "!")) {
		t->at++;
		return !test_primary(t);
	}
	if (left >= 2 && is_unary(v[0])) {
		t->at += 2;
		return unary(t, v[0][1], v[1]);
	}
	if (left >= 3 && !strcmp(v[0], "(")) {
		if (++t->depth > TEST_DEPTH)
			return test_error(t, "too deeply nested");
		t->at++;
		r = test_or(t);
		if (t->at >= t->n || strcmp(t->v[t->at], ")"))
			return test_error(t, "closing paren expected");
		t->at++;
		t->depth--;
		return r;
	}
	t->at++;
	return *v[0] != 0;
}

static bool test_and(struct test *t)
{
	bool r = test_primary(t);

	while (t->at < t->n && !strcmp(t->v[t->at], "-a") && !t->bad) {
		t->at++;
		r &= test_primary(t);
	}
	return r;
}

static bool test_or(struct test *t)
{
	bool r = test_and(t);

	while (t->at < t->n && !strcmp(t->v[t->at], "-o") && !t->bad) {
		t->at++;
		r |= test_and(t);
	}
	return r;
}

int sh_cmd_test(struct sh_io *io, int argc, char **argv)
{
	struct test t = {.io = io, .v = argv + 1, .n = argc - 1};
	bool r = false;

	if (!strcmp(argv[0], "[")) {
		if (strcmp(argv[argc - 1], "]"))
			return sh_fail(io, "missing ]") + 1;
		t.n--;
	}
	if (t.n) {
		bool negate = t.n > 3 && !strcmp(t.v[0], "!") && binary_index(t.v[2]) >= 0;

		t.at = negate; /* ! a = b */
		r = test_or(&t) != negate;
	}
	if (!t.bad && t.n && t.at < t.n)
		t.bad = sh_fail(io, "%s: %s", t.v[t.at],
		    t.at + 1 == t.n && binary_index(t.v[t.at]) >= 0 ? "argument expected"
								    : "unknown operand");
	return t.bad ? 2 : !r;
}
