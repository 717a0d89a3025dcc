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

static void take(struct grant *grant, const char *entry, const char *equals)
{
    const size_t length = (size_t)(equals - entry);
    for (int i = 0; i < GRANT_COUNT; i++) {
        if (strlen(grant_names[i]) == length && memcmp(grant_names[i], entry, length) == 0 &&
            equals[1])
            grant->values[i] = equals + 1;
    }
}

int grant_read(struct grant *grant, size_t length, struct error *err)
{
    memset(grant->values, 0, sizeof grant->values);
    grant->length = length;
    if (length >= GRANT_SIZE || (length > 0 && grant->text[length - 1])) {
        grant_forget(grant);
        return error_set(err, ERROR_INVALID, "the job's variables are not whole");
    }
    for (size_t at = 0; at < length; at += strlen(grant->text + at) + 1) {
        const char *equals = strchr(grant->text + at, '=');
        if (!equals) {
            grant_forget(grant);
            return error_set(err, ERROR_INVALID, "the job's variables are no NAME=value");
        }
        take(grant, grant->text + at, equals);
    }
    return 0;
}

static int judge(int file, const char *path, struct error *err)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        return error_set(err, ERROR_IO, "%.120s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode) || (status.st_uid != 0 && status.st_uid != geteuid()) ||
        (status.st_mode & (S_IWGRP | S_IWOTH)))
        return error_set(err, ERROR_REFUSED,
                         "%.120s: not a file of root's or the job's owner's that nobody else can "
                         "write",
                         path);
    return 0;
}

static int read_whole(struct grant *grant, int file, const char *path, struct error *err)
{
    size_t used = 0;
    for (;;) {
        ssize_t got = read(file, grant->text + used, sizeof grant->text - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, ERROR_IO, "%.120s: %s", path, strerror(errno));
        used += (size_t)got;
        if (got == 0 || used == sizeof grant->text)
            return grant_read(grant, used, err);
    }
}

int grant_load(struct grant *grant, const char *path, struct error *err)
{
    grant_forget(grant);
    /* A FIFO must not have us wait. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, "%.120s: %s", path,
                         strerror(errno));
    int rc = judge(file, path, err);
    if (rc == 0)
        rc = read_whole(grant, file, path, err);
    close(file);
    if (rc < 0)
        grant_forget(grant);
    return rc;
}

bool grant_has_hwcoll(const struct grant *grant)
{
    return grant->values[GRANT_JOB] && grant->values[GRANT_TOKEN] && grant->values[GRANT_URL];
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
