#include "tokens/hmac.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

static const char library_name[] = "libcrypto.so.3";

static __typeof__(&EVP_Q_mac) q_mac; /* NULL: there is none */
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "EVP_Q_mac") : NULL;
    memcpy(&q_mac, &symbol, sizeof q_mac); /* ISO C has no cast for it */
}

int hmac_sha256(const unsigned char key[HMAC_SIZE], const unsigned char *bytes, size_t size,
                unsigned char out[HMAC_SIZE], struct error *err)
{
    size_t written = 0;
    pthread_once(&library_once, open_library);
    if (!q_mac)
        return error_set(err, ERROR_IO,
                         "tokens need %s (OpenSSL 3), which cannot be opened; install it (Debian: "
                         "libssl3)",
                         library_name);
    if (q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, HMAC_SIZE, bytes, size, out, HMAC_SIZE,
              &written) &&
        written == HMAC_SIZE)
        return 0;
    return error_set(err, ERROR_NOMEM,
                     "OpenSSL cannot calculate HMAC-SHA256: out of memory, or its configuration "
                     "forbids that");
}
