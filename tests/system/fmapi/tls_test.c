/* SPDX-License-Identifier: Apache-2.0 */

#include "fmapi/login/loginfiles.h"
#include "tests/system/fmapi/authority.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

static void be_good(void *arg, const struct scriptedserver_request *request,
                    struct scriptedserver_answer *answer)
{
    answer->body = scriptedserver_text("{\"sessionToken\":\"tok-1\"}");
}

struct scene {
    struct authority own, other;
    struct scriptedserver *scriptedserver;
};

static void scene_init(struct scene *scene, const char *name)
{
    authority_init(&scene->own, name);
    authority_init(&scene->other, name);
    scene->scriptedserver = scriptedserver_create(&(struct scriptedserver_options){
        .script = be_good, .tls_cert = scene->own.cert, .tls_key = scene->own.key});
}

static void scene_release(struct scene *scene)
{
    scriptedserver_destroy(scene->scriptedserver);
    authority_release(&scene->own);
    authority_release(&scene->other);
}

/* Two calls, the second on the kept connection. */
static struct landing talk(const struct scene *scene, const char *ca, int verify)
{
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    struct apiclient apiclient;
    options.ca = ca;
    options.verify = verify;
    apiclient_init(&apiclient, &options);
    (void)apiclient_call(&apiclient, FMCALL_RESERVE, "c-1");
    struct landing landing = apiclient_call(&apiclient, FMCALL_RESERVE, "c-2");
    apiclient_release(&apiclient);
    return landing;
}

static void tls__trusts_the_authority_it_is_told(void **state)
{
    struct scene scene;
    scene_init(&scene, "IP:127.0.0.1");
    assert_int_equal(talk(&scene, scene.own.cert, 1).outcome, FM_OK);
    assert_int_equal(scriptedserver_connections(scene.scriptedserver), 1);
    assert_int_equal(talk(&scene, scene.own.folder, 1).outcome, FM_OK);
    scene_release(&scene);
}

static void tls__refuses_unknown_authorities(void **state)
{
    struct scene scene;
    scene_init(&scene, "IP:127.0.0.1");
    const char *const wrong[] = {NULL, scene.other.cert, scene.other.folder};
    for (size_t i = 0; i < 3; i++) {
        struct landing landing = talk(&scene, wrong[i], 1);
        assert_int_equal(landing.outcome, FM_UNREACHED);
        assert_non_null(strstr(landing.words, "certificate"));
        assert_non_null(strstr(landing.words, "set [fm] ca to the certificate of the authority"));
    }
    struct landing landing = talk(&scene, "/nonexistent/ca.pem", 1);
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_non_null(strstr(landing.words, "/nonexistent/ca.pem"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);
    scene_release(&scene);
}

static void tls__refuses_another_hosts_certificate(void **state)
{
    struct scene scene;
    scene_init(&scene, "DNS:elsewhere");
    struct landing landing = talk(&scene, scene.own.cert, 1);
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_non_null(strstr(landing.words, "its certificate is for another name: set [fm] url"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);
    assert_int_equal(talk(&scene, NULL, 0).outcome, FM_OK); /* verify = no */
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 2);
    scene_release(&scene);
}

/* The server's is out of its time: the words say which way, and what to look at. */
static void tls__refuses_certificates_out_of_their_time(void **state)
{
    static const struct {
        long from_s, until_s;
        const char *words;
    } cases[] = {{-7200, -3600, "renew the server's certificate, or set this host's clock right"},
                 {3600, 7200, "set this host's clock or the server's right"}};
    for (size_t i = 0; i < 2; i++) {
        struct authority leaf;
        struct scene scene;
        scene_init(&scene, "IP:127.0.0.1");
        authority_issue(&leaf, "IP:127.0.0.1", &scene.own, cases[i].from_s, cases[i].until_s);
        scriptedserver_show(scene.scriptedserver, leaf.cert, leaf.key);
        struct landing landing = talk(&scene, scene.own.cert, 1);
        assert_int_equal(landing.outcome, FM_UNREACHED);
        assert_non_null(strstr(landing.words, cases[i].words));
        authority_release(&leaf);
        scene_release(&scene);
    }
}

static void tls__says_that_the_authority_cannot_be_read(void **state)
{
    struct scene scene;
    scene_init(&scene, "IP:127.0.0.1");
    FILE *file = fopen(scene.other.cert, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    struct landing landing = talk(&scene, scene.other.cert, 1);
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_non_null(strstr(landing.words, scene.other.cert));
    assert_non_null(strstr(landing.words, "[fm] ca must be a file of PEM certificates"));
    scene_release(&scene);
}

static void be_good_once(void *arg, const struct scriptedserver_request *request,
                         struct scriptedserver_answer *answer)
{
    be_good(arg, request, answer);
    answer->close = true;
}

struct rotation {
    struct apiclient apiclient;
    bool in_flight;
    struct landing landing;
};

/* Another call when the last one ended otherwise. */
static bool call_is_good(void *arg)
{
    struct rotation *rotation = arg;
    if (rotation->landing.times > 0 && rotation->landing.outcome == FM_OK)
        return true;
    if (rotation->landing.times > 0 || !rotation->in_flight) {
        rotation->landing = (struct landing){0};
        rotation->in_flight = true;
        apiclient_start(&rotation->apiclient, FMCALL_RESERVE, "c-1", &rotation->landing);
    }
    return false;
}

/* The authority's file is overwritten: no reload is needed, nor the day that libcurl would take. */
static void tls__takes_a_rotated_authority(void **state)
{
    struct authority old, new;
    struct rotation rotation = {0};
    authority_init(&old, "IP:127.0.0.1");
    authority_init(&new, "IP:127.0.0.1");
    struct scriptedserver *scriptedserver = scriptedserver_create(&(struct scriptedserver_options){
        .script = be_good_once, .tls_cert = old.cert, .tls_key = old.key});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    options.ca = old.hashed; /* a copy, so that the server's own is not overwritten */
    apiclient_init(&rotation.apiclient, &options);
    assert_int_equal(apiclient_call(&rotation.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    scriptedserver_await_closed(
        scriptedserver); /* or the next call may go out just before: FM_BROKEN */

    scriptedserver_show(scriptedserver, new.cert, new.key);
    assert_int_equal(apiclient_call(&rotation.apiclient, FMCALL_RESERVE, "c-1").outcome,
                     FM_UNREACHED);
    assert_int_equal(apiclient_counters(&rotation.apiclient).tls_errors, 1);
    assert_int_equal(rename(new.hashed, old.hashed), 0);
    apiclient_await_that(&rotation.apiclient, call_is_good, &rotation);
    apiclient_release(&rotation.apiclient);
    scriptedserver_destroy(scriptedserver);
    authority_release(&old);
    authority_release(&new);
}

static void authorities__change_with_their_file(void **state)
{
    struct authority first, next;
    authority_init(&first, "IP:127.0.0.1");
    authority_init(&next, "IP:127.0.0.1");
    assert_true(authorities_changed(&(struct authorities){0}, first.cert));
    struct authorities known = authorities_read(first.cert);
    assert_non_null(known.store);
    assert_false(authorities_changed(&known, first.cert));
    authority_overwrite(&first, &next);
    assert_true(authorities_changed(&known, first.cert));
    authorities_release(&known);

    known = authorities_read("/proc/self/exe"); /* libcurl says why, in its words */
    assert_null(known.store);
    assert_false(authorities_changed(&known, "/proc/self/exe"));
    authority_release(&next);
    authority_release(&first);
}

/* The request cannot leave before the handshake is done. */
static void tls__is_unreached_when_the_handshake_fails(void **state)
{
    char url[64];
    struct scriptedserver *plain =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good});
    (void)snprintf(url, sizeof url, "https%s", scriptedserver_url(plain) + strlen("http"));
    struct fmapi_options options = apiclient_options(url);
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);
    struct landing landing = apiclient_call(&apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_non_null(strstr(landing.words, "is it http there"));
    apiclient_release(&apiclient);
    scriptedserver_destroy(plain);
}

static void tls__is_unreached_when_the_handshake_takes_too_long(void **state)
{
    char url[64];
    struct scriptedserver *mute =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good, .mute = true});
    (void)snprintf(url, sizeof url, "https%s", scriptedserver_url(mute) + strlen("http"));
    struct fmapi_options options = apiclient_options(url);
    struct apiclient apiclient;
    options.timeout_ms = 100;
    apiclient_init(&apiclient, &options);
    assert_int_equal(apiclient_call(&apiclient, FMCALL_RESERVE, "c-1").outcome, FM_UNREACHED);
    apiclient_release(&apiclient);
    scriptedserver_destroy(mute);
}

UNIT_GROUP(apiclient_prepare, NULL, cmocka_unit_test(tls__trusts_the_authority_it_is_told),
           cmocka_unit_test(tls__refuses_unknown_authorities),
           cmocka_unit_test(tls__refuses_another_hosts_certificate),
           cmocka_unit_test(tls__refuses_certificates_out_of_their_time),
           cmocka_unit_test(tls__says_that_the_authority_cannot_be_read),
           cmocka_unit_test(tls__takes_a_rotated_authority),
           cmocka_unit_test(authorities__change_with_their_file),
           cmocka_unit_test(tls__is_unreached_when_the_handshake_fails),
           cmocka_unit_test(tls__is_unreached_when_the_handshake_takes_too_long))
