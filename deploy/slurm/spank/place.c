/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/place.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *place_of_plugin(void)
{
    static const char inside; /* an address of the plugin's, as good as any */
    Dl_info info;
    return dladdr(&inside, &info) && info.dli_fname ? info.dli_fname : "";
}

/* folder: of the plugin; NULL: not known. */
static void find(const char *folder, const char *relative, const char *configured,
                 char out[PLACE_SIZE])
{
    char path[PATH_MAX], whole[PATH_MAX];
    if (folder && snprintf(path, sizeof path, "%s/%s", folder, relative) < (int)sizeof path &&
        realpath(path, whole) && strlen(whole) < PLACE_SIZE && access(whole, X_OK) == 0)
        memcpy(out, whole, strlen(whole) + 1);
    else
        snprintf(out, PLACE_SIZE, "%s", configured);
}

void place_find(struct place *place, const char *plugin)
{
    char folder[PATH_MAX];
    /* A name without a folder would be looked for in the user's. */
    const bool known = plugin[0] == '/' && realpath(plugin, folder);
    if (known)
        *strrchr(folder, '/') = '\0';
    const char *from = known ? folder : NULL;
    find(from, MCAST_SPANK_TO_BIN "/mcastctl", MCAST_SPANK_BIN "/mcastctl", place->mcastctl);
    find(from, MCAST_SPANK_TO_BIN "/mcast-node", MCAST_SPANK_BIN "/mcast-node", place->mcast_node);
    find(from, MCAST_SPANK_TO_LIBEXEC "/mcastd/mcast-cleanup",
         MCAST_SPANK_LIBEXEC "/mcastd/mcast-cleanup", place->mcast_cleanup);
}
