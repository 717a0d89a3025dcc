#include "cli/doctor/place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool place_find(const char *relative, char out[PLACE_SIZE])
{
    char path[PATH_MAX], whole[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    const size_t room = slash ? sizeof(path) - (size_t)(slash + 1 - path) : 0;
    out[0] = '\0';
    if (!slash || (size_t)snprintf(slash + 1, room, "%s", relative) >= room ||
        !realpath(path, whole) || strlen(whole) >= PLACE_SIZE)
        return false;
    memcpy(out, whole, strlen(whole) + 1);
    return true;
}
