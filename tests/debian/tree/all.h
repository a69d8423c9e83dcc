/* A small program in several files, for a parallel make. */
int fib(int n);
int gcd(int a, int b);
int primes(int most);
int sum(int argc, char **argv);
