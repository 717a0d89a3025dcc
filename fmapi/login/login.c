/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/login.h"

#include "base/memory.h"
#include "fmapi/login/loginfiles.h"
#include "fmapi/transport.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MS = 1000000,           /* nanoseconds */
    CA_LOOK_MS = 1000,      /* how late a change of the authorities' file may be noticed */
    DEADLINE_LOOK_MS = 100, /* how late those who wait may learn that they waited too long */
};

struct login {
    uv_loop_t *loop;
    const struct fmapi_options *options;
    struct transport *calls; /* where they go */
    bool verifies;           /* the authorities are needed */

    struct authorities authorities; /* that connections are told to trust */
    uint64_t ca_looked_ms; /* by the loop's clock, when their file was looked at; 0: never */
    struct credential *credential; /* in force; NULL: none yet */
    struct oauthclient client;     /* that it was granted to; OAuth */
    uint64_t expires_ns;           /* of uv_hrtime; 0: not known */
    bool due;                      /* another one is to be requested */
    bool refused;                  /* the one in force was refused */

    enum { IDLE, READING, ASKING } stage;
    bool wanted;                   /* a caller waits with WANT_LOGIN */
    uint64_t asked_ns;             /* when the token's life may have begun */
    struct loginfiles_found found; /* by the worker while READING */
    bool ca_changed;               /* by the worker */
    struct authorities read;       /* by the worker, when ca_changed */
    struct error read_error;       /* by the worker */
    struct request request;        /* to the token endpoint while ASKING */
    uv_work_t work;
    struct login_waiting waiting;

    uv_timer_t early, deadline;
    struct transport *endpoint; /* NULL until first needed */
    struct fmapi_counters counters;

    bool destroying;
    unsigned closing; /* parts that are not closed yet */
    void (*closed)(void *arg);
    void *closed_arg;
};

static void begin_renewal(struct login *login);

struct login *login_create(uv_loop_t *loop, const struct fmapi_options *options,
                           struct transport *calls, bool verifies)
{
    struct login *login = memory_zeroed(sizeof *login);
    login->loop = loop;
    login->options = options;
    login->calls = calls;
    login->verifies = verifies;
    login->work.data = login->early.data = login->deadline.data = login;
    TAILQ_INIT(&login->waiting);
    (void)uv_timer_init(loop, &login->early); /* cannot fail */
    (void)uv_timer_init(loop, &login->deadline);
    return login;
}

static bool credential_valid(const struct login *login)
{
    return login->credential && (login->expires_ns == 0 || uv_hrtime() < login->expires_ns);
}

struct credential *login_credential(const struct login *login)
{
    return credential_valid(login) ? login->credential : NULL;
}

/* Waiting callers */

/* Only those who wait now: done may free its wait, begin to wait again, or destroy the login. */
static void notify_waiting(struct login_waiting *waiting, enum login_end end, int code,
                           const char *words)
{
    struct login_waiting now = TAILQ_HEAD_INITIALIZER(now);
    struct login_wait *wait;
    TAILQ_CONCAT(&now, waiting, entry);
    while ((wait = TAILQ_FIRST(&now))) {
        TAILQ_REMOVE(&now, wait, entry);
        wait->done(wait, end, code, words);
    }
}

/* The endpoint without its query, which may be secret. */
static int endpoint_length(const struct oauthclient *client)
{
    int length = (int)strcspn(secret_expose(client->endpoint), "?");
    return length < 100 ? length : 100;
}

static void say_late(const struct login *login, char *words, size_t size)
{
    const struct oauthclient *client = &login->found.client;
    if (login->stage == ASKING)
        (void)snprintf(words, size, "OAuth2 endpoint %.*s has not answered in time",
                       endpoint_length(client), secret_expose(client->endpoint));
    else
        (void)snprintf(words, size, "the files of the login%s%s could not be read in time",
                       login->options->authdir ? " in " : "",
                       login->options->authdir ? login->options->authdir : "");
}

static void on_deadline(uv_timer_t *timer)
{
    struct login *login = timer->data;
    struct login_waiting late = TAILQ_HEAD_INITIALIZER(late);
    char words[ERROR_TEXT_SIZE];
    const uint64_t now = uv_hrtime();
    for (struct login_wait *wait = TAILQ_FIRST(&login->waiting), *next; wait; wait = next) {
        next = TAILQ_NEXT(wait, entry);
        if (wait->deadline_ns > now)
            continue;
        TAILQ_REMOVE(&login->waiting, wait, entry);
        TAILQ_INSERT_TAIL(&late, wait, entry);
    }
    if (TAILQ_EMPTY(&login->waiting))
        (void)uv_timer_stop(timer);
    say_late(login, words, sizeof words);
    notify_waiting(&late, LOGIN_LATE, ERROR_IO, words);
}

/* A renewal: files, token endpoint, end */

static void on_early(uv_timer_t *timer)
{
    struct login *login = timer->data;
    login->due = true;
    if (login->stage == IDLE)
        begin_renewal(login);
}

static void set_early(struct login *login, int64_t ms)
{
    if (ms < 0)
        return;
    uv_update_time(login->loop);
    (void)uv_timer_start(&login->early, on_early, (uint64_t)ms, 0);
}

static void end_renewal(struct login *login, int code, const char *words)
{
    request_release(&login->request);
    loginfiles_wipe(&login->found);
    login->stage = IDLE;
    login->wanted = false;
    (void)uv_timer_stop(&login->deadline);
    notify_waiting(&login->waiting, LOGIN_ENDED, code, words); /* may begin the next, or destroy */
}

static void end_well(struct login *login)
{
    if (login->wanted)
        login->counters.logins++;
    else
        login->counters.renewals++;
    end_renewal(login, 0, "");
}

/* Whether the files say what they said when the token in force was granted. */
static bool same_files(const struct login *login)
{
    return oauthclient_equal(&login->found.client, &login->client) &&
           clientcert_equal(&login->found.credential->cert, &login->credential->cert);
}

/* A valid token that was not refused stays in use when the endpoint fails. */
static void fail_renewal(struct login *login, const struct error *cause, bool endpoint)
{
    struct error err = *cause; /* may lie in what end_renewal wipes */
    login->counters.login_failures++;
    if (login->expires_ns != 0 && credential_valid(login))
        set_early(login, lifetime_retry_ms((int64_t)((login->expires_ns - uv_hrtime()) / MS)));
    bool keep_token = endpoint && credential_valid(login) && !login->refused && same_files(login);
    if (keep_token)
        end_renewal(login, 0, "");
    else
        end_renewal(login, err.code, err.text);
}

static int64_t unix_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / MS;
}

/* Takes credential. */
static void adopt_credential(struct login *login, struct credential *credential,
                             int64_t lifetime_ms)
{
    /* The same one again keeps its pointer, by which calls know whether to try again. */
    if (login->credential && credential_equal(credential, login->credential)) {
        credential_drop(credential);
    } else {
        credential_drop(login->credential);
        login->credential = credential;
        login->refused = false;
        login->counters.login_since_ms = unix_ms();
    }
    login->due = false;
    login->expires_ns = 0;
    login->counters.login_expires_ms = 0;
    (void)uv_timer_stop(&login->early);
    if (lifetime_ms != LIFETIME_UNKNOWN) {
        int64_t gone_ms = (int64_t)((uv_hrtime() - login->asked_ns) / MS);
        int64_t renew_ms = lifetime_renew_ms(lifetime_ms);
        login->expires_ns = login->asked_ns + (uint64_t)lifetime_ms * MS;
        login->counters.login_expires_ms = unix_ms() - gone_ms + lifetime_ms;
        set_early(login, renew_ms > gone_ms ? renew_ms - gone_ms : 0);
    }
    end_well(login);
}

static void on_granted(void *arg, const struct transport_answer *answer)
{
    struct login *login = arg;
    struct loginfiles_found *found = &login->found;
    struct oauth_grant grant = {0};
    struct error err = {0};
    if (login->destroying || answer->end == TRANSPORT_CANCELLED)
        return;
    if (answer->end == TRANSPORT_TIMEOUT)
        error_set(&err, ERROR_IO, "%s (%" PRId64 " ms)", answer->words, login->options->timeout_ms);
    else if (answer->end != TRANSPORT_ANSWERED)
        error_set(&err, ERROR_IO, "%s", answer->words);
    else
        (void)oauth_decode(&grant, &found->client, login->options->authdir, answer->status,
                           answer->body, answer->length, &err);
    if (err.code != 0) {
        error_prefix(&err, "OAuth2 endpoint %.*s", endpoint_length(&found->client),
                     secret_expose(found->client.endpoint));
        fail_renewal(login, &err, true);
        return;
    }
    struct clientcert cert = clientcert_copy(&found->credential->cert);
    struct credential *credential = credential_bearer(grant.token, &cert);
    secret_wipe(&grant.token);
    oauthclient_wipe(&login->client);
    login->client = found->client;
    found->client = (struct oauthclient){0};
    adopt_credential(login, credential, grant.lifetime_ms);
}

static void request_token(struct login *login)
{
    struct loginfiles_found *found = &login->found;
    struct error err = {0};
    if (!login->endpoint) {
        const struct transport_options options = {
            .ca = login->options->ca, .verify = login->options->verify != 0, .parallel = 1};
        login->endpoint = transport_create(login->loop, &options, &err);
    }
    login->stage = ASKING;
    login->asked_ns = uv_hrtime();
    if (!login->endpoint) {
        fail_renewal(login, &err, true);
        return;
    }
    transport_trust(login->endpoint, login->authorities.store);
    login->request = oauth_request(&found->client);
    transport_send(login->endpoint, &login->request, found->credential, login->options->timeout_ms,
                   on_granted, login);
}

/* Whether the token in force satisfies LOGIN_WANT_LOGIN. */
static bool token_suffices(const struct login *login)
{
    return credential_valid(login) && !login->refused && !login->due && same_files(login);
}

static void part_closed(void *arg)
{
    struct login *login = arg;
    if (--login->closing > 0)
        return;
    void (*closed)(void *closed_arg) = login->closed;
    void *closed_arg = login->closed_arg;
    request_release(&login->request);
    loginfiles_wipe(&login->found);
    authorities_release(&login->read);
    authorities_release(&login->authorities);
    credential_drop(login->credential);
    oauthclient_wipe(&login->client);
    free(login);
    closed(closed_arg);
}

/* On a worker thread: nothing but the options and what is found is touched, and of the authorities
 * in force, which change in on_read alone, their file's state is read. */
static void read_files(uv_work_t *work)
{
    struct login *login = work->data;
    login->read_error = (struct error){0};
    login->ca_changed =
        login->verifies && authorities_changed(&login->authorities, login->options->ca);
    if (login->ca_changed)
        login->read = authorities_read(login->options->ca);
    (void)loginfiles_read(login->options, &login->found, &login->read_error);
}

static void adopt_authorities(struct login *login)
{
    login->ca_looked_ms = uv_now(login->loop);
    if (!login->ca_changed)
        return;
    authorities_release(&login->authorities);
    login->authorities = login->read;
    login->read = (struct authorities){0};
    transport_trust(login->calls, login->authorities.store);
}

static void on_read(uv_work_t *work, int status)
{
    struct login *login = work->data;
    struct loginfiles_found *found = &login->found;
    (void)status; /* only destroying cancels the work */
    if (login->destroying) {
        part_closed(login);
        return;
    }
    adopt_authorities(login);
    if (login->read_error.code != 0) {
        fail_renewal(login, &login->read_error, false);
    } else if (login->options->auth != FMAPI_AUTH_OAUTH) {
        struct credential *credential = credential_hold(found->credential);
        adopt_credential(login, credential, LIFETIME_UNKNOWN);
    } else if (token_suffices(login)) {
        end_well(login);
    } else {
        request_token(login);
    }
}

static void begin_renewal(struct login *login)
{
    assert(login->stage == IDLE);
    login->stage = READING;
    int code = uv_queue_work(login->loop, &login->work, read_files, on_read);
    assert(code == 0); /* fails for want of a function only */
    (void)code;
}

void login_watch(struct login *login)
{
    const uint64_t now_ms = uv_now(login->loop);
    if (login->stage != IDLE || !login->verifies || login->ca_looked_ms == 0 ||
        now_ms - login->ca_looked_ms < CA_LOOK_MS)
        return;
    login->ca_looked_ms = now_ms;
    if (authorities_changed(&login->authorities, login->options->ca))
        begin_renewal(login);
}

void login_renew(struct login *login, enum login_want want, struct login_wait *wait)
{
    assert(!login->destroying);
    TAILQ_INSERT_TAIL(&login->waiting, wait, entry); /* called in the order they came */
    login->wanted |= want == LOGIN_WANT_LOGIN;
    login->due |= want == LOGIN_WANT_OTHER || want == LOGIN_WANT_RIGHTS;
    login->refused |= want == LOGIN_WANT_OTHER;
    if (login->stage == IDLE)
        begin_renewal(login);
    if (!uv_is_active((uv_handle_t *)&login->deadline))
        (void)uv_timer_start(&login->deadline, on_deadline, DEADLINE_LOOK_MS, DEADLINE_LOOK_MS);
}

static void on_timer_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

void login_destroy(struct login *login, void (*closed)(void *arg), void *arg)
{
    login->destroying = true;
    login->closed = closed;
    login->closed_arg = arg;
    login->closing = 3;
    notify_waiting(&login->waiting, LOGIN_CANCELLED, 0, "");
    uv_close((uv_handle_t *)&login->early, on_timer_closed);
    uv_close((uv_handle_t *)&login->deadline, on_timer_closed);
    if (login->endpoint) {
        login->closing++;
        transport_destroy(login->endpoint, part_closed, login);
    }
    if (login->stage == READING) {
        login->closing++;
        (void)uv_cancel((uv_req_t *)&login->work); /* on_read is called in either case */
    }
    part_closed(login);
}

struct fmapi_counters login_counters(const struct login *login)
{
    struct fmapi_counters counters = login->counters;
    if (login->endpoint)
        counters.tls_errors = transport_counters(login->endpoint)->tls_errors;
    if (login->credential)
        counters.certificate_ends_ms = login->credential->cert.ends_ms;
    if (!credential_valid(login))
        counters.login_since_ms = counters.login_expires_ms = 0;
    return counters;
}
