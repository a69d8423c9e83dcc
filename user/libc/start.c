/* From the first instruction to main(), and out. */
#include "user/libc/syscall.h"

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv, char **envp);
void __start_main(long *stack);
void __libc_init_array(void);
void __libc_fini_array(void);
void _init(void);
void _fini(void);

extern char **environ;

/* newlib calls these around the init and fini arrays; there is nothing for them to do. */
void _init(void)
{
}

void _fini(void)
{
}

void __start_main(long *stack)
{
	int argc = stack[0];
	char **argv = (char **)(stack + 1);

	environ = argv + argc + 1;
	atexit(__libc_fini_array);
	__libc_init_array();
	exit(main(argc, argv, environ));
}

void _exit(int status)
{
	for (;;)
		syscall1(SYS_exit_group, status);
}
