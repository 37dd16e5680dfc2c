/* Preloaded into a store: writes down how much of each file was synced, and holds syncs back while a file exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int synced(const char *name, int fd)
{
    const char *hold = getenv("POWER_HOLD"), *log = getenv("POWER_LOG");
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    struct stat found;
    while (access(hold, F_OK) == 0)
        usleep(2000);
    if (fstat(fd, &found) != 0)
        return real(fd);
    int result = real(fd);
    if (result == 0) {
        char line[64];
        int size = snprintf(line, sizeof line, "%llu %lld\n", (unsigned long long)found.st_ino, (long long)found.st_size);
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (out < 0 || write(out, line, size) != size)
            abort();
        close(out);
    }
    return result;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
