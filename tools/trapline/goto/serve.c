/* The machine that stands, for gdb and for an editor with gdb behind it. See goto.h. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/goto/goto.h"

#define LAUNCH_DIRECTORY ".vscode"
#define LAUNCH_FILE	 LAUNCH_DIRECTORY "/launch.json"

bool goto_port_is_free(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	bool is_free;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	is_free = fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address));
	if (!is_free)
		say("port %u: %s", port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return is_free;
}

/* As gdb and JSON have texts: in quotes. */
static void put_quoted(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

/* Symbols of the files that the stack leads through, each as far from its addresses as it lies. */
static void put_programs(struct visit *v, FILE *f)
{
	struct frame frame[STACK_MOST];
	size_t n = stack_walk(&v->seek.gdb, &v->kernel, v->r, frame);
	const struct goto_file *last = NULL;

	for (size_t i = 0; i < n; i++) {
		uint64_t own;
		const struct goto_file *file =
		    frame[i].is_user ? goto_file_at(v, frame[i].pc, &own) : NULL;

		if (!file || !file->is_here || file == last)
			continue;
		fputs("add-symbol-file ", f);
		put_quoted(f, file->path);
		fprintf(f, " -o 0x%llx\n", (unsigned long long)(frame[i].pc - own));
		last = file;
	}
}

/* False, said. */
static bool write_script(struct visit *v, const char *name)
{
	FILE *f = fopen(name, "w");
	bool fine;

	if (!f) {
		say_errno(name);
		return false;
	}
	fputs("set confirm off\nset architecture i386:x86-64\nfile ", f);
	put_quoted(f, v->kernel.path);
	fputc('\n', f);
	put_programs(v, f);
	fprintf(f, "target remote 127.0.0.1:%u\nthread %u\n", v->port, v->cpu + 1);
	fine = !ferror(f);
	if (fclose(f) || !fine) {
		say_errno(name);
		return false;
	}
	return true;
}

bool goto_write_launch(const struct visit *v)
{
	const char *kernel = v->origin.boot.options.kernel;
	char *path = path_absolute(v->origin.boot.directory, kernel);
	FILE *f = NULL;
	bool fine = false;

	if (mkdir(LAUNCH_DIRECTORY, 0777) && errno != EEXIST) {
		say_errno(LAUNCH_DIRECTORY);
	} else {
		f = fopen(LAUNCH_FILE, "wx"); /* one that is there is somebody's own */
		if (!f)
			say_errno(LAUNCH_FILE);
	}
	if (f) {
		fputs("{\n\t\"version\": \"0.2.0\",\n\t\"configurations\": [{\n"
		      "\t\t\"name\": \"trapline goto\",\n\t\t\"type\": \"cppdbg\",\n"
		      "\t\t\"request\": \"launch\",\n\t\t\"program\": ",
		    f);
		put_quoted(f, path);
		fprintf(f,
		    ",\n\t\t\"cwd\": \"${workspaceFolder}\",\n\t\t\"MIMode\": \"gdb\",\n"
		    "\t\t\"miDebuggerServerAddress\": \"127.0.0.1:%u\",\n"
		    "\t\t\"stopAtConnect\": true\n\t}]\n}\n",
		    v->port);
		fine = !fclose(f);
	}
	free(path);
	return fine;
}

/* A stub of gdb's takes one debugger: ours gives way. */
bool goto_serve(struct visit *v)
{
	const char *slash = strrchr(v->trace.file, '/');
	char name[512], order[200];

	snprintf(name, sizeof(name), "%s.gdb", slash ? slash + 1 : v->trace.file);
	if (!write_script(v, name))
		return false;
	snprintf(order, sizeof(order),
	    "{\"execute\": \"human-monitor-command\", \"arguments\": "
	    "{\"command-line\": \"gdbserver tcp:127.0.0.1:%u,server=on,wait=off\"}}\n",
	    v->port);
	machine_order(v->seek.machine, order);
	printf("\nthe machine waits for gdb at 127.0.0.1:%u: gdb -x %s\n", v->port, name);
	fflush(stdout);
	return true;
}
