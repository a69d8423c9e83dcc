/* /proc/self, /dev/fd, and what /proc and /sys tell of the machine. */
#include "tests/calls/calls.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static char text[100000];

/* A whole file; its length. */
static long get(const char *path)
{
	int fd = open(path, O_RDONLY);
	long n = 0, part;

	if (fd < 0)
		return -1;
	while ((part = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += part;
	text[n] = 0;
	close(fd);
	return n;
}

static void link_of(const char *path)
{
	char to[200] = "";

	R(readlink(path, to, sizeof(to) - 1) > 0);
	if (strchr(to, '['))
		*strchr(to, '[') = 0;
	say("%s -> %s", path, strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
}

static void test_fd(void)
{
	int file = open("f", O_RDWR | O_CREAT, 0600), p[2], event, again;
	char c = 0;

	pipe(p);
	event = eventfd(0, 0);
	dup2(file, 50);
	dup2(p[0], 51);
	dup2(p[1], 52);
	dup2(event, 53);
	write(50, "abc", 3);
	link_of("/proc/self/fd/50");
	link_of("/proc/self/fd/51");
	link_of("/proc/self/fd/53");
	again = open("/proc/self/fd/50", O_RDONLY);
	R(lseek(again, 0, SEEK_CUR));
	R(read(again, &c, 1));
	R(write(again, &c, 1));
	again = open("/dev/fd/51", O_RDONLY);
	write(52, "x", 1);
	R(read(again, &c, 1));
	say("%c", c);
	close(again);
	again = open("/dev/fd/52", O_WRONLY);
	R(write(again, "y", 1));
	R(read(51, &c, 1));
	say("%c", c);
	R(open("/proc/self/fd/53", O_RDONLY));
	R(open("/proc/self/fd/99", O_RDONLY));
	R(open("/proc/self/fd/x", O_RDONLY));
	R(open("/proc/self/fd/050", O_RDONLY));
	R(truncate("/proc/self/fd/50", 1));
	R(lseek(50, 0, SEEK_END));
	unlink("f");
	again = open("/proc/self/fd/50", O_RDONLY);
	R(read(again, &c, 1));
	DIR *d = opendir("/proc/self/fd");
	int found = 0;
	for (struct dirent *e; (e = readdir(d));)
		found += atoi(e->d_name) >= 50 && atoi(e->d_name) <= 53;
	say("%d of them listed", found);
	R(open("/dev/stdin", O_WRONLY | O_DIRECTORY));
}

static void test_self(void)
{
	static const char *const files[] = {
	    "cmdline", "comm", "environ", "maps", "stat", "statm", "status"};
	char path[64], *end;
	int pid = getpid();

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", files[i]);
		say("%s: %d", files[i], get(path) > 0);
	}
	get("/proc/self/stat");
	T(atoi(text) == pid);
	end = strrchr(text, ')');
	say("state %c", end[2]);
	T(atoi(end + 4) == getppid());
	int words = 0;
	for (char *w = strtok(end + 2, " \n"); w; w = strtok(NULL, " \n"))
		words++;
	say("%d words", words + 2);
	get("/proc/self/status");
	T(strstr(text, "\nPid:\t") && atoi(strstr(text, "\nPid:\t") + 6) == pid);
	T(strstr(text, "\nVmRSS:\t") && atoi(strstr(text, "\nVmRSS:\t") + 8) > 0);
	T(strstr(text, "\nThreads:\t1\n"));
	get("/proc/self/statm");
	long size = strtol(text, &end, 10), resident = strtol(end, NULL, 10);
	T(size > resident && resident > 0);
	get("/proc/self/maps");
	T(strstr(text, "[stack]") && strstr(text, "/calls\n"));
	link_of("/proc/self/exe");
	symlink("/proc/self/cwd", "here");
	close(open("inside", O_CREAT | O_WRONLY, 0600));
	R(access("here/inside", F_OK));
	link_of("/proc/self/root");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	get(path);
	say("%s", strtok(text, "\n"));
	R(open("/proc/4000001/comm", O_RDONLY));
	R(open("/proc/self/none", O_RDONLY));
	R(open("/proc/01/comm", O_RDONLY));
}

/* A file that is read from its beginning again has what holds now. */
static void test_again(void)
{
	int fd = open("/proc/self/comm", O_RDONLY), p[2];
	char name[17];
	long n;

	for (int i = 0; i < 2; i++) {
		prctl(PR_SET_NAME, i ? "second" : "first name");
		n = pread(fd, text, sizeof(text), 0);
		text[n > 0 ? n : 0] = 0;
		say("%s", strtok(text, "\n"));
	}
	memset(name, 'x', sizeof(name));
	prctl(PR_GET_NAME, name);
	n = 0;
	for (int i = 0; i < 16; i++)
		n += name[i] != 0;
	say("%ld letters", n);
	/* Looking at a process's files keeps none of them open. */
	pipe(p);
	if (!fork()) {
		readlink("/proc/self/fd/0", text, sizeof(text));
		_exit(0);
	}
	close(p[1]);
	R(read(p[0], name, 1));
}

static void test_mem(void)
{
	static char here[] = "here";
	int fd = open("/proc/self/mem", O_RDWR);
	char buf[8] = "";

	R(pread(fd, buf, 4, (off_t)here));
	say("%s", buf);
	R(pwrite(fd, "there", 4, (off_t)here));
	say("%s", here);
	R(pread(fd, buf, 4, 8));
	R(pread(fd, buf, 0, (off_t)here));
	R(lseek(fd, 100, SEEK_SET));
}

static void test_machine(void)
{
	double a, b;
	int running, all, last;
	long user, ignored;

	get("/proc/uptime");
	T(sscanf(text, "%lf %lf", &a, &b) == 2 && a > 0);
	get("/proc/loadavg");
	T(sscanf(text, "%lf %lf %*f %d/%d %d", &a, &b, &running, &all, &last) == 5 && running > 0);
	get("/proc/stat");
	T(sscanf(text, "cpu  %ld %ld %ld %ld", &user, &ignored, &ignored, &ignored) == 4);
	T(strstr(text, "\ncpu0 ") && strstr(text, "\nbtime ") && strstr(text, "\nprocs_running "));
	get("/proc/meminfo");
	T(strstr(text, "MemTotal: ") == text && strstr(text, "\nMemAvailable: "));
	get("/proc/cpuinfo");
	T(strstr(text, "processor\t: 0\n"));
	T(get("/sys/devices/system/cpu/online") > 0 && text[0] == '0');
	T(get("/sys/devices/system/cpu/possible") > 0 && text[0] == '0');
	T(get("/sys/devices/system/cpu/present") > 0 && text[0] == '0');
	get("/proc/sys/kernel/ostype");
	T(get("/proc/sys/kernel/osrelease") > 3);
	T(get("/proc/sys/kernel/pid_max") > 3);
	struct stat st;
	R(stat("/dev/shm", &st)); /* its mode depends on what a host mounts there */
	T(S_ISDIR(st.st_mode));
}

/* Links that are read into too little room, the mask of modes, and the directory of threads. */
static void test_task(void)
{
	char to[200] = "", path[64];
	int n = 0;
	DIR *d;

	R(readlink("/proc/self", to, 1));
	R(readlink("/proc/self/cwd", to, 4));
	say("%s", to + 1);
	umask(0135);
	get("/proc/self/status");
	T(strstr(text, "\nUmask:\t0135\n"));
	d = opendir("/proc/self/task");
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	say("%d", n);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", getpid());
	R(access(path, F_OK));
	snprintf(path, sizeof(path), "/proc/self/task/%d/task", getpid());
	R(access(path, F_OK));
	snprintf(path, sizeof(path), "/proc/self/task/%d", getppid());
	R(access(path, F_OK));
	R(access("/proc/self/task/1", F_OK));
}

/* A link that is longer than its room is cut, and nothing is written past it. */
static void test_short_links(void)
{
	static const char *const links[] = {
	    "/proc/self", "/proc/self/cwd", "/proc/self/exe", "/proc/self/fd/1"};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		char to[8] = "-------";

		say("%s", links[i]);
		R(readlink(links[i], to, 1));
		say("%s", to + 1);
		R(readlink(links[i], to, 0));
	}
}

static void show_umask(void)
{
	char *at = get("/proc/self/status") > 0 ? strstr(text, "Umask:") : NULL;

	say("%.11s", at ? at : "none");
}

/* The mask that a process has now. */
static void test_umask_shown(void)
{
	show_umask();
	umask(0751);
	show_umask();
	in_child(show_umask);
	umask(0);
	show_umask();
}

static volatile int other_tid;
static volatile bool looked;

static void *be_looked_at(void *arg)
{
	other_tid = gettid();
	while (!looked)
		usleep(1000);
	return arg;
}

/* How often a number is an entry of a directory, and how many numbers are. */
static int entries(const char *path, int wanted, int *numbers)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int found = 0;

	*numbers = 0;
	while ((e = readdir(d))) {
		*numbers += atoi(e->d_name) > 0;
		found += atoi(e->d_name) == wanted;
	}
	closedir(d);
	return found;
}

/* A thread is listed with its process alone, and is no process; a process has its own threads. */
static void test_threads(void)
{
	char path[64];
	struct stat st;
	pthread_t t;
	int n;

	pthread_create(&t, NULL, be_looked_at, NULL);
	while (!other_tid)
		usleep(500);
	R(entries("/proc", getpid(), &n));
	R(entries("/proc", other_tid, &n));
	R(entries("/proc/self/task", getpid(), &n));
	R(entries("/proc/self/task", other_tid, &n));
	say("%d", n);
	snprintf(path, sizeof(path), "/proc/self/task/%d", other_tid);
	R(stat(path, &st));
	snprintf(path, sizeof(path), "/proc/self/task/%d/task", other_tid);
	R(stat(path, &st));
	snprintf(path, sizeof(path), "/proc/self/task/%d", getppid());
	R(stat(path, &st));
	snprintf(path, sizeof(path), "/proc/%d/task/%d", getppid(), other_tid);
	R(stat(path, &st));
	snprintf(path, sizeof(path), "/proc/%d", other_tid); /* there, though not listed */
	R(stat(path, &st));
	looked = true;
	pthread_join(t, NULL);
	while (!stat(path, &st)) /* who joined it may come before it is gone */
		usleep(500);
	R(entries("/proc/self/task", getpid(), &n));
	say("%d", n);
	R(stat(path, &st));
}

const struct call_case proc_cases[] = {
    {"proc_fd", test_fd},
    {"proc_self", test_self},
    {"proc_task", test_task},
    {"proc_again", test_again},
    {"proc_mem", test_mem},
    {"proc_machine", test_machine},
    {"proc_short_links", test_short_links},
    {"proc_umask", test_umask_shown},
    {"proc_threads", test_threads},
    {NULL, NULL},
};
