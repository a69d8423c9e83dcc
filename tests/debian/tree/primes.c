#include "all.h"

int primes(int most)
{
	int count = 0;

	for (int n = 2; n < most; n++) {
		int d = 2;

		while (d * d <= n && n % d)
			d++;
		count += d * d > n;
	}
	return count;
}
