/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/system/fmapi/issuer.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* Two fabric managers of one fabric, active and standby, and one token endpoint. */

enum { FIRST, SECOND, PLACES };

struct place {
    const char *token;   /* that its sessions get */
    atomic_uint oldest;  /* access tokens from this number on are good */
    atomic_uint refused; /* calls */
};

static void answer_call(void *arg, const struct scriptedserver_request *request,
                        struct scriptedserver_answer *answer)
{
    struct place *place = arg;
    if (issuer_number(request->head) < place->oldest) {
        place->refused++;
        answer->status = 401;
        return;
    }
    answer->body = scriptedserver_text("{\"sessionToken\":\"%s\"}", place->token);
}

struct scene {
    struct place places[PLACES];
    struct scriptedserver *puppets[PLACES];
    struct issuer issuer;
    struct apiclient apiclient;
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){
        .places = {{.token = "first", .oldest = 1}, {.token = "second", .oldest = 1}}};
    issuer_init(&scene->issuer, &(struct scriptedserver_options){0});
    for (size_t i = 0; i < PLACES; i++)
        scene->puppets[i] = scriptedserver_create(
            &(struct scriptedserver_options){.script = answer_call, .arg = &scene->places[i]});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->puppets[FIRST]));
    options.urls[SECOND] = scriptedserver_url(scene->puppets[SECOND]);
    options.auth = FMAPI_AUTH_OAUTH;
    options.authdir = scene->issuer.folder;
    apiclient_init(&scene->apiclient, &options);
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    for (size_t i = 0; i < PLACES; i++)
        scriptedserver_destroy(scene->puppets[i]);
    issuer_release(&scene->issuer);
}

static void call_gets(struct scene *scene, const char *token)
{
    struct landing landing = apiclient_call(&scene->apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_OK);
    assert_string_equal(landing.token, token);
}

/* One endpoint for all: its token is good at each of them, and kept connections stay. */
static void urls__share_the_login_and_keep_their_connections(void **state)
{
    struct scene scene;
    scene_init(&scene);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(apiclient_login_at(&scene.apiclient, FIRST).code, 0);
        call_gets(&scene, "first");
        assert_int_equal(apiclient_login_at(&scene.apiclient, SECOND).code, 0);
        call_gets(&scene, "second");
    }
    assert_int_equal(issuer_requests(&scene.issuer), 1);
    assert_int_equal(scriptedserver_connections(scene.puppets[FIRST]), 1);
    assert_int_equal(scriptedserver_connections(scene.puppets[SECOND]), 1);
    scene_release(&scene);
}

/* What is under way stays where it is, also when it has to log in again for that. */
static void urls__let_calls_end_where_they_began(void **state)
{
    struct scene scene;
    struct landing early[2] = {0};
    scene_init(&scene);
    assert_int_equal(apiclient_login_at(&scene.apiclient, FIRST).code, 0);
    scriptedserver_gather(scene.puppets[FIRST], 3); /* two wait until we come back */
    scene.places[FIRST].oldest = scene.places[SECOND].oldest = 2;
    for (size_t i = 0; i < 2; i++)
        apiclient_start(&scene.apiclient, FMCALL_RESERVE, "c-1", &early[i]);

    assert_int_equal(apiclient_login_at(&scene.apiclient, SECOND).code, 0);
    call_gets(&scene, "second"); /* has the login renewed, before the two learn that they need it */
    assert_int_equal(early[0].times + early[1].times, 0);

    assert_int_equal(apiclient_login_at(&scene.apiclient, FIRST).code, 0);
    call_gets(&scene, "first");
    for (size_t i = 0; i < 2; i++) {
        apiclient_await(&scene.apiclient, &early[i]);
        assert_int_equal(early[i].outcome, FM_OK);
        assert_string_equal(early[i].token, "first");
    }
    assert_int_equal(scene.places[FIRST].refused, 2);
    assert_int_equal(scriptedserver_requests(scene.puppets[FIRST]), 5);
    assert_int_equal(scriptedserver_requests(scene.puppets[SECOND]), 2);
    assert_int_equal(issuer_requests(&scene.issuer), 2);
    scene_release(&scene);
}

static void urls__leave_a_dead_one_behind(void **state)
{
    struct scene scene;
    scene_init(&scene);
    scriptedserver_refuse(scene.puppets[FIRST]);
    assert_int_equal(apiclient_login_at(&scene.apiclient, FIRST).code, 0);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_UNREACHED);
    assert_int_equal(apiclient_login_at(&scene.apiclient, SECOND).code, 0);
    call_gets(&scene, "second");
    assert_int_equal(issuer_requests(&scene.issuer), 1);
    scene_release(&scene);
}

UNIT_GROUP(apiclient_prepare, NULL,
           cmocka_unit_test(urls__share_the_login_and_keep_their_connections),
           cmocka_unit_test(urls__let_calls_end_where_they_began),
           cmocka_unit_test(urls__leave_a_dead_one_behind))
