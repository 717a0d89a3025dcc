/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/tls.h"

#include <assert.h>
#include <gnutls/x509.h>
#include <stdlib.h>

#include "base/memory.h"

/* What was read at one time. Superseded ones are kept to the end: connections may still use them.
 */
struct generation {
    gnutls_certificate_credentials_t credentials;
    struct generation *older;
};

struct tls {
    struct tls_files files;
    struct generation *newest;
};

/* The server's part of a handshake: 0, or a code that ends it. GnuTLS leaves the alert to us. */
static int verify_client(gnutls_session_t session)
{
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
    gnutls_alert_description_t alert = GNUTLS_A_UNKNOWN_CA;
    unsigned status = 0;
    int result = gnutls_certificate_verify_peers(session, &purpose, 1, &status);
    if (result == 0 && status == 0)
        return 0;
    if (result == GNUTLS_E_NO_CERTIFICATE_FOUND)
        alert = gnutls_protocol_get_version(session) >= GNUTLS_TLS1_3
                    ? GNUTLS_A_CERTIFICATE_REQUIRED
                    : GNUTLS_A_HANDSHAKE_FAILURE;
    else if (status & GNUTLS_CERT_EXPIRED)
        alert = GNUTLS_A_CERTIFICATE_EXPIRED;
    else if (!(status & GNUTLS_CERT_SIGNER_NOT_FOUND))
        alert = GNUTLS_A_BAD_CERTIFICATE;
    gnutls_alert_send(session, GNUTLS_AL_FATAL, alert);
    return GNUTLS_E_CERTIFICATE_ERROR;
}

static int read_files(const struct tls_files *files, gnutls_certificate_credentials_t credentials,
                      struct problem *problem)
{
    int result = gnutls_certificate_set_x509_key_file2(credentials, files->cert, files->key,
                                                       GNUTLS_X509_FMT_PEM, NULL, 0);
    if (result < 0)
        return problem_set(problem, 500, "cannot use certificate %s with key %s: %s", files->cert,
                           files->key, gnutls_strerror(result));
    if (!files->client_ca)
        return 0;
    result =
        gnutls_certificate_set_x509_trust_file(credentials, files->client_ca, GNUTLS_X509_FMT_PEM);
    if (result <= 0)
        return problem_set(problem, 500, "cannot use the client CA %s: %s", files->client_ca,
                           result < 0 ? gnutls_strerror(result) : "it holds no certificate");
    gnutls_certificate_set_verify_function(credentials, verify_client);
    return 0;
}

int tls_reload(struct tls *tls, struct problem *problem)
{
    struct generation *generation = memory_zeroed(sizeof *generation);
    if (gnutls_certificate_allocate_credentials(&generation->credentials) < 0)
        abort();
    if (read_files(&tls->files, generation->credentials, problem) < 0) {
        gnutls_certificate_free_credentials(generation->credentials);
        free(generation);
        return -1;
    }
    generation->older = tls->newest;
    tls->newest = generation;
    return 0;
}

struct tls *tls_open(const struct tls_files *files, struct problem *problem)
{
    struct tls *tls = memory_zeroed(sizeof *tls);
    tls->files = *files;
    if (tls_reload(tls, problem) == 0)
        return tls;
    free(tls);
    return NULL;
}

void tls_attach(struct tls *tls, gnutls_session_t session, bool for_jobs)
{
    int result = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->newest->credentials);
    /* It replaces a pointer; without the replacement no certificate would be found, and the
     * handshake fail. */
    assert(result == GNUTLS_E_SUCCESS);
    (void)result;
    /* Not REQUIRE: that ends the handshake before verify_client can say why. */
    gnutls_certificate_server_set_request(
        session, tls->files.client_ca && !for_jobs ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
}

void tls_close(struct tls *tls)
{
    if (!tls)
        return;
    while (tls->newest) {
        struct generation *generation = tls->newest;
        tls->newest = generation->older;
        gnutls_certificate_free_credentials(generation->credentials);
        free(generation);
    }
    free(tls);
}
