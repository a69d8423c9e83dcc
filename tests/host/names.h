/*
 * Given to every source of the kernel that is compiled for the host (-include): where it has a
 * function of the C library's name, it gets another there, so that the real one's stays. The
 * strings are the C library's, whose accesses the sanitizers check, but for the kernel's own
 * (OWN_STRINGS) and the cases that test them.
 */
#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#ifdef OWN_STRINGS
#define memcpy	k_memcpy
#define memmove k_memmove
#define memset	k_memset
#define memcmp	k_memcmp
#define memchr	k_memchr
#define strlen	k_strlen
#define strnlen k_strnlen
#define strcmp	k_strcmp
#define strncmp k_strncmp
#define strchr	k_strchr
#define strrchr k_strrchr
#define strstr	k_strstr
#define strspn	k_strspn
#define strcspn k_strcspn
#define strsep	k_strsep
#endif
