# The same tree with gcc, which runs its parts one after the other.
cp "${0%/*}"/tree/* .
make -j2 CC='gcc -O2 -Wall -pipe'
gcc -O2 -S -o - gcd.c | grep -c gcd
gcc -Wall -o none main.c 2>&1 | grep -c 'undefined reference'
