/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/tokens.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/memory.h"
#include "base/secret.h"

#define NAME_LENGTH 40 /* the first part of a token */
#define BODY_LENGTH 900
#define SIGNATURE_LENGTH 84
#define ENTROPY_SIZE 512 /* bytes, two hexadecimal digits each */

struct token {
    int64_t expires_us; /* 0: void */
    char text[ACCESSTOKENS_TEXT_SIZE];
};

struct accesstokens {
    int64_t lifetime_us;
    uint64_t issued;
    struct token ring[ACCESSTOKENS_MAX]; /* by the order of issue, the oldest overwritten */
};

uint64_t dice_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

int session_token(const struct session_mint *mint, uint64_t serial, char token[SESSION_TOKEN_SIZE])
{
    uint64_t words[2];
    if (mint->seeded) {
        /* From seed and serial only: a restart repeats no token and need not count the dice. */
        uint64_t state = mint->seed;
        state = dice_next(&state) + serial;
        words[0] = dice_next(&state);
        words[1] = dice_next(&state);
    } else if (getrandom(words, sizeof words, 0) != (ssize_t)sizeof words) {
        return -1;
    }
    snprintf(token, SESSION_TOKEN_SIZE, SESSION_TOKEN_PREFIX "%016" PRIx64 "%016" PRIx64, words[0],
             words[1]);
    return 0;
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
    if (!tokens)
        return;
    explicit_bzero(tokens, sizeof *tokens);
    free(tokens);
}

int64_t accesstokens_lifetime_us(const struct accesstokens *tokens)
{
    return tokens->lifetime_us;
}

int accesstokens_issue(struct accesstokens *tokens, int64_t now_us,
                       char text[ACCESSTOKENS_TEXT_SIZE])
{
    struct token *token = &tokens->ring[tokens->issued % ACCESSTOKENS_MAX];
    unsigned char entropy[ENTROPY_SIZE], *body = entropy + NAME_LENGTH / 2;
    token->expires_us = 0;
    /* getentropy gives 256 bytes at a time. */
    if (getentropy(entropy, ENTROPY_SIZE / 2) < 0 ||
        getentropy(entropy + ENTROPY_SIZE / 2, ENTROPY_SIZE / 2) < 0)
        return -1;
    memset(token->text, '.', sizeof token->text - 1);
    token->text[sizeof token->text - 1] = '\0';
    hex_write(entropy, NAME_LENGTH / 2, token->text);
    hex_write(body, BODY_LENGTH / 2, token->text + NAME_LENGTH + 1);
    hex_write(body + BODY_LENGTH / 2, SIGNATURE_LENGTH / 2,
              token->text + NAME_LENGTH + BODY_LENGTH + 2);
    explicit_bzero(entropy, sizeof entropy);
    token->expires_us = now_us + tokens->lifetime_us;
    tokens->issued++;
    memcpy(text, token->text, ACCESSTOKENS_TEXT_SIZE);
    return 0;
}

bool accesstokens_opens(const struct accesstokens *tokens, const char *text, int64_t now_us)
{
    for (size_t i = 0; i < ACCESSTOKENS_MAX; i++) {
        const struct token *token = &tokens->ring[i];
        /* The name is no secret; what follows it is compared in constant time. */
        if (token->expires_us > now_us && strncmp(token->text, text, NAME_LENGTH) == 0)
            return secret_equal(secret_of(token->text), secret_of(text));
    }
    return false;
}

unsigned accesstokens_revoke(struct accesstokens *tokens, int64_t now_us)
{
    unsigned live = accesstokens_totals(tokens, now_us).live;
    explicit_bzero(tokens->ring, sizeof tokens->ring);
    return live;
}

struct accesstokens_totals accesstokens_totals(const struct accesstokens *tokens, int64_t now_us)
{
    struct accesstokens_totals totals = {.issued = tokens->issued};
    for (size_t i = 0; i < ACCESSTOKENS_MAX; i++)
        totals.live += tokens->ring[i].expires_us > now_us;
    return totals;
}
