/*
 * Given (-include) to the kernel's own strings and to their cases when they are compiled for a host
 * that has a C library: there they get other names. All else that is compiled for the host calls
 * the C library's, whose accesses the sanitizers check.
 */
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
