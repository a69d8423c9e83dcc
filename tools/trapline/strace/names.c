/* Names of numbers, as strace spells them. See strace.h. The numbers are those of x86-64. */
#include "tools/trapline/strace/strace.h"

#include <stddef.h>

#define NAMES(id, unknown_, ...)                                                                   \
	const struct strace_names strace_##id = {                                                  \
	    (const struct strace_name[]){__VA_ARGS__, {0, NULL}}, unknown_};

NAMES(access_modes, "?_OK", {0, "F_OK"}, {4, "R_OK"}, {2, "W_OK"}, {1, "X_OK"})
NAMES(address_families, "AF_???", {0, "AF_UNSPEC"}, {1, "AF_UNIX"}, {2, "AF_INET"},
    {10, "AF_INET6"}, {16, "AF_NETLINK"}, {17, "AF_PACKET"})
NAMES(advices, "MADV_???", {0, "MADV_NORMAL"}, {1, "MADV_RANDOM"}, {2, "MADV_SEQUENTIAL"},
    {3, "MADV_WILLNEED"}, {4, "MADV_DONTNEED"}, {8, "MADV_FREE"}, {9, "MADV_REMOVE"},
    {10, "MADV_DONTFORK"}, {11, "MADV_DOFORK"}, {12, "MADV_MERGEABLE"}, {13, "MADV_UNMERGEABLE"},
    {14, "MADV_HUGEPAGE"}, {15, "MADV_NOHUGEPAGE"}, {16, "MADV_DONTDUMP"}, {17, "MADV_DODUMP"},
    {18, "MADV_WIPEONFORK"}, {19, "MADV_KEEPONFORK"}, {20, "MADV_COLD"}, {21, "MADV_PAGEOUT"},
    {22, "MADV_POPULATE_READ"}, {23, "MADV_POPULATE_WRITE"}, {24, "MADV_DONTNEED_LOCKED"},
    {25, "MADV_COLLAPSE"}, {100, "MADV_HWPOISON"}, {101, "MADV_SOFT_OFFLINE"})
NAMES(arch_codes, "ARCH_???", {0x1001, "ARCH_SET_GS"}, {0x1002, "ARCH_SET_FS"},
    {0x1003, "ARCH_GET_FS"}, {0x1004, "ARCH_GET_GS"}, {0x1011, "ARCH_GET_CPUID"},
    {0x1012, "ARCH_SET_CPUID"})
NAMES(at_flags, "AT_???", {0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_REMOVEDIR"},
    {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"}, {0x1000, "AT_EMPTY_PATH"},
    {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"}, {0x8000, "AT_RECURSIVE"})
NAMES(clocks, "CLOCK_???", {0, "CLOCK_REALTIME"}, {1, "CLOCK_MONOTONIC"},
    {2, "CLOCK_PROCESS_CPUTIME_ID"}, {3, "CLOCK_THREAD_CPUTIME_ID"}, {4, "CLOCK_MONOTONIC_RAW"},
    {5, "CLOCK_REALTIME_COARSE"}, {6, "CLOCK_MONOTONIC_COARSE"}, {7, "CLOCK_BOOTTIME"},
    {8, "CLOCK_REALTIME_ALARM"}, {9, "CLOCK_BOOTTIME_ALARM"}, {11, "CLOCK_TAI"})
NAMES(clone_flags, "CLONE_???", {0x100, "CLONE_VM"}, {0x200, "CLONE_FS"}, {0x400, "CLONE_FILES"},
    {0x800, "CLONE_SIGHAND"}, {0x1000, "CLONE_PIDFD"}, {0x2000, "CLONE_PTRACE"},
    {0x4000, "CLONE_VFORK"}, {0x8000, "CLONE_PARENT"}, {0x10000, "CLONE_THREAD"},
    {0x20000, "CLONE_NEWNS"}, {0x40000, "CLONE_SYSVSEM"}, {0x80000, "CLONE_SETTLS"},
    {0x100000, "CLONE_PARENT_SETTID"}, {0x200000, "CLONE_CHILD_CLEARTID"},
    {0x400000, "CLONE_DETACHED"}, {0x800000, "CLONE_UNTRACED"}, {0x1000000, "CLONE_CHILD_SETTID"},
    {0x2000000, "CLONE_NEWCGROUP"}, {0x4000000, "CLONE_NEWUTS"}, {0x8000000, "CLONE_NEWIPC"},
    {0x10000000, "CLONE_NEWUSER"}, {0x20000000, "CLONE_NEWPID"}, {0x40000000, "CLONE_NEWNET"},
    {0x80000000, "CLONE_IO"}, {0x100000000, "CLONE_CLEAR_SIGHAND"},
    {0x200000000, "CLONE_INTO_CGROUP"})
NAMES(close_range_flags, "CLOSE_RANGE_???", {2, "CLOSE_RANGE_UNSHARE"}, {4, "CLOSE_RANGE_CLOEXEC"})
NAMES(epoll_events, "EPOLL???", {1, "EPOLLIN"}, {2, "EPOLLPRI"}, {4, "EPOLLOUT"},
    {0x40, "EPOLLRDNORM"}, {0x80, "EPOLLRDBAND"}, {0x100, "EPOLLWRNORM"}, {0x200, "EPOLLWRBAND"},
    {0x400, "EPOLLMSG"}, {8, "EPOLLERR"}, {0x10, "EPOLLHUP"}, {0x2000, "EPOLLRDHUP"},
    {0x10000000, "EPOLLEXCLUSIVE"}, {0x20000000, "EPOLLWAKEUP"}, {0x40000000, "EPOLLONESHOT"},
    {0x80000000, "EPOLLET"})
NAMES(epoll_flags, "EPOLL_???", {02000000, "EPOLL_CLOEXEC"})
NAMES(epoll_ops, "EPOLL_CTL_???", {1, "EPOLL_CTL_ADD"}, {2, "EPOLL_CTL_DEL"}, {3, "EPOLL_CTL_MOD"})
NAMES(close_on_exec_flags, "O_???", {04000, "O_NONBLOCK"}, {040000, "O_DIRECT"},
    {02000000, "O_CLOEXEC"})
NAMES(eventfd_flags, "EFD_???", {1, "EFD_SEMAPHORE"}, {02000000, "EFD_CLOEXEC"},
    {04000, "EFD_NONBLOCK"})
NAMES(fadvices, "POSIX_FADV_???", {0, "POSIX_FADV_NORMAL"}, {1, "POSIX_FADV_RANDOM"},
    {2, "POSIX_FADV_SEQUENTIAL"}, {3, "POSIX_FADV_WILLNEED"}, {4, "POSIX_FADV_DONTNEED"},
    {5, "POSIX_FADV_NOREUSE"})
NAMES(fallocate_modes, "FALLOC_FL_???", {1, "FALLOC_FL_KEEP_SIZE"}, {2, "FALLOC_FL_PUNCH_HOLE"},
    {4, "FALLOC_FL_NO_HIDE_STALE"}, {8, "FALLOC_FL_COLLAPSE_RANGE"}, {16, "FALLOC_FL_ZERO_RANGE"},
    {32, "FALLOC_FL_INSERT_RANGE"}, {64, "FALLOC_FL_UNSHARE_RANGE"})
NAMES(fcntl_commands, "F_???", {0, "F_DUPFD"}, {1, "F_GETFD"}, {2, "F_SETFD"}, {3, "F_GETFL"},
    {4, "F_SETFL"}, {5, "F_GETLK"}, {6, "F_SETLK"}, {7, "F_SETLKW"}, {8, "F_SETOWN"},
    {9, "F_GETOWN"}, {10, "F_SETSIG"}, {11, "F_GETSIG"}, {15, "F_SETOWN_EX"}, {16, "F_GETOWN_EX"},
    {36, "F_OFD_GETLK"}, {37, "F_OFD_SETLK"}, {38, "F_OFD_SETLKW"}, {1024, "F_SETLEASE"},
    {1025, "F_GETLEASE"}, {1026, "F_NOTIFY"}, {1030, "F_DUPFD_CLOEXEC"}, {1031, "F_SETPIPE_SZ"},
    {1032, "F_GETPIPE_SZ"}, {1033, "F_ADD_SEALS"}, {1034, "F_GET_SEALS"})
NAMES(fd_flags, NULL, {1, "FD_CLOEXEC"})
NAMES(file_types, NULL, {0140000, "S_IFSOCK"}, {0120000, "S_IFLNK"}, {0100000, "S_IFREG"},
    {0060000, "S_IFBLK"}, {0040000, "S_IFDIR"}, {0020000, "S_IFCHR"}, {0010000, "S_IFIFO"})
NAMES(flock_operations, "LOCK_???", {1, "LOCK_SH"}, {2, "LOCK_EX"}, {4, "LOCK_NB"}, {8, "LOCK_UN"},
    {32, "LOCK_MAND"}, {64, "LOCK_READ"}, {128, "LOCK_WRITE"})
NAMES(futex_changes, "FUTEX_OP_???", {0, "FUTEX_OP_SET"}, {1, "FUTEX_OP_ADD"}, {2, "FUTEX_OP_OR"},
    {3, "FUTEX_OP_ANDN"}, {4, "FUTEX_OP_XOR"})
NAMES(futex_comparisons, "FUTEX_OP_CMP_???", {0, "FUTEX_OP_CMP_EQ"}, {1, "FUTEX_OP_CMP_NE"},
    {2, "FUTEX_OP_CMP_LT"}, {3, "FUTEX_OP_CMP_LE"}, {4, "FUTEX_OP_CMP_GT"}, {5, "FUTEX_OP_CMP_GE"})
NAMES(futex_operations, "FUTEX_???", {0, "FUTEX_WAIT"}, {1, "FUTEX_WAKE"}, {2, "FUTEX_FD"},
    {3, "FUTEX_REQUEUE"}, {4, "FUTEX_CMP_REQUEUE"}, {5, "FUTEX_WAKE_OP"}, {6, "FUTEX_LOCK_PI"},
    {7, "FUTEX_UNLOCK_PI"}, {8, "FUTEX_TRYLOCK_PI"}, {9, "FUTEX_WAIT_BITSET"},
    {10, "FUTEX_WAKE_BITSET"}, {11, "FUTEX_WAIT_REQUEUE_PI"}, {12, "FUTEX_CMP_REQUEUE_PI"},
    {13, "FUTEX_LOCK_PI2"})
NAMES(getrandom_flags, "GRND_???", {1, "GRND_NONBLOCK"}, {2, "GRND_RANDOM"}, {4, "GRND_INSECURE"})
NAMES(ioctl_commands, NULL, {0x5401, "TCGETS"}, {0x5402, "TCSETS"}, {0x5403, "TCSETSW"},
    {0x5404, "TCSETSF"}, {0x5409, "TCSBRK"}, {0x540b, "TCFLSH"}, {0x540e, "TIOCSCTTY"},
    {0x540f, "TIOCGPGRP"}, {0x5410, "TIOCSPGRP"}, {0x5413, "TIOCGWINSZ"}, {0x5414, "TIOCSWINSZ"},
    {0x541b, "FIONREAD"}, {0x5421, "FIONBIO"}, {0x5422, "TIOCNOTTY"}, {0x5450, "FIONCLEX"},
    {0x5451, "FIOCLEX"}, {0x5429, "TIOCGSID"})
NAMES(itimers, "ITIMER_???", {0, "ITIMER_REAL"}, {1, "ITIMER_VIRTUAL"}, {2, "ITIMER_PROF"})
NAMES(lock_types, "F_???", {0, "F_RDLCK"}, {1, "F_WRLCK"}, {2, "F_UNLCK"})
NAMES(map_types, "MAP_???", {0, "MAP_FILE"}, {1, "MAP_SHARED"}, {2, "MAP_PRIVATE"},
    {3, "MAP_SHARED_VALIDATE"})
NAMES(map_flags, "MAP_???", {0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"}, {0x40, "MAP_32BIT"},
    {0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"}, {0x10000, "MAP_NONBLOCK"},
    {0x100, "MAP_GROWSDOWN"}, {0x800, "MAP_DENYWRITE"}, {0x1000, "MAP_EXECUTABLE"},
    {0x2000, "MAP_LOCKED"}, {0x20000, "MAP_STACK"}, {0x40000, "MAP_HUGETLB"}, {0x80000, "MAP_SYNC"},
    {0x100000, "MAP_FIXED_NOREPLACE"})
NAMES(membarrier_commands, "MEMBARRIER_CMD_???", {0, "MEMBARRIER_CMD_QUERY"},
    {1, "MEMBARRIER_CMD_GLOBAL"}, {2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED"},
    {4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"}, {8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"},
    {16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"},
    {32, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"},
    {64, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"},
    {128, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ"},
    {256, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"})
NAMES(membarrier_flags, "MEMBARRIER_CMD_FLAG_???", {1, "MEMBARRIER_CMD_FLAG_CPU"})
NAMES(memfd_flags, "MFD_???", {1, "MFD_CLOEXEC"}, {2, "MFD_ALLOW_SEALING"}, {4, "MFD_HUGETLB"},
    {8, "MFD_NOEXEC_SEAL"}, {16, "MFD_EXEC"})
NAMES(message_flags, "MSG_???", {1, "MSG_OOB"}, {2, "MSG_PEEK"}, {4, "MSG_DONTROUTE"},
    {8, "MSG_CTRUNC"}, {0x10, "MSG_PROBE"}, {0x20, "MSG_TRUNC"}, {0x40, "MSG_DONTWAIT"},
    {0x80, "MSG_EOR"}, {0x100, "MSG_WAITALL"}, {0x400, "MSG_SYN"}, {0x800, "MSG_CONFIRM"},
    {0x1000, "MSG_RST"}, {0x2000, "MSG_ERRQUEUE"}, {0x4000, "MSG_NOSIGNAL"}, {0x8000, "MSG_MORE"},
    {0x40000000, "MSG_CMSG_CLOEXEC"})
NAMES(mlockall_flags, "MCL_???", {1, "MCL_CURRENT"}, {2, "MCL_FUTURE"}, {4, "MCL_ONFAULT"})
NAMES(
    mremap_flags, "MREMAP_???", {1, "MREMAP_MAYMOVE"}, {2, "MREMAP_FIXED"}, {4, "MREMAP_DONTUNMAP"})
NAMES(msync_flags, "MS_???", {4, "MS_SYNC"}, {1, "MS_ASYNC"}, {2, "MS_INVALIDATE"})
NAMES(open_modes, NULL, {0, "O_RDONLY"}, {1, "O_WRONLY"}, {2, "O_RDWR"}, {3, "O_ACCMODE"})
NAMES(open_flags, "O_???", {0100, "O_CREAT"}, {0200, "O_EXCL"}, {0400, "O_NOCTTY"},
    {01000, "O_TRUNC"}, {02000, "O_APPEND"}, {04000, "O_NONBLOCK"}, {04010000, "O_SYNC"},
    {010000, "O_DSYNC"}, {040000, "O_DIRECT"}, {0100000, "O_LARGEFILE"}, {0400000, "O_NOFOLLOW"},
    {01000000, "O_NOATIME"}, {02000000, "O_CLOEXEC"}, {010000000, "O_PATH"},
    {020200000, "O_TMPFILE"}, {0200000, "O_DIRECTORY"}, {020000, "FASYNC"})
NAMES(poll_events, "POLL???", {1, "POLLIN"}, {2, "POLLPRI"}, {4, "POLLOUT"}, {8, "POLLERR"},
    {0x10, "POLLHUP"}, {0x20, "POLLNVAL"}, {0x40, "POLLRDNORM"}, {0x80, "POLLRDBAND"},
    {0x100, "POLLWRNORM"}, {0x200, "POLLWRBAND"}, {0x400, "POLLMSG"}, {0x1000, "POLLREMOVE"},
    {0x2000, "POLLRDHUP"})
NAMES(prctl_options, "PR_???", {1, "PR_SET_PDEATHSIG"}, {2, "PR_GET_PDEATHSIG"},
    {3, "PR_GET_DUMPABLE"}, {4, "PR_SET_DUMPABLE"}, {7, "PR_GET_KEEPCAPS"}, {8, "PR_SET_KEEPCAPS"},
    {15, "PR_SET_NAME"}, {16, "PR_GET_NAME"}, {21, "PR_GET_SECCOMP"}, {22, "PR_SET_SECCOMP"},
    {23, "PR_CAPBSET_READ"}, {24, "PR_CAPBSET_DROP"}, {29, "PR_SET_TIMERSLACK"},
    {30, "PR_GET_TIMERSLACK"}, {35, "PR_SET_MM"}, {36, "PR_SET_CHILD_SUBREAPER"},
    {37, "PR_GET_CHILD_SUBREAPER"}, {38, "PR_SET_NO_NEW_PRIVS"}, {39, "PR_GET_NO_NEW_PRIVS"},
    {41, "PR_SET_THP_DISABLE"}, {42, "PR_GET_THP_DISABLE"}, {0x53564d41, "PR_SET_VMA"})
NAMES(priority_whiches, "PRIO_???", {0, "PRIO_PROCESS"}, {1, "PRIO_PGRP"}, {2, "PRIO_USER"})
NAMES(protections, "PROT_???", {0, "PROT_NONE"}, {1, "PROT_READ"}, {2, "PROT_WRITE"},
    {4, "PROT_EXEC"}, {8, "PROT_SEM"}, {0x1000000, "PROT_GROWSDOWN"}, {0x2000000, "PROT_GROWSUP"})
NAMES(rename_flags, "RENAME_??", {1, "RENAME_NOREPLACE"}, {2, "RENAME_EXCHANGE"},
    {4, "RENAME_WHITEOUT"})
NAMES(resources, "RLIMIT_???", {0, "RLIMIT_CPU"}, {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"},
    {3, "RLIMIT_STACK"}, {4, "RLIMIT_CORE"}, {5, "RLIMIT_RSS"}, {6, "RLIMIT_NPROC"},
    {7, "RLIMIT_NOFILE"}, {8, "RLIMIT_MEMLOCK"}, {9, "RLIMIT_AS"}, {10, "RLIMIT_LOCKS"},
    {11, "RLIMIT_SIGPENDING"}, {12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"},
    {15, "RLIMIT_RTTIME"})
NAMES(rusage_whos, "RUSAGE_???", {0, "RUSAGE_SELF"}, {0xffffffff, "RUSAGE_CHILDREN"},
    {0xfffffffe, "RUSAGE_BOTH"}, {1, "RUSAGE_THREAD"})
NAMES(schedulers, "SCHED_???", {0, "SCHED_OTHER"}, {1, "SCHED_FIFO"}, {2, "SCHED_RR"},
    {3, "SCHED_BATCH"}, {4, "SCHED_ISO"}, {5, "SCHED_IDLE"}, {6, "SCHED_DEADLINE"})
NAMES(sched_flags, "SCHED_FLAG_???", {1, "SCHED_FLAG_RESET_ON_FORK"}, {2, "SCHED_FLAG_RECLAIM"},
    {4, "SCHED_FLAG_DL_OVERRUN"}, {8, "SCHED_FLAG_KEEP_POLICY"}, {0x10, "SCHED_FLAG_KEEP_PARAMS"},
    {0x20, "SCHED_FLAG_UTIL_CLAMP_MIN"}, {0x40, "SCHED_FLAG_UTIL_CLAMP_MAX"})
NAMES(shutdown_hows, "SHUT_???", {0, "SHUT_RD"}, {1, "SHUT_WR"}, {2, "SHUT_RDWR"})
NAMES(sigaction_flags, "SA_???", {0x04000000, "SA_RESTORER"}, {0x08000000, "SA_ONSTACK"},
    {0x10000000, "SA_RESTART"}, {0x20000000, "SA_INTERRUPT"}, {0x40000000, "SA_NODEFER"},
    {0x80000000, "SA_RESETHAND"}, {4, "SA_SIGINFO"}, {1, "SA_NOCLDSTOP"}, {2, "SA_NOCLDWAIT"},
    {0x400, "SA_UNSUPPORTED"}, {0x800, "SA_EXPOSE_TAGBITS"})
NAMES(sigaltstack_flags, "SS_???", {1, "SS_ONSTACK"}, {2, "SS_DISABLE"},
    {0x80000000, "SS_AUTODISARM"})
NAMES(signal_codes, NULL, {0, "SI_USER"}, {0x80, "SI_KERNEL"}, {(uint32_t)-1, "SI_QUEUE"},
    {(uint32_t)-2, "SI_TIMER"}, {(uint32_t)-3, "SI_MESGQ"}, {(uint32_t)-4, "SI_ASYNCIO"},
    {(uint32_t)-5, "SI_SIGIO"}, {(uint32_t)-6, "SI_TKILL"}, {(uint32_t)-7, "SI_DETHREAD"})
NAMES(signal_codes_child, NULL, {1, "CLD_EXITED"}, {2, "CLD_KILLED"}, {3, "CLD_DUMPED"},
    {4, "CLD_TRAPPED"}, {5, "CLD_STOPPED"}, {6, "CLD_CONTINUED"})
NAMES(signal_codes_segv, NULL, {1, "SEGV_MAPERR"}, {2, "SEGV_ACCERR"})
NAMES(signal_codes_bus, NULL, {1, "BUS_ADRALN"}, {2, "BUS_ADRERR"}, {3, "BUS_OBJERR"})
NAMES(signal_codes_fpe, NULL, {1, "FPE_INTDIV"}, {2, "FPE_INTOVF"}, {3, "FPE_FLTDIV"},
    {4, "FPE_FLTOVF"}, {5, "FPE_FLTUND"}, {6, "FPE_FLTRES"}, {7, "FPE_FLTINV"}, {8, "FPE_FLTSUB"})
NAMES(signal_codes_ill, NULL, {1, "ILL_ILLOPC"}, {2, "ILL_ILLOPN"}, {3, "ILL_ILLADR"},
    {4, "ILL_ILLTRP"}, {5, "ILL_PRVOPC"}, {6, "ILL_PRVREG"}, {7, "ILL_COPROC"}, {8, "ILL_BADSTK"})
NAMES(signal_codes_trap, NULL, {1, "TRAP_BRKPT"}, {2, "TRAP_TRACE"})
NAMES(sigevent_kinds, "SIGEV_???", {0, "SIGEV_SIGNAL"}, {1, "SIGEV_NONE"}, {2, "SIGEV_THREAD"},
    {4, "SIGEV_THREAD_ID"})
NAMES(signals, NULL, {1, "SIGHUP"}, {2, "SIGINT"}, {3, "SIGQUIT"}, {4, "SIGILL"}, {5, "SIGTRAP"},
    {6, "SIGABRT"}, {7, "SIGBUS"}, {8, "SIGFPE"}, {9, "SIGKILL"}, {10, "SIGUSR1"}, {11, "SIGSEGV"},
    {12, "SIGUSR2"}, {13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"}, {16, "SIGSTKFLT"},
    {17, "SIGCHLD"}, {18, "SIGCONT"}, {19, "SIGSTOP"}, {20, "SIGTSTP"}, {21, "SIGTTIN"},
    {22, "SIGTTOU"}, {23, "SIGURG"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {26, "SIGVTALRM"},
    {27, "SIGPROF"}, {28, "SIGWINCH"}, {29, "SIGIO"}, {30, "SIGPWR"}, {31, "SIGSYS"},
    {32, "SIGRTMIN"}, {33, "SIGRT_1"}, {34, "SIGRT_2"}, {35, "SIGRT_3"}, {36, "SIGRT_4"},
    {37, "SIGRT_5"}, {38, "SIGRT_6"}, {39, "SIGRT_7"}, {40, "SIGRT_8"}, {41, "SIGRT_9"},
    {42, "SIGRT_10"}, {43, "SIGRT_11"}, {44, "SIGRT_12"}, {45, "SIGRT_13"}, {46, "SIGRT_14"},
    {47, "SIGRT_15"}, {48, "SIGRT_16"}, {49, "SIGRT_17"}, {50, "SIGRT_18"}, {51, "SIGRT_19"},
    {52, "SIGRT_20"}, {53, "SIGRT_21"}, {54, "SIGRT_22"}, {55, "SIGRT_23"}, {56, "SIGRT_24"},
    {57, "SIGRT_25"}, {58, "SIGRT_26"}, {59, "SIGRT_27"}, {60, "SIGRT_28"}, {61, "SIGRT_29"},
    {62, "SIGRT_30"}, {63, "SIGRT_31"}, {64, "SIGRT_32"})
NAMES(signalfd_flags, "SFD_???", {02000000, "SFD_CLOEXEC"}, {04000, "SFD_NONBLOCK"})
NAMES(sigprocmask_hows, "SIG_???", {0, "SIG_BLOCK"}, {1, "SIG_UNBLOCK"}, {2, "SIG_SETMASK"})
NAMES(socket_flags, "SOCK_???", {02000000, "SOCK_CLOEXEC"}, {04000, "SOCK_NONBLOCK"})
NAMES(socket_levels, "SOL_???", {0, "SOL_IP"}, {1, "SOL_SOCKET"}, {6, "SOL_TCP"}, {17, "SOL_UDP"},
    {41, "SOL_IPV6"})
NAMES(socket_options, "SO_???", {1, "SO_DEBUG"}, {2, "SO_REUSEADDR"}, {3, "SO_TYPE"},
    {4, "SO_ERROR"}, {5, "SO_DONTROUTE"}, {6, "SO_BROADCAST"}, {7, "SO_SNDBUF"}, {8, "SO_RCVBUF"},
    {9, "SO_KEEPALIVE"}, {10, "SO_OOBINLINE"}, {13, "SO_LINGER"}, {15, "SO_REUSEPORT"},
    {16, "SO_PASSCRED"}, {17, "SO_PEERCRED"}, {18, "SO_RCVLOWAT"}, {19, "SO_SNDLOWAT"},
    {20, "SO_RCVTIMEO_OLD"}, {21, "SO_SNDTIMEO_OLD"}, {30, "SO_ACCEPTCONN"}, {31, "SO_PEERSEC"},
    {38, "SO_PROTOCOL"}, {39, "SO_DOMAIN"})
NAMES(socket_types, "SOCK_???", {1, "SOCK_STREAM"}, {2, "SOCK_DGRAM"}, {3, "SOCK_RAW"},
    {4, "SOCK_RDM"}, {5, "SOCK_SEQPACKET"}, {6, "SOCK_DCCP"}, {10, "SOCK_PACKET"})
NAMES(splice_flags, "SPLICE_F_???", {1, "SPLICE_F_MOVE"}, {2, "SPLICE_F_NONBLOCK"},
    {4, "SPLICE_F_MORE"}, {8, "SPLICE_F_GIFT"})
NAMES(statx_masks, "STATX_???", {0xfff, "STATX_ALL"}, {0x7ff, "STATX_BASIC_STATS"},
    {1, "STATX_TYPE"}, {2, "STATX_MODE"}, {4, "STATX_NLINK"}, {8, "STATX_UID"}, {0x10, "STATX_GID"},
    {0x20, "STATX_ATIME"}, {0x40, "STATX_MTIME"}, {0x80, "STATX_CTIME"}, {0x100, "STATX_INO"},
    {0x200, "STATX_SIZE"}, {0x400, "STATX_BLOCKS"}, {0x800, "STATX_BTIME"},
    {0x1000, "STATX_MNT_ID"}, {0x2000, "STATX_DIOALIGN"})
NAMES(timer_flags, "TIMER_???", {1, "TIMER_ABSTIME"})
NAMES(timerfd_flags, "TFD_???", {1, "TFD_TIMER_ABSTIME"}, {2, "TFD_TIMER_CANCEL_ON_SET"},
    {02000000, "TFD_CLOEXEC"}, {04000, "TFD_NONBLOCK"})
NAMES(timerfd_settings, "TFD_???", {1, "TFD_TIMER_ABSTIME"}, {2, "TFD_TIMER_CANCEL_ON_SET"})
NAMES(wait_ids, "P_???", {0, "P_ALL"}, {1, "P_PID"}, {2, "P_PGID"}, {3, "P_PIDFD"})
NAMES(wait_options, "W???", {1, "WNOHANG"}, {4, "WEXITED"}, {2, "WSTOPPED"}, {8, "WCONTINUED"},
    {0x01000000, "WNOWAIT"}, {0x80000000, "__WCLONE"}, {0x40000000, "__WALL"},
    {0x20000000, "__WNOTHREAD"})
NAMES(whences, "SEEK_???", {0, "SEEK_SET"}, {1, "SEEK_CUR"}, {2, "SEEK_END"}, {3, "SEEK_DATA"},
    {4, "SEEK_HOLE"})

const char *strace_name(const struct strace_names *names, uint64_t value)
{
	for (const struct strace_name *n = names->name; n->name; n++)
		if (n->value == value)
			return n->name;
	return NULL;
}
