/* SPDX-License-Identifier: Apache-2.0 */
/* The edge to the fabric manager, with a transport that answers as told: these
 * fmapi functions stand in for the library's. */

#include "tests/unit/unit.h"

#include "broker/fabric.h"

struct fmapi {
    bool alive, closing;
    char first[64]; /* urls[0] */
    fmapi_call_fn *done;
    fmapi_page_fn *page;
    unsigned url;
    fmapi_login_fn *login;
    void *arg;
    uv_idle_t handle;
    void (*closed)(void *arg);
    void *closed_arg;
};

enum { APIS = 4 };
static struct fmapi apis[APIS];
static size_t api_count;
#define transport (apis[api_count - 1]) /* the newest */
static uv_loop_t broker_loop;
static char heard[1024];
static unsigned times_closed;

struct fmapi *fmapi_create(uv_loop_t *loop, const struct fmapi_options *options, struct error *err)
{
    if (!options->urls[0]) {
        (void)error_set(err, ERROR_INVALID, "no url");
        return NULL;
    }
    assert_true(api_count < APIS);
    struct fmapi *api = &apis[api_count++];
    memset(api, 0, sizeof *api);
    (void)snprintf(api->first, sizeof api->first, "%s", options->urls[0]);
    api->alive = true;
    uv_idle_init(loop, &api->handle);
    api->handle.data = api;
    return api;
}

static void handle_closed(uv_handle_t *handle)
{
    struct fmapi *api = handle->data;
    api->alive = false;
    api->closed(api->closed_arg);
}

void fmapi_destroy(struct fmapi *api, void (*closed)(void *arg), void *arg)
{
    assert_false(api->closing);
    api->closing = true;
    api->closed = closed;
    api->closed_arg = arg;
    uv_close((uv_handle_t *)&api->handle, handle_closed);
}

void fmapi_login(struct fmapi *api, unsigned url, fmapi_login_fn *done, void *arg)
{
    api->url = url;
    api->login = done;
    api->arg = arg;
}

void fmapi_call(struct fmapi *api, enum fmcall_kind kind, const struct fmcall_about *about,
                fmapi_call_fn *done, void *arg)
{
    api->done = done;
    api->arg = arg;
}

void fmapi_list(struct fmapi *api, fmapi_page_fn *page, fmapi_call_fn *done, void *arg)
{
    api->page = page;
    api->done = done;
    api->arg = arg;
}

void fmapi_counters(const struct fmapi *api, struct fmapi_counters *out)
{
    *out = (struct fmapi_counters){.calls = 42};
}

static struct fabric *fabric;

static void on_step(void *arg, struct core_event *event)
{
    size_t length = strlen(heard), room = sizeof heard - length;
    char *at = heard + length;
    switch (event->kind) {
    case CORE_CALL_DONE:
        (void)snprintf(at, room, "call %llu %s %s (%s); ", (unsigned long long)event->u.call.id,
                       fmcall_outcome_word(event->u.call.outcome),
                       !secret_none(event->u.call.token) ? secret_expose(event->u.call.token) : "-",
                       event->u.call.words ? event->u.call.words : "");
        break;
    case CORE_LOGIN_DONE:
        (void)snprintf(at, room, "login %d (%s); ", event->u.login.ok,
                       event->u.login.words ? event->u.login.words : "");
        break;
    case CORE_LIST_NAMES:
        (void)snprintf(at, room, "names %llu %zu %s; ", (unsigned long long)event->u.names.list,
                       event->u.names.count, event->u.names.names[0]);
        break;
    case CORE_LIST_DONE:
        (void)snprintf(at, room, "list %llu %s (%s); ", (unsigned long long)event->u.list_done.list,
                       fmcall_outcome_word(event->u.list_done.outcome),
                       event->u.list_done.words ? event->u.list_done.words : "");
        break;
    default:
        fail();
    }
}

static int open_fabric(void **state)
{
    struct fmapi_options options = {.urls = {"http://one", "http://two"}};
    struct error err;
    heard[0] = '\0';
    times_closed = 0;
    api_count = 0;
    assert_int_equal(uv_loop_init(&broker_loop), 0);
    fabric = fabric_create(&broker_loop, &options, on_step, NULL, &err);
    assert_non_null(fabric);
    return 0;
}

static void on_closed(void *arg)
{
    times_closed++;
}

static int close_fabric(void **state)
{
    fabric_destroy(fabric, on_closed, NULL);
    (void)uv_run(&broker_loop, UV_RUN_DEFAULT);
    assert_int_equal(times_closed, 1);
    assert_int_equal(uv_loop_close(&broker_loop), 0);
    return 0;
}

static int close_silent_fabric(void **state)
{
    int rc = close_fabric(state);
    assert_string_equal(heard, "");
    return rc;
}

static void reply_of(struct fmapi *api, enum fmcall_outcome outcome, const char *token,
                     const char *words)
{
    struct fmapi_reply r = {.outcome = outcome, .token = secret_of(token), .words = words};
    api->done(api->arg, &r);
}

static void reply(enum fmcall_outcome outcome, const char *token, const char *words)
{
    reply_of(&transport, outcome, token, words);
}

static void turns(void)
{
    for (int i = 0; i < 4; i++)
        (void)uv_run(&broker_loop, UV_RUN_NOWAIT);
}

static uint64_t counted(enum fmcall_kind kind, enum fmcall_outcome outcome)
{
    struct fmapi_counters below;
    fabric_transport(fabric, &below);
    assert_int_equal(below.calls, 42);
    return fabric_counters(fabric)->calls[kind][outcome];
}

static void call(uint64_t id, enum fmcall_kind kind, const char *name, uint32_t addresses)
{
    const struct effect effect = {
        .kind = EFFECT_CALL,
        .u.call = {.id = id, .kind = kind, .about = {.name = name, .addresses = addresses}}};
    fabric_perform(fabric, &effect);
}

static void list(uint64_t id)
{
    const struct effect effect = {.kind = EFFECT_LIST, .u.list.id = id};
    fabric_perform(fabric, &effect);
}

static void login(uint32_t url)
{
    const struct effect effect = {.kind = EFFECT_LOGIN, .u.login.url = url};
    fabric_perform(fabric, &effect);
}

#define FABRIC_TEST(name) UNIT_WITH(name, open_fabric, close_fabric)

FABRIC_TEST(call__comes_back_with_what_came_of_it)
{
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    assert_string_equal(heard, "");
    reply(FM_OK, "secret", "200");
    assert_string_equal(heard, "call 5 ok secret (200); ");
    call(6, FMCALL_RELEASE, "elcap-1", 0);
    reply(FM_TIMEOUT, NULL, "no answer");
    assert_string_equal(heard, "call 5 ok secret (200); call 6 timeout - (no answer); ");
    assert_int_equal(counted(FMCALL_RESERVE, FM_OK), 1);
    assert_int_equal(counted(FMCALL_RELEASE, FM_TIMEOUT), 1);
    assert_int_equal(counted(FMCALL_RELEASE, FM_OK), 0);
    assert_int_equal(fabric_counters(fabric)->times[FMCALL_RESERVE].count, 1);
    assert_int_equal(fabric_counters(fabric)->times[FMCALL_CHECK].count, 0);
}

/* core.h: CORE_CALL_DONE exactly once for each EFFECT_CALL, whatever happens. */
FABRIC_TEST(call_that_cannot_begin__comes_back_once_and_later)
{
    struct error err;
    assert_int_equal(fabric_change(fabric, NULL, &err), 0);
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    call(6, FMCALL_CHECK, "elcap-2", 0);
    assert_string_equal(heard, "");
    for (int i = 0; i < 3; i++)
        (void)uv_run(&broker_loop, UV_RUN_NOWAIT);
    assert_non_null(strstr(heard, "call 5 unreached - (the call could not be started"));
    assert_non_null(strstr(heard, "call 6 unreached - (the call could not be started"));
    assert_int_equal(counted(FMCALL_RESERVE, FM_UNREACHED), 1);
    assert_int_equal(counted(FMCALL_CHECK, FM_UNREACHED), 1);
    assert_int_equal(fabric_counters(fabric)->times[FMCALL_CHECK].count, 0);
}

FABRIC_TEST(list__brings_names_and_one_end)
{
    list(9);
    const char *names[] = {"elcap-1", "elcap-2"};
    transport.page(transport.arg, names, 2);
    reply(FM_OK, NULL, NULL);
    assert_string_equal(heard, "names 9 2 elcap-1; list 9 ok (); ");
    assert_int_equal(counted(FMCALL_NONE, FM_OK), 1);
    assert_int_equal(fabric_counters(fabric)->times[FMCALL_NONE].count, 1);
}

FABRIC_TEST(login__tells_why_not)
{
    login(1);
    assert_int_equal(transport.url, 1);
    transport.login(transport.arg, ERROR_REFUSED, "passwd: others may read it");
    login(0);
    transport.login(transport.arg, 0, NULL);
    assert_string_equal(heard, "login 0 (passwd: others may read it); login 1 (); ");
    assert_int_equal(fabric_counters(fabric)->login_times.count, 2);
}

UNIT_WITH(destroy__says_nothing_of_what_is_under_way, open_fabric, close_silent_fabric)
{
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    struct error err;
    assert_int_equal(fabric_change(fabric, NULL, &err), 0);
    call(6, FMCALL_RESERVE, "elcap-2", 23);
}

UNIT(create__tells_what_the_transport_refuses)
{
    struct fmapi_options options = {0};
    struct error err;
    assert_null(fabric_create(&broker_loop, &options, on_step, NULL, &err));
    assert_string_equal(err.text, "no url");
}

/* ---- reload (F5) ---- */

static void change_to(const char *url, const char *other)
{
    struct fmapi_options options = {.urls = {url, other}};
    struct error err;
    assert_int_equal(fabric_change(fabric, &options, &err), 0);
}

/* What is under way comes back once, from where it went; what begins goes the new way. */
FABRIC_TEST(change__drains_the_old)
{
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    change_to("http://three", NULL);
    call(6, FMCALL_RESERVE, "elcap-2", 23);
    turns();
    assert_true(apis[0].alive);
    reply_of(&apis[1], FM_OK, "new", "200");
    reply_of(&apis[0], FM_OK, "old", "200");
    assert_true(apis[0].alive && !apis[0].closing); /* not from inside its own callback */
    assert_string_equal(heard, "call 6 ok new (200); call 5 ok old (200); ");
    turns();
    assert_false(apis[0].alive);
    assert_true(apis[1].alive);
}

FABRIC_TEST(change__closes_at_once_what_is_idle)
{
    change_to("http://three", NULL);
    turns();
    assert_false(apis[0].alive);
    assert_string_equal(heard, "");
}

FABRIC_TEST(change__keeps_the_url_in_use)
{
    login(1); /* two */
    transport.login(transport.arg, 0, NULL);
    change_to("http://zero", "http://two");
    assert_string_equal(transport.first, "http://two");
    login(0); /* the core's index, of zero */
    assert_int_equal(transport.url, 1);
    transport.login(transport.arg, 0, NULL);
    login(1);
    assert_int_equal(transport.url, 0);
    transport.login(transport.arg, 0, NULL);
    change_to("http://three", NULL);
    assert_string_equal(transport.first, "http://three");
}

/* Its words may have waited for the disk while the list became shorter. */
FABRIC_TEST(login_at_a_former_url__goes_to_the_first)
{
    change_to("http://three", NULL);
    login(1);
    assert_int_equal(transport.url, 0);
    transport.login(transport.arg, 0, NULL);
    assert_string_equal(heard, "login 1 (); ");
}

/* A login at the old one counts for the core as any other, and keeps it alive until then. */
FABRIC_TEST(change__lets_a_login_end)
{
    login(0);
    change_to("http://three", NULL);
    turns();
    assert_true(apis[0].alive);
    apis[0].login(apis[0].arg, ERROR_REFUSED, "no");
    turns();
    assert_false(apis[0].alive);
    assert_string_equal(heard, "login 0 (no); ");
}

FABRIC_TEST(change_to_none__fails_what_comes_and_back)
{
    struct error err;
    assert_int_equal(fabric_change(fabric, NULL, &err), 0);
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    list(9);
    login(0);
    assert_string_equal(heard, "");
    turns();
    assert_non_null(strstr(heard, "call 5 unreached - (the call could not be started: no fabric "));
    assert_non_null(strstr(heard, "list 9 unreached"));
    assert_non_null(strstr(heard, "login 0 (no fabric manager is configured)"));
    assert_false(apis[0].alive);
    heard[0] = '\0';
    change_to("http://one", NULL);
    call(7, FMCALL_RESERVE, "elcap-1", 23);
    reply(FM_OK, "t", "200");
    assert_string_equal(heard, "call 7 ok t (200); ");
}

FABRIC_TEST(refused_change__changes_nothing)
{
    struct fmapi_options options = {0};
    struct error err;
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    assert_int_equal(fabric_change(fabric, &options, &err), ERROR_INVALID);
    assert_string_equal(err.text, "no url");
    turns();
    assert_true(apis[0].alive && !apis[0].closing);
    reply(FM_OK, "t", "200");
    assert_string_equal(heard, "call 5 ok t (200); ");
}

FABRIC_TEST(counters__go_on_over_a_change)
{
    struct fmapi_counters sum;
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    change_to("http://three", NULL);
    fabric_transport(fabric, &sum);
    assert_int_equal(sum.calls, 84);
    reply_of(&apis[0], FM_OK, "t", "200");
    turns();
    fabric_transport(fabric, &sum);
    assert_int_equal(sum.calls, 84);
    assert_int_equal(fabric_counters(fabric)->calls[FMCALL_RESERVE][FM_OK], 1);
}

UNIT_WITH(destroy__closes_what_still_drains, open_fabric, close_silent_fabric)
{
    call(5, FMCALL_RESERVE, "elcap-1", 23);
    change_to("http://three", NULL);
    list(9);
    change_to("http://four", NULL);
    change_to("http://five", NULL); /* four is closing, or about to */
    (void)uv_run(&broker_loop, UV_RUN_NOWAIT);
}

UNIT_RUN(NULL, NULL)
