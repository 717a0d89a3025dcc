/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/grant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const grant_names[GRANT_COUNT] = {
#define GRANT_NAME_(name, text) [GRANT_##name] = (text),
    GRANT_NAMES(GRANT_NAME_)
#undef GRANT_NAME_
};

void grant_forget(struct grant *grant)
{
    explicit_bzero(grant, sizeof *grant);
}

int grant_find(const char *name, size_t length)
{
    for (int i = 0; i < GRANT_COUNT; i++) {
        if (strlen(grant_names[i]) == length && memcmp(grant_names[i], name, length) == 0)
            return i;
    }
    return -1;
}

/* Whether from at on there are whole NAME=value only, up to end. */
static bool is_list(const char *at, const char *end)
{
    while (at < end) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        if (!stop || !memchr(at, '=', (size_t)(stop - at)))
            return false;
        at = stop + 1;
    }
    return true;
}

int grant_take(struct grant *grant, size_t length, struct error *err)
{
    if (length > GRANT_SIZE - grant->length ||
        !is_list(grant->text + grant->length, grant->text + grant->length + length))
        return error_set(err, ERROR_INVALID, "the job's variables are no whole list");
    for (const size_t end = grant->length + length; grant->length < end;) {
        const char *entry = grant->text + grant->length;
        const size_t length_of_name = strcspn(entry, "=");
        const char *value = entry + length_of_name + 1;
        const int name = grant_find(entry, length_of_name);
        if (name >= 0)
            grant->values[name] = value[0] ? value : NULL;
        grant->length += strlen(entry) + 1;
    }
    return 0;
}

static int read_whole(struct grant *grant, int file)
{
    const ssize_t got = read(file, grant->text, sizeof grant->text); /* of a regular file: all */
    if (got < 0)
        return ERROR_IO;
    return got == sizeof grant->text ? ERROR_INVALID : grant_take(grant, (size_t)got, NULL);
}

int grant_load(struct grant *grant, const char *path)
{
    struct stat status;
    int rc;
    grant_forget(grant);
    /* A FIFO must not have us wait. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO;
    if (fstat(file, &status) < 0)
        rc = ERROR_IO;
    else if (!S_ISREG(status.st_mode) || (status.st_uid != 0 && status.st_uid != geteuid()) ||
             (status.st_mode & (S_IWGRP | S_IWOTH)))
        rc = ERROR_REFUSED;
    else
        rc = read_whole(grant, file);
    close(file);
    if (rc < 0)
        grant_forget(grant);
    return rc;
}

bool grant_has_hwcoll(const struct grant *grant)
{
    return grant->values[GRANT_JOB] && grant->values[GRANT_TOKEN] && grant->values[GRANT_URL];
}

unsigned grant_choose_vni(struct grant *grant, unsigned which)
{
    const char *vnis = grant->values[GRANT_VNIS], *chosen = NULL;
    unsigned count = 0;
    for (const char *at = vnis; at && *at; at += *at == ',') {
        if (++count == which)
            chosen = at;
        at += strcspn(at, ",");
    }
    if (chosen) {
        grant->text[(size_t)(chosen - grant->text) + strcspn(chosen, ",")] = '\0';
        grant->values[GRANT_VNIS] = chosen;
    }
    return count;
}

bool grant_is_of(const char *value, const char *cluster, uint32_t job)
{
    char number[GRANT_STEP_SIZE];
    const char *dash = value ? strchr(value, '-') : NULL; /* no cluster's name has one (B4) */
    snprintf(number, sizeof number, "%u", job);
    return dash && strcmp(dash + 1, number) == 0 &&
           (!cluster[0] || (strlen(cluster) == (size_t)(dash - value) &&
                            memcmp(cluster, value, (size_t)(dash - value)) == 0));
}

const char *grant_step(uint32_t step, char out[GRANT_STEP_SIZE])
{
    static const struct {
        uint32_t number;
        const char *name;
    } named[] = {{0xfffffffc, "extern"}, {0xfffffffb, "batch"}, {0xfffffffa, "interactive"}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i].number == step)
            return named[i].name;
    }
    snprintf(out, GRANT_STEP_SIZE, "%u", step);
    return out;
}
