/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/tls.h"

#include "base/memory.h"
#include "trust/keyfile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PEM_MAX = 1 << 20,
    HANDSHAKE_MESSAGE_MAX = 16 << 10, /* bytes; eight certificates with RSA keys of 4096 bits fit */
};

struct tls {
    unsigned holders;
    gnutls_certificate_credentials_t credentials;
    gnutls_x509_trust_list_t authorities; /* of the credentials; NULL: none */
    int64_t expires;
};

static gnutls_datum_t datum_of(struct secret text)
{
    const char *bytes = secret_expose(text);
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)bytes,
                            .size = (unsigned)strlen(bytes)};
}

/* A certificate that is shown after its end is refused by every client that looks. */
static int check_time(struct tls *tls, const char *path, struct error *err)
{
    gnutls_x509_crt_t *chain;
    unsigned count;
    if (gnutls_certificate_get_x509_crt(tls->credentials, 0, &chain, &count) < 0 || count == 0)
        return error_set(err, ERROR_INVALID, "tls_cert: %s holds no certificate", path);
    tls->expires = gnutls_x509_crt_get_expiration_time(chain[0]);
    int64_t begins = gnutls_x509_crt_get_activation_time(chain[0]), now = time(NULL);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_free(chain);
    if (now > tls->expires)
        return error_set(err, ERROR_INVALID,
                         "tls_cert: the certificate in %s has expired; have a new one made", path);
    if (now < begins)
        return error_set(err, ERROR_INVALID,
                         "tls_cert: the certificate in %s is not valid yet; look at this host's "
                         "clock",
                         path);
    return 0;
}

static int own_use(struct tls *tls, const char *cert_path, struct secret cert, const char *key_path,
                   struct secret key, struct error *err)
{
    gnutls_datum_t shown = datum_of(cert), kept = datum_of(key);
    int rc = gnutls_certificate_set_x509_key_mem2(tls->credentials, &shown, &kept,
                                                  GNUTLS_X509_FMT_PEM, NULL, 0);
    if (rc >= 0)
        return check_time(tls, cert_path, err);
    if (rc == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return error_set(err, ERROR_INVALID,
                         "tls_key: the key in %s belongs to another certificate than that in %s",
                         key_path, cert_path);
    if (rc == GNUTLS_E_DECRYPTION_FAILED)
        return error_set(err, ERROR_INVALID,
                         "tls_key: %s is protected by a passphrase, which a service cannot enter; "
                         "remove it with openssl pkey",
                         key_path);
    return error_set(err, ERROR_INVALID,
                     "tls_cert, tls_key: %s and %s are no certificate and key in PEM: %s",
                     cert_path, key_path, gnutls_strerror(rc));
}

static int pem_read(const char *option, const char *path, const char *holds,
                    enum keyfile_guard guard, struct secret *text, struct error *err)
{
    const struct keyfile kind = {.holds = holds, .guard = guard, .max = PEM_MAX};
    return keyfile_text(path, &kind, text, err) < 0 ? error_prefix(err, "%s", option) : 0;
}

static int own_read(struct tls *tls, const char *cert_path, const char *key_path, struct error *err)
{
    struct secret cert = {0}, key = {0};
    int rc =
        pem_read("tls_cert", cert_path, "the broker's certificate", KEYFILE_TRUSTED, &cert, err);
    if (rc == 0)
        rc = pem_read("tls_key", key_path, "the key of the broker's certificate", KEYFILE_SECRET,
                      &key, err);
    if (rc == 0)
        rc = own_use(tls, cert_path, cert, key_path, key, err);
    secret_wipe(&cert);
    secret_wipe(&key);
    return rc;
}

static int authorities_read(struct tls *tls, const char *path, struct error *err)
{
    struct secret text = {0};
    int rc =
        pem_read("tls_client_ca", path, "the authorities of clients", KEYFILE_TRUSTED, &text, err);
    if (rc < 0)
        return rc;
    gnutls_datum_t pem = datum_of(text);
    int count = gnutls_certificate_set_x509_trust_mem(tls->credentials, &pem, GNUTLS_X509_FMT_PEM);
    secret_wipe(&text);
    if (count <= 0)
        return error_set(err, ERROR_INVALID, "tls_client_ca: %s holds no certificate in PEM%s%s",
                         path, count < 0 ? ": " : "", count < 0 ? gnutls_strerror(count) : "");
    gnutls_certificate_get_trust_list(tls->credentials, &tls->authorities);
    return 0;
}

struct tls *tls_load(const struct config *config, struct error *err)
{
    struct tls *tls = memory_zeroed(sizeof *tls);
    (void)gnutls_certificate_allocate_credentials(&tls->credentials);
    memory_must(tls->credentials);
    tls->holders = 1;
    if (own_read(tls, config->tls_cert, config->tls_key, err) < 0 ||
        (config->tls_client_ca[0] != '\0' &&
         authorities_read(tls, config->tls_client_ca, err) < 0)) {
        tls_drop(tls);
        return NULL;
    }
    return tls;
}

struct tls *tls_hold(struct tls *tls)
{
    tls->holders++;
    return tls;
}

void tls_drop(struct tls *tls)
{
    if (!tls || --tls->holders > 0)
        return;
    gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

void tls_session_setup(const struct tls *tls, gnutls_session_t session)
{
    static const unsigned char http[] = "http/1.1";
    const gnutls_datum_t protocol = {.data = (unsigned char *)(uintptr_t)http,
                                     .size = sizeof http - 1};
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials);
    gnutls_handshake_set_max_packet_length(session, HANDSHAKE_MESSAGE_MAX);
    /* A client that speaks another protocol only is refused in the handshake (RFC 7301, 3.2). */
    gnutls_alpn_set_protocols(session, &protocol, 1, GNUTLS_ALPN_MANDATORY);
    gnutls_certificate_server_set_request(session, tls->authorities ? GNUTLS_CERT_REQUEST
                                                                    : GNUTLS_CERT_IGNORE);
}

gnutls_x509_trust_list_t tls_authorities(const struct tls *tls)
{
    return tls->authorities;
}

int64_t tls_expires(const struct tls *tls)
{
    return tls->expires;
}
