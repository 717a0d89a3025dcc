#include "client/libcurl.h"
#include "client/fault.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char library_name[] = "libcurl.so.4";

static struct libcurl library;
static char unusable[160]; /* why it cannot be used, "" when it can */
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

/* POSIX lets an object pointer hold a function's address; C wants it copied. */
static bool find(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (symbol)
        memcpy(function, &symbol, size);
    else
        snprintf(unusable, sizeof(unusable), "it has no %s", name);
    return symbol;
}

static void open_library(void)
{
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        snprintf(unusable, sizeof(unusable), "%s", why ? why : "no reason is given");
        return;
    }
#define FIND(name) find(handle, "curl_" #name, &library.name, sizeof(library.name)) &&
    bool found = LIBCURL_FUNCTIONS(FIND) true;
#undef FIND
    if (found && library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        snprintf(unusable, sizeof(unusable), "it cannot be made ready");
}

const struct libcurl *libcurl_open(struct mcast_error *error)
{
    pthread_once(&library_once, open_library);
    if (!unusable[0])
        return &library;
    fault_set_word(error, MCAST_UNREACHABLE, "libcurl",
                   "%s cannot be used (%s): it is needed for a broker at https:// or http://; "
                   "install it (Debian: libcurl4), or use the broker's Unix socket",
                   library_name, unusable);
    return NULL;
}
