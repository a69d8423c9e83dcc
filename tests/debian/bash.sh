# Process substitution, here documents, arrays, jobs, traps, pipes.
cat <(echo one) <(seq 3)
sort -m <(seq 1 2 5) <(seq 2 2 6) | (exit 3) | tail -n 1
echo "${PIPESTATUS[1]}"
tee >(sort -r >sorted) >(wc -l >count) <<<$'a\nb\nc' >/dev/null
while ! [ -s sorted ] || ! [ -s count ]; do :; done
cat sorted count
declare -A number=([one]=1 [two]=2)
echo "${number[one]} ${number[two]} ${#number[@]}"
trap 'echo usr1' USR1
kill -USR1 $$
sleep 100 &
kill %1
wait $!
echo "killed: $?"
coproc cat
echo through the coprocess >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
mapfile -t lines < <(printf '%s\n' x y z)
echo "${lines[@]}"
read -r -t 0.01 nothing < <(sleep 1)
echo "read: $(($? > 128))"
printf '%(%Y)T\n' 0
set -o pipefail
false | true
echo "pipefail: $?"
exit 7
