/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/issuer.h"
#include "tokens/keybytes.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <string.h>
#include <time.h>

_Static_assert((int)ROOTKEY_SIZE == (int)CHAIN_SIZE, "a root key is a key of HMAC-SHA256");
_Static_assert((int)ROOTKEY_ID_SIZE == (int)BEARER_KEY_ID_SIZE, "tokens name their root key");

/* The MAC that a token should have. Each reservation has its own key: the root key itself signs no
 * nonce and no caveat. */
static int calculate_mac(const struct rootkey *key, const struct bearer *bearer,
                         struct chain *chain, struct error *err)
{
    const unsigned char *at = bearer->bytes, *end = at + bearer->size - CHAIN_SIZE;
    size_t named = bearer->head_size - BEARER_KEY_ID_SIZE - BEARER_NONCE_SIZE;
    int code =
        chain_key(chain, key->bytes, "mcast1 reservation", at + BEARER_KEY_ID_SIZE, named, err);
    if (code == 0)
        code = chain_add(chain, at, bearer->head_size, err);
    for (at += bearer->head_size; code == 0 && at < end; at += bearer_caveat_size(at))
        code = chain_add(chain, at, bearer_caveat_size(at), err);
    return code;
}

int issuer_mint(const struct rootkeys *keys, uint64_t number, const char *cluster, const char *job,
                struct bearer *bearer, struct error *err)
{
    const struct rootkey *key = rootkeys_current(keys);
    unsigned char nonce[BEARER_NONCE_SIZE];
    struct chain chain;
    int code = keybytes_draw(nonce, sizeof nonce, err);
    if (code < 0)
        return code;
    bearer_begin(bearer, key->id, number, cluster, job, nonce);
    code = calculate_mac(key, bearer, &chain, err);
    if (code == 0)
        memcpy(bearer->bytes + bearer->size - CHAIN_SIZE, chain.mac, CHAIN_SIZE);
    chain_wipe(&chain);
    return code;
}

static int refuse_expired(int64_t expires, struct error *err)
{
    char text[32] = "";
    struct tm when;
    const time_t seconds = (time_t)expires;
    if (gmtime_r(&seconds, &when))
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when);
    return error_set(err, ERROR_REFUSED,
                     "the token expired at %s: narrow the one that it was made "
                     "from anew, for a longer time",
                     text);
}

int issuer_verify(const struct rootkeys *keys, const struct bearer *bearer, int64_t now,
                  struct error *err)
{
    const struct rootkey *key = rootkeys_find(keys, bearer->bytes);
    struct chain chain;
    if (!key)
        return error_set(err, ERROR_NOT_FOUND,
                         "the token was made with a root key that is no longer honoured: its "
                         "reservation has ended, or it is another broker's");
    int code = calculate_mac(key, bearer, &chain, err);
    bool genuine = code == 0 && CRYPTO_memcmp(chain.mac, bearer->bytes + bearer->size - CHAIN_SIZE,
                                              CHAIN_SIZE) == 0;
    chain_wipe(&chain); /* the MAC of a genuine token */
    if (code < 0)
        return code;
    if (!genuine)
        return error_set(err, ERROR_REFUSED,
                         "the token is not genuine: it was damaged or changed on its way");
    if (bearer->scope.unknown >= 0)
        return error_set(err, ERROR_VERSION,
                         "the token has a restriction of a kind (%d) that mcastd %s does not know, "
                         "and so cannot honour",
                         bearer->scope.unknown, MCAST_VERSION);
    if (now >= bearer->scope.expires)
        return refuse_expired(bearer->scope.expires, err);
    return 0;
}
