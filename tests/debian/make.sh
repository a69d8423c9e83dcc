# A parallel make, which compiles, links and runs; then nothing is left to do; then one that fails.
cp "${0%/*}"/tree/* .
make -j4 CC=tcc
make -j4 CC=tcc
touch gcd.c
make -j4 CC=tcc fail
echo "status $?"
echo 'int f(void) { return }' >bad.c
make -k -j4 CC=tcc 2>&1 | sort
exit 1
