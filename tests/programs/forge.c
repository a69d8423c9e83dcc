/*
 * Ring 3 against the way back from the kernel: forged signal frames, return addresses that are
 * none, debug traps at the worst instruction. Each attempt in a child; the child may die by a
 * signal, the kernel may not notice.
 */
#include "tests/programs/raw.h"

#define USER_END 0x7ffffffff000UL

static struct abi_ucontext forged;

/* Gives `forged` to rt_sigreturn as if a handler had come from there. */
static void return_to_forged(void)
{
	static struct abi_sigframe frame;

	frame.uc = forged;
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "mov $15, %%eax\n\t"
			 "syscall\n\t"
			 "ud2"
			 :
			 : "r"(&frame.uc)
			 : "memory");
}

static void arrived(void)
{
	exit_now(42);
}

/* What a good frame is: to arrived(), on this stack. */
static void good_frame(void)
{
	static char stack[8192] __attribute__((aligned(16)));

	memset(&forged, 0, sizeof(forged));
	forged.uc_mcontext.rip = (uint64_t)arrived;
	forged.uc_mcontext.rsp = (uint64_t)stack + sizeof(stack) - 8;
	forged.uc_mcontext.cs = 0x33;
	forged.uc_mcontext.ss = 0x2b;
	forged.uc_mcontext.rflags = 0x202;
	forged.uc_flags = ABI_UC_SIGCONTEXT_SS | ABI_UC_STRICT_RESTORE_SS;
}

static void good(void)
{
	good_frame();
	return_to_forged();
}

static unsigned long bad_value;

static void bad_rip(void)
{
	good_frame();
	forged.uc_mcontext.rip = bad_value;
	return_to_forged();
}

static void bad_cs(void)
{
	good_frame();
	forged.uc_mcontext.cs = bad_value;
	return_to_forged();
}

static void bad_ss(void)
{
	good_frame();
	forged.uc_mcontext.ss = bad_value;
	return_to_forged();
}

static void bad_rsp(void)
{
	good_frame();
	forged.uc_mcontext.rsp = bad_value;
	return_to_forged();
}

static void bad_fpu(void)
{
	good_frame();
	forged.uc_mcontext.fpstate = bad_value;
	return_to_forged();
}

/* Ends with what the flags are: 43 if any that ring 3 may not set got through. */
static void look_at_flags(void)
{
	unsigned long f;

	__asm__ volatile("pushfq; popq %0" : "=r"(f));
	/* IOPL, NT, VM, VIF, VIP, ID; and interrupts must be on */
	exit_now((f & 0x3000) || (f & 0x4000) || (f & 0x1a0000) || !(f & 0x200) ? 43 : 42);
}

static void all_flags(void)
{
	good_frame();
	forged.uc_mcontext.rip = (uint64_t)look_at_flags;
	forged.uc_mcontext.rflags = bad_value & ~0x100UL /* TF would trap */;
	return_to_forged();
}

static void garbage_frame(void)
{
	unsigned seed = bad_value;
	unsigned char *p = (unsigned char *)&forged;

	for (unsigned i = 0; i < sizeof(forged); i++)
		p[i] = (seed = seed * 1103515245 + 12345) >> 16;
	return_to_forged();
}

/*
 * An FPU area full of ones: reserved bits of MXCSR and of the XSAVE header would fault in the
 * kernel.
 */
static void garbage_fpu(void)
{
	static unsigned char area[4096] __attribute__((aligned(64)));
	struct abi_fpx_sw_bytes *sw = (void *)(area + ABI_FP_XSTATE_OFFSET);
	uint32_t magic2 = ABI_FP_XSTATE_MAGIC2;

	memset(area, 0xff, sizeof(area));
	sw->magic1 = ABI_FP_XSTATE_MAGIC1;
	sw->xstate_size = bad_value;
	memcpy(area + bad_value, &magic2, sizeof(magic2));
	good_frame();
	forged.uc_mcontext.fpstate = (uint64_t)area;
	return_to_forged();
}

static void no_stack_at_all(void)
{
	__asm__ volatile("mov %0, %%rsp; mov $15, %%eax; syscall" ::"r"(bad_value));
}

static void forged_frames(void)
{
	static const unsigned long addresses[] = {0x800000000000, 0xffff7fffffffffff,
	    0x8000000000000000, USER_END, 0xffffffff80100000, 0xffff888000000000, ~0UL};
	static const unsigned selectors[] = {
	    0, 3, 8, 0x10, 0x18, 0x20, 0x23, 0x28, 0x30, 0x3b, 0x40, 0xffff};

	CHECK_EQ(in_child(good), 42 << 8);
	for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		bad_value = addresses[i];
		CHECK_EQ(in_child(bad_rip), L_SEGV);
		CHECK_EQ(in_child(bad_fpu), L_SEGV);
		CHECK_EQ(in_child(no_stack_at_all), L_SEGV);
		int status = in_child(bad_rsp); /* its first push or call traps, if it makes one */
		CHECK(status == L_SEGV || status == L_BUS || status == 42 << 8);
	}
	for (unsigned i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		bad_value = selectors[i];
		CHECK_EQ(in_child(bad_cs), L_SEGV);
		CHECK_EQ(in_child(bad_ss), L_SEGV);
	}
	for (bad_value = 1; bad_value < 20; bad_value++) {
		int status = in_child(garbage_frame);
		CHECK(status == L_SEGV || status == L_ILL);
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		bad_value = 0x202UL ^ 1UL << bit;
		CHECK_EQ(in_child(all_flags), 42 << 8);
	}
	bad_value = ~0UL;
	CHECK_EQ(in_child(all_flags), 42 << 8);
	for (bad_value = 512; bad_value < 4000; bad_value += 32)
		CHECK_EQ(in_child(garbage_fpu), 42 << 8);
}

/*
 * The last two bytes below the end of ring 3 are a syscall instruction: it returns to where nothing
 * can be.
 */
static void syscall_at_the_end(void)
{
	unsigned char *page =
	    (unsigned char *)map_pages(USER_END - PAGE, 1, 7, M_PRIVATE | M_FIXED);

	if (page != (unsigned char *)(USER_END - PAGE))
		exit_now(1);
	page[PAGE - 2] = 0x0f;
	page[PAGE - 1] = 0x05;
	__asm__ volatile("jmp *%0" ::"r"(page + PAGE - 2), "a"(SYS_getpid));
}

static void jump_nowhere(void)
{
	__asm__ volatile("jmp *%0" ::"r"(bad_value));
}

static void return_addresses(void)
{
	CHECK_EQ(in_child(syscall_at_the_end), L_SEGV);
	CHECK_EQ(map_pages(USER_END, 1, P_READ, M_PRIVATE | M_FIXED), NOMEM);
	bad_value = 0x800000000000;
	CHECK_EQ(in_child(jump_nowhere), L_SEGV);
	bad_value = 0xffffffff80100000;
	CHECK_EQ(in_child(jump_nowhere), L_SEGV);
}

/*
 * MOV SS holds back debug traps for one instruction: then the one after it may be in the kernel
 * (CVE-2018-8897).
 */
static void mov_ss_int3(void)
{
	unsigned short ss;

	__asm__ volatile("mov %%ss, %0" : "=r"(ss));
	__asm__ volatile("mov %0, %%ss; int3" ::"r"(ss));
}

static void single_step_mov_ss_syscall(void)
{
	unsigned short ss;

	__asm__ volatile("mov %%ss, %0" : "=r"(ss));
	__asm__ volatile(
	    "pushfq; orl $0x100, (%%rsp); popfq; mov %0, %%ss; syscall" ::"r"(ss), "a"(SYS_getpid)
	    : "rcx", "r11", "memory");
}

static void single_step_syscall(void)
{
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq; syscall" ::"a"(SYS_getpid)
			 : "rcx", "r11", "memory");
}

static void count_traps(int sig)
{
	(void)sig;
}

static void stepping_with_handler(void)
{
	set_handler(L_TRAP, count_traps, 0);
	mov_ss_int3();
	single_step_mov_ss_syscall();
	__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	single_step_syscall();
	__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	exit_now(7);
}

static void debug_traps(void)
{
	CHECK_EQ(in_child(mov_ss_int3), L_TRAP);
	CHECK_EQ(in_child(single_step_mov_ss_syscall), L_TRAP);
	CHECK_EQ(in_child(single_step_syscall), L_TRAP);
	CHECK_EQ(in_child(stepping_with_handler), 7 << 8);
}

/* Instructions that only the kernel may use, and numbers of gates that are not ring 3's. */
#define ATTEMPT(name, text)                                                                        \
	static void name(void)                                                                     \
	{                                                                                          \
		__asm__ volatile(text ::: "memory", "rax", "rcx", "rdx");                          \
	}
ATTEMPT(try_cli, "cli")
ATTEMPT(try_hlt, "hlt")
ATTEMPT(try_out, "outb %%al, $0x80")
ATTEMPT(try_cr0, "mov %%cr0, %%rax")
ATTEMPT(try_msr, "mov $0xc0000080, %%ecx; rdmsr")
ATTEMPT(try_sgdt_load, "sub $16, %%rsp; lgdt (%%rsp)")
ATTEMPT(try_int_8, "int $8")
ATTEMPT(try_int_14, "int $14")
ATTEMPT(try_int_32, "int $32")
ATTEMPT(try_int_255, "int $255")
ATTEMPT(try_swapgs, "swapgs")
ATTEMPT(try_iret, "pushq $0; pushq $0; pushq $0x3202; pushq $8; pushq $0; iretq")
ATTEMPT(try_sysret, "sysretq")
ATTEMPT(try_ds, "mov $0x10, %%eax; mov %%ax, %%ss")

static void privileged(void)
{
	static void (*const attempts[])(void) = {try_cli, try_hlt, try_out, try_cr0, try_msr,
	    try_sgdt_load, try_int_8, try_int_14, try_int_32, try_int_255, try_swapgs, try_iret,
	    try_sysret, try_ds};

	for (unsigned i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int status = in_child(attempts[i]);

		if (status != L_SEGV && status != L_ILL && status != L_BUS) {
			printf("# attempt %u: status %#x\n", i, status);
			check_failures++;
		}
	}
}

int main(void)
{
	forged_frames();
	return_addresses();
	debug_traps();
	privileged();
	return check_failures != 0;
}
