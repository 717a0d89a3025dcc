/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/holders.h"

#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A NIC is opened early, and so has a low number: LOOKS_PER_PROCESS. */
enum { NAMED_MAX = 3, PATH_SIZE = 300, NAME_SIZE = 16, LOOKS_PER_PROCESS = 1000 };

static bool has_open(const char *process, const char *file, unsigned int *looks)
{
    char path[PATH_SIZE], target[64];
    snprintf(path, sizeof path, "%s/fd", process);
    DIR *descriptors = opendir(path);
    const struct dirent *entry;
    const unsigned int end = *looks + LOOKS_PER_PROCESS;
    bool found = false;
    ++*looks;
    while (descriptors && !found && *looks < end && (entry = readdir(descriptors))) {
        ++*looks;
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target - 1);
        found = length > 0 && (size_t)length == strlen(file) &&
                memcmp(target, file, (size_t)length) == 0;
    }
    if (descriptors)
        closedir(descriptors);
    return found;
}

/* Its owner chooses it: bytes that are no text would make none of a reason to drain the node. */
static void read_name(const char *process, char out[NAME_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/comm", process);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(out, NAME_SIZE, file))
        snprintf(out, NAME_SIZE, "?");
    out[strcspn(out, "\n")] = '\0';
    text_make_printable(out);
    if (file)
        fclose(file);
}

const char *holders_describe(const char *proc, uint32_t uid, const char *device,
                             unsigned int *looks, char out[HOLDERS_TEXT_SIZE])
{
    char file[32], process[PATH_SIZE - 8], name[NAME_SIZE];
    size_t used = 0;
    unsigned int count = 0;
    struct stat about;
    DIR *processes = *looks < HOLDERS_LOOKS_MAX ? opendir(proc) : NULL;
    const struct dirent *entry;
    snprintf(file, sizeof file, "/dev/%.20s", device);
    while (processes && *looks < HOLDERS_LOOKS_MAX && (entry = readdir(processes))) {
        snprintf(process, sizeof process, "%.30s/%.250s", proc, entry->d_name);
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) ||
            stat(process, &about) < 0 || about.st_uid != uid || !has_open(process, file, looks))
            continue;
        if (++count > NAMED_MAX)
            continue;
        read_name(process, name);
        used += (size_t)snprintf(out + used, HOLDERS_TEXT_SIZE - used, "%sprocess %.10s (%s)",
                                 used > 0 ? ", " : "", entry->d_name, name);
    }
    if (processes)
        closedir(processes);
    if (count == 0)
        snprintf(out, HOLDERS_TEXT_SIZE,
                 "a process of uid %u, or by operations that the NIC has to end", uid);
    else if (count > NAMED_MAX)
        snprintf(out + used, HOLDERS_TEXT_SIZE - used, " and %u more of uid %u", count - NAMED_MAX,
                 uid);
    else
        snprintf(out + used, HOLDERS_TEXT_SIZE - used, " of uid %u", uid);
    return out;
}

/* Of /proc/PID/status. The owner of the folder is root if the process is not dumpable. */
static bool is_living(const char *process, uint32_t uid)
{
    char path[PATH_SIZE], line[128];
    unsigned int ids[4];
    bool dead = false, found = false;
    snprintf(path, sizeof path, "%s/status", process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        dead |= strncmp(line, "State:\tZ", 8) == 0 || strncmp(line, "State:\tX", 8) == 0;
        if (sscanf(line, "Uid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4)
            found = ids[0] == uid || ids[1] == uid || ids[2] == uid || ids[3] == uid;
    }
    if (file)
        fclose(file);
    return found && !dead;
}

bool holders_user_lives(const char *proc, uint32_t uid)
{
    char process[PATH_SIZE - 8];
    bool lives = false;
    DIR *processes = opendir(proc);
    const struct dirent *entry;
    while (processes && !lives && (entry = readdir(processes))) {
        snprintf(process, sizeof process, "%.30s/%.250s", proc, entry->d_name);
        lives =
            strspn(entry->d_name, "0123456789") == strlen(entry->d_name) && is_living(process, uid);
    }
    if (processes)
        closedir(processes);
    return lives;
}
