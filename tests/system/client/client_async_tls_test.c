/* SPDX-License-Identifier: Apache-2.0 */
/* libmcast without waiting, over TLS with the real broker: who asks is known by a certificate, and
 * neither a handshake nor the look-up of a name is waited for. */

#include "client/mcast.h"
#include "secured.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"
#include "watch.h"

#include <poll.h>

enum { DAY_S = 86400, REQUESTS = 100 };

static struct secured stand;
static struct watch watch;

static int open_stand(void **state)
{
    unsetenv("MCAST_CACERT");
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
    unsetenv("MCAST_MUNGE_SOCKET");
    secured_open(&stand, MCASTD, time(NULL) + 2 * DAY_S, false);
    return 0;
}

static int close_stand(void **state)
{
    secured_close(&stand);
    return 0;
}

struct heard {
    unsigned times, good;
    int code;
    char word[48], text[512];
};

static void hear(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    heard->times++;
    heard->good += outcome->code == MCAST_NOT_FOUND; /* said by the broker: there is no such job */
    heard->code = outcome->code;
    snprintf(heard->word, sizeof heard->word, "%s", outcome->error->word);
    snprintf(heard->text, sizeof heard->text, "%s", outcome->error->text);
}

static struct mcast *open_handle(const char *url, bool certificate)
{
    struct mcast *handle = NULL;
    assert_int_equal(mcast_open(&handle, url, NULL), 0);
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    assert_int_equal(mcast_set_timeout(handle, AWAIT_DEADLINE_MS, NULL), 0);
    if (certificate)
        assert_int_equal(mcast_set_certificate(handle, secured_file(&stand, "admin.pem"),
                                               secured_file(&stand, "admin.key"), NULL),
                         0);
    return handle;
}

static struct mcast_async *open_async(const char *url, bool certificate)
{
    struct mcast *handle = open_handle(url, certificate);
    struct mcast_async *async = NULL;
    assert_int_equal(mcast_async_open(&async, handle, 0, NULL), 0);
    mcast_close(handle);
    return async;
}

/* Every call of the library is watched. */
static void begin(struct mcast_async *async, struct heard *heard, uint64_t *number)
{
    watch_begin(&watch);
    int rc = mcast_async_release(async, "elcap", "f1", hear, heard, number, NULL);
    watch_end();
    assert_int_equal(rc, 0);
}

static void turn(struct mcast_async *async)
{
    struct pollfd fd = {.fd = mcast_async_fd(async), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, AWAIT_DEADLINE_MS), 1);
    watch_begin(&watch);
    mcast_async_dispatch(async);
    watch_end();
}

static void close_watched(struct mcast_async *async)
{
    watch_begin(&watch);
    mcast_async_close(async);
    watch_end();
}

static void assert_unwaited(void)
{
    if (watch.waits > 0)
        fail_msg("%u calls could wait, the first was %s", watch.waits, watch.first);
    assert_true(watch.seen > 0);
    watch = (struct watch){0};
}

static void tls__carries_many_at_once(void **state)
{
    struct heard heard = {0};
    struct mcast_async *async = open_async(stand.url, true);
    for (int i = 0; i < REQUESTS; i++)
        begin(async, &heard, NULL);
    while (heard.times < REQUESTS)
        turn(async);
    assert_int_equal(heard.good, REQUESTS);
    close_watched(async);
    assert_unwaited();
}

/* The same verification as in the other form, and the same words. */
static void tls__believes_nobody_who_is_not_named_job(void **state)
{
    struct heard heard = {0};
    struct mcast *handle = NULL;
    struct mcast_async *async = NULL;
    assert_int_equal(mcast_open(&handle, stand.url, NULL), 0);
    assert_int_equal(mcast_async_open(&async, handle, MCAST_PATIENT, NULL), 0);
    mcast_close(handle);
    begin(async, &heard, NULL);
    while (heard.times == 0)
        turn(async);
    assert_int_equal(heard.code, MCAST_UNREACHABLE);
    assert_string_equal(heard.word, "tls");
    assert_non_null(strstr(heard.text, "is not trusted"));
    close_watched(async);
    assert_unwaited();
}

static void tls__without_a_certificate_is_told_why_there_is_no_munge(void **state)
{
    struct heard heard = {0};
    struct mcast_async *async = open_async(stand.url, false);
    begin(async, &heard, NULL);
    while (heard.times == 0)
        turn(async);
    assert_int_equal(heard.code, MCAST_REFUSED);
    assert_non_null(strstr(heard.text, "no MUNGE credential"));
    close_watched(async);
    assert_unwaited();
}

static void munge__missing_is_told_without_waiting(void **state)
{
    struct mcast_async *async = NULL;
    struct mcast_error error;
    struct mcast *handle = open_handle(stand.url, false);
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_ALWAYS, stand.munge, NULL), 0);
    assert_int_equal(mcast_async_open(&async, handle, 0, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "client certificate"));
    mcast_close(handle);
    handle = open_handle(stand.socket, false); /* the kernel proves the uid, munged is not asked */
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_ALWAYS, stand.munge, NULL), 0);
    assert_int_equal(mcast_async_open(&async, handle, 0, &error), 0);
    mcast_async_close(async);
    mcast_close(handle);
}

static bool look_up_is_held(void *arg)
{
    struct pollfd fd = {.fd = mcast_async_fd(arg), .events = POLLIN};
    if (poll(&fd, 1, 0) > 0)
        turn(arg);
    return watch_held() > 0;
}

static bool none_is_held(void *arg)
{
    return watch_held() == 0;
}

/* The name's look-up lasts; neither giving the request up nor closing waits for its end, and
 * another handle's requests are answered meanwhile. */
static void name__whose_look_up_hangs_holds_up_nobody(void **state)
{
    char url[64];
    struct heard heard = {0}, other = {0};
    uint64_t number = 0;
    snprintf(url, sizeof url, "https://broker.example:%s", strrchr(stand.url, ':') + 1);
    struct mcast_async *async = open_async(url, true), *well = open_async(stand.url, true);
    watch_hold("broker.example");
    begin(async, &heard, &number);
    assert_true(await(look_up_is_held, async, AWAIT_DEADLINE_MS));
    begin(well, &other, NULL);
    while (other.times == 0)
        turn(well);
    assert_int_equal(other.good, 1);
    watch_begin(&watch);
    bool cancelled = mcast_async_cancel(async, number);
    watch_end();
    assert_true(cancelled);
    assert_int_equal(heard.code, MCAST_STOPPED);
    begin(async, &heard, NULL);
    mcast_async_set_timeout(async, 1, NULL);
    begin(async, &heard, NULL); /* its time is over before the name is known */
    while (heard.times < 2)
        turn(async);
    assert_int_equal(heard.code, MCAST_UNREACHABLE);
    close_watched(async);
    close_watched(well);
    assert_int_equal(heard.times, 3);
    assert_unwaited();
    watch_let_go();
    assert_true(await(none_is_held, NULL, AWAIT_DEADLINE_MS));
}

/* It is found after all: at 127.0.0.1, whose certificate is made out to another name. */
static void name__is_looked_up_by_somebody_else(void **state)
{
    char url[64];
    struct heard heard = {0};
    snprintf(url, sizeof url, "https://broker.example:%s", strrchr(stand.url, ':') + 1);
    struct mcast_async *async = open_async(url, true);
    watch_hold("broker.example");
    begin(async, &heard, NULL);
    assert_true(await(look_up_is_held, async, AWAIT_DEADLINE_MS));
    watch_let_go();
    while (heard.times == 0)
        turn(async);
    assert_int_equal(heard.code, MCAST_UNREACHABLE);
    if (strcmp(heard.word, "tls") == 0)
        assert_non_null(strstr(heard.text, "another name"));
    else
        fail_msg("%s: %s", heard.word, heard.text);
    close_watched(async);
    watch = (struct watch){0}; /* libcurl joins the thread that has found it, and is over */
}

UNIT_GROUP(open_stand, close_stand, cmocka_unit_test(tls__carries_many_at_once),
           cmocka_unit_test(tls__believes_nobody_who_is_not_named_job),
           cmocka_unit_test(tls__without_a_certificate_is_told_why_there_is_no_munge),
           cmocka_unit_test(munge__missing_is_told_without_waiting),
           cmocka_unit_test(name__whose_look_up_hangs_holds_up_nobody),
           cmocka_unit_test(name__is_looked_up_by_somebody_else))
