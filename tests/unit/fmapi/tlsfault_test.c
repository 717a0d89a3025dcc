/* SPDX-License-Identifier: Apache-2.0 */

#include <openssl/x509_vfy.h>

#include "fmapi/wire/tlsfault.h"
#include "tests/unit/unit.h"

/* Real handshakes are in the system tests; here is what is rare. */

static void advises(struct tlsfault fault, const char *part)
{
    const char *advice = tlsfault_advice(&fault);
    assert_non_null(advice);
    assert_words(advice, part);
}

UNIT(tlsfault__tells_the_next_step)
{
    static const struct {
        long verdict;
        const char *part;
    } cases[] = {
        {X509_V_OK, "for another name"},
        {X509_V_ERR_CERT_HAS_EXPIRED, "renew the server's certificate"},
        {X509_V_ERR_CERT_NOT_YET_VALID, "clock"},
        {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "set [fm] ca"},
        {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "set [fm] ca"},
        {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "set [fm] ca"},
        {X509_V_ERR_CERT_REVOKED, "revoked"},
        {X509_V_ERR_CERT_CHAIN_TOO_LONG, "look at its certificate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        advises((struct tlsfault){.code = CURLE_PEER_FAILED_VERIFICATION,
                                  .verdict = cases[i].verdict,
                                  .words = ""},
                cases[i].part);
    advises((struct tlsfault){.code = CURLE_SSL_CERTPROBLEM, .words = ""}, "[fm] mtls_cert");
    advises((struct tlsfault){.code = CURLE_SSL_CONNECT_ERROR,
                              .words = "error:0A00010B:SSL routines::wrong version number"},
            "is it http there");
    advises((struct tlsfault){.code = CURLE_SSL_CIPHER, .words = ""}, "");
}

/* TLS 1.2 tells in the handshake, 1.3 afterwards. */
UNIT(tlsfault__knows_alerts_about_our_certificate)
{
    static const CURLcode codes[] = {CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR};
    static const char *const words[] = {
        "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
        "OpenSSL SSL_connect: error:0A000412:SSL routines::sslv3 alert bad certificate",
        "OpenSSL SSL_write: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0",
    };
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            advises((struct tlsfault){.code = codes[i], .words = words[j]},
                    "set [fm] mtls_cert and mtls_key");
            advises((struct tlsfault){.code = codes[i], .words = words[j], .shown = true},
                    "does not accept our certificate");
            advises((struct tlsfault){.code = codes[i], .words = words[j], .session = true},
                    "a job's token goes without one");
        }
    }
}

UNIT(tlsfault__leaves_other_faults_alone)
{
    static const CURLcode codes[] = {CURLE_COULDNT_CONNECT,    CURLE_COULDNT_RESOLVE_HOST,
                                     CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING,
                                     CURLE_RECV_ERROR,         CURLE_SEND_ERROR,
                                     CURLE_WRITE_ERROR,        CURLE_PARTIAL_FILE};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        assert_null(tlsfault_advice(
            &(struct tlsfault){.code = codes[i], .words = "Connection reset by peer: alert"}));
}

UNIT_RUN(NULL, NULL)
