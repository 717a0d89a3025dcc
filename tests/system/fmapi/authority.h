#ifndef MCAST_TESTS_FMAPI_AUTHORITY_H
#define MCAST_TESTS_FMAPI_AUTHORITY_H

/* A certificate that vouches for itself, and its key, in a folder of their own. */

struct authority {
    char folder[64]; /* also a hashed directory, as OpenSSL reads one */
    char cert[96];
    char key[96];
    char hashed[96];
};

/* Makes one for the name, e.g. "IP:127.0.0.1" or "DNS:fmn". Aborts when it cannot. */
void authority_init(struct authority *authority, const char *name);
void authority_release(struct authority *authority);

#endif
