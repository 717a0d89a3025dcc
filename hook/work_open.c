/* Of the program: how the shared object is found. */

#include "hook/work.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static work_fn *failed(const char *words, struct error *err)
{
    (void)error_set(err, ERROR_IO, "%s cannot be opened: %.200s", WORK_OBJECT,
                    words ? words : "no reason is given");
    return NULL;
}

/* By its whole path, so that no variable of the environment says where. */
static bool find(char path[static PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    size_t room = PATH_MAX - (size_t)(name - path);
    return (size_t)snprintf(name, room, "%s", WORK_OBJECT) < room;
}

work_fn *work_open(struct error *err)
{
    char path[PATH_MAX];
    work_fn *work;
    if (!find(path))
        return failed("/proc does not say where this program lies", err);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, WORK_SYMBOL) : NULL;
    if (!symbol)
        return failed(dlerror(), err);
    memcpy(&work, &symbol, sizeof work); /* ISO C has no cast for it */
    return work;
}
