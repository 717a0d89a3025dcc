/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/tlsfault.h"

#include <openssl/x509_vfy.h>
#include <string.h>

/* The server's certificate was not accepted. */
static const char *advice_on_server(const struct tlsfault *fault)
{
    switch (fault->verdict) {
    case X509_V_OK:
    case X509_V_ERR_UNSPECIFIED: /* not checked: libcurl checks the name first */
        return "its certificate is for another name: set [fm] url, or the OAuth2 endpoint, to a "
               "name that is in the certificate";
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "renew the server's certificate, or set this host's clock right";
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "set this host's clock or the server's right";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return "if it is the right server, set [fm] ca to the certificate of the authority that "
               "signed its certificate";
    case X509_V_ERR_CERT_REVOKED:
        return "the server's certificate is revoked: it needs a new one";
    default:
        return "if it is the right server, look at its certificate and at [fm] ca";
    }
}

/* An alert: the server did not accept ours. TLS 1.3 sends it after the handshake. */
static const char *advice_on_alert(const struct tlsfault *fault)
{
    static const char *const about_ours[] = {
        "certificate required",    "bad certificate",     "unknown ca",
        "certificate expired",     "certificate revoked", "certificate unknown",
        "unsupported certificate", "access denied",       "handshake failure"};

    if (!strstr(fault->words, "alert"))
        return NULL;
    for (size_t i = 0; i < sizeof about_ours / sizeof about_ours[0]; i++) {
        if (!strstr(fault->words, about_ours[i]))
            continue;
        if (fault->session)
            return "the server asks for a certificate, and a job's token goes without one: jobs "
                   "cannot reach it either";
        return fault->shown ? "the server does not accept our certificate: see [fm] mtls_cert "
                              "and which authority the server asks for"
                            : "the server asks for a certificate of ours: set [fm] mtls_cert "
                              "and mtls_key";
    }
    return "";
}

static const char *advice_on_handshake(const struct tlsfault *fault)
{
    const char *alert = advice_on_alert(fault);
    return alert ? alert : "does the server speak TLS at that port, or is it http there?";
}

const char *tlsfault_advice(const struct tlsfault *fault)
{
    switch (fault->code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return advice_on_server(fault);
    case CURLE_SSL_CACERT_BADFILE:
        return "[fm] ca must be a file of PEM certificates, or a folder that c_rehash has seen, "
               "for the service's user to read";
    case CURLE_SSL_CERTPROBLEM:
        return "see [fm] mtls_cert and mtls_key";
    case CURLE_SSL_CONNECT_ERROR:
        return advice_on_handshake(fault);
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_SHUTDOWN_FAILED:
        return "";
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return strstr(fault->words, "SSL") ? advice_on_alert(fault) : NULL;
    default:
        return NULL;
    }
}
