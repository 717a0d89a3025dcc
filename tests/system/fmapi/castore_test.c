/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <uv.h>

#include "fmapi/login/castore.h"
#include "tests/system/fmapi/authority.h"
#include "tests/system/rig/await.h"

/* Authorities are read on a thread, once for each time that the file changes (G11). */

struct desk {
    uv_loop_t loop;
    struct castore *castore;
    unsigned readings; /* that have ended */
    bool closed;
};

static void on_ready(void *arg)
{
    ((struct desk *)arg)->readings++;
}

static void on_closed(void *arg)
{
    ((struct desk *)arg)->closed = true;
}

static void desk_init(struct desk *desk, const char *ca)
{
    *desk = (struct desk){0};
    assert_int_equal(uv_loop_init(&desk->loop), 0);
    desk->castore = castore_create(&desk->loop, ca, on_ready, desk);
    assert_non_null(desk->castore);
}

static void desk_release(struct desk *desk)
{
    castore_destroy(desk->castore, on_closed, desk);
    while (!desk->closed)
        (void)uv_run(&desk->loop, UV_RUN_ONCE);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
}

static void await_reading(struct desk *desk)
{
    const unsigned before = desk->readings;
    assert_false(castore_await(desk->castore));
    assert_false(castore_await(desk->castore)); /* still the same */
    while (desk->readings == before)
        (void)uv_run(&desk->loop, UV_RUN_ONCE);
    assert_int_equal(desk->readings, before + 1);
    assert_true(castore_await(desk->castore));
}

static unsigned authorities(struct desk *desk)
{
    X509_STORE *store = castore_get(desk->castore);
    if (!store)
        return 0;
    const unsigned count = (unsigned)sk_X509_OBJECT_num(X509_STORE_get0_objects(store));
    X509_STORE_free(store);
    return count;
}

static void store__is_read_once(void **state)
{
    (void)state;
    struct authority authority;
    struct desk desk;
    authority_init(&authority, "IP:127.0.0.1");
    desk_init(&desk, authority.cert);
    assert_int_equal(authorities(&desk), 0); /* not from here */
    await_reading(&desk);
    assert_int_equal(authorities(&desk), 1);
    desk_release(&desk);
    authority_release(&authority);
}

static bool has(X509_STORE *store, const struct authority *authority)
{
    FILE *file = fopen(authority->cert, "re");
    assert_non_null(file);
    X509 *cert = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    assert_non_null(cert);
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
    bool found = false;
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++)
        found |= X509_cmp(X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i)), cert) == 0;
    X509_free(cert);
    return found;
}

static bool is_stale(void *arg)
{
    struct desk *desk = arg;
    uv_update_time(&desk->loop);
    return !castore_await(desk->castore);
}

static void store__is_read_again_when_the_file_is_another(void **state)
{
    (void)state;
    struct authority authority, first_made, next;
    struct desk desk;
    authority_init(&first_made, "IP:127.0.0.1");
    authority_init(&authority, "IP:127.0.0.1");
    authority_init(&next, "IP:127.0.0.1");
    desk_init(&desk, authority.cert);
    await_reading(&desk);
    X509_STORE *first = castore_get(desk.castore); /* a connection's that is being made */
    authority_overwrite(&first_made, &authority);
    authority_overwrite(&authority, &next);
    assert_true(await(is_stale, &desk, AWAIT_DEADLINE_MS));
    await_reading(&desk);
    X509_STORE *second = castore_get(desk.castore);
    assert_true(has(first, &first_made) && !has(first, &next));
    assert_true(has(second, &next) && !has(second, &first_made));
    X509_STORE_free(first);
    X509_STORE_free(second);
    desk_release(&desk);
    authority_release(&next);
    authority_release(&first_made);
    authority_release(&authority);
}

/* libcurl says why, in its words. */
static void store__that_cannot_be_read_is_none(void **state)
{
    (void)state;
    struct desk desk;
    desk_init(&desk, "/nowhere/ca.pem");
    await_reading(&desk);
    assert_null(castore_get(desk.castore));
    desk_release(&desk);
    desk_init(&desk, "/proc/self/exe");
    await_reading(&desk);
    assert_null(castore_get(desk.castore));
    desk_release(&desk);
}

static void destroy__waits_for_the_thread(void **state)
{
    (void)state;
    struct authority authority;
    struct desk desk;
    authority_init(&authority, "IP:127.0.0.1");
    desk_init(&desk, authority.cert);
    assert_false(castore_await(desk.castore));
    desk_release(&desk);
    assert_int_equal(desk.readings, 0);
    authority_release(&authority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store__is_read_once),
        cmocka_unit_test(store__is_read_again_when_the_file_is_another),
        cmocka_unit_test(store__that_cannot_be_read_is_none),
        cmocka_unit_test(destroy__waits_for_the_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
