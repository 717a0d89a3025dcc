#include "cli/slurm/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_SIZE = 65536 };

static void read_script(const char *path, char text[SCRIPT_SIZE])
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = file < 0 ? 0 : read(file, text, SCRIPT_SIZE - 1);
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
}

static bool in_comment(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at[strspn(at, " \t")] == '#';
}

/* The word around at, if it is a whole path as it stands. */
static void take_path(const char *text, const char *at, const char *end,
                      char out[SLURMHOOK_PATH_SIZE])
{
    while (at > text && !strchr(" \t\n\"';|&()<>=`", at[-1]))
        at--;
    const size_t length = (size_t)(end - at);
    if (*at != '/' || length >= SLURMHOOK_PATH_SIZE || memchr(at, '$', length))
        return;
    memcpy(out, at, length);
    out[length] = '\0';
}

/* A script of the site's may call ours, by its whole path or by its folder's usual name. */
static bool calls_ours(const char *path, const char *usual, char ours[SLURMHOOK_PATH_SIZE])
{
    char text[SCRIPT_SIZE];
    read_script(path, text);
    for (const char *at = text; (at = strstr(at, usual)); at++) {
        const char *end = at + strlen(usual);
        if (in_comment(text, at) || (*end && !strchr(" \t\r\n\"';|&()<>`", *end)))
            continue;
        take_path(text, at, end, ours);
        return true;
    }
    return false;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && strcmp(path + length - wanted, end) == 0;
}

static void expect(struct slurmhook *hook, const char *path)
{
    if (access(path, X_OK) == 0)
        return;
    hook->there = false;
    snprintf(hook->not_there, sizeof(hook->not_there), "%.900s: %s", path, strerror(errno));
}

static void look_at(struct slurmhook *hook, const char *path, const char *file, const char *hooks)
{
    char own[SLURMHOOK_PATH_SIZE], usual[128], called[SLURMHOOK_PATH_SIZE] = "";
    snprintf(own, sizeof(own), "%.900s/%s", hooks, file);
    snprintf(usual, sizeof(usual), "/mcastd/slurm/%s", file);
    expect(hook, path);
    if (strcmp(path, own) == 0 || ends_in(path, usual)) {
        hook->ours = true;
        snprintf(hook->path, sizeof(hook->path), "%.1000s", path);
    } else if (calls_ours(path, usual, called)) {
        hook->ours = true;
        if (called[0] && hook->there)
            expect(hook, called);
        if (called[0])
            memcpy(hook->path, called, sizeof(called));
    }
}

void slurmhook_look(struct slurmhook *hook, const struct slurmconf *conf, const char *key,
                    const char *file, const char *hooks)
{
    const char *value;
    *hook = (struct slurmhook){.there = true};
    for (size_t n = 0; (value = slurmconf_get(conf, key, n)); n++) {
        glob_t found;
        const bool any = glob(value, 0, NULL, &found) == 0;
        hook->named = true;
        for (size_t i = 0; any && i < found.gl_pathc; i++)
            look_at(hook, found.gl_pathv[i], file, hooks);
        if (any)
            globfree(&found);
        else
            look_at(hook, value, file, hooks);
    }
}
