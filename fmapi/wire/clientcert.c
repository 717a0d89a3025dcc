/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/clientcert.h"

#include "trust/keyfile.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

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

static BIO *open_text(struct secret text)
{
    return BIO_new_mem_buf(secret_expose(text), -1);
}

static X509 *parse_cert(struct secret text)
{
    bool asked;
    BIO *bio = open_text(text);
    X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, no_passphrase, &asked) : NULL;
    BIO_free(bio);
    return cert;
}

static EVP_PKEY *parse_key(struct secret text, bool *asked)
{
    BIO *bio = open_text(text);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, asked) : NULL;
    BIO_free(bio);
    return key;
}

/* "Nov 21 11:27:50 2026 GMT" */
static void format_time(char *out, size_t size, const ASN1_TIME *time)
{
    BIO *bio = BIO_new(BIO_s_mem());
    int length =
        bio != NULL && ASN1_TIME_print(bio, time) == 1 ? BIO_read(bio, out, (int)size - 1) : 0;
    out[length > 0 ? length : 0] = '\0';
    BIO_free(bio);
}

static int check_time(const X509 *cert, const char *path, struct error *err)
{
    char when[64];
    int ends = X509_cmp_current_time(X509_get0_notAfter(cert));
    int begins = X509_cmp_current_time(X509_get0_notBefore(cert));
    if (ends == 0 || begins == 0)
        return error_set(err, ERROR_INVALID,
                         "%s: it cannot be read from when until when the certificate is valid: put "
                         "a sound one there",
                         path);
    if (ends < 0) {
        format_time(when, sizeof when, X509_get0_notAfter(cert));
        return error_set(err, ERROR_INVALID,
                         "%s: the certificate expired on %s: put a new one there", path, when);
    }
    if (begins > 0) {
        format_time(when, sizeof when, X509_get0_notBefore(cert));
        return error_set(err, ERROR_INVALID,
                         "%s: the certificate is not valid before %s: is this host's clock right?",
                         path, when);
    }
    return 0;
}

/* Unix; 0: not a valid time. */
static int64_t time_ms(const ASN1_TIME *time)
{
    struct tm tm;
    return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) * 1000 : 0;
}

static int check_pair(struct clientcert *pair, const char *cert_path, const char *key_path,
                      struct error *err)
{
    bool asked = false;
    X509 *cert = parse_cert(pair->cert);
    EVP_PKEY *key = parse_key(pair->key, &asked);
    int code = 0;
    if (cert == NULL)
        code = error_set(err, ERROR_INVALID, "%s holds no certificate in PEM", cert_path);
    else if (key == NULL)
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
        pair->ends_ms = time_ms(X509_get0_notAfter(cert));
    EVP_PKEY_free(key);
    X509_free(cert);
    ERR_clear_error();
    return code;
}

int clientcert_read(const char *cert_path, const char *key_path, struct clientcert *out,
                    struct error *err)
{
    *out = (struct clientcert){0};
    if (cert_path == NULL)
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
