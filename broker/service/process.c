/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/service/process.h"

#include "broker/http/http.h"
#include "broker/log/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    THREADS = HTTP_THREADS + 2, /* the loop's workers: a reload must not wait for name servers, nor
                                   for the inventory */
    MAPPED_BYTES = 2 * 1024 * 1024, /* a block of this size or more is large */
    SPARE_BYTES = 4 * 1024 * 1024,  /* of the heap's end, kept for the next burst */
};

/* While a process with threads gets a longer table of open files, the kernel lets it wait for a
 * grace period of RCU, 10 to 20 ms each time. So it gets all that it will need now, before there
 * are threads (G11). */
static void lengthen_files_table(rlim_t files)
{
    int any = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int last = any < 0 ? -1 : fcntl(any, F_DUPFD_CLOEXEC, (int)files - 1);
    if (any >= 0)
        (void)close(any);
    if (last >= 0)
        (void)close(last);
}

/* As many as are needed, or allowed. */
static rlim_t raise_files_limit(const struct config *config)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    const rlim_t needed = http_descriptors(config->connections_max),
                 wanted = http_descriptors_wanted(config->connections_max);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < needed)
        log_line(LOG_WARNING,
                 "only %ju open files are allowed, connections_max = %u needs %ju: raise "
                 "LimitNOFILE",
                 (uintmax_t)files.rlim_cur, config->connections_max, (uintmax_t)needed);
    return files.rlim_cur < wanted ? files.rlim_cur : wanted;
}

/* Large blocks are mapped each by itself: realloc moves the page tables of one and copies nothing
 * (G11). Left alone, glibc comes to keep ever larger ones in its heap once such a block was freed;
 * and told this, it would give back each 128 KiB at the heap's end. */
static void map_large_blocks(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}

void process_prepare(const struct config *config)
{
    char threads[12];
    (void)snprintf(threads, sizeof threads, "%d", THREADS);
    (void)setenv("UV_THREADPOOL_SIZE", threads, 1); /* read when the first is needed */
    map_large_blocks();
    umask(077);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, how a command has ended could not be learned */
    /* A limit on the size of files is a full disk, which is survived, not an end. */
    (void)signal(SIGXFSZ, SIG_IGN);
    /* Memory holds the session tokens of every job, and copies of them in the buffers of libraries
     * that no madvise reaches: so no core dump at all (not even one that a pipe takes, which a
     * limit of 0 does not stop), and no other process of this user looks in. Root still can. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    lengthen_files_table(raise_files_limit(config));
}
