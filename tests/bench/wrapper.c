/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/wrapper.h"

#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int wrapper_write(char out[WRAPPER_PATH_SIZE], const char *folder, const char *name,
                  const char *before, const char *program)
{
    char text[WRAPPER_TEXT_SIZE], file[64];
    const int length =
        snprintf(text, sizeof text, "#!/bin/sh\necho $$ >%s/%s.pid\nexec %s %s \"$@\"\n", folder,
                 name, before, program);

    if (length < 0 || (size_t)length >= sizeof text) {
        fprintf(stderr, "%s: the command is too long\n", program);
        return -1;
    }
    snprintf(file, sizeof file, "%s.sh", name);
    folder_path(out, WRAPPER_PATH_SIZE, folder, file);
    return folder_write(folder, file, 0700, text);
}

long long wrapper_cpu_ns(const char *folder, const char *name)
{
    char path[WRAPPER_PATH_SIZE], file[64];
    struct timespec used;
    clockid_t clock;
    int pid = 0;

    snprintf(file, sizeof file, "%s.pid", name);
    FILE *in = fopen(folder_path(path, sizeof path, folder, file), "re");
    const int fields = in ? fscanf(in, "%d", &pid) : 0;
    if (in)
        fclose(in);
    if (fields == 1 && clock_getcpuclockid((pid_t)pid, &clock) == 0 &&
        clock_gettime(clock, &used) == 0)
        return used.tv_sec * 1000000000LL + used.tv_nsec;
    fprintf(stderr, "%s: no such process\n", name);
    return -1;
}
