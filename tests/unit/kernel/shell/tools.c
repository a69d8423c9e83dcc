/* Runs scripts for the cases of the shell. Task context. */
#include "tests/unit/kernel/shell/tools.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

#define PLACE "/tmp/shell-test"

static void run(struct shell *sh, const char *script)
{
	sh_var_set(&sh->vars, "PATH", "/bin");
	sh_var_set(&sh->vars, "HOME", PLACE);
	sh_run_text(sh, "rm -rf " PLACE "; mkdir " PLACE "; cd " PLACE);
	sh_run_text(sh, script);
	os_clear_interrupt();
	vfs_chdir("/");
}

static void collect(struct file *rd, char out[SHELL_TRY_MAX])
{
	size_t at = 0;
	ssize n;

	while (
	    at < SHELL_TRY_MAX - 1 && (n = kernel_read(rd, out + at, SHELL_TRY_MAX - 1 - at)) > 0)
		at += n;
	out[at] = 0;
}

int shell_try(const char *script, char out[SHELL_TRY_MAX])
{
	struct shell *sh = sh_new();
	struct file *rd, *wr;
	int status;

	*out = 0;
	if (!sh || pipe_create(&rd, &wr, 0)) {
		if (sh)
			sh_free(sh);
		return -1;
	}
	sh->fd[1] = wr;
	sh->fd[2] = file_get(wr);
	run(sh, script);
	status = sh->status;
	sh_free(sh);
	collect(rd, out);
	file_put(rd);
	return status;
}

static void expect(const struct shell_row *r, char *out)
{
	size_t n = strlen(r->want), digits = 0;
	int status = shell_try(r->script, out), want = 0;
	const char *mark;

	while (digits < n && is_digit(r->want[n - 1 - digits]))
		digits++;
	mark = r->want + n - digits - 1;
	if (digits && digits < n && *mark == '=' && (mark == r->want || mark[-1] == '\n')) {
		want = parse_digits(mark + 1, &mark, 10);
		n -= digits + 1;
	}
	if (strlen(out) != n || memcmp(out, r->want, n) || status != want)
		ktap_fail(r->script, status, "wanted \"%s\" got \"%s\"", r->want, out);
}

void shell_expect(const struct shell_row *rows, size_t n)
{
	char *out = kmalloc(SHELL_TRY_MAX);

	for (size_t i = 0; out && i < n; i++)
		expect(&rows[i], out);
	EXPECT(out != NULL);
	kfree(out);
}
