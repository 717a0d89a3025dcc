/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void open_library(struct library *library)
{
    const struct library_function *function = library->functions;
    void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        (void)snprintf(library->fault, sizeof library->fault, "%s",
                       why ? why : "no reason is given");
        return;
    }
    for (; function->name; function++) {
        void *symbol = dlsym(handle, function->name);
        memcpy(function->place, &symbol, sizeof symbol); /* ISO C has no cast for it */
        if (!symbol)
            (void)snprintf(library->fault, sizeof library->fault, "it has no %s", function->name);
    }
    if (library->fault[0] == '\0' && library->begin && !library->begin())
        (void)snprintf(library->fault, sizeof library->fault, "it cannot be made ready");
}

const char *library_fault(struct library *library)
{
    (void)pthread_mutex_lock(&library->lock);
    if (!library->tried)
        open_library(library);
    library->tried = true;
    (void)pthread_mutex_unlock(&library->lock);
    return library->fault[0] ? library->fault : NULL;
}
