/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/tokens.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/memory.h"
#include "base/secret.h"

#define NAME_LENGTH 40 /* the first part of a token */
#define BODY_LENGTH 900

void random_bytes(void *bytes, size_t size)
{
    if (getentropy(bytes, size) < 0)
        abort();
}

uint64_t dice_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

void session_token(const struct session_mint *mint, uint64_t serial, char token[SESSION_TOKEN_SIZE])
{
    uint64_t words[2];
    if (mint->seeded) {
        /* From seed and serial only: a restart repeats no token and need not count the dice. */
        uint64_t state = mint->seed;
        state = dice_next(&state) + serial;
        words[0] = dice_next(&state);
        words[1] = dice_next(&state);
    } else {
        random_bytes(words, sizeof words);
    }
    snprintf(token, SESSION_TOKEN_SIZE, SESSION_TOKEN_PREFIX "%016" PRIx64 "%016" PRIx64, words[0],
             words[1]);
}

bool session_is_token(const char *text)
{
    return strncmp(text, SESSION_TOKEN_PREFIX, strlen(SESSION_TOKEN_PREFIX)) == 0;
}

struct accesstokens *accesstokens_create(int64_t lifetime_us)
{
    struct accesstokens *tokens = memory_zeroed(sizeof *tokens);
    assert(lifetime_us > 0);
    tokens->lifetime_us = lifetime_us;
    return tokens;
}

void accesstokens_destroy(struct accesstokens *tokens)
{
    memory_wipe(tokens, sizeof *tokens);
}

const char *accesstokens_issue(struct accesstokens *tokens, int64_t now_us)
{
    size_t place = tokens->issued % ACCESSTOKENS_MAX;
    char *text = tokens->ring[place].text;
    unsigned char entropy[256];
    tokens->ring[place].expires_us = 0;
    for (char *half = text; half < text + 2 * 2 * sizeof entropy; half += 2 * sizeof entropy) {
        random_bytes(entropy, sizeof entropy);
        hex_write(entropy, sizeof entropy, half);
    }
    explicit_bzero(entropy, sizeof entropy);
    text[NAME_LENGTH] = text[NAME_LENGTH + 1 + BODY_LENGTH] = '.';
    tokens->ring[place].expires_us = now_us + tokens->lifetime_us;
    tokens->issued++;
    return text;
}

bool accesstokens_opens(const struct accesstokens *tokens, const char *text, int64_t now_us)
{
    for (size_t i = 0; i < ACCESSTOKENS_MAX; i++) {
        const char *issued = tokens->ring[i].text;
        /* The name is no secret; what follows it is compared in constant time. */
        if (tokens->ring[i].expires_us > now_us && strncmp(issued, text, NAME_LENGTH) == 0)
            return secret_equal(secret_of(issued), secret_of(text));
    }
    return false;
}

unsigned accesstokens_live(const struct accesstokens *tokens, int64_t now_us)
{
    unsigned live = 0;
    for (size_t i = 0; i < ACCESSTOKENS_MAX; i++)
        live += tokens->ring[i].expires_us > now_us;
    return live;
}

void accesstokens_revoke(struct accesstokens *tokens)
{
    explicit_bzero(tokens->ring, sizeof tokens->ring);
}
