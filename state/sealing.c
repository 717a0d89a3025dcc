/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sealing.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seal_place place_of(enum sealed place, uint64_t number)
{
    static const char *const columns[SEALED_COUNT] = {[SEALED_TOKEN] = "reservation.token",
                                                      [SEALED_KEY] = "reservation.job_key",
                                                      [SEALED_ROOT_KEYS] = "ledger.root_keys"};
    assert(number > 0);
    return (struct seal_place){.column = columns[place], .row = number};
}

int sealing_init(struct sealing *sealing, const char *ledger, const char *key_file,
                 const struct seal_key *key, struct error *err)
{
    assert(ledger && !sealing->seal);
    sealing->ledger = ledger;
    sealing->key_file = memory_text(key_file);
    sealing->seal = seal_create(key, err);
    return sealing->seal ? 0 : ERROR_NOMEM;
}

void sealing_release(struct sealing *sealing)
{
    assert(sealing);
    sealing_forget(sealing);
    seal_destroy(sealing->seal);
    free(sealing->key_file);
    sealing->seal = NULL;
    sealing->key_file = NULL;
}

int sealing_wrap(struct sealing *sealing, enum sealed place, uint64_t number, struct secret secret)
{
    assert(sealing->seal && !secret_none(secret));
    assert(strlen(secret_expose(secret)) <= TOKEN_MAX); /* batch_add checked it */
    const struct seal_place at = place_of(place, number);
    return seal_wrap(sealing->seal, &at, secret, sealing->sealed[place]);
}

static int refuse_sealed(const struct sealing *sealing, enum sealed place, int code,
                         uint64_t number, struct error *err)
{
    assert(code < 0);
    if (code == ERROR_REFUSED)
        return error_set(
            err, code,
            "the tokens in %s are sealed with another key than that of %s: restore the "
            "key file that belongs to this ledger, else see \"A lost key\" in "
            "share/doc/mcastd/state.md",
            sealing->ledger, sealing->key_file);
    char what[48] = "root keys";
    if (place != SEALED_ROOT_KEYS)
        (void)snprintf(what, sizeof what, "reservation %" PRIu64, number);
    if (code == ERROR_VERSION)
        return error_set(err, code, "%s in %s: sealed by a newer mcastd: install that version",
                         what, sealing->ledger);
    return error_set(err, code, "%s: %s", what,
                     place == SEALED_ROOT_KEYS ? "they do not open" : "its token does not open");
}

int sealing_unwrap(struct sealing *sealing, enum sealed place, uint64_t number,
                   const unsigned char *sealed, size_t size, struct secret *secret,
                   struct error *err)
{
    assert(sealing->seal);
    *secret = (struct secret){0};
    if (!sealed || size > SEALING_SIZE_MAX)
        return refuse_sealed(sealing, place, ERROR_CORRUPT, number, err);
    const struct seal_place at = place_of(place, number);
    int length = seal_unwrap(sealing->seal, &at, sealed, size, sealing->plain[place]);
    if (length < 0)
        return refuse_sealed(sealing, place, length, number, err);
    *secret = secret_of(sealing->plain[place]);
    return 0;
}

void sealing_forget(struct sealing *sealing)
{
    explicit_bzero(sealing->plain, sizeof sealing->plain);
}
