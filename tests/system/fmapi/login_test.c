/* SPDX-License-Identifier: Apache-2.0 */

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/system/fmapi/blockedworkers.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* base64 of "cxi:fm-passw0rd" and of "cxi:second" */
#define FIRST "\r\nAuthorization: Basic Y3hpOmZtLXBhc3N3MHJk\r\n"
#define SECOND "\r\nAuthorization: Basic Y3hpOnNlY29uZA==\r\n"

/* A fabric manager that takes one login. */
struct guard {
    const char *wanted;
    int refusal;
    unsigned refused;
};

static void ask_login(void *arg, const struct scriptedserver_request *request,
                      struct scriptedserver_answer *answer)
{
    struct guard *guard = arg;
    if (!strstr(request->head, guard->wanted)) {
        guard->refused++;
        answer->status = guard->refusal;
        answer->body = scriptedserver_text("{\"message\":\"who are you?\"}");
        answer->header = "WWW-Authenticate: Basic realm=\"fm\"";
    } else {
        answer->body = scriptedserver_text(
            "{\"sessionToken\":\"tok-1\",\"documentLinks\":[\"/j/c-1\",\"/j/c-2\"]}");
    }
}

struct scene {
    char folder[64];
    char file[96];
    struct guard guard;
    struct scriptedserver *scriptedserver;
    struct apiclient apiclient;
};

static void put_password(const struct scene *scene, const char *password, mode_t mode)
{
    FILE *file = fopen(scene->file, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", password) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(scene->file, mode), 0);
}

static void scene_init(struct scene *scene, const char *wanted, unsigned gathering)
{
    *scene = (struct scene){.guard = {.wanted = wanted, .refusal = 401}};
    (void)snprintf(scene->folder, sizeof scene->folder, "/tmp/mcast-login-XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
    (void)snprintf(scene->file, sizeof scene->file, "%s/passwd", scene->folder);
    put_password(scene, "fm-passw0rd", 0600);
    scene->scriptedserver = scriptedserver_create(&(struct scriptedserver_options){
        .script = ask_login, .arg = &scene->guard, .gathering = gathering});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    options.auth = FMAPI_AUTH_BASIC;
    options.authdir = scene->folder;
    apiclient_init(&scene->apiclient, &options);
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    scriptedserver_destroy(scene->scriptedserver);
    (void)unlink(scene->file);
    (void)rmdir(scene->folder);
}

/* F13: sent from the start, not after a 401. */
static void login__is_sent_at_once(void **state)
{
    struct scene scene;
    scene_init(&scene, FIRST, 0);
    struct landing login = apiclient_login(&scene.apiclient);
    assert_int_equal(login.code, 0);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1").outcome, FM_OK);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 2);
    assert_int_equal(scene.guard.refused, 0);
    scene_release(&scene);
}

static void login__refuses_a_file_that_others_can_read(void **state)
{
    struct scene scene;
    char words[300];
    scene_init(&scene, FIRST, 0);
    put_password(&scene, "fm-passw0rd", 0644);
    (void)snprintf(words, sizeof words, "%s can be read by others: chmod 0600 %s", scene.file,
                   scene.file);

    struct landing login = apiclient_login(&scene.apiclient);
    assert_int_equal(login.code, ERROR_REFUSED);
    assert_string_equal(login.words, words);

    /* And nothing is sent without a login. */
    struct landing call = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(call.outcome, FM_UNAUTHORIZED);
    assert_string_equal(call.words, words);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);

    put_password(&scene, "fm-passw0rd", 0600);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    scene_release(&scene);
}

static void login__is_made_by_the_first_call(void **state)
{
    struct scene scene;
    scene_init(&scene, FIRST, 0);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_CHECK, "c-1").outcome, FM_OK);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 1);
    scene_release(&scene);
}

/* 401 and 403 renew the login once; calls that were refused together go again. */
static void login__is_renewed_when_refused(void **state)
{
    struct scene scene;
    struct landing landings[4] = {0};
    scene_init(&scene, SECOND, 4);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    put_password(&scene, "second", 0600);
    scene.guard.refusal = 403;

    for (size_t i = 0; i < 4; i++)
        apiclient_start(&scene.apiclient, FMCALL_RESERVE, "c-1", &landings[i]);
    for (size_t i = 0; i < 4; i++) {
        apiclient_await(&scene.apiclient, &landings[i]);
        assert_int_equal(landings[i].outcome, FM_OK);
    }
    assert_int_equal(scene.guard.refused, 4);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 8);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    assert_int_equal(scene.guard.refused, 4);
    scene_release(&scene);
}

static void login__is_not_tried_again_in_vain(void **state)
{
    struct scene scene;
    scene_init(&scene, SECOND, 0);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    struct landing same = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(same.outcome, FM_UNAUTHORIZED);
    assert_int_equal(same.status, 401);
    assert_string_equal(same.words, "HTTP 401: who are you?");
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 1);

    put_password(&scene, "third", 0600); /* another one, as wrong: one more attempt, not two */
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome,
                     FM_UNAUTHORIZED);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 3);
    scene_release(&scene);
}

static void login__says_why_it_cannot_be_renewed(void **state)
{
    struct scene scene;
    scene_init(&scene, SECOND, 0);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    assert_int_equal(unlink(scene.file), 0);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1");
    assert_int_equal(landing.outcome, FM_UNAUTHORIZED);
    assert_non_null(strstr(landing.words, "/passwd: No such file or directory"));

    /* The login in force stays. */
    scene.guard.wanted = FIRST;
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1").outcome, FM_OK);
    scene_release(&scene);
}

static void count_names(void *arg, const char *const *names, size_t count)
{
    *(size_t *)arg += count;
}

struct listing {
    size_t names; /* first: page gets the same pointer */
    struct landing landing;
};

static void end_listing(void *arg, const struct fmapi_reply *reply)
{
    apiclient_land(&((struct listing *)arg)->landing, reply);
}

static void login__is_renewed_for_the_list(void **state)
{
    struct scene scene;
    struct listing listing = {0};
    scene_init(&scene, SECOND, 0);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    put_password(&scene, "second", 0600);
    fmapi_list(scene.apiclient.api, count_names, end_listing, &listing);
    apiclient_await(&scene.apiclient, &listing.landing);
    assert_int_equal(listing.landing.outcome, FM_OK);
    assert_int_equal(listing.names, 2);
    scene_release(&scene);
}

/* A gateway that says what it was asked: the login must not come back in words that people read. */
static void quote_back(void *arg, const struct scriptedserver_request *request,
                       struct scriptedserver_answer *answer)
{
    const char *login = strstr(request->head, "Basic ");
    int length = login ? (int)strcspn(login, "\r") : 0;
    answer->status = *(const int *)arg;
    answer->body = scriptedserver_text(
        "{\"message\":\"%.*s is cxi:fm-passw0rd\",\"detail\":\"got %.*s\"}", length,
        login ? login : "", length > 6 ? length - 6 : 0, length > 6 ? login + 6 : "");
}

static void login__is_not_quoted_in_words(void **state)
{
    int status = 400;
    struct scene scene;
    struct listing listing = {0};
    scene_init(&scene, FIRST, 0);
    apiclient_release(&scene.apiclient);
    scriptedserver_destroy(scene.scriptedserver);
    scene.scriptedserver = scriptedserver_create(
        &(struct scriptedserver_options){.script = quote_back, .arg = &status});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene.scriptedserver));
    options.auth = FMAPI_AUTH_BASIC;
    options.authdir = scene.folder;
    apiclient_init(&scene.apiclient, &options);

    static const enum fmcall_kind kinds[] = {FMCALL_RESERVE, FMCALL_CHECK, FMCALL_RELEASE};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(apiclient_call(&scene.apiclient, kinds[i], "c-1").words,
                            "HTTP 400: Basic *** is cxi:*** (got ***)");
    status = 401; /* refused, kept while the login is renewed, and renewed in vain */
    assert_string_equal(apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1").words,
                        "HTTP 401: Basic *** is cxi:*** (got ***)");
    fmapi_list(scene.apiclient.api, count_names, end_listing, &listing);
    apiclient_await(&scene.apiclient, &listing.landing);
    assert_string_equal(listing.landing.words, "HTTP 401: Basic *** is cxi:*** (got ***)");
    scene_release(&scene);
}

static void login__gives_up_files_that_do_not_come(void **state)
{
    struct scene scene;
    struct blockedworkers blockedworkers;
    scene_init(&scene, FIRST, 0);
    apiclient_release(&scene.apiclient);
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene.scriptedserver));
    options.auth = FMAPI_AUTH_BASIC;
    options.authdir = scene.folder;
    options.timeout_ms = 5000; /* the last login needs time on a busy machine */
    apiclient_init(&scene.apiclient, &options);
    blockedworkers_begin(&blockedworkers, &scene.apiclient);

    struct landing call = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(call.outcome, FM_UNREACHED);
    assert_non_null(strstr(call.words, ": not sent: the files of the login in /tmp/mcast-login-"));
    struct landing login = apiclient_login(&scene.apiclient);
    assert_int_equal(login.code, ERROR_IO);
    assert_non_null(strstr(login.words, " could not be read in time"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);

    blockedworkers_end(&blockedworkers, &scene.apiclient);
    assert_int_equal(apiclient_login(&scene.apiclient).code, 0);
    scene_release(&scene);
}

static void destroy__ends_a_renewal(void **state)
{
    struct scene scene;
    struct landing login = {0};
    struct landing call = {0};
    scene_init(&scene, FIRST, 0);
    apiclient_start_login(&scene.apiclient, &login);
    apiclient_start(&scene.apiclient, FMCALL_RESERVE, "c-1", &call); /* waits for the same login */
    scene_release(&scene);
    assert_int_equal(login.times, 0);
    assert_int_equal(call.times, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(login__is_sent_at_once),
        cmocka_unit_test(login__refuses_a_file_that_others_can_read),
        cmocka_unit_test(login__is_made_by_the_first_call),
        cmocka_unit_test(login__is_renewed_when_refused),
        cmocka_unit_test(login__is_not_tried_again_in_vain),
        cmocka_unit_test(login__says_why_it_cannot_be_renewed),
        cmocka_unit_test(login__is_renewed_for_the_list),
        cmocka_unit_test(login__is_not_quoted_in_words),
        cmocka_unit_test(login__gives_up_files_that_do_not_come),
        cmocka_unit_test(destroy__ends_a_renewal),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    blockedworkers_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
