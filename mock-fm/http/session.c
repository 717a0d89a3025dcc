/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

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
