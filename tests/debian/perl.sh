# Hashes, files, fork and pipes, signals, select, sockets between processes.
perl -e '
use strict; use warnings; use POSIX ":sys_wait_h"; use Socket; use IO::Handle; use Time::HiRes qw(setitimer ITIMER_REAL);
my %h; $h{$_ % 7}++ for 1 .. 1000;
print join(",", map { "$_=$h{$_}" } sort keys %h), "\n";
open(my $out, ">", "f") or die; print $out "line $_\n" for 1 .. 100; close $out;
open(my $in, "<", "f") or die; my @lines = <$in>; print scalar(@lines), " ", -s "f", "\n";
open(my $p, "-|", "seq 3") or die; print <$p>; close $p;
pipe(my $r, my $w) or die;
my $pid = fork; if (!$pid) { close $r; print $w "from the child\n"; exit 3 } close $w;
print <$r>; waitpid $pid, 0; print WEXITSTATUS($?), "\n";
socketpair(my $one, my $two, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "socketpair: $!";
$one->autoflush(1);
$pid = fork; if (!$pid) { close $one; my $line = <$two>; print $two uc $line; exit 0 } close $two;
print $one "hello\n"; print scalar <$one>; waitpid $pid, 0;
my $ticks = 0; $SIG{ALRM} = sub { $ticks++ }; setitimer(ITIMER_REAL, 0.002, 0.002);
select undef, undef, undef, 1 while $ticks < 3; setitimer(ITIMER_REAL, 0); print "ticked\n";
print join(" ", sort { $a <=> $b } map { length } split /\s+/, "the quick brown fox"), "\n";
exit 4'
