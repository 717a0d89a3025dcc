/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "core/fabric/fmcall.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* Client of the fabric manager (docs/fabric-manager.md): login, calls, decoding; no policy. One
 * libcurl multi handle on the broker's loop, connections kept and reused (G8). Every start function
 * returns at once; done is called exactly once, later, from the loop. The process must ignore
 * SIGPIPE. */

enum fmapi_auth { FMAPI_AUTH_NONE, FMAPI_AUTH_BASIC, FMAPI_AUTH_OAUTH };

enum { FMAPI_URLS_MAX = 4 };

struct fmapi_options {
    const char *urls[FMAPI_URLS_MAX]; /* bases, "/fabric/…" is appended; NULL: not used. The first
                                         is in use until fmapi_login says otherwise. */
    enum fmapi_auth auth;
    const char *authdir; /* BASIC: holds "passwd", of user "cxi"; OAUTH: "endpoint", "client-id" and
                            "client-secret". The secrets not to be read by others. */
    const char *mtls_cert, *mtls_key; /* PEM files of our own certificate, shown to the fabric
                                         manager and to the OAuth endpoint; NULL: none */
    const char *ca;                   /* CA file or directory; NULL: the system's store */
    int verify;         /* 0: do not verify the server; the caller has logged it loudly */
    int64_t timeout_ms; /* of one call or page, from leaving the queue to the last byte */
    unsigned parallel;  /* connections kept, at most; the caller sends no more calls at once */
    bool (*may_send)(void *arg); /* asked just before each request is written; NULL: it may be */
    void *may_send_arg;
};

/* For --check and doctor: whether the options fit together and this user can use the files of the
 * login and of the certificate. 0, or an error code with a sentence. Reads files, sends nothing. */
int fmapi_check(const struct fmapi_options *options, struct error *err);

struct fmapi;
/* Copies the options, which fit together. Files are not read before the first login, so that a
 * broker starts however they are. NULL with a sentence in err. */
struct fmapi *fmapi_create(uv_loop_t *loop, const struct fmapi_options *options, struct error *err);
/* Ends all calls without done and closes its handles; then calls closed from the loop. NULL is
 * allowed (closed is not called). */
void fmapi_destroy(struct fmapi *api, void (*closed)(void *arg), void *arg);

/* The result of a call. Strings are valid during the callback only. */
struct fmapi_reply {
    enum fmcall_outcome outcome;
    struct secret token; /* sessionToken for FM_OK of RESERVE, and of CHECK if it came, else none */
    const char *words;   /* one line: status and the fabric manager's text ("message" or
                            "detail", bounded, printable), or the transport's */
    int status;          /* HTTP status, 0 when none came */
    int64_t took_us;
    const struct fmcall_steps *steps; /* for FM_OK of STEPS, else NULL */
    const struct fmcall_tree *tree;   /* for FM_OK of JOIN, else NULL */
};

/* Reads the files of the login and of our certificate; basic needs no more. OAuth: gets an access
 * token unless the one in force is still usable; with the endpoint down, a valid one is kept. code:
 * 0 or one of enum error_code, words name the file or the endpoint. Takes at most twice timeout_ms.
 * One login at a time.
 *
 * A call or list that is sent before logs in by itself. One that is refused (401, 403) renews the
 * login once and is sent once more, within its timeout; one renewal serves all. Access tokens are
 * renewed well before they expire. */
typedef void fmapi_login_fn(void *arg, int code, const char *words);
/* Later calls and lists go to urls[url]; present ones stay where they are. */
void fmapi_login(struct fmapi *api, unsigned url, fmapi_login_fn *done, void *arg);

/* Any call but the list (F19; docs/fabric-manager.md, "Jobs"). Texts and token are copied.
 *
 * With a session token, which is used instead of the login and of our certificate, the fabric
 * manager protects other jobs; 401 and 403 are FM_REFUSED then, and no login is renewed. Under the
 * login use END_STEP: END_TREE names no job (since STEPS a tree's number may have become another
 * job's) and is likely to be denied. */
typedef void fmapi_call_fn(void *arg, const struct fmapi_reply *reply);
void fmapi_call(struct fmapi *api, enum fmcall_kind kind, const struct fmcall_about *about,
                fmapi_call_fn *done, void *arg);

/* Lists all jobs. page is called with the names of each page (the last path segment of each
 * documentLink, percent-decoded), done once at the end: FM_OK only when the list is complete.
 * FM_BUSY: no or malformed "documentLinks", a page that repeats, a documentCount that differs, or
 * more pages or names than the limits below. FM_TIMEOUT after six times timeout_ms. */
enum { FMAPI_LIST_NAMES_MAX = 200000, FMAPI_LIST_PAGES_MAX = 16384 };
typedef void fmapi_page_fn(void *arg, const char *const *names, size_t count);
void fmapi_list(struct fmapi *api, fmapi_page_fn *page, fmapi_call_fn *done, void *arg);

/* GET of a document, a list or a next page (docs/inventory.md): a path below the base URL, or a
 * full URL there. False, and done is not called: it leads elsewhere. */
struct fmapi_body {
    enum fmcall_outcome outcome; /* FM_OK: HTTP 200 */
    int status;                  /* HTTP's, 0 when none came */
    bool too_long;               /* longer than a page may be */
    const char *words;           /* as of fmapi_reply; "" for FM_OK */
    const char *data;            /* with FM_OK: length bytes, valid during the callback only */
    size_t length;
};
typedef void fmapi_read_fn(void *arg, const struct fmapi_body *body);
bool fmapi_read(struct fmapi *api, const char *link, fmapi_read_fn *done, void *arg);

struct fmapi_counters {
    uint64_t calls, connections, bytes_in, bytes_out; /* of the fabric manager alone */
    unsigned in_flight;
    uint64_t logins;          /* successful fmapi_login */
    uint64_t renewals;        /* other successful logins: early, or for a refused call */
    uint64_t login_failures;  /* of either: files not readable, token endpoint down or refusing */
    uint64_t tls_errors;      /* connections that failed because of TLS; both servers */
    int64_t login_since_ms;   /* Unix; when the login in force was got; 0: none is in force */
    int64_t login_expires_ms; /* Unix; 0: not known */
    int64_t certificate_ends_ms; /* Unix; of our own, which we show; 0: none */
    bool unverified;             /* options.verify: servers are not authenticated */
    int64_t date_skew_ms; /* fabric manager's clock less ours, ± 0.5 s; INT64_MIN: not known */
};
void fmapi_counters(const struct fmapi *api, struct fmapi_counters *out);
