#include <stdio.h>

#include "all.h"

int main(int argc, char **argv)
{
	printf("%d %d %d\n", fib(20), gcd(84, 36), primes(1000));
	return sum(argc - 1, argv + 1);
}
