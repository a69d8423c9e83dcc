/* The programs; see races.h. */
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "tests/races/races.h"

/* ---- lost updates ---- */

static volatile int counter;

static void *add_one(void *arg)
{
	int is = counter;

	counter = is + 1;
	return arg;
}

static int lost_update(void)
{
	race_together(add_one, add_one);
	return counter == 2 ? 0 : race_wrong("an update is lost");
}

/* The check and the update each take the lock, but it is free between them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int get_balance(void)
{
	pthread_mutex_lock(&lock);
	int is = balance;
	pthread_mutex_unlock(&lock);
	return is;
}

static void *withdraw(void *arg)
{
	int is = get_balance();

	if (is < 100)
		return arg;
	pthread_mutex_lock(&lock);
	balance -= 100;
	pthread_mutex_unlock(&lock);
	return arg;
}

static int check_then_act(void)
{
	race_together(withdraw, withdraw);
	return balance >= 0 ? 0 : race_wrong("more was withdrawn than there was");
}

/* ---- missed wake-ups ---- */

static pthread_cond_t ready_cond = PTHREAD_COND_INITIALIZER;
static atomic_bool ready;

static void *wait_ready(void *arg)
{
	if (!ready) { /* tested without the lock */
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&ready_cond, &lock);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *make_ready(void *arg)
{
	ready = true;
	pthread_cond_signal(&ready_cond);
	return arg;
}

static int missed_signal(void)
{
	race_together(wait_ready, make_ready);
	return 0;
}

/* A byte announces work. The consumer reads it, takes all work, then clears the counter. */
static int wake_pipe[2];
static atomic_int work, done;

static void *consume(void *arg)
{
	char bytes[8];

	while (done < 2) {
		if (read(wake_pipe[0], bytes, sizeof(bytes)) <= 0)
			break;
		done += work;
		work = 0;
	}
	return arg;
}

static void *produce(void *arg)
{
	for (int i = 0; i < 2; i++) {
		work++;
		if (write(wake_pipe[1], "x", 1) != 1)
			break;
	}
	return arg;
}

static int missed_byte(void)
{
	if (pipe(wake_pipe))
		return 2;
	race_together(consume, produce);
	return 0;
}

/* ---- order ---- */

static int *volatile shared;

static void *use_shared(void *arg)
{
	return shared && *shared == 42 ? arg : (void *)1;
}

static int used_before_made(void)
{
	static int value = 42;
	pthread_t t;
	void *wrong;

	pthread_create(&t, NULL, use_shared, NULL);
	shared = &value;
	pthread_join(t, &wrong);
	return wrong ? race_wrong("used before it was made") : 0;
}

/* The flag is set before the data. */
static volatile int flag, data;

static void *publish(void *arg)
{
	flag = 1;
	data = 7;
	return arg;
}

static atomic_int seen_wrong;

static void *look_up(void *arg)
{
	if (flag && data != 7)
		seen_wrong = 1;
	return arg;
}

static int published_early(void)
{
	race_together(publish, look_up);
	return seen_wrong ? race_wrong("the flag is set, and the data are not there") : 0;
}

/* ---- deadlocks ---- */

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *left_first(void *arg)
{
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&right);
	pthread_mutex_unlock(&right);
	pthread_mutex_unlock(&left);
	return arg;
}

static void *right_first(void *arg)
{
	pthread_mutex_lock(&right);
	pthread_mutex_lock(&left);
	pthread_mutex_unlock(&left);
	pthread_mutex_unlock(&right);
	return arg;
}

static int lock_order(void)
{
	race_together(left_first, right_first);
	return 0;
}

/* Each takes one of two tokens, then the other. */
static sem_t tokens;

static void *take_two(void *arg)
{
	sem_wait(&tokens);
	sem_wait(&tokens);
	sem_post(&tokens);
	sem_post(&tokens);
	return arg;
}

static int two_tokens(void)
{
	sem_init(&tokens, 0, 2);
	race_together(take_two, take_two);
	return 0;
}

/* ---- ABA ---- */

struct node {
	struct node *next;
	int taken;
};
static struct node nodes[2] = {{&nodes[1], 0}, {NULL, 0}};
static _Atomic(struct node *) top = &nodes[0];

static struct node *pop(void)
{
	struct node *n = top, *next;

	do {
		if (!n)
			return NULL;
		next = n->next;
	} while (!atomic_compare_exchange_strong(&top, &n, next));
	n->taken++;
	return n;
}

static void push(struct node *n)
{
	n->taken--;
	n->next = top;
	while (!atomic_compare_exchange_strong(&top, &n->next, n))
		;
}

static void *pop_one(void *arg)
{
	pop();
	return arg;
}

static void *pop_two_push_one(void *arg)
{
	struct node *a = pop(), *b = pop();

	if (a && b)
		push(a);
	return arg;
}

static int stack_aba(void)
{
	race_together(pop_one, pop_two_push_one);
	for (struct node *n = top; n; n = n->next)
		if (n->taken)
			return race_wrong("what was taken is on the stack");
	return 0;
}

/* ---- use after free ---- */

struct session {
	volatile int open;
	int user;
};
static struct session *_Atomic session;

static void *close_session(void *arg)
{
	struct session *s = session;

	session = NULL;
	s->open = 0; /* stands for free(), and a reader surely sees it */
	return arg;
}

static atomic_int used_closed;

static void *use_session(void *arg)
{
	struct session *s = session;

	if (s) {
		s->user++;
		if (!s->open)
			used_closed = 1;
	}
	return arg;
}

static int use_after_free(void)
{
	struct session *s = calloc(1, sizeof(*s));

	s->open = 1;
	session = s;
	race_together(use_session, close_session);
	free(s);
	return used_closed ? race_wrong("used behind its end") : 0;
}

/* ---- races of the kernel: tests/kernel/races.c ---- */

static int kernel_file[2];
static const char *kernel_name;

/* Opens and writes to the files before the race, so that the roles do only kernel work. */
static int kernel_write(int fd, const char *what)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %s", kernel_name, what);

	return write(fd, line, n) == n ? 0 : 1;
}

static void *kernel_a(void *arg)
{
	kernel_write(kernel_file[0], "a");
	return arg;
}

static void *kernel_b(void *arg)
{
	kernel_write(kernel_file[1], "b");
	return arg;
}

static int kernel_race(const char *name)
{
	kernel_name = name;
	for (int i = 0; i < 2; i++)
		kernel_file[i] = open("/proc/trapline/races", O_WRONLY);
	if (kernel_file[1] < 0 || kernel_write(kernel_file[0], "begin"))
		return 2;
	race_together(kernel_a, kernel_b);
	return kernel_write(kernel_file[0], "end") ? race_wrong("the kernel went wrong") : 0;
}

static const struct race races[] = {{"lost_update", lost_update},
    {"check_then_act", check_then_act}, {"missed_signal", missed_signal},
    {"missed_byte", missed_byte}, {"used_before_made", used_before_made},
    {"published_early", published_early}, {"lock_order", lock_order}, {"two_tokens", two_tokens},
    {"stack_aba", stack_aba}, {"use_after_free", use_after_free}};

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "kernel"))
		return kernel_race(argv[2]);
	for (size_t i = 0; argc == 2 && i < sizeof(races) / sizeof(races[0]); i++)
		if (!strcmp(races[i].name, argv[1]))
			return races[i].run();
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++)
		puts(races[i].name);
	return 2;
}
