# Commands read and written, two-way pipes, sorted arrays, big numbers.
seq 100 | gawk '
{ sum += $1; last[$1 % 10] = $1 }
END {
	print sum
	PROCINFO["sorted_in"] = "@ind_num_asc"
	for (i in last) printf "%s ", last[i]
	while (("seq 5" | getline line) > 0) total += line
	print total
	print "c\na\nb" |& "sort"
	close("sort", "to")
	while (("sort" |& getline line) > 0) print "sorted", line
	print strftime("%Y", 0, 1), toupper("abc"), substr("hello", 2, 3), gensub(/(l+)/, "<\\1>", "g", "hello")
	printf "%d %s\n", 2 ^ 53, match("foobar", /o+/, m) " " m[0]
	print "to a command" | "cat 1>&2; exit 3"
	exit close("cat 1>&2; exit 3")
}'
