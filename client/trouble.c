#include "client/trouble.h"
#include "client/fault.h"

#include <errno.h>
#include <string.h>

bool trouble_broken(CURLcode code)
{
    return code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
           code == CURLE_PARTIAL_FILE;
}

/* With TLS 1.3 a refused client certificate shows only when the answer is read. */
static bool alerted(const struct trouble *trouble)
{
    return trouble->endpoint->tls && strstr(trouble->words, "alert");
}

static int explain_timeout(const struct trouble *trouble, struct mcast_error *error)
{
    return fault_set_word(error, MCAST_UNREACHABLE, "timeout",
                          "mcastd at %s did not answer within %u ms; what was asked may still be "
                          "done, and asking again does no harm",
                          endpoint_name(trouble->endpoint), trouble->timeout_ms);
}

static int explain_break(const struct trouble *trouble, const char *words,
                         struct mcast_error *error)
{
    const char *base = endpoint_name(trouble->endpoint);
    const char *hint = "";
    if (trouble->result == CURLE_GOT_NOTHING && strncmp(base, "http:", 5) == 0)
        hint = "; does it want https://?";
    return fault_set_word(error, MCAST_UNREACHABLE, "broken",
                          "the connection to mcastd at %s broke before the answer was whole (%s); "
                          "what was asked may have been done, and asking again does no harm%s",
                          base, words, hint);
}

static int explain_absence(const struct trouble *trouble, const char *words,
                           struct mcast_error *error)
{
    const char *peer = endpoint_name(trouble->endpoint);
    long os_error = 0;
    curl_easy_getinfo(trouble->easy, CURLINFO_OS_ERRNO, &os_error);
    if (trouble->endpoint->socket[0] && (os_error == EACCES || os_error == EPERM))
        return fault_set_word(error, MCAST_UNREACHABLE, "denied",
                              "the socket of mcastd at %s may not be used by this user: %s; "
                              "socket_mode and socket_group in mcastd.conf, and its folder, say "
                              "who may",
                              peer, strerror((int)os_error));
    if (trouble->result == CURLE_COULDNT_RESOLVE_HOST)
        return fault_set_word(error, MCAST_UNREACHABLE, "no-connection",
                              "the host of mcastd at %s is not found: %s; is its name right?", peer,
                              words);
    return fault_set_word(error, MCAST_UNREACHABLE, "no-connection",
                          "cannot reach mcastd at %s: %s; is it running? (systemctl status mcastd)",
                          peer, os_error ? strerror((int)os_error) : words);
}

/* Nothing was sent: the server is not the one that was wanted, or nobody can tell. */
static int explain_distrust(const struct trouble *trouble, const char *words,
                            struct mcast_error *error)
{
    const char *peer = endpoint_name(trouble->endpoint);
    const char *cacert = trouble->credentials->cacert;
    if (strstr(words, "host name") || strstr(words, "subject name"))
        return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                              "the certificate of mcastd at %s is made out to another name (%s); "
                              "use the name that stands in it, or have one made for this name",
                              peer, words);
    if (strstr(words, "expired") || strstr(words, "not yet valid"))
        return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                              "the certificate of mcastd at %s is not valid today (%s); have it "
                              "renewed, or set this machine's clock right",
                              peer, words);
    return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                          "the certificate of mcastd at %s is not trusted (%s): it is not signed "
                          "by %s%.200s; set cacert (or MCAST_CACERT) to the CA that signed it",
                          peer, words, cacert ? "the CA in " : "a CA of this system",
                          cacert ? cacert : "");
}

static int explain_handshake(const struct trouble *trouble, const char *words,
                             struct mcast_error *error)
{
    const char *peer = endpoint_name(trouble->endpoint);
    const char *cert = trouble->credentials->cert;
    /* Not the library's "alert number 42": what it is about. */
    if (strstr(words, "alert") && cert)
        return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                              "mcastd at %s refuses the client certificate %.200s (%s); it must be "
                              "signed by the broker's tls_client_ca and be valid today",
                              peer, cert, words);
    if (strstr(words, "alert"))
        return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                              "mcastd at %s refuses the connection (%s); if it wants a client "
                              "certificate, set cert and key (or MCAST_CERT and MCAST_KEY) to one",
                              peer, words);
    return fault_set_word(error, MCAST_UNREACHABLE, "tls",
                          "no TLS connection with what answers at %s (%s); is it mcastd, with "
                          "tls_cert set?",
                          peer, words);
}

static int explain_files(const struct trouble *trouble, const char *words,
                         struct mcast_error *error)
{
    const struct credentials *own = trouble->credentials;
    if (trouble->result == CURLE_SSL_CACERT_BADFILE)
        return fault_set(error, MCAST_USAGE, "%.300s holds no CA certificate in PEM form (%s)",
                         own->cacert ? own->cacert : "the system's store", words);
    return fault_set(error, MCAST_USAGE,
                     "the client certificate %.150s and its key %.150s cannot be used (%s); they "
                     "must be PEM files, the key without a passphrase, and belong together",
                     own->cert ? own->cert : "", own->key ? own->key : "", words);
}

int trouble_explain(const struct trouble *trouble, struct mcast_error *error)
{
    const char *words = trouble->words[0] ? trouble->words : curl_easy_strerror(trouble->result);
    double connected = 0;
    curl_easy_getinfo(trouble->easy, CURLINFO_PRETRANSFER_TIME, &connected);
    switch (trouble->result) {
    case CURLE_OUT_OF_MEMORY:
        return fault_nomem(error);
    case CURLE_OPERATION_TIMEDOUT:
        return connected > 0 ? explain_timeout(trouble, error)
                             : explain_absence(trouble, words, error);
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
        return explain_absence(trouble, words, error);
    case CURLE_PEER_FAILED_VERIFICATION:
        return explain_distrust(trouble, words, error);
    case CURLE_SSL_CONNECT_ERROR:
        return explain_handshake(trouble, words, error);
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return explain_files(trouble, words, error);
    default:
        break;
    }
    if (trouble_broken(trouble->result))
        return alerted(trouble) ? explain_handshake(trouble, words, error)
                                : explain_break(trouble, words, error);
    return fault_set(error, MCAST_UNCLEAR, "what answers at %s does not speak as mcastd does (%s)",
                     endpoint_name(trouble->endpoint), words);
}
