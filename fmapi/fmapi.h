#ifndef MCAST_FMAPI_FMAPI_H
#define MCAST_FMAPI_FMAPI_H

#include "base/error.h"
#include "core/fabric/fmcall.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* Talking to the fabric manager (fabric-manager.md): login, calls, decoding; no policy. One libcurl
 * multi handle on the broker's loop, connections kept and reused (G8). Every start function returns
 * at once and calls done exactly once, later, from the loop, never from inside the start function.
 * The process must ignore SIGPIPE. */

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
};

/* For --check and doctor: whether the options fit together and the files of the login and of the
 * certificate could be used by this user now. 0, or an error code with a sentence. Waits for the
 * files; asks nobody. */
int fmapi_check(const struct fmapi_options *options, struct error *err);

struct fmapi;
/* Copies the options. Files are not read before the first login, so that a broker starts however
 * they are. NULL with a sentence in err. */
struct fmapi *fmapi_create(uv_loop_t *loop, const struct fmapi_options *options, struct error *err);
/* Ends what is under way without calling done, closes its handles; closed is called from the loop
 * when nothing of it is left there. NULL is allowed (closed is not called). */
void fmapi_destroy(struct fmapi *api, void (*closed)(void *arg), void *arg);

/* What came of a call. Strings are valid during the callback only. */
struct fmapi_reply {
    enum fmcall_outcome outcome;
    struct secret token; /* sessionToken for FM_OK of RESERVE, and of CHECK if it came, else none */
    const char *words;   /* one line for people: status and the fabric manager's own words
                            ("message" or "detail", bounded, made printable), or the transport's */
    int status;          /* HTTP status, 0 when none came */
    int64_t took_us;
    const struct fmcall_steps *steps; /* for FM_OK of STEPS, else NULL */
};

/* Reads the files of the login and of our certificate as they are now. That is all with basic; the
 * list that follows proves it. OAuth: gets an access token unless the one in force still serves;
 * should the endpoint be down, one that lives serves on. code: 0 or one of enum error_code, words
 * name the file or the endpoint. It takes at most twice timeout_ms. One login at a time.
 *
 * A call or list that is sent before logs in by itself. One that is refused (401, 403) renews the
 * login once and is sent once more, one renewal for all; it waits for that within its own time.
 * Access tokens are renewed well before they expire, without anybody asking. */
typedef void fmapi_login_fn(void *arg, int code, const char *words);
/* All that begins from here on goes to urls[url]; what is under way stays where it is. */
void fmapi_login(struct fmapi *api, unsigned url, fmapi_login_fn *done, void *arg);

/* RESERVE with addresses as "mcastLimit", CHECK, or RELEASE of the job called name. */
typedef void fmapi_call_fn(void *arg, const struct fmapi_reply *reply);
int fmapi_call(struct fmapi *api, enum fmcall_kind kind, const char *name, uint32_t addresses,
               fmapi_call_fn *done, void *arg);

/* What cleans up after the steps of a job (F19, fabric-manager.md, "Jobs", "Multicast trees"). */
struct fmapi_step {
    const char *name;    /* of the job at the fabric manager; not looked at for END_TREE */
    const char *step;    /* for END_STEP: step_id_valid */
    uint16_t tree;       /* for END_TREE: below FMCALL_TREES */
    struct secret token; /* the job's session token, shown instead of the login and of our
                            certificate, so that the fabric manager sees to it that nothing of
                            another job's is touched; none: the login */
};

/* STEPS, END_STEP or END_TREE; the token is copied. With a token nothing that comes back says
 * anything about the login: 401 and 403 are FM_REFUSED, nothing is renewed. Under the login
 * END_TREE is bound to no job (between STEPS and it, a tree's number may have become another job's)
 * and is likely to be denied: END_STEP is the call to make there. */
int fmapi_step(struct fmapi *api, enum fmcall_kind kind, const struct fmapi_step *what,
               fmapi_call_fn *done, void *arg);

/* Lists all jobs, page by page. page is called with the names of each page (the last path segment
 * of each documentLink, percent-decoded), done once at the end: FM_OK only when the list was read
 * whole. A list without "documentLinks", of a wrong shape, with a page that repeats, or whose pages
 * do not add up to documentCount where that is given, or of more pages or names than the limits
 * below is not whole (FM_BUSY). The whole list has six times timeout_ms, then it is
 * FM_TIMEOUT. */
enum { FMAPI_LIST_NAMES_MAX = 200000, FMAPI_LIST_PAGES_MAX = 16384 };
typedef void fmapi_page_fn(void *arg, const char *const *names, size_t count);
int fmapi_list(struct fmapi *api, fmapi_page_fn *page, fmapi_call_fn *done, void *arg);

struct fmapi_counters {
    uint64_t calls, connections, bytes_in, bytes_out; /* of the fabric manager alone */
    unsigned under_way;
    uint64_t logins;          /* fmapi_login that ended well */
    uint64_t renewals;        /* other times that a login was got: early, or for a refused call */
    uint64_t login_failures;  /* of either: files not readable, token endpoint down or unwilling */
    uint64_t tls_errors;      /* connections that failed because of TLS; both servers */
    int64_t login_since_ms;   /* Unix; when the login in force was got; 0: none is in force */
    int64_t login_expires_ms; /* Unix; 0: not known */
    int64_t certificate_ends_ms; /* Unix; of our own, which we show; 0: none */
    bool unverified;             /* by options.verify: whoever answers is believed */
    int64_t date_skew_ms; /* fabric manager's clock less ours, ± 0.5 s; INT64_MIN: not known */
};
void fmapi_counters(const struct fmapi *api, struct fmapi_counters *out);

#endif
