/* splice, sendfile, copy_file_range: what they refuse, and that a refusal takes nothing. */
#include "tests/calls/calls.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

static int p[2], q[2], file, end, only, to_write;
static char buf[65536];

static void prepare(void)
{
	pipe(p);
	pipe(q);
	file = open("file", O_RDWR | O_CREAT, 0600);
	write(file, "0123456789", 10);
	lseek(file, 0, SEEK_SET);
	end = open("end", O_WRONLY | O_APPEND | O_CREAT, 0600);
	only = open("file", O_RDONLY);
	to_write = open("file", O_WRONLY);
	write(p[1], "abcde", 5);
}

/* Shows the bytes that are in a pipe, and that no more come. */
static void show_pipe(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	ssize_t n = read(fd, buf, sizeof(buf));

	say("%zd bytes: %.*s", n, n > 0 ? (int)n : 0, buf);
	fcntl(fd, F_SETFL, 0);
}

/* splice() refuses wrong ends, places and flags. */
static void test_refusals(void)
{
	off_t at = 1, minus = -1;

	prepare();
	R(splice(p[0], NULL, p[1], NULL, 1, 0));
	R(splice(p[0], NULL, end, NULL, 1, 0));
	R(splice(p[0], &at, file, NULL, 1, 0));
	R(splice(file, NULL, q[1], &at, 1, 0));
	R(splice(p[0], NULL, only, NULL, 1, 0));
	R(splice(to_write, NULL, q[1], NULL, 1, 0));
	R(splice(p[1], NULL, q[1], NULL, 1, 0));
	R(splice(p[0], NULL, q[0], NULL, 1, 0));
	R(splice(p[0], NULL, file, &minus, 1, 0));
	R(splice(file, &minus, q[1], NULL, 1, 0));
	R(splice(p[0], NULL, q[1], NULL, 1, 16));
	R(splice(p[0], NULL, q[1], NULL, 0, 16));
	R(splice(p[0], NULL, q[1], NULL, 0, 0));
	R(splice(p[0], NULL, file, BAD, 1, 0));
	show_pipe(p[0]);
	show_pipe(q[0]);
	R(lseek(file, 0, SEEK_CUR));
}

/* Places move by what was moved: that of the call or that of the file, never both. */
static void test_places(void)
{
	off_t from = 3, to = 20;

	prepare();
	R(splice(file, &from, q[1], NULL, 4, 0));
	R(splice(file, NULL, q[1], NULL, 2, 0));
	say("%ld, %ld", (long)from, (long)lseek(file, 0, SEEK_CUR));
	show_pipe(q[0]);
	R(splice(p[0], NULL, file, &to, 2, 0));
	R(splice(p[0], NULL, file, NULL, 100, 0));
	say("%ld, %ld", (long)to, (long)lseek(file, 0, SEEK_CUR));
	show_pipe(p[0]);
	R(pread(file, buf, 100, 0));
	say("%.10s, %.2s", buf, buf + 20);
	from = 100;
	R(splice(file, &from, q[1], NULL, 4, 0));
	say("%ld", (long)from);
}

/* splice() leaves bytes in their pipe for which the other one has no room. */
static void test_nonblock(void)
{
	prepare();
	R(splice(q[0], NULL, file, NULL, 1, SPLICE_F_NONBLOCK));
	T(write(q[1], buf, sizeof(buf)) == sizeof(buf));
	R(splice(p[0], NULL, q[1], NULL, 3, SPLICE_F_NONBLOCK));
	R(splice(file, NULL, q[1], NULL, 3, SPLICE_F_NONBLOCK));
	R(lseek(file, 0, SEEK_CUR));
	R(read(q[0], buf, 4096));
	R(splice(p[0], NULL, q[1], NULL, 3, SPLICE_F_NONBLOCK));
	show_pipe(p[0]);
	close(q[0]);
	signal(SIGPIPE, SIG_IGN);
	R(splice(file, NULL, q[1], NULL, 3, 0));
	R(sendfile(q[1], file, NULL, 3));
	close(p[1]);
	R(splice(p[0], NULL, file, NULL, 3, 0));
}

/* A file's bytes may go to a place in it that they do not reach from. */
static void test_overlap(void)
{
	static const struct {
		off_t from, to;
		size_t len;
	} rows[] = {{0, 4, 4}, {0, 3, 4}, {4, 0, 4}, {4, 1, 4}, {3, 0, 4}, {8, 0, 100}, {8, 5, 100},
	    {8, 6, 100}, {8, 7, 100}, {8, 8, 1}, {20, 0, 5}, {10, 10, 5}};

	prepare();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		off_t from = rows[i].from, to = rows[i].to;

		R(ftruncate(file, 0));
		pwrite(file, "0123456789", 10, 0);
		R(copy_file_range(file, &from, file, &to, rows[i].len, 0));
		memset(buf, 0, 20);
		R(pread(file, buf, 20, 0));
		say("%ld, %ld: %s", (long)from, (long)to, buf);
	}
}

/* How much a full pipe still takes of a file, by sendfile(), and where it goes on after that. */
static void sends_part(int from, off_t *at)
{
	R(sendfile(q[1], from, at, 10000));
	say("%ld, %ld", at ? (long)*at : -1, (long)lseek(from, 0, SEEK_CUR));
}

/* sendfile() moves its place by what the target took, not by what was read for it. */
static void test_sendfile_part(void)
{
	off_t at = 0;

	prepare();
	ftruncate(file, 100000);
	fcntl(q[1], F_SETFL, O_NONBLOCK);
	T(write(q[1], buf, sizeof(buf)) == sizeof(buf));
	sends_part(file, &at);
	sends_part(file, NULL);
	R(read(q[0], buf, 4096));
	sends_part(file, &at);
	R(read(q[0], buf, 8192));
	sends_part(file, NULL);
	sends_part(file, NULL);
}

static void splices_from_socket(void)
{
	R(splice(q[0], NULL, p[1], NULL, sizeof(buf), 0) > 0);
}

static void writes_all(void)
{
	memset(buf, 'b', sizeof(buf));
	_exit(write(p[1], buf, sizeof(buf)) != sizeof(buf));
}

/* While splice() waits for a socket, it keeps the pipe: what others write comes after its bytes. */
static void test_room(void)
{
	long total = 0, first = 0, n;
	int status;
	pid_t pid, other;

	pipe(p);
	socketpair(AF_UNIX, SOCK_STREAM, 0, q);
	pid = fork();
	if (!pid) {
		splices_from_socket();
		_exit(0);
	}
	wait_until_asleep(pid);
	other = fork();
	if (!other)
		writes_all();
	usleep(5000); /* in which it could fill the pipe */
	write(q[1], "aaaaaaaaaa", 10);
	waitpid(pid, &status, 0);
	say("%#x", status);
	close(p[1]);
	while ((n = read(p[0], buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++, total++)
			first += (total < 10) == (buf[i] == 'a');
	say("%ld bytes, %ld where they belong", total, first);
	waitpid(other, &status, 0);
	say("%#x", status);
}

const struct call_case splice_cases[] = {
    {"splice_refusals", test_refusals},
    {"splice_places", test_places},
    {"splice_nonblock", test_nonblock},
    {"splice_overlap", test_overlap},
    {"splice_sendfile_part", test_sendfile_part},
    {"splice_room", test_room},
    {NULL, NULL},
};
