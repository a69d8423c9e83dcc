/*
 * The stack a program starts with (System V ABI, AMD64, 3.4.1): argc, argv, envp, auxv, and above
 * them the strings. Task context; the address space is nobody's yet.
 */
#include "kernel/process/exec_stack.h"

#include "kernel/abi/linux.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/random.h"

/* Where the strings of the start stack lie in ring 3. */
struct start_strings {
	u64 execfn, args, platform, random;
};

static const char platform[] = "x86_64";

/* Bytes of the arguments alone, without the environment after them. */
static size_t args_length(const struct exec_args *a)
{
	size_t len = 0;

	for (unsigned i = 0; i < a->argc; i++)
		len += strlen(a->strings + len) + 1;
	return len;
}

static int write_strings(
    struct mm *mm, const char *path, const struct exec_args *a, struct start_strings *at)
{
	u64 random[2] = {random_u64(), random_u64()};
	u64 sp = mm->stack_top - 8;
	int err;

	at->execfn = sp -= strlen(path) + 1;
	at->args = sp -= a->len;
	at->platform = sp -= sizeof(platform);
	at->random = ALIGN_DOWN(sp - sizeof(random), 16);
	err = mm_write(mm, at->execfn, path, strlen(path) + 1);
	if (!err)
		err = mm_write(mm, at->args, a->strings, a->len);
	if (!err)
		err = mm_write(mm, at->platform, platform, sizeof(platform));
	if (!err)
		err = mm_write(mm, at->random, random, sizeof(random));
	mm->arg_start = at->args;
	mm->arg_end = at->args + args_length(a);
	mm->env_end = at->args + a->len;
	return err;
}

/* Pointers to `n` strings that lie one after the other; returns the word after the NULL. */
static u64 *put_pointers(u64 *w, unsigned n, const char **s, const struct exec_args *a, u64 base)
{
	while (n--) {
		*w++ = base + (*s - a->strings);
		*s += strlen(*s) + 1;
	}
	*w++ = 0;
	return w;
}

static u64 *put_aux(u64 *w, u64 type, u64 value)
{
	w[0] = type;
	w[1] = value;
	return w + 2;
}

/* CPUID leaf 1, edx: what System V calls the hardware's capabilities. */
static u64 hardware_caps(void)
{
	u32 a = 1, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d;
}

#define AUX_WORDS 40

static u64 *put_auxv(u64 *w, const struct elf_image *img, const struct start_strings *at)
{
	w = put_aux(w, ABI_AT_HWCAP, hardware_caps());
	w = put_aux(w, ABI_AT_PAGESZ, PAGE_SIZE);
	w = put_aux(w, ABI_AT_CLKTCK, 100);
	if (img->phdr)
		w = put_aux(w, ABI_AT_PHDR, img->phdr);
	w = put_aux(w, ABI_AT_PHENT, ELF_PHDR_SIZE);
	w = put_aux(w, ABI_AT_PHNUM, img->phdr ? img->phnum : 0);
	w = put_aux(w, ABI_AT_BASE, img->interp_base);
	w = put_aux(w, ABI_AT_FLAGS, 0);
	w = put_aux(w, ABI_AT_ENTRY, img->entry);
	w = put_aux(w, ABI_AT_UID, 0);
	w = put_aux(w, ABI_AT_EUID, 0);
	w = put_aux(w, ABI_AT_GID, 0);
	w = put_aux(w, ABI_AT_EGID, 0);
	w = put_aux(w, ABI_AT_SECURE, 0);
	w = put_aux(w, ABI_AT_RANDOM, at->random);
	w = put_aux(w, ABI_AT_HWCAP2, 0);
	w = put_aux(w, ABI_AT_EXECFN, at->execfn);
	w = put_aux(w, ABI_AT_PLATFORM, at->platform);
	w = put_aux(w, ABI_AT_MINSIGSTKSZ, ABI_MINSIGSTKSZ + arch_fpu_size());
	return put_aux(w, ABI_AT_NULL, 0);
}

int exec_build_stack(struct mm *mm, const char *path, const struct elf_image *img,
    const struct exec_args *a, u64 *sp)
{
	u64 *words = kmalloc((3 + a->argc + a->envc + AUX_WORDS) * sizeof(u64)), *w = words;
	const char *s = a->strings;
	struct start_strings at;
	int err;

	if (!words)
		return -ENOMEM;
	err = write_strings(mm, path, a, &at);
	*w++ = a->argc;
	w = put_pointers(w, a->argc, &s, a, at.args);
	w = put_pointers(w, a->envc, &s, a, at.args);
	w = put_auxv(w, img, &at);
	*sp = ALIGN_DOWN(at.random - (w - words) * sizeof(u64), 16);
	if (!err)
		err = mm_write(mm, *sp, words, (w - words) * sizeof(u64));
	kfree(words);
	return err;
}
