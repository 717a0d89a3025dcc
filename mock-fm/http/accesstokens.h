/* SPDX-License-Identifier: Apache-2.0 */
/* The access tokens of OAuth 2.0 that were issued, and which of them are still valid. In memory
 * only, so a restart voids them all. */
#ifndef MCAST_MOCK_FM_HTTP_ACCESSTOKENS_H
#define MCAST_MOCK_FM_HTTP_ACCESSTOKENS_H

#include <stdbool.h>
#include <stdint.h>

#define ACCESSTOKENS_MAX 1024 /* one more, and the oldest is void */

/* As long as the signed tokens (JWT) that real token endpoints hand out: three parts, of which the
 * first names the token and the rest is secret. */
#define ACCESSTOKENS_TEXT_SIZE 1027 /* 1024 hexadecimal digits, two dots and a NUL */

struct accesstokens;

/* `lifetime_us`: how long each is good for, above 0. */
struct accesstokens *accesstokens_create(int64_t lifetime_us);

/* Wipes them. Takes NULL. */
void accesstokens_destroy(struct accesstokens *tokens);

int64_t accesstokens_lifetime_us(const struct accesstokens *tokens);

/* Writes a new token. 0, or -1 when the kernel gives no randomness. */
int accesstokens_issue(struct accesstokens *tokens, int64_t now_us,
                       char text[ACCESSTOKENS_TEXT_SIZE]);

/* Was this one issued, and is it neither expired nor revoked? */
bool accesstokens_opens(const struct accesstokens *tokens, const char *text, int64_t now_us);

/* Voids all of them; the number of those that were still valid. */
unsigned accesstokens_revoke(struct accesstokens *tokens, int64_t now_us);

struct accesstokens_totals {
    uint64_t issued;
    unsigned live;
};
struct accesstokens_totals accesstokens_totals(const struct accesstokens *tokens, int64_t now_us);

#endif
