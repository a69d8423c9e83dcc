/* See gdb.h. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/trapline/goto/gdb.h"

#define PATIENCE_MS	 30000
#define MEMORY_MOST	 1024
#define STEP_ALONE	 1	 /* QEMU's flags: one instruction, ... */
#define STEP_UNDISTURBED (2 | 4) /* ... no interrupt, no timer */

const char *const gdb_register_names[GDB_REGISTERS] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
    "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip", "eflags", "cs", "ss",
    "ds", "es", "fs", "gs", "fs_base", "gs_base", "k_gs_base", "cr0", "cr2", "cr3", "cr4"};

static bool put(struct gdb *g, const char *data, size_t n)
{
	while (n) {
		ssize_t done = send(g->fd, data, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data += done;
		n -= done;
	}
	return true;
}

static bool put_packet(struct gdb *g, const char *text)
{
	char packet[256];
	uint8_t sum = 0;

	for (const char *p = text; *p; p++)
		sum += *p;
	int n = snprintf(packet, sizeof(packet), "$%s#%02x", text, sum);
	return n < (int)sizeof(packet) && put(g, packet, n);
}

/* Is a packet whole? It is answered with a '+', and goes into g->reply. */
static bool take_packet(struct gdb *g)
{
	char *begin = memchr(g->got, '$', g->size);
	char *end = begin ? memchr(begin, '#', g->got + g->size - begin) : NULL;

	if (!end || g->got + g->size - end < 3)
		return false;
	size_t n = end - begin - 1, whole = end + 3 - g->got;
	if (n >= sizeof(g->reply))
		n = sizeof(g->reply) - 1;
	memcpy(g->reply, begin + 1, n);
	g->reply[n] = '\0';
	memmove(g->got, g->got + whole, g->size - whole);
	g->size -= whole;
	return put(g, "+", 1);
}

/* Waits for a packet. False: the connection broke, or nothing came for long. */
static bool wait_packet(struct gdb *g)
{
	while (!take_packet(g)) {
		struct pollfd p = {g->fd, POLLIN, 0};
		int ready = poll(&p, 1, PATIENCE_MS);

		if (ready < 0 && errno == EINTR)
			continue;
		ssize_t n =
		    ready > 0 ? recv(g->fd, g->got + g->size, sizeof(g->got) - g->size, 0) : 0;
		if (n <= 0)
			return false;
		g->size += n;
	}
	return true;
}

static bool __attribute__((format(printf, 2, 3))) ask(struct gdb *g, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return put_packet(g, text) && wait_packet(g);
}

bool gdb_begin(struct gdb *g, int fd)
{
	*g = (struct gdb){.fd = fd};
	return ask(g, "?");
}

static bool hex_bytes(const char **text, void *to, size_t n)
{
	for (uint8_t *p = to; n; n--, *text += 2) {
		char digits[3] = {(*text)[0], (*text)[0] ? (*text)[1] : '\0', '\0'}, *end;
		*p++ = strtoul(digits, &end, 16);
		if (end != digits + 2)
			return false;
	}
	return true;
}

bool gdb_registers(struct gdb *g, unsigned cpu, uint64_t value[GDB_REGISTERS])
{
	const char *text = g->reply;

	memset(value, 0, GDB_REGISTERS * sizeof(*value));
	if (!ask(g, "Hg%x", cpu + 1) || !ask(g, "g"))
		return false;
	for (size_t i = 0; i < GDB_REGISTERS; i++)
		if (!hex_bytes(&text, &value[i], i >= GDB_FLAGS && i <= GDB_GS ? 4 : 8))
			return false;
	return true;
}

bool gdb_step(struct gdb *g, unsigned cpu, bool interrupt)
{
	return ask(g, "Qqemu.sstep=%x", interrupt ? STEP_ALONE : STEP_ALONE | STEP_UNDISTURBED) &&
	       ask(g, "vCont;s:%x", cpu + 1) && *g->reply == 'T';
}

bool gdb_memory(struct gdb *g, uint64_t address, void *to, size_t n)
{
	while (n) {
		size_t part = n < MEMORY_MOST ? n : MEMORY_MOST;
		const char *text = g->reply;

		if (!ask(g, "m%llx,%zx", (unsigned long long)address, part) ||
		    strlen(text) != 2 * part || !hex_bytes(&text, to, part)) /* "E14" is no byte */
			return false;
		address += part;
		to = (uint8_t *)to + part;
		n -= part;
	}
	return true;
}
