/* What a client of a network file system sees of the files of other clients.
 *
 * Preloaded into a process, below the folder LATE_ROOT: a name that another process has made less
 * than LATE_SECONDS ago is not there for stat, open and readdir, unless this process has opened
 * the directory since (LATE_REVALIDATES=1), which makes a client of NFS ask its server; and a file
 * that another process has removed while it is open here cannot be read: ESTALE.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OWN 65536

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct { dev_t device; ino_t inode; } own[OWN];
static int owned;
static double asked; /* when this process last opened a directory */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int is_below(const char *path) {
    const char *root = getenv("LATE_ROOT");
    char full[8192];
    if (!root || !path) return 0;
    if (path[0] != '/') {
        char here[4096];
        if (!getcwd(here, sizeof here)) return 0;
        snprintf(full, sizeof full, "%s/%s", here, path);
        path = full;
    }
    return strncmp(path, root, strlen(root)) == 0;
}

static int is_own(const struct stat64 *s) {
    int found = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < owned && !found; i++)
        found = own[i].device == s->st_dev && own[i].inode == s->st_ino;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void make_own(const struct stat64 *s) {
    if (is_own(s)) return;
    pthread_mutex_lock(&mutex);
    if (owned < OWN) {
        own[owned].device = s->st_dev;
        own[owned++].inode = s->st_ino;
    }
    pthread_mutex_unlock(&mutex);
}

/* When a name appeared; a directory changes with what is in it. */
static double time_made(const char *path, const struct stat64 *s) {
    struct statx x;
    if (S_ISDIR(s->st_mode) && !statx(AT_FDCWD, path, 0, STATX_BTIME, &x)
        && (x.stx_mask & STATX_BTIME))
        return x.stx_btime.tv_sec + x.stx_btime.tv_nsec * 1e-9;
    return s->st_ctim.tv_sec + s->st_ctim.tv_nsec * 1e-9;
}

static int is_late(const char *path, const struct stat64 *s) {
    const char *root = getenv("LATE_ROOT"), *revalidates = getenv("LATE_REVALIDATES");
    double made = time_made(path, s);
    if (!is_below(path) || is_own(s)) return 0;
    if (strlen(path) <= strlen(root)) return 0;
    if (revalidates && *revalidates == '1' && asked > made) return 0;
    return now() - made < atof(getenv("LATE_SECONDS"));
}

static int checked(const char *path, int result, const struct stat64 *s) {
    if (result == 0 && is_late(path, s)) {
        errno = ENOENT;
        return -1;
    }
    return result;
}

int stat64(const char *path, struct stat64 *s) {
    return checked(path, NEXT(stat64)(path, s), s);
}
int stat(const char *path, struct stat *s) { return stat64(path, (struct stat64 *)s); }
int lstat64(const char *path, struct stat64 *s) {
    return checked(path, NEXT(lstat64)(path, s), s);
}
int lstat(const char *path, struct stat *s) { return lstat64(path, (struct stat64 *)s); }
int fstatat64(int folder, const char *path, struct stat64 *s, int flags) {
    return checked(path, NEXT(fstatat64)(folder, path, s, flags), s);
}
int fstatat(int folder, const char *path, struct stat *s, int flags) {
    return fstatat64(folder, path, (struct stat64 *)s, flags);
}

static int opened(const char *path, int flags, int number, int existed) {
    struct stat64 s;
    if (number < 0 || !is_below(path) || NEXT(fstat64)(number, &s)) return number;
    if (S_ISDIR(s.st_mode)) {
        asked = now();
    } else if ((flags & O_TMPFILE) == O_TMPFILE || ((flags & O_CREAT) && !existed)) {
        make_own(&s);
    } else if (is_late(path, &s)) {
        close(number);
        errno = ENOENT;
        return -1;
    }
    return number;
}

int open64(const char *path, int flags, ...) {
    struct stat64 s;
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int), existed = NEXT(stat64)(path, &s) == 0;
    va_end(more);
    return opened(path, flags, NEXT(open64)(path, flags, mode), existed);
}
int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    return open64(path, flags, mode);
}
FILE *fopen64(const char *path, const char *mode) {
    struct stat64 s;
    int existed = NEXT(stat64)(path, &s) == 0;
    FILE *file = NEXT(fopen64)(path, mode);
    if (file && opened(path, *mode == 'r' ? 0 : O_CREAT, fileno(file), existed) < 0) return NULL;
    return file;
}
FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }

int mkdir(const char *path, mode_t mode) {
    struct stat64 s;
    int result = NEXT(mkdir)(path, mode);
    if (!result && is_below(path) && !NEXT(stat64)(path, &s)) make_own(&s);
    return result;
}

static char *folder_of[65536];

DIR *opendir(const char *path) {
    DIR *folder = NEXT(opendir)(path);
    if (folder && dirfd(folder) < 65536) {
        if (is_below(path)) asked = now();
        folder_of[dirfd(folder)] = strdup(path);
    }
    return folder;
}
struct dirent64 *readdir64(DIR *folder) {
    struct dirent64 *entry;
    char path[8192];
    struct stat64 s;
    while ((entry = NEXT(readdir64)(folder))) {
        if (!folder_of[dirfd(folder)]) return entry;
        snprintf(path, sizeof path, "%s/%s", folder_of[dirfd(folder)], entry->d_name);
        if (entry->d_name[0] == '.' || NEXT(lstat64)(path, &s) || !is_late(path, &s)) return entry;
    }
    return NULL;
}
struct dirent *readdir(DIR *folder) { return (struct dirent *)readdir64(folder); }

static int is_stale(int number) {
    struct stat64 s;
    char name[64], path[4096];
    if (NEXT(fstat64)(number, &s) || !S_ISREG(s.st_mode) || s.st_nlink || is_own(&s)) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    if (!is_below(path)) return 0;
    errno = ESTALE;
    return 1;
}
ssize_t read(int number, void *data, size_t size) {
    return is_stale(number) ? -1 : NEXT(read)(number, data, size);
}
ssize_t pread64(int number, void *data, size_t size, off64_t where) {
    return is_stale(number) ? -1 : NEXT(pread64)(number, data, size, where);
}
int fstat64(int number, struct stat64 *s) { return is_stale(number) ? -1 : NEXT(fstat64)(number, s); }
int fstat(int number, struct stat *s) { return fstat64(number, (struct stat64 *)s); }
