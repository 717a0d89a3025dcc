#include "hook/object.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *failed(const char *file, const char *words, struct error *err)
{
    (void)error_set(err, ERROR_IO, "%s cannot be opened: %.200s", file,
                    words ? words : "no reason is given");
    return NULL;
}

/* By its whole path, so that no variable of the environment says where. */
static bool find(char path[static PATH_MAX], const char *file)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    size_t room = PATH_MAX - (size_t)(name - path);
    return (size_t)snprintf(name, room, "%s", file) < room;
}

void *object_open(const char *file, const char *symbol, struct error *err)
{
    char path[PATH_MAX];
    if (!find(path, file))
        return failed(file, "/proc does not say where this program lies", err);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, symbol) : NULL;
    return found ? found : failed(file, dlerror(), err);
}
