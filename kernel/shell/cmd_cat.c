/* cat, tee, wc: bytes from files to files, or counted. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

/* Copies as it comes: what a blocking file gives is seen at once. */
static int cat_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	char *buf = ctx;
	ssize n;

	(void)name;
	while ((n = sh_read(io, f, buf, SH_READ_SIZE)) > 0) {
		io->error = sh_write_all(io->out, buf, n);
		if (io->error)
			return 1;
	}
	if (n < 0 && n != -EINTR)
		sh_fail_errno(io, n, "read error");
	return n < 0;
}

int sh_cmd_cat(struct sh_io *io, int argc, char **argv)
{
	char *buf = kmalloc(SH_READ_SIZE);
	struct sh_opts o;
	int r;

	if (!buf)
		return sh_fail_errno(io, -ENOMEM, "cat");
	io->cant_open = true;
	r = sh_options(io, argc, argv, "u", &o) ||
	    sh_each_file(io, argc - o.at, argv + o.at, cat_file, buf);
	kfree(buf);
	return r;
}

int sh_cmd_tee(struct sh_io *io, int argc, char **argv)
{
	struct file *out[8];
	struct sh_opts o;
	char *buf;
	int count = 0, bad = 0;
	ssize n;

	if (sh_options(io, argc, argv, "a", &o))
		return 1;
	if (argc - o.at > (int)ARRAY_SIZE(out))
		return sh_fail(io, "at most %zu files", ARRAY_SIZE(out));
	buf = kmalloc(SH_READ_SIZE);
	for (; o.at < argc; o.at++) {
		u32 flags = O_WRONLY | O_CREAT | (sh_opt(&o, 'a') ? O_APPEND : O_TRUNC);
		int e = file_open(argv[o.at], flags, 0666, &out[count]);

		if (e)
			bad = sh_fail_errno(io, e, "%s", argv[o.at]);
		else
			count++;
	}
	while (buf && (n = sh_read(io, io->in, buf, SH_READ_SIZE)) > 0) {
		sh_put(io, buf, n);
		for (int i = 0; i < count; i++) {
			int e = sh_write_all(out[i], buf, n);

			if (e)
				bad = sh_fail_errno(io, e, "write error");
		}
	}
	while (count)
		file_put(out[--count]);
	kfree(buf);
	return bad;
}

struct wc {
	struct sh_opts o;
	u64 total[3];
	bool plain; /* one number of one file: no padding */
	bool named;
	int files;
};

static void wc_print(struct sh_io *io, struct wc *w, const u64 n[3], const char *name)
{
	static const char letters[] = "lwc";
	bool first = true;

	for (int i = 0; i < 3; i++) {
		if (!sh_opt(&w->o, letters[i]))
			continue;
		sh_printf(io,
		    w->plain ? "%llu"
		    : first  ? "%9llu"
			     : " %9llu",
		    (unsigned long long)n[i]);
		first = false;
	}
	if (w->named)
		sh_printf(io, " %s", name);
	sh_putc(io, '\n');
}

static int wc_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct wc *w = ctx;
	struct sh_reader r;
	u64 n[3] = {0};
	bool in_word = false;
	int c;

	if (sh_reader_init(&r, io, f))
		return sh_fail_errno(io, -ENOMEM, "wc");
	while ((c = sh_getc(&r)) >= 0) {
		bool space = is_space(c);

		n[0] += c == '\n';
		n[1] += in_word && space;
		n[2]++;
		in_word = !space;
	}
	n[1] += in_word;
	sh_reader_free(&r);
	for (int i = 0; i < 3; i++)
		w->total[i] += n[i];
	w->files++;
	wc_print(io, w, n, name);
	return sh_read_status(&r);
}

int sh_cmd_wc(struct sh_io *io, int argc, char **argv)
{
	struct wc w = {0};
	int bad;

	if (sh_options(io, argc, argv, "lwc", &w.o))
		return 1;
	if (!w.o.set)
		w.o.set = 1UL << ('l' - 'A') | 1UL << ('w' - 'A') | 1UL << ('c' - 'A');
	w.named = w.o.at < argc;
	w.plain = !(w.o.set & (w.o.set - 1)) && argc - w.o.at <= 1;
	bad = sh_each_file(io, argc - w.o.at, argv + w.o.at, wc_file, &w);
	if (w.files > 1)
		wc_print(io, &w, w.total, "total");
	return bad;
}
