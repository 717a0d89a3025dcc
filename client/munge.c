#include "client/munge.h"
#include "client/fault.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* From munge.h (version 2 of the library), which need not be there to build this. */
enum { SUCCESS = 0, NO_MEMORY = 5, OPTION_TTL = 4, OPTION_SOCKET = 8 };

/* Seconds for which it is good: enough for a busy network, too short to be worth stealing. */
enum { TTL_S = 60 };

#if __has_include(<munge.h>)
#include <munge.h>
_Static_assert(SUCCESS == (int)EMUNGE_SUCCESS && NO_MEMORY == (int)EMUNGE_NO_MEMORY &&
                   OPTION_TTL == (int)MUNGE_OPT_TTL && OPTION_SOCKET == (int)MUNGE_OPT_SOCKET,
               "munge.h says otherwise");
#endif

static const char library_name[] = "libmunge.so.2";

static struct {
    void *(*context_create)(void);
    void (*context_destroy)(void *context);
    int (*context_set)(void *context, int option, ...);
    const char *(*context_words)(void *context);
    int (*encode)(char **credential, void *context, const void *payload, int length);
    const char *(*words)(int code);
    bool usable;
} library;

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

/* POSIX lets an object pointer hold a function's address; C wants it copied. */
static bool find(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (symbol)
        memcpy(function, &symbol, size);
    return symbol;
}

#define FIND(member, name) find(handle, name, &library.member, sizeof(library.member))

static void open_library(void)
{
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    library.usable =
        FIND(context_create, "munge_ctx_create") && FIND(context_destroy, "munge_ctx_destroy") &&
        FIND(context_set, "munge_ctx_set") && FIND(context_words, "munge_ctx_strerror") &&
        FIND(encode, "munge_encode") && FIND(words, "munge_strerror");
    if (!library.usable)
        dlclose(handle);
}

static int explain(struct mcast_error *error, void *context, int code, const char *socket)
{
    const char *own = context ? library.context_words(context) : NULL;
    if (code == NO_MEMORY)
        return fault_nomem(error);
    return fault_set_word(error, MCAST_UNREACHABLE, "munge",
                          "no MUNGE credential from %s: %s; is munged running? (systemctl status "
                          "munge)",
                          socket ? socket : "the default munged", own ? own : library.words(code));
}

int munge_credential(const char *socket, const char *payload, char **out, struct mcast_error *error)
{
    pthread_once(&library_once, open_library);
    if (!library.usable)
        return fault_set_word(error, MCAST_UNREACHABLE, "munge",
                              "no MUNGE credential: %s is not installed; install it, or set a "
                              "client certificate and its key (MCAST_CERT and MCAST_KEY)",
                              library_name);
    void *context = library.context_create();
    char *credential = NULL;
    int code = context ? library.context_set(context, OPTION_TTL, (int)TTL_S) : NO_MEMORY;
    if (code == SUCCESS && socket)
        code = library.context_set(context, OPTION_SOCKET, socket);
    if (code == SUCCESS)
        code = library.encode(&credential, context, payload, (int)strlen(payload));
    int rc = code == SUCCESS ? 0 : explain(error, context, code, socket);
    if (context)
        library.context_destroy(context);
    if (rc < 0)
        munge_forget(credential);
    else
        *out = credential;
    return rc;
}

void munge_forget(char *credential)
{
    if (credential)
        explicit_bzero(credential, strlen(credential));
    free(credential);
}
