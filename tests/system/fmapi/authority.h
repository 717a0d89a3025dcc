/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A certificate and its key in a folder of their own: one that signs itself and may sign
 * others, or one that another signed. */

struct authority {
    char folder[64]; /* also a hashed directory, as OpenSSL reads one */
    char cert[96];
    char key[96]; /* mode 0600 */
    char hashed[96];
};

/* Makes one for the name, e.g. "IP:127.0.0.1" or "DNS:fmn". Aborts when it cannot. */
void authority_init(struct authority *authority, const char *name);
/* Makes one for the name that the issuer signs, valid from and until so many seconds from
 * now. */
void authority_issue(struct authority *authority, const char *name, const struct authority *issuer,
                     long from_s, long until_s);
/* Writes from's certificate and key over authority's, as somebody who renews them does. */
void authority_overwrite(struct authority *authority, const struct authority *from);
void authority_release(struct authority *authority);
