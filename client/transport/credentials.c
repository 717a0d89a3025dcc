/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/peer.h"
#include "base/library.h"
#include "client/handle.h"
#include "client/text.h"

#include <errno.h>
#include <fcntl.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* text NULL or "": none */
static int set_text(char **place, const char *text, struct mcast_error *error)
{
    char *copy = NULL;
    if (text && text[0] && !(copy = strdup(text)))
        return fault_nomem(error);
    free(*place);
    *place = copy;
    return 0;
}

/* A user who can read the key can act as its owner. */
static int check_file(const struct credentials *credentials, enum credential which,
                      const char *what, struct mcast_error *error)
{
    const char *path = credentials->is[which];
    struct stat status;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (!path)
        return 0;
    if (fd < 0)
        return fault_set(error, MCAST_USAGE, "%s %.300s cannot be read: %s", what, path,
                         strerror(errno));
    int rc = fstat(fd, &status);
    close(fd);
    if (rc < 0 || !(S_ISREG(status.st_mode) || (which == CACERT && S_ISDIR(status.st_mode))))
        return fault_set(error, MCAST_USAGE, "%s %.300s is not a file%s", what, path,
                         which == CACERT ? " or folder" : "");
    if (which == KEY && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fault_set(error, MCAST_USAGE,
                         "%s %.300s is open to others (mode %04o): chmod 0600 it, and have it "
                         "renewed if others may have read it",
                         what, path, (unsigned)status.st_mode & 07777U);
    return 0;
}

int credentials_check(const struct credentials *credentials, struct mcast_error *error)
{
    int rc = check_file(credentials, CACERT, "the CA", error);
    if (rc == 0)
        rc = check_file(credentials, CERT, "the client certificate", error);
    return rc < 0 ? rc : check_file(credentials, KEY, "the client certificate's key", error);
}

int mcast_set_cacert(struct mcast *handle, const char *path, struct mcast_error *error)
{
    return set_text(&handle->broker.peer.credentials.is[CACERT], path, error);
}

static int set_certificate(struct credentials *credentials, const char *cert, const char *key,
                           struct mcast_error *error)
{
    if (!cert != !key)
        return fault_set(error, MCAST_USAGE,
                         "a client certificate needs its key, and a key its certificate: name both "
                         "files (cert and key, or MCAST_CERT and MCAST_KEY)");
    int rc = set_text(&credentials->is[CERT], cert, error);
    return rc < 0 ? rc : set_text(&credentials->is[KEY], key, error);
}

int mcast_set_certificate(struct mcast *handle, const char *cert, const char *key,
                          struct mcast_error *error)
{
    return set_certificate(&handle->broker.peer.credentials, cert, key, error);
}

int mcast_set_munge(struct mcast *handle, enum mcast_munge use, const char *socket,
                    struct mcast_error *error)
{
    struct credentials *credentials = &handle->broker.peer.credentials;
    if (use != MCAST_MUNGE_AUTO && use != MCAST_MUNGE_ALWAYS && use != MCAST_MUNGE_NEVER)
        return fault_set(error, MCAST_USAGE, "there is no such use of MUNGE: %d", (int)use);
    credentials->munge = use;
    return set_text(&credentials->is[MUNGE_SOCKET], socket, error);
}

int mcast_set_node(struct mcast *handle, const char *node, struct mcast_error *error)
{
    int rc = node && node[0] ? names_check_node(node, error) : 0;
    return rc < 0 ? rc : set_text(&handle->broker.peer.credentials.is[NODE], node, error);
}

int mcast_set_server_user(struct mcast *handle, const char *user, struct mcast_error *error)
{
    return set_text(&handle->broker.peer.credentials.is[SERVER_USER], user, error);
}

static const char *environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] ? value : NULL;
}

const char *credentials_server_user(const struct credentials *credentials)
{
    return credentials->is[SERVER_USER] ? credentials->is[SERVER_USER]
                                        : environment("MCAST_SERVER_USER");
}

int credentials_settle(struct credentials *credentials, struct mcast_error *error)
{
    char **is = credentials->is;
    int rc = 0;
    if (credentials->settled)
        return 0;
    if (!is[CACERT])
        rc = set_text(&is[CACERT], environment("MCAST_CACERT"), error);
    if (rc == 0 && !is[CERT])
        rc = set_certificate(credentials, environment("MCAST_CERT"), environment("MCAST_KEY"),
                             error);
    if (rc == 0 && !is[MUNGE_SOCKET])
        rc = set_text(&is[MUNGE_SOCKET], environment("MCAST_MUNGE_SOCKET"), error);
    credentials->settled = rc == 0;
    return rc;
}

bool credentials_want_munge(const struct credentials *credentials)
{
    return credentials->munge == MCAST_MUNGE_ALWAYS ||
           (credentials->munge == MCAST_MUNGE_AUTO && !credentials->is[CERT]);
}

int credentials_copy(struct credentials *out, const struct credentials *given,
                     struct mcast_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < CREDENTIAL_COUNT; i++)
        rc = set_text(&out->is[i], given->is[i], error);
    out->munge = given->munge;
    out->settled = given->settled;
    return rc;
}

void credentials_release(struct credentials *credentials)
{
    for (size_t i = 0; i < CREDENTIAL_COUNT; i++)
        free(credentials->is[i]);
    *credentials = (struct credentials){0};
}

/* ---- MUNGE, by libmunge: systems without it use libmcast, too ---- */

/* Seconds for which it is good: enough for a busy network, too short to be worth stealing. */
enum { TTL_S = 60 };

#define LIBMUNGE_FUNCTIONS(X)                                                                      \
    X(munge_ctx_create)                                                                            \
    X(munge_ctx_destroy)                                                                           \
    X(munge_ctx_set)                                                                               \
    X(munge_ctx_strerror)                                                                          \
    X(munge_encode)                                                                                \
    X(munge_strerror)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    LIBMUNGE_FUNCTIONS(MEMBER)
#undef MEMBER
} munge;

static const struct library_function munge_functions[] = {
#define FUNCTION(name) {#name, &munge.name},
    LIBMUNGE_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0}};
static struct library library = {
    .name = "libmunge.so.2", .functions = munge_functions, .lock = PTHREAD_MUTEX_INITIALIZER};

int credentials_make_munge(const char *socket, const char *payload, char **out,
                           struct mcast_error *error)
{
    if (library_fault(&library))
        return fault_set_word(error, MCAST_UNREACHABLE, "munge",
                              "no MUNGE credential: %s is not installed; install it, or set a "
                              "client certificate and its key (MCAST_CERT and MCAST_KEY)",
                              library.name);
    munge_ctx_t context = munge.munge_ctx_create();
    if (!context)
        return fault_nomem(error);
    munge_err_t code = munge.munge_ctx_set(context, MUNGE_OPT_TTL, (int)TTL_S);
    if (code == EMUNGE_SUCCESS && socket)
        code = munge.munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
    if (code == EMUNGE_SUCCESS)
        code = munge.munge_encode(out, context, payload, (int)strlen(payload));
    const char *why = code == EMUNGE_SUCCESS ? NULL : munge.munge_ctx_strerror(context);
    int rc = 0;
    if (code == EMUNGE_NO_MEMORY)
        rc = fault_nomem(error);
    else if (code != EMUNGE_SUCCESS)
        rc = fault_set_word(error, MCAST_UNREACHABLE, "munge",
                            "no MUNGE credential from %s: %s; is munged running? (systemctl status "
                            "munge)",
                            socket ? socket : "the default munged",
                            why ? why : munge.munge_strerror(code));
    munge.munge_ctx_destroy(context);
    return rc;
}
