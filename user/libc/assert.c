/* newlib's prints by fiprintf(), which brings a second printf with it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void __assert_func(const char *file, int line, const char *function, const char *what)
{
	fprintf(stderr, "assertion \"%s\" failed: %s, %s:%d\n", what, function ? function : "?",
	    file, line);
	abort();
}
