/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/credential.h"

#include "base/memory.h"
#include "trust/keyfile.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* -- our certificate -- */

static const struct keyfile cert_kind = {.holds = "our certificate for the fabric manager (PEM)",
                                         .guard = KEYFILE_PUBLIC,
                                         .max = 262144};
static const struct keyfile key_kind = {
    .holds = "the key of our certificate (PEM)", .guard = KEYFILE_SECRET, .max = 65536};

/* Instead of OpenSSL's, which would ask at the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *asked)
{
    (void)buffer;
    (void)size;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

static X509 *parse_cert(struct secret text)
{
    bool asked;
    BIO *bio = memory_must(BIO_new_mem_buf(secret_expose(text), -1));
    X509 *cert = PEM_read_bio_X509(bio, NULL, no_passphrase, &asked);
    BIO_free(bio);
    return cert;
}

static EVP_PKEY *parse_key(struct secret text, bool *asked)
{
    BIO *bio = memory_must(BIO_new_mem_buf(secret_expose(text), -1));
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, asked);
    BIO_free(bio);
    return key;
}

/* Unix; -1: not a valid time. */
static int64_t unix_seconds(const ASN1_TIME *time)
{
    struct tm tm;
    return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : -1;
}

static int check_time(const X509 *cert, const char *path, struct error *err)
{
    const int64_t begins = unix_seconds(X509_get0_notBefore(cert));
    const int64_t ends = unix_seconds(X509_get0_notAfter(cert)), now = time(NULL);
    const time_t when = (time_t)(ends <= now ? ends : begins);
    char text[64] = "";
    struct tm tm;
    if (begins < 0 || ends < 0)
        return error_set(err, ERROR_INVALID,
                         "%s: it cannot be read from when until when the certificate is valid: put "
                         "a sound one there",
                         path);
    if (gmtime_r(&when, &tm))
        (void)strftime(text, sizeof text, "%b %e %H:%M:%S %Y GMT", &tm);
    if (ends <= now)
        return error_set(err, ERROR_INVALID,
                         "%s: the certificate expired on %s: put a new one there", path, text);
    if (begins > now)
        return error_set(err, ERROR_INVALID,
                         "%s: the certificate is not valid before %s: is this host's clock right?",
                         path, text);
    return 0;
}

static int check_pair(struct clientcert *pair, const char *cert_path, const char *key_path,
                      struct error *err)
{
    bool asked = false;
    X509 *cert = parse_cert(pair->cert);
    EVP_PKEY *key = parse_key(pair->key, &asked);
    int code = 0;
    if (!cert)
        code = error_set(err, ERROR_INVALID, "%s holds no certificate in PEM", cert_path);
    else if (!key)
        code = error_set(err, ERROR_INVALID,
                         asked ? "%s is protected by a passphrase, which mcastd cannot enter: "
                                 "store the key without one, mode 0600"
                               : "%s holds no private key in PEM",
                         key_path);
    else if (X509_check_private_key(cert, key) != 1)
        code = error_set(err, ERROR_INVALID, "%s is not the key of the certificate in %s", key_path,
                         cert_path);
    else
        code = check_time(cert, cert_path, err);
    if (code == 0)
        pair->ends_ms = unix_seconds(X509_get0_notAfter(cert)) * 1000;
    EVP_PKEY_free(key);
    X509_free(cert);
    ERR_clear_error();
    return code;
}

int clientcert_read(const char *cert_path, const char *key_path, struct clientcert *out,
                    struct error *err)
{
    *out = (struct clientcert){0};
    if (!cert_path)
        return 0;
    int code = keyfile_text(cert_path, &cert_kind, &out->cert, err);
    if (code == 0)
        code = keyfile_text(key_path, &key_kind, &out->key, err);
    if (code == 0)
        code = check_pair(out, cert_path, key_path, err);
    if (code != 0)
        clientcert_wipe(out);
    return code;
}

struct clientcert clientcert_copy(const struct clientcert *cert)
{
    return (struct clientcert){
        .cert = secret_copy(cert->cert), .key = secret_copy(cert->key), .ends_ms = cert->ends_ms};
}

static bool secrets_same(struct secret a, struct secret b)
{
    return (secret_none(a) && secret_none(b)) || secret_equal(a, b);
}

bool clientcert_equal(const struct clientcert *a, const struct clientcert *b)
{
    return secrets_same(a->cert, b->cert) && secrets_same(a->key, b->key);
}

void clientcert_wipe(struct clientcert *cert)
{
    secret_wipe(&cert->cert);
    secret_wipe(&cert->key);
    cert->ends_ms = 0;
}

/* -- the credential -- */

struct credential *credential_plain(struct clientcert *cert)
{
    struct credential *credential = memory_zeroed(sizeof *credential);
    credential->holders = 1;
    credential->cert = *cert;
    *cert = (struct clientcert){0};
    return credential;
}

struct credential *credential_basic(const char *user, struct secret password,
                                    struct clientcert *cert)
{
    struct credential *credential = credential_plain(cert);
    char *text = memory_format("%s:%s", user, secret_expose(password)); /* RFC 7617 */
    const int size = (int)strlen(text);
    char *value = memory_zeroed((size_t)size / 3 * 4 + 5);
    (void)EVP_EncodeBlock((unsigned char *)value, (const unsigned char *)text, size);
    memory_wipe_text(text);
    credential->header = secret_of(memory_format("Authorization: Basic %s", value));
    value[strcspn(value, "=")] = '\0'; /* a server may quote it with or without padding */
    credential->quotable[0] = secret_copy(password);
    credential->quotable[1] = secret_of(value);
    return credential;
}

struct credential *credential_bearer(struct secret token, struct clientcert *cert)
{
    struct credential *credential = credential_plain(cert);
    credential->header = secret_of(memory_format("Authorization: Bearer %s", secret_expose(token)));
    credential->quotable[0] = secret_copy(token);
    return credential;
}

struct credential *credential_session(struct secret token)
{
    struct credential *credential = credential_bearer(token, &(struct clientcert){0});
    credential->session = true;
    return credential;
}

struct credential *credential_hold(struct credential *credential)
{
    credential->holders++;
    return credential;
}

void credential_drop(struct credential *credential)
{
    if (!credential || --credential->holders > 0)
        return;
    secret_wipe(&credential->header);
    secret_wipe(&credential->quotable[0]);
    secret_wipe(&credential->quotable[1]);
    clientcert_wipe(&credential->cert);
    free(credential);
}

bool credential_equal(const struct credential *a, const struct credential *b)
{
    bool headless = secret_none(a->header) && secret_none(b->header);
    return (headless || secret_equal(a->header, b->header)) && clientcert_equal(&a->cert, &b->cert);
}

void credential_add_secrets(const struct credential *credential, struct secrets *secrets)
{
    for (size_t i = 0; i < 2; i++)
        if (!secret_none(credential->quotable[i]))
            (void)secrets_add(secrets, secret_expose(credential->quotable[i]));
}

bool credential_text_valid(const char *text, size_t length, size_t max)
{
    if (length < 1 || length > max)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}
