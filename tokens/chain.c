#include "tokens/chain.h"
#include "tokens/hmac.h"

#include <assert.h>
#include <string.h>

enum { TEXT_MAX = 512 };

_Static_assert((int)CHAIN_SIZE == (int)HMAC_SIZE, "a chain's link is a key of the next");

int chain_key(struct chain *out, const unsigned char from[CHAIN_SIZE], const char *purpose,
              const unsigned char *about, size_t size, struct error *err)
{
    unsigned char text[TEXT_MAX];
    size_t length = strlen(purpose) + 1;
    assert(length + size <= sizeof text);
    memcpy(text, purpose, length);
    if (size > 0)
        memcpy(text + length, about, size);
    return hmac_sha256(from, text, length + size, out->mac, err);
}

int chain_add(struct chain *chain, const unsigned char *bytes, size_t size, struct error *err)
{
    struct chain next = {{0}};
    int code = hmac_sha256(chain->mac, bytes, size, next.mac, err);
    if (code == 0)
        *chain = next;
    chain_wipe(&next);
    return code;
}

void chain_wipe(struct chain *chain)
{
    explicit_bzero(chain, sizeof *chain);
}
