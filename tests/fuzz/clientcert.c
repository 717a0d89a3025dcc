/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate that is shown to the fabric manager, and its key (fmapi/wire/credential.h): two
 * bytes say how long the certificate's file is, then come it and the key's. */

#include "fmapi/wire/credential.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No line of the key is told, whatever is wrong with it. */
static void check_secrecy(const char *words, const char *key, size_t length)
{
    for (const char *at = key, *end = key + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        bool marker = size >= 5 && memcmp(at, "-----", 5) == 0;
        FUZZ_CHECK(size < 16 || marker || !memmem(words, strlen(words), at, size));
        at += size + 1;
    }
}

static void check_good(const struct clientcert *pair, const char *cert, size_t cert_length,
                       const char *key, size_t key_length)
{
    const char *shown = secret_expose(pair->cert), *kept = secret_expose(pair->key);
    struct clientcert copy = clientcert_copy(pair), none = {0};
    FUZZ_CHECK(strlen(shown) == cert_length && memcmp(shown, cert, cert_length) == 0);
    FUZZ_CHECK(strlen(kept) == key_length && memcmp(kept, key, key_length) == 0);
    FUZZ_CHECK(strstr(shown, "-----BEGIN") && strstr(kept, "-----BEGIN"));
    FUZZ_CHECK(pair->ends_ms / 1000 >= (int64_t)time(NULL) - 60);
    FUZZ_CHECK(clientcert_equal(pair, &copy) && !clientcert_equal(pair, &none));
    FUZZ_CHECK(copy.ends_ms == pair->ends_ms);
    clientcert_wipe(&copy);
}

void fuzz_one(struct fuzz_input *in)
{
    struct clientcert pair;
    struct error err = {0};
    size_t cert_length = fuzz_pair(in), key_length;
    if (cert_length > in->left)
        cert_length = in->left;
    struct fuzz_input first = {.at = in->at, .left = cert_length};
    in->at += cert_length;
    in->left -= cert_length;
    char *cert = fuzz_bytes(&first, &cert_length), *key = fuzz_bytes(in, &key_length);
    int code = clientcert_read(fuzz_file(cert, cert_length), fuzz_other_file(key, key_length),
                               &pair, &err);
    if (code == 0) {
        check_good(&pair, cert, cert_length, key, key_length);
    } else {
        FUZZ_CHECK(err.code == code && err.text[0] != '\0' && fuzz_is_line(err.text));
        FUZZ_CHECK(secret_none(pair.cert) && secret_none(pair.key) && pair.ends_ms == 0);
        check_secrecy(err.text, key, key_length);
    }
    clientcert_wipe(&pair);
    free(cert);
    free(key);
}
