/* SPDX-License-Identifier: Apache-2.0 */
#include "client/text.h"
#include "client/transport/request.h"

#include <errno.h>
#include <string.h>

#define UNREACHABLE(word, ...) fault_set_word(&request->error, MCAST_UNREACHABLE, word, __VA_ARGS__)

bool trouble_broken(const struct trouble *trouble)
{
    return trouble->kind == TROUBLE_SILENT || trouble->kind == TROUBLE_BROKEN;
}

const char *trouble_cause(const struct trouble *trouble)
{
    return trouble->kind == TROUBLE_LATE                          ? "no answer in time"
           : trouble->kind == TROUBLE_ABSENT && trouble->os_error ? strerror(trouble->os_error)
                                                                  : trouble->words;
}

static int explain_absence(struct request *request)
{
    const struct trouble *trouble = &request->trouble;
    const char *name = endpoint_name(request->endpoint);
    int os_error = trouble->os_error;
    if (request->endpoint->socket[0] && (os_error == EACCES || os_error == EPERM))
        return UNREACHABLE("denied",
                           "the socket of mcastd at %s may not be used by this user: %s; "
                           "socket_mode and socket_group in mcastd.conf, and its folder, say who "
                           "may",
                           name, strerror(os_error));
    if (trouble->kind == TROUBLE_NO_HOST)
        return UNREACHABLE("no-connection",
                           "the host of mcastd at %s is not found: %s; is its name right?", name,
                           trouble->words);
    return UNREACHABLE("no-connection",
                       "cannot reach mcastd at %s: %s; is it running? (systemctl status mcastd)",
                       name, trouble_cause(trouble));
}

/* Nothing was sent: the server is not the one that was wanted, or that is unknown. */
static int explain_distrust(struct request *request)
{
    const char *name = endpoint_name(request->endpoint), *words = request->trouble.words;
    const char *cacert = request->peer->credentials.is[CACERT];
    if (strstr(words, "host name") || strstr(words, "subject name"))
        return UNREACHABLE("tls",
                           "the certificate of mcastd at %s is made out to another name (%s); use "
                           "the name that stands in it, or have one made for this name",
                           name, words);
    if (strstr(words, "expired") || strstr(words, "not yet valid"))
        return UNREACHABLE("tls",
                           "the certificate of mcastd at %s is not valid today (%s); have it "
                           "renewed, or set this machine's clock right",
                           name, words);
    return UNREACHABLE("tls",
                       "the certificate of mcastd at %s is not trusted (%s): it is not signed by "
                       "%s%.200s; set cacert (or MCAST_CACERT) to the CA that signed it",
                       name, words, cacert ? "the CA in " : "a CA of this system",
                       cacert ? cacert : "");
}

static int explain_handshake(struct request *request)
{
    const char *name = endpoint_name(request->endpoint), *words = request->trouble.words;
    const char *cert = request->peer->credentials.is[CERT];
    /* Not the library's "alert number 42": what it is about. */
    if (strstr(words, "alert") && cert)
        return UNREACHABLE("tls",
                           "mcastd at %s refuses the client certificate %.200s (%s); it must be "
                           "signed by the broker's tls_client_ca and be valid today",
                           name, cert, words);
    if (strstr(words, "alert"))
        return UNREACHABLE("tls",
                           "mcastd at %s refuses the connection (%s); if it wants a client "
                           "certificate, set cert and key (or MCAST_CERT and MCAST_KEY) to one",
                           name, words);
    return UNREACHABLE("tls",
                       "no TLS connection with what answers at %s (%s); is it mcastd, with "
                       "tls_cert set?",
                       name, words);
}

static int explain_break(struct request *request)
{
    const struct trouble *trouble = &request->trouble;
    const struct endpoint *endpoint = request->endpoint;
    bool plain = !endpoint->socket[0] && !endpoint->tls;
    /* With TLS 1.3 a refused client certificate shows only when the answer is read. */
    if (endpoint->tls && strstr(trouble->words, "alert"))
        return explain_handshake(request);
    return UNREACHABLE("broken",
                       "the connection to mcastd at %s broke before the answer was whole (%s); "
                       "what was asked may have been done, and asking again does no harm%s",
                       endpoint_name(endpoint), trouble->words,
                       trouble->kind == TROUBLE_SILENT && plain ? "; does it want https://?" : "");
}

int trouble_explain(struct request *request)
{
    struct mcast_error *error = &request->error;
    const char *name = endpoint_name(request->endpoint), *words = request->trouble.words;
    char *const *own = request->peer->credentials.is;
    switch (request->trouble.kind) {
    case TROUBLE_NOMEM:
        return fault_nomem(error);
    case TROUBLE_ABSENT:
    case TROUBLE_NO_HOST:
        return explain_absence(request);
    case TROUBLE_UNTRUSTED:
        return UNREACHABLE("untrusted",
                           "what listens at %s is not taken for mcastd (%s), and nothing was sent; "
                           "stop it, or if this is the user of mcastd, set server_user (or "
                           "MCAST_SERVER_USER) to it",
                           name, words);
    case TROUBLE_LATE:
        return UNREACHABLE("timeout",
                           "mcastd at %s did not answer within %u ms; what was asked may still be "
                           "done, and asking again does no harm",
                           name, (unsigned)request->limit_ms);
    case TROUBLE_SILENT:
    case TROUBLE_BROKEN:
        return explain_break(request);
    case TROUBLE_DISTRUST:
        return explain_distrust(request);
    case TROUBLE_HANDSHAKE:
        return explain_handshake(request);
    case TROUBLE_CA_FILE:
        return fault_set(error, MCAST_USAGE, "%.300s holds no CA certificate in PEM form (%s)",
                         own[CACERT] ? own[CACERT] : "the system's store", words);
    case TROUBLE_OWN_FILES:
        return fault_set(
            error, MCAST_USAGE,
            "the client certificate %.150s and its key %.150s cannot be used (%s); "
            "they must be PEM files, the key without a passphrase, and belong together",
            own[CERT] ? own[CERT] : "", own[KEY] ? own[KEY] : "", words);
    case TROUBLE_NONE:
    case TROUBLE_GARBLED:
        break;
    }
    return fault_set(error, MCAST_UNCLEAR, "what answers at %s is not mcastd: %s", name, words);
}
