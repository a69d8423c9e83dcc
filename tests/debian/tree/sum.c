#include <string.h>

#include "all.h"

int sum(int argc, char **argv)
{
	int n = 0;

	for (int i = 0; i < argc; i++)
		n += strlen(argv[i]);
	return n;
}
