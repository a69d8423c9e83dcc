/* See stopped.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"
#include "trace/types/section.h"

/* ---- a kernel's file ---- */

enum { NONE, NAMES, SYMBOLS, TEXTS, TYPES, SECTIONS };

static const char section_names[] = "\0.shstrtab\0.symtab\0.strtab\0.types";

static void put_section(struct bytes *b, size_t head, unsigned i, uint32_t name, uint32_t type,
    size_t from, uint32_t link)
{
	Elf64_Shdr s = {.sh_name = name,
	    .sh_type = type,
	    .sh_offset = from,
	    .sh_size = b->size - from,
	    .sh_link = link};

	memcpy(b->data + head + i * sizeof(s), &s, sizeof(s));
}

struct bytes stopped_elf(
    const struct stopped_symbol *symbol, size_t n, const void *types, size_t types_size)
{
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
	    .e_shoff = sizeof(h),
	    .e_shnum = SECTIONS,
	    .e_shstrndx = NAMES};
	struct bytes b = {.data = NULL}, texts = {.data = NULL};
	size_t from;

	bytes_put(&b, &h, sizeof(h));
	bytes_zeros(&b, SECTIONS * sizeof(Elf64_Shdr));
	from = b.size;
	bytes_put(&b, section_names, sizeof(section_names));
	put_section(&b, h.e_shoff, NAMES, 1, SHT_STRTAB, from, 0);
	from = b.size;
	bytes_zeros(&texts, 1);
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym s = {.st_name = texts.size,
		    .st_info = symbol[i].type,
		    .st_shndx = symbol[i].section,
		    .st_value = symbol[i].address,
		    .st_size = symbol[i].size};
		bytes_put(&texts, symbol[i].name, strlen(symbol[i].name) + 1);
		bytes_put(&b, &s, sizeof(s));
	}
	put_section(&b, h.e_shoff, SYMBOLS, 11, SHT_SYMTAB, from, TEXTS);
	from = b.size;
	bytes_put(&b, texts.data, texts.size);
	put_section(&b, h.e_shoff, TEXTS, 19, SHT_STRTAB, from, 0);
	from = b.size;
	bytes_put(&b, types, types_size);
	put_section(&b, h.e_shoff, TYPES, 27, SHT_PROGBITS, from, 0);
	bytes_free(&texts);
	return b;
}

/* ---- types ---- */

/* The bytes of a section, as they are collected. */
struct section {
	uint16_t at[64], word[512];
	size_t types, words, texts;
	char text[512];
};

static uint16_t name(struct section *s, const char *text)
{
	size_t at = s->texts;

	if (!*text)
		return 0;
	strcpy(s->text + at, text);
	s->texts = (at + strlen(text) + 2) & ~1ul;
	return at / 2;
}

#define HEAD(kind, count) ((kind) | (count) << 7)
#define ADD(s, ...)                                                                                \
	add(s, (const uint16_t[]){__VA_ARGS__}, COUNT_OF(((const uint16_t[]){__VA_ARGS__})))

/* The number of the new type. */
static uint16_t add(struct section *s, const uint16_t *word, size_t n)
{
	s->at[s->types++] = s->words;
	memcpy(s->word + s->words, word, n * sizeof(*word));
	s->words += n;
	return s->types;
}

/* Numbers by their names in C. */
static void add_numbers(struct section *s)
{
	ADD(s, HEAD(TYPES_INT, 4), name(s, "int"), TYPES_SIGNED);
	ADD(s, HEAD(TYPES_INT, 1), name(s, "char"), TYPES_SIGNED);
	ADD(s, HEAD(TYPES_INT, 8), name(s, "long unsigned int"), 0);
	ADD(s, HEAD(TYPES_INT, 1), name(s, "unsigned char"), 0);
	ADD(s, HEAD(TYPES_INT, 2), name(s, "short unsigned int"), 0);
	ADD(s, HEAD(TYPES_INT, 4), name(s, "unsigned int"), 0);
	ADD(s, HEAD(TYPES_INT, 8), name(s, "long int"), TYPES_SIGNED);
}
enum { INT_T = 1, CHAR_T, ULONG_T, UCHAR_T, USHORT_T, UINT_T, LONG_T };

/*
 * enum state { IDLE, BUSY = 5, BROKEN = -1 }; enum far { FAR = 0x12345, NEAR = -2 };
 * enum plain { PLAIN = 40000 };
 * enum huge { HUGE = 0x123456789abcdef0 }; typedef int pid_t; typedef const pid_t my_pid;
 * struct task { my_pid pid; char comm[16]; enum state state; struct task *next;
 *               union { long both; struct { int low, high; }; }; struct mm *mm; };
 * struct flags { unsigned int a : 3, b : 7; unsigned int c; };
 * struct list { int many[70]; struct task tasks[5]; int exact[64]; };
 * struct outer { struct list list; };
 * struct mm { unsigned long count, areas; }; struct file { unsigned long n; char *path; };
 * struct vm_area { unsigned long start, end, node; struct file *file; unsigned long offset; };
 * struct cpu_local { unsigned long self; struct task *current; };
 */
struct bytes stopped_types(void)
{
	struct section *s = &(struct section){.texts = 2};
	struct bytes b = {.data = NULL};

	add_numbers(s);
	uint16_t chars = ADD(s, TYPES_ARRAY, CHAR_T, ULONG_T, 16, 0);
	uint16_t state = ADD(s, HEAD(TYPES_ENUM | TYPES_FLAG, 3), name(s, "state"), 4,
	    name(s, "IDLE"), 0, name(s, "BUSY"), 5, name(s, "BROKEN"), 0xffff);
	ADD(s, HEAD(TYPES_ENUM, 1), name(s, "plain"), 4, name(s, "PLAIN"), 40000);
	ADD(s, HEAD(TYPES_ENUM | TYPES_FLAG | TYPES_WIDE, 2), name(s, "far"), 4, name(s, "FAR"),
	    0x2345, 1, name(s, "NEAR"), 0xfffe, 0xffff);
	ADD(s, HEAD(TYPES_ENUM64, 1), name(s, "huge"), 8, name(s, "HUGE"), 0xdef0, 0x9abc, 0x5678,
	    0x1234);
	uint16_t pid = ADD(s, TYPES_TYPEDEF, name(s, "pid_t"), INT_T);
	uint16_t fixed = ADD(s, TYPES_CONST, pid);
	uint16_t my = ADD(s, TYPES_TYPEDEF, name(s, "my_pid"), fixed);
	uint16_t halves = ADD(
	    s, HEAD(TYPES_STRUCT, 2), 0, 8, 0, name(s, "low"), INT_T, 0, name(s, "high"), INT_T, 4);
	uint16_t both =
	    ADD(s, HEAD(TYPES_UNION, 2), 0, 8, 0, name(s, "both"), LONG_T, 0, 0, halves, 0);
	uint16_t task = s->types + 2, pointer = ADD(s, TYPES_PTR, task);
	ADD(s, HEAD(TYPES_STRUCT, 6), name(s, "task"), 48, 0, name(s, "pid"), my, 0,
	    name(s, "comm"), chars, 4, name(s, "state"), state, 20, name(s, "next"), pointer, 24, 0,
	    both, 32, name(s, "mm"), ULONG_T, 40);
	ADD(s, HEAD(TYPES_STRUCT | TYPES_WIDE | TYPES_FLAG, 3), name(s, "flags"), 8, 0,
	    name(s, "a"), UINT_T, 0, 3 << 8, name(s, "b"), UINT_T, 3, 7 << 8, name(s, "c"), UINT_T,
	    32, 0);
	uint16_t many = ADD(s, TYPES_ARRAY, INT_T, ULONG_T, 70, 0),
		 tasks = ADD(s, TYPES_ARRAY, task, ULONG_T, 5, 0);
	uint16_t exact = ADD(s, TYPES_ARRAY, INT_T, ULONG_T, 64, 0);
	uint16_t list = ADD(s, HEAD(TYPES_STRUCT, 3), name(s, "list"), 776, 0, name(s, "many"),
	    many, 0, name(s, "tasks"), tasks, 280, name(s, "exact"), exact, 520);
	ADD(s, HEAD(TYPES_STRUCT, 1), name(s, "outer"), 776, 0, name(s, "list"), list, 0);
	ADD(s, HEAD(TYPES_STRUCT, 2), name(s, "cpu_local"), 16, 0, name(s, "self"), ULONG_T, 0,
	    name(s, "current"), pointer, 8);
	uint16_t letters = ADD(s, TYPES_PTR, CHAR_T);
	ADD(s, HEAD(TYPES_STRUCT, 2), name(s, "mm"), 16, 0, name(s, "count"), ULONG_T, 0,
	    name(s, "areas"), ULONG_T, 8);
	ADD(s, HEAD(TYPES_STRUCT, 2), name(s, "file"), 16, 0, name(s, "n"), ULONG_T, 0,
	    name(s, "path"), letters, 8);
	ADD(s, HEAD(TYPES_STRUCT, 5), name(s, "vm_area"), 40, 0, name(s, "start"), ULONG_T, 0,
	    name(s, "end"), ULONG_T, 8, name(s, "node"), ULONG_T, 16, name(s, "file"), ULONG_T, 24,
	    name(s, "offset"), ULONG_T, 32);
	struct types_head head = {.magic = TYPES_MAGIC,
	    .n_types = s->types,
	    .n_words = s->words,
	    .n_functions = 1,
	    .n_named = 1,
	    .n_text = s->texts};
	bytes_zeros(&b, 8); /* the linker rounds the address up */
	bytes_put(&b, &head, sizeof(head));
	bytes_put(&b, s->at, s->types * 2);
	bytes_put(&b, s->word, s->words * 2);
	bytes_zeros(&b, 4);
	bytes_put(&b, s->text, s->texts);
	return b;
}

const struct stopped_symbol stopped_symbols[] = {{"start", KERNEL_TEXT, 0x40, STT_FUNC, 1},
    {"middle", KERNEL_TEXT + 0x40, 0x40, STT_FUNC, 1},
    {"label", KERNEL_TEXT + 0x100, 0, STT_NOTYPE, 1}, {"word", KERNEL_DATA, 8, STT_OBJECT, 2},
    {"byte", KERNEL_DATA + 8, 1, STT_OBJECT, 2}, {"half", KERNEL_DATA + 10, 2, STT_OBJECT, 2},
    {"four", KERNEL_DATA + 12, 4, STT_OBJECT, 2}, {"low", 0x8000, 0x100, STT_FUNC, 1}};

void stopped_kernel(struct elf *e)
{
	struct bytes types = stopped_types(),
		     file = stopped_elf(
			 stopped_symbols, COUNT_OF(stopped_symbols), types.data, types.size);

	assert_true(elf_open_in(e, "kernel", file.data, file.size));
	bytes_free(&types);
	bytes_free(&file);
}

/* ---- what is printed ---- */

static void send_to(int from, int to)
{
	fflush(NULL);
	dup2(to, from);
	close(to);
}

char *stopped_caught(void (*what)(void *context), void *context)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	bool nothing = say_nothing;
	char *text = NULL;
	size_t size = 0;

	assert_non_null(f);
	send_to(STDOUT_FILENO, dup(fileno(f)));
	send_to(STDERR_FILENO, dup(fileno(f)));
	say_nothing = false;
	what(context);
	say_nothing = nothing;
	send_to(STDOUT_FILENO, out);
	send_to(STDERR_FILENO, err);
	rewind(f);
	if (getdelim(&text, &size, '\0', f) < 0)
		*text = '\0';
	fclose(f);
	return text;
}

/* ---- a gdb stub ---- */

static void put_hex(char *to, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", ((const uint8_t *)bytes)[i]);
}

static void answer_registers(const struct stopped *s, char *reply)
{
	for (size_t i = 0; i < GDB_REGISTERS; i++) {
		size_t size = i >= GDB_FLAGS && i <= GDB_GS ? 4 : 8;
		put_hex(reply, &s->r[s->cpu][i], size);
		reply += 2 * size;
	}
}

static void answer_memory(const struct stopped *s, uint64_t address, size_t size, char *reply)
{
	for (size_t i = 0; i < s->memories; i++) {
		const struct stopped_memory *m = &s->memory[i];
		if (address - m->address < m->size && size <= m->size - (address - m->address)) {
			put_hex(reply, (const uint8_t *)m->bytes + (address - m->address), size);
			return;
		}
	}
	strcpy(reply, "E14");
}

static void answer(struct stopped *s, const char *packet)
{
	static char reply[GDB_PACKET], whole[GDB_PACKET + 8];
	unsigned long long address;
	uint8_t sum = 0;
	size_t size;

	snprintf(s->log + strlen(s->log), sizeof(s->log) - strlen(s->log), "%s\n", packet);
	strcpy(reply, "OK");
	if (sscanf(packet, "Hg%x", &s->cpu) == 1)
		s->cpu--;
	else if (!strcmp(packet, "g"))
		answer_registers(s, reply);
	else if (sscanf(packet, "m%llx,%zx", &address, &size) == 2)
		answer_memory(s, address, size, reply);
	else if (*packet == '?' || *packet == 'v')
		strcpy(reply, "T05");
	for (const char *p = reply; *p; p++)
		sum += *p;
	int n = snprintf(whole, sizeof(whole), "+$%s#%02x", reply, sum);
	/* in two pieces, as a stream may bring them */
	send(s->fd[1], whole, n / 2, MSG_NOSIGNAL);
	send(s->fd[1], whole + n / 2, n - n / 2, MSG_NOSIGNAL);
}

/* Reads packets, whose checksum has to be right, until the other end is closed. */
static void *serve(void *arg)
{
	struct stopped *s = arg;
	char packet[300], c, sum[3] = "";
	size_t n = 0;

	while (read(s->fd[1], &c, 1) == 1) {
		if (c == '$')
			n = 0;
		else if (c != '#' && n < sizeof(packet) - 1)
			packet[n++] = c;
		if (c != '#')
			continue;
		uint8_t want = 0;
		packet[n] = '\0';
		for (size_t i = 0; i < n; i++)
			want += packet[i];
		if (read(s->fd[1], sum, 1) != 1 || read(s->fd[1], sum + 1, 1) != 1 ||
		    strtoul(sum, NULL, 16) != want)
			break;
		answer(s, packet);
	}
	close(s->fd[1]);
	return NULL;
}

void stopped_begin(struct stopped *s, const struct stopped_memory *memory, size_t n)
{
	*s = (struct stopped){.memory = memory, .memories = n};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s->fd), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
	assert_true(gdb_begin(&s->gdb, s->fd[0]));
	s->log[0] = '\0';
}

void stopped_end(struct stopped *s)
{
	close(s->fd[0]);
	pthread_join(s->thread, NULL);
}
