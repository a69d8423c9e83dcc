/*
 * The structures and numbers that system calls exchange with ring 3: Linux's layouts for x86-64,
 * under names that clash with no C library. Plain data; ring-3 programs may include this.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ABI_AT_FDCWD		(-100)
#define ABI_AT_SYMLINK_NOFOLLOW 0x100
#define ABI_AT_SYMLINK_FOLLOW	0x400
#define ABI_RENAME_NOREPLACE	1
#define ABI_UTIME_NOW		0x3fffffff
#define ABI_UTIME_OMIT		0x3ffffffe
#define ABI_AT_REMOVEDIR	0x200
#define ABI_AT_EACCESS		0x200
#define ABI_AT_EMPTY_PATH	0x1000

struct abi_stat {
	uint64_t st_dev, st_ino, st_nlink;
	uint32_t st_mode, st_uid, st_gid, pad0;
	uint64_t st_rdev;
	int64_t st_size, st_blksize, st_blocks;
	uint64_t st_atime, st_atime_nsec;
	uint64_t st_mtime, st_mtime_nsec;
	uint64_t st_ctime, st_ctime_nsec;
	int64_t unused[3];
};
_Static_assert(sizeof(struct abi_stat) == 144, "struct stat");

struct abi_statx_time {
	int64_t tv_sec;
	uint32_t tv_nsec, pad;
};
struct abi_statx {
	uint32_t stx_mask, stx_blksize;
	uint64_t stx_attributes;
	uint32_t stx_nlink, stx_uid, stx_gid;
	uint16_t stx_mode, pad;
	uint64_t stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct abi_statx_time stx_atime, stx_btime, stx_ctime, stx_mtime;
	uint32_t stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	uint64_t spare[14];
};
_Static_assert(sizeof(struct abi_statx) == 256, "struct statx");

struct abi_statfs {
	int64_t f_type, f_bsize;
	uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	int64_t f_namelen, f_frsize, f_flags, f_spare[4];
};
_Static_assert(sizeof(struct abi_statfs) == 120, "struct statfs");

struct abi_sysinfo {
	int64_t uptime;
	uint64_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint64_t totalhigh, freehigh;
	uint32_t mem_unit;
};
#define ABI_SI_LOAD_SHIFT 16 /* a load of 1 */
_Static_assert(sizeof(struct abi_sysinfo) == 112, "struct sysinfo");

struct abi_timespec {
	int64_t tv_sec, tv_nsec;
};

struct abi_timeval {
	int64_t tv_sec, tv_usec;
};

struct abi_iovec {
	uint64_t iov_base, iov_len;
};

struct abi_utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

/* Entries follow each other, each d_reclen long: a multiple of 8. */
struct abi_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};
#define ABI_DIRENT64_NAME 19 /* offset of d_name */
_Static_assert(offsetof(struct abi_dirent64, d_name) == ABI_DIRENT64_NAME, "struct linux_dirent64");

struct abi_rlimit64 {
	uint64_t rlim_cur, rlim_max;
};
#define ABI_RLIM_INFINITY (~0UL)
enum {
	ABI_RLIMIT_CPU,
	ABI_RLIMIT_FSIZE,
	ABI_RLIMIT_DATA,
	ABI_RLIMIT_STACK,
	ABI_RLIMIT_CORE,
	ABI_RLIMIT_RSS,
	ABI_RLIMIT_NPROC,
	ABI_RLIMIT_NOFILE,
	ABI_RLIMIT_MEMLOCK,
	ABI_RLIMIT_AS,
	ABI_RLIMITS = 16,
};

struct abi_rusage {
	struct abi_timeval ru_utime, ru_stime;
	int64_t ru_maxrss, ru_other[11], ru_nvcsw, ru_nivcsw;
};
_Static_assert(sizeof(struct abi_rusage) == 144, "struct rusage");

struct abi_pollfd {
	int32_t fd;
	int16_t events, revents;
};
enum {
	ABI_POLLIN = 1,
	ABI_POLLPRI = 2,
	ABI_POLLOUT = 4,
	ABI_POLLERR = 8,
	ABI_POLLHUP = 16,
	ABI_POLLNVAL = 32,
	ABI_POLLRDNORM = 64,
	ABI_POLLWRNORM = 256,
};

struct abi_epoll_event {
	uint32_t events;
	uint64_t data;
} __attribute__((packed));

struct abi_itimerspec {
	struct abi_timespec it_interval, it_value;
};

struct abi_itimerval {
	struct abi_timeval it_interval, it_value;
};

struct abi_sigevent {
	uint64_t value;
	int32_t signo, notify, tid, pad[11];
};
_Static_assert(sizeof(struct abi_sigevent) == 64, "struct sigevent");
enum { ABI_SIGEV_SIGNAL, ABI_SIGEV_NONE, ABI_SIGEV_THREAD, ABI_SIGEV_THREAD_ID = 4 };

struct abi_signalfd_siginfo {
	uint32_t ssi_signo;
	int32_t ssi_errno, ssi_code;
	uint32_t ssi_pid, ssi_uid;
	int32_t ssi_fd;
	uint32_t ssi_tid, ssi_band, ssi_overrun, ssi_trapno;
	int32_t ssi_status, ssi_int;
	uint64_t ssi_ptr, ssi_utime, ssi_stime, ssi_addr;
	uint8_t pad[48];
};
_Static_assert(sizeof(struct abi_signalfd_siginfo) == 128, "struct signalfd_siginfo");

/* ---- Sockets ---- */

enum { ABI_AF_UNSPEC, ABI_AF_UNIX };
struct abi_sockaddr_un {
	uint16_t family;
	char path[108];
};
struct abi_msghdr {
	uint64_t msg_name;
	uint32_t msg_namelen, pad;
	uint64_t msg_iov, msg_iovlen, msg_control, msg_controllen;
	uint32_t msg_flags, pad2;
};
_Static_assert(sizeof(struct abi_msghdr) == 56, "struct msghdr");
struct abi_mmsghdr {
	struct abi_msghdr msg;
	uint32_t len, pad;
};
struct abi_cmsghdr {
	uint64_t len;
	int32_t level, type;
};
struct abi_ucred {
	int32_t pid;
	uint32_t uid, gid;
};
enum {
	ABI_SOL_SOCKET = 1,
	ABI_SCM_RIGHTS = 1,
	ABI_SCM_CREDENTIALS,
	ABI_MSG_OOB = 1,
	ABI_MSG_PEEK = 2,
	ABI_MSG_CTRUNC = 8,
	ABI_MSG_TRUNC = 0x20,
	ABI_MSG_DONTWAIT = 0x40,
	ABI_MSG_EOR = 0x80,
	ABI_MSG_WAITALL = 0x100,
	ABI_MSG_NOSIGNAL = 0x4000,
	ABI_MSG_CMSG_CLOEXEC = 0x40000000,
};
enum {
	ABI_SO_REUSEADDR = 2,
	ABI_SO_TYPE,
	ABI_SO_ERROR,
	ABI_SO_SNDBUF = 7,
	ABI_SO_RCVBUF,
	ABI_SO_KEEPALIVE,
	ABI_SO_PASSCRED = 16,
	ABI_SO_PEERCRED,
	ABI_SO_RCVTIMEO = 20,
	ABI_SO_SNDTIMEO,
	ABI_SO_ACCEPTCONN = 30,
	ABI_SO_PROTOCOL = 38,
	ABI_SO_DOMAIN,
};

/* ---- Signals ---- */

struct abi_sigaction {
	uint64_t handler, flags, restorer, mask;
};
enum {
	ABI_SA_NOCLDSTOP = 1,
	ABI_SA_NOCLDWAIT = 2,
	ABI_SA_SIGINFO = 4,
	ABI_SA_RESTORER = 0x04000000,
	ABI_SA_ONSTACK = 0x08000000,
	ABI_SA_RESTART = 0x10000000,
	ABI_SA_NODEFER = 0x40000000,
};
#define ABI_SA_RESETHAND 0x80000000u
/* All of them, and SA_EXPOSE_TAGBITS, which means nothing on x86. */
#define ABI_SA_FLAGS                                                                               \
	(ABI_SA_NOCLDSTOP | ABI_SA_NOCLDWAIT | ABI_SA_SIGINFO | ABI_SA_RESTORER | ABI_SA_ONSTACK | \
	    ABI_SA_RESTART | ABI_SA_NODEFER | ABI_SA_RESETHAND | 0x800)
enum { ABI_SIG_BLOCK, ABI_SIG_UNBLOCK, ABI_SIG_SETMASK };

struct abi_stack {
	uint64_t ss_sp;
	int32_t ss_flags, pad;
	uint64_t ss_size;
};
enum { ABI_SS_ONSTACK = 1, ABI_SS_DISABLE = 2, ABI_MINSIGSTKSZ = 2048 };
#define ABI_SS_AUTODISARM 0x80000000u

struct abi_siginfo {
	int32_t si_signo, si_errno, si_code, pad;
	union {
		struct {
			int32_t si_pid; /* the sender; of SI_TIMER the timer */
			union {
				int32_t si_uid, si_overrun; /* SI_TIMER */
			};
			union {
				int32_t si_status; /* SIGCHLD */
				uint64_t si_value; /* a negative si_code */
			};
		};
		uint64_t si_addr; /* faults */
		uint8_t room[112];
	};
};
_Static_assert(sizeof(struct abi_siginfo) == 128, "siginfo_t");
enum {
	ABI_SI_USER = 0,
	ABI_SI_KERNEL = 0x80,
	ABI_SI_TKILL = -6,
	ABI_CLD_EXITED = 1,
	ABI_CLD_KILLED,
	ABI_CLD_DUMPED,
	ABI_CLD_TRAPPED,
	ABI_CLD_STOPPED,
	ABI_CLD_CONTINUED,
	ABI_SEGV_MAPERR = 1,
	ABI_SEGV_ACCERR = 2,
	ABI_BUS_ADRERR = 2,
};

struct abi_sigcontext {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
	    rflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate; /* ring-3 address of the FPU area, 0: none */
	uint64_t reserved[8];
};
_Static_assert(sizeof(struct abi_sigcontext) == 256, "struct sigcontext");

struct abi_ucontext {
	uint64_t uc_flags, uc_link;
	struct abi_stack uc_stack;
	struct abi_sigcontext uc_mcontext;
	uint64_t uc_sigmask;
};
enum { ABI_UC_FP_XSTATE = 1, ABI_UC_SIGCONTEXT_SS = 2, ABI_UC_STRICT_RESTORE_SS = 4 };

/* What a handler finds at its stack pointer. */
struct abi_sigframe {
	uint64_t pretcode;
	struct abi_ucontext uc;
	struct abi_siginfo info;
};
_Static_assert(sizeof(struct abi_sigframe) == 440, "struct rt_sigframe");

/*
 * Bytes 464 to 511 of the FPU area of a frame say whether an XSAVE area follows; MAGIC2 stands
 * after it.
 */
struct abi_fpx_sw_bytes {
	uint32_t magic1, extended_size;
	uint64_t xfeatures;
	uint32_t xstate_size, padding[7];
};
#define ABI_FP_XSTATE_OFFSET 464
#define ABI_FP_LEGACY_SIZE   512
#define ABI_FP_XSTATE_MAGIC1 0x46505853u
#define ABI_FP_XSTATE_MAGIC2 0x46505845u

/* ---- The start of a program: what lies after its environment ---- */

enum {
	ABI_AT_NULL,
	ABI_AT_PHDR = 3,
	ABI_AT_PHENT,
	ABI_AT_PHNUM,
	ABI_AT_PAGESZ,
	ABI_AT_BASE,
	ABI_AT_FLAGS,
	ABI_AT_ENTRY,
	ABI_AT_UID = 11,
	ABI_AT_EUID,
	ABI_AT_GID,
	ABI_AT_EGID,
	ABI_AT_PLATFORM,
	ABI_AT_HWCAP,
	ABI_AT_CLKTCK,
	ABI_AT_SECURE = 23,
	ABI_AT_RANDOM = 25,
	ABI_AT_HWCAP2,
	ABI_AT_EXECFN = 31,
	ABI_AT_MINSIGSTKSZ = 51,
};

/* ---- Odds and ends ---- */

enum { ABI_WNOHANG = 1, ABI_WUNTRACED = 2, ABI_WEXITED = 4, ABI_WCONTINUED = 8 };
enum { ABI_WNOWAIT = 0x1000000, ABI_WNOTHREAD = 0x20000000, ABI_WALL = 0x40000000 };
enum { ABI_P_ALL, ABI_P_PID, ABI_P_PGID, ABI_P_PIDFD };
#define ABI_WCLONE 0x80000000u /* children that end with another signal than SIGCHLD */

/* clone3(): its first version, and the fields of the next two. */
struct abi_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size, cgroup;
};
#define ABI_CLONE_ARGS_SIZE_VER0 64

struct abi_robust_list_head {
	uint64_t next, futex_offset, pending;
};
enum { ABI_ARCH_SET_GS = 0x1001, ABI_ARCH_SET_FS, ABI_ARCH_GET_FS, ABI_ARCH_GET_GS };
enum {
	ABI_PR_SET_PDEATHSIG = 1,
	ABI_PR_GET_PDEATHSIG,
	ABI_PR_GET_DUMPABLE,
	ABI_PR_SET_DUMPABLE,
	ABI_PR_GET_KEEPCAPS = 7,
	ABI_PR_SET_NAME = 15,
	ABI_PR_GET_NAME,
	ABI_PR_GET_SECCOMP = 21,
	ABI_PR_CAPBSET_READ = 23,
	ABI_PR_SET_TIMERSLACK = 29,
	ABI_PR_GET_TIMERSLACK,
	ABI_PR_SET_CHILD_SUBREAPER = 36,
	ABI_PR_GET_CHILD_SUBREAPER,
	ABI_PR_SET_NO_NEW_PRIVS = 38,
	ABI_PR_GET_NO_NEW_PRIVS,
};
enum {
	ABI_F_DUPFD,
	ABI_F_GETFD,
	ABI_F_SETFD,
	ABI_F_GETFL,
	ABI_F_SETFL,
	ABI_F_GETLK,
	ABI_F_SETLK,
	ABI_F_SETLKW,
	ABI_F_OFD_GETLK = 36,
	ABI_F_OFD_SETLK,
	ABI_F_OFD_SETLKW,
	ABI_F_DUPFD_CLOEXEC = 1030,
	ABI_FD_CLOEXEC = 1,
};
struct abi_flock {
	int16_t l_type, l_whence;
	int64_t l_start, l_len;
	int32_t l_pid;
};
_Static_assert(sizeof(struct abi_flock) == 32, "struct flock");
enum {
	ABI_CLOCK_REALTIME,
	ABI_CLOCK_MONOTONIC,
	ABI_CLOCK_PROCESS_CPUTIME,
	ABI_CLOCK_THREAD_CPUTIME,
	ABI_CLOCK_MONOTONIC_RAW,
	ABI_CLOCK_REALTIME_COARSE,
	ABI_CLOCK_MONOTONIC_COARSE,
	ABI_CLOCK_BOOTTIME,
	ABI_TIMER_ABSTIME = 1,
};
#define ABI_REBOOT_MAGIC1    0xfee1deadu
#define ABI_REBOOT_MAGIC2    672274793u
#define ABI_REBOOT_MAGIC2A   85072278u
#define ABI_REBOOT_MAGIC2B   369367448u
#define ABI_REBOOT_MAGIC2C   537993216u
#define ABI_REBOOT_RESTART   0x01234567u
#define ABI_REBOOT_HALT	     0xcdef0123u
#define ABI_REBOOT_CAD_ON    0x89abcdefu
#define ABI_REBOOT_CAD_OFF   0u
#define ABI_REBOOT_POWER_OFF 0x4321fedcu
