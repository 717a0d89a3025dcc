/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/usage.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void read_memory(struct usage *out)
{
    unsigned long long all = 0, resident = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return;
    if (fscanf(file, "%llu %llu", &all, &resident) == 2) {
        out->virtual_bytes = all * page;
        out->resident_bytes = resident * page;
    }
    (void)fclose(file);
}

/* The folder's size is the number since Linux 6.2; before, they are to be counted. */
static uint64_t count_descriptors(void)
{
    struct stat folder_stat;
    uint64_t count = 0;
    if (stat("/proc/self/fd", &folder_stat) == 0 && folder_stat.st_size > 0)
        return (uint64_t)folder_stat.st_size;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count - 1; /* the folder's own */
}

void usage_read(struct usage *out)
{
    struct rusage used;
    struct rlimit limit;
    *out = (struct usage){0};
    if (getrusage(RUSAGE_SELF, &used) == 0)
        out->cpu_us = microseconds(&used.ru_utime) + microseconds(&used.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out->fds_max = limit.rlim_cur;
    out->fds = count_descriptors();
    read_memory(out);
}
