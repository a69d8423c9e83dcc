/* Between exec.c and exec_stack.c. */
#pragma once

#include "kernel/process/elf.h"
#include "kernel/process/exec.h"
#include "kernel/process/mm.h"

/* Fills the top of the stack area; *sp is the first stack pointer. 0, -ENOMEM, -EFAULT. */
int exec_build_stack(struct mm *mm, const char *path, const struct elf_image *img,
    const struct exec_args *a, u64 *sp);
