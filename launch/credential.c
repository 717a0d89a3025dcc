/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/credential.h"

#include "base/library.h"
#include "base/memory.h"

#include <assert.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                               \
    X(munge_ctx_create)                                                                            \
    X(munge_ctx_destroy)                                                                           \
    X(munge_ctx_set)                                                                               \
    X(munge_encode)                                                                                \
    X(munge_decode)                                                                                \
    X(munge_strerror)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} munge;

static const struct library_function functions[] = {
#define FUNCTION(name) {#name, &munge.name},
    FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0}};
static struct library library = {
    .name = "libmunge.so.2", .functions = functions, .lock = PTHREAD_MUTEX_INITIALIZER};

/* A context for this socket; NULL with an error. */
static munge_ctx_t open_context(const char *socket, struct error *err)
{
    if (library_fault(&library)) {
        (void)error_set(err, ERROR_IO,
                        "%s cannot be opened: install libmunge (Debian: libmunge2), or give the "
                        "broker and its nodes a launch key",
                        library.name);
        return NULL;
    }
    munge_ctx_t context = memory_must(munge.munge_ctx_create());
    if (socket && munge.munge_ctx_set(context, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS)
        (void)memory_must(NULL);
    return context;
}

static int explain(munge_err_t code, const char *socket, struct error *err)
{
    switch (code) {
    case EMUNGE_NO_MEMORY:
        return error_set(err, ERROR_NOMEM, "no memory for a MUNGE credential");
    case EMUNGE_SNAFU:
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        return error_set(err, ERROR_IO,
                         "munged at %s does not answer (%s): see that it runs (systemctl status "
                         "munge)",
                         socket ? socket : "its usual socket", munge.munge_strerror(code));
    case EMUNGE_CRED_UNAUTHORIZED:
        return error_set(err, ERROR_IO,
                         "the launch document can be read by root only: run this as root");
    case EMUNGE_CRED_INVALID:
        return error_set(err, ERROR_REFUSED,
                         "the launch document was made with another MUNGE key than this host's, or "
                         "was changed: compare munge.key of this host and the broker's");
    default:
        return error_set(err, ERROR_INVALID,
                         "it is no launch document (%s): it is cut short, or "
                         "changed",
                         munge.munge_strerror(code));
    }
}

/* Compressed it fits where it is to be carried, such as the 1,024 characters of a Slurm job's
 * comment. A munged that was built without zlib makes it longer. */
static munge_err_t encode(munge_ctx_t context, const char *document, char **credential)
{
    static const munge_zip_t ways[] = {MUNGE_ZIP_ZLIB, MUNGE_ZIP_NONE};
    munge_err_t code = EMUNGE_BAD_ZIP;
    for (size_t i = 0; code == EMUNGE_BAD_ZIP && i < sizeof ways / sizeof ways[0]; i++) {
        free(*credential);
        *credential = NULL;
        code = munge.munge_ctx_set(context, MUNGE_OPT_ZIP_TYPE, ways[i]);
        if (code == EMUNGE_SUCCESS)
            code = munge.munge_encode(credential, context, document, (int)strlen(document));
    }
    if (code == EMUNGE_SUCCESS)
        return code;
    free(*credential);
    *credential = NULL;
    return code;
}

/* As libmunge writes them: "MUNGE:…:". */
static const char munge_begin[] = "MUNGE:", munge_end[] = ":";

/* With our prefix instead of MUNGE's words around it. The argument is freed. */
static char *to_envelope(char *credential)
{
    const size_t begin = strlen(munge_begin), length = strlen(credential);
    assert(length > begin && strncmp(credential, munge_begin, begin) == 0 &&
           strcmp(credential + length - strlen(munge_end), munge_end) == 0);
    credential[length - strlen(munge_end)] = '\0';
    char *envelope = memory_format(CREDENTIAL_PREFIX "%s", credential + begin);
    free(credential);
    return envelope;
}

char *credential_close(const char *socket, const char *document, struct error *err)
{
    munge_ctx_t context = open_context(socket, err);
    char *credential = NULL;
    if (!context)
        return NULL;
    munge_err_t code = munge.munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, (uid_t)0);
    if (code == EMUNGE_SUCCESS)
        code = munge.munge_ctx_set(context, MUNGE_OPT_TTL, (int)MUNGE_TTL_MAXIMUM);
    if (code == EMUNGE_SUCCESS)
        code = encode(context, document, &credential);
    munge.munge_ctx_destroy(context);
    if (code == EMUNGE_SUCCESS)
        return to_envelope(credential);
    (void)explain(code, socket, err);
    return NULL;
}

/* The credential was made with the site's key and not changed. Its time is not judged. */
static bool is_authentic(munge_err_t code)
{
    return code == EMUNGE_SUCCESS || code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND ||
           code == EMUNGE_CRED_REPLAYED;
}

char *credential_open(const char *socket, const char *envelope, uid_t maker, struct error *err)
{
    munge_ctx_t context = open_context(socket, err);
    void *payload = NULL;
    char *document = NULL;
    int length = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid;
    if (!context)
        return NULL;
    const size_t prefix = strlen(CREDENTIAL_PREFIX);
    const bool ours = strncmp(envelope, CREDENTIAL_PREFIX, prefix) == 0;
    char *credential =
        memory_format("%s%s%s", munge_begin, ours ? envelope + prefix : "", munge_end);
    munge_err_t code = munge.munge_decode(credential, context, &payload, &length, &uid, &gid);
    munge.munge_ctx_destroy(context);
    free(credential);
    if (!is_authentic(code)) {
        (void)explain(code, socket, err);
    } else if (uid != maker) {
        (void)error_set(err, ERROR_REFUSED,
                        "the launch document was made by uid %u, and the broker is uid %u: see "
                        "launch_user in node.conf",
                        (unsigned)uid, (unsigned)maker);
    } else if (length <= 0 || memchr(payload, '\0', (size_t)length)) {
        (void)error_set(err, ERROR_INVALID, "it is no launch document, but another credential");
    } else {
        document = memory_zeroed((size_t)length + 1);
        memcpy(document, payload, (size_t)length);
    }
    if (payload)
        explicit_bzero(payload, (size_t)length);
    free(payload);
    return document;
}
