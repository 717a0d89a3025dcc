/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static struct cxi_calls calls;

/* POSIX lets an object pointer hold a function's address; C wants it copied. */
static bool load_symbol(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (symbol)
        memcpy(function, &symbol, size);
    return symbol != NULL;
}

/* The name of a function that is missing, or NULL. */
static const char *find_all(void *handle)
{
#define NEED_(name, returns, parameters, version)                                                  \
    if (!load_symbol(handle, "cxil_" #name, &calls.name, sizeof calls.name))                       \
        return "cxil_" #name;
    CXI_CALLS_NEEDED(NEED_)
#undef NEED_
#define TRY_(name, returns, parameters, version)                                                   \
    (void)load_symbol(handle, "cxil_" #name, &calls.name, sizeof calls.name);
    CXI_CALLS_OPTIONAL(TRY_)
#undef TRY_
    return NULL;
}

/* dlopen's message does not distinguish a library that is missing from one that is broken. */
static bool is_elsewhere(const char *name)
{
    return strchr(name, '/') && access(name, F_OK) == 0;
}

int library_open(const struct cxi_calls **out, const char *name, struct error *err)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        bool broken = is_elsewhere(name) || (words && !strstr(words, "No such file"));
        if (broken)
            return error_set(err, ERROR_INVALID, "libcxi cannot be used: %.200s", words);
        return error_set(err, ERROR_NOT_FOUND,
                         "%.100s is not installed; it comes with the Slingshot Host Software "
                         "(node.conf: libcxi)",
                         name);
    }
    const char *missing = find_all(handle);
    if (missing)
        return error_set(err, ERROR_INVALID, "%.100s has no %s; is it HPE's libcxi?", name,
                         missing);
    *out = &calls;
    return 0;
}
