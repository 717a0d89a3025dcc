/* SPDX-License-Identifier: Apache-2.0 */

#include <unistd.h>

#include "tests/system/fmapi/authority.h"
#include "tests/system/fmapi/issuer.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* No secret in any words that fmapi says, whatever servers quote back and however they fail: all
 * words are searched for all secrets (tokens and OAuth answers in logs; B8). */

#define PASSWORD "fm-passw0rd"
#define BASIC "Y3hpOmZtLXBhc3N3MHJk" /* base64 of "cxi:fm-passw0rd" */
#define SESSION "s3ssion-t0ken"

static const char *const secrets[] = {PASSWORD,       BASIC,        ISSUER_SECRET,
                                      ISSUER_ENCODED, ISSUER_TOKEN, SESSION};

static unsigned searched;

static void search(const char *words)
{
    searched++;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        if (strstr(words, secrets[i]))
            fail_msg("%s", words);
}

/* Text as it stands in a JSON string. To be freed. */
static char *quoted(const char *text)
{
    char *out = calloc(2 * strlen(text) + 1, 1);
    size_t length = 0;
    assert_non_null(out);
    for (; *text != '\0'; text++) {
        char escape = *text == '\r' ? 'r' : *text == '\n' ? 'n' : *text;
        if (strchr("\r\n\"\\", *text))
            out[length++] = '\\';
        out[length++] = escape;
    }
    return out;
}

/* What the head carries to log in, without the word before it, by which it is easily found. */
static const char *bare_login(const char *head)
{
    if (strstr(head, "Authorization: Basic "))
        return "cxi:" PASSWORD " " BASIC "== " BASIC;
    if (strstr(head, "Authorization: Bearer " SESSION))
        return SESSION;
    return strstr(head, "Authorization: Bearer ") ? ISSUER_TOKEN : "nothing";
}

/* The template with each @ replaced by text, each $ by login. From malloc. */
static char *filled(const char *template, const char *text, const char *login)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    for (; *template != '\0'; template ++) {
        const char piece[] = {*template, '\0'};
        (void)fputs(*template == '@' ? text : *template == '$' ? login : piece, stream);
    }
    assert_int_equal(fclose(stream), 0);
    return out;
}

/* What a server answers; @ is what it was asked, $ who asked. */
static const char *const quotes[] = {
    "{\"message\":\"@\",\"detail\":\"@\"}",
    "{\"detail\":\"you said @\",\"sessionToken\":\"" SESSION "\",\"message\":\"" SESSION "\"}",
    "{\"error\":\"@\",\"error_description\":\"@\"}",
    "{\"error\":\"invalid_client\",\"error_description\":\"client_secret: @\"}",
    "{\"access_token\":\"" ISSUER_TOKEN "\",\"error\":\"" ISSUER_TOKEN "\",\"error_description\":"
    "\"for " ISSUER_SECRET ": access_token=" ISSUER_TOKEN " or " ISSUER_ENCODED "\"}",
    "{\"access_token\":\"" ISSUER_TOKEN " " ISSUER_SECRET "\",\"token_type\":\"bearer\"}",
    "{\"access_token\":\"" ISSUER_TOKEN "\",\"token_type\":\"" ISSUER_TOKEN "@\"}",
    "{\"access_token\":[\"" ISSUER_TOKEN "\"],\"documentLinks\":[],\"documentCount\":-1}",
    "{\"sessionToken\":\"" SESSION " " SESSION "\",\"documentLinks\":\"" SESSION "\"}",
    "{\"documentLinks\":[\"" SESSION "\",1],\"nextPageLink\":\"http://" SESSION "/\"}",
    "{\"message\":\"$\",\"detail\":\"in words: $, $\",\"error\":\"$\"}",
    "<html>@ " SESSION "</html>",
    "@",
};
enum { QUOTES = sizeof quotes / sizeof quotes[0] };

static const int statuses[] = {200, 201, 302, 400, 401, 403, 404, 409, 429, 500, 503, 507};
enum { STATUSES = sizeof statuses / sizeof statuses[0] };

struct scene {
    struct issuer issuer;
    char passwd[96];
    struct scriptedserver *scriptedserver;
    struct apiclient apiclient;
    bool issuer_is_good;
    size_t quote, status;
    int fault;
};

/* Both servers: the path tells which is meant. */
static void quote_back(void *arg, const struct scriptedserver_request *request,
                       struct scriptedserver_answer *answer)
{
    struct scene *scene = arg;
    char *head = quoted(request->head);
    char *body = quoted(request->body);
    bool token = strcmp(request->path, "/token") == 0;

    answer->status = statuses[scene->status];
    answer->fault = (enum scriptedserver_fault)scene->fault;
    if (token && scene->issuer_is_good) {
        answer->status = 200;
        answer->fault = SCRIPTEDSERVER_NONE;
        answer->body = scriptedserver_text("{\"access_token\":\"" ISSUER_TOKEN "\"}");
    } else {
        answer->body = filled(quotes[scene->quote], token ? body : head, bare_login(request->head));
    }
    free(head);
    free(body);
}

static void scene_init(struct scene *scene, enum fmapi_auth auth)
{
    char url[128];
    *scene = (struct scene){0};
    issuer_init(&scene->issuer, &(struct scriptedserver_options){0});
    scene->scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = quote_back, .arg = scene});
    (void)snprintf(url, sizeof url, "%s/token", scriptedserver_url(scene->scriptedserver));
    issuer_put(scene->issuer.endpoint, url, 0644);
    (void)snprintf(scene->passwd, sizeof scene->passwd, "%s/passwd", scene->issuer.folder);
    issuer_put(scene->passwd, PASSWORD, 0600);
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    options.auth = auth;
    options.authdir = scene->issuer.folder;
    options.timeout_ms = 60000;
    apiclient_init(&scene->apiclient, &options);
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    scriptedserver_destroy(scene->scriptedserver);
    (void)unlink(scene->passwd);
    issuer_release(&scene->issuer);
}

static void ignore_page(void *arg, const char *const *names, size_t count)
{
}

static void say_everything(struct scene *scene)
{
    struct landing list = {0};

    search(apiclient_login(&scene->apiclient).words);
    for (int kind = FMCALL_RESERVE; kind <= FMCALL_RELEASE; kind++)
        search(apiclient_call(&scene->apiclient, (enum fmcall_kind)kind, "c-1").words);
    for (int kind = FMCALL_STEPS; kind <= FMCALL_END_TREE; kind++)
        search(apiclient_step(&scene->apiclient, (enum fmcall_kind)kind,
                              &(struct fmcall_about){
                                  .name = "c-1", .step = "/fA", .token = secret_of(SESSION)})
                   .words);
    fmapi_list(scene->apiclient.api, ignore_page, apiclient_land, &list);
    apiclient_await(&scene->apiclient, &list);
    search(list.words);
}

static void try_all(enum fmapi_auth auth, bool issuer_is_good)
{
    struct scene scene;
    scene_init(&scene, auth);
    scene.issuer_is_good = issuer_is_good;
    for (scene.quote = 0; scene.quote < QUOTES; scene.quote++)
        for (scene.status = 0; scene.status < STATUSES; scene.status++)
            say_everything(&scene);
    scene.quote = scene.status = 0;
    static const int faults[] = {SCRIPTEDSERVER_DROP, SCRIPTEDSERVER_RESET, SCRIPTEDSERVER_TRUNCATE,
                                 SCRIPTEDSERVER_GARBAGE};
    for (size_t i = 0; i < 4; i++) {
        scene.fault = faults[i];
        say_everything(&scene);
    }
    scriptedserver_refuse(scene.scriptedserver);
    say_everything(&scene);
    scene_release(&scene);
}

static void words__hold_no_password(void **state)
{
    try_all(FMAPI_AUTH_BASIC, false);
}

static void words__hold_no_access_token(void **state)
{
    try_all(FMAPI_AUTH_OAUTH, true);
}

static void words__hold_no_client_secret(void **state)
{
    try_all(FMAPI_AUTH_OAUTH, false);
}

/* Nor when the files are what is wrong. */
static void words__hold_nothing_of_the_files(void **state)
{
    static const enum fmapi_auth ways[] = {FMAPI_AUTH_BASIC, FMAPI_AUTH_OAUTH};
    static const char *const odd[] = {PASSWORD "\n" ISSUER_SECRET, PASSWORD "\x01",
                                      "http://" PASSWORD "@fmn/", "ftp://" ISSUER_SECRET,
                                      "http://fmn/?client_secret=" ISSUER_ENCODED};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < sizeof odd / sizeof odd[0]; j++) {
            struct scene scene;
            scene_init(&scene, ways[i]);
            const char *const files[] = {scene.passwd, scene.issuer.secret, scene.issuer.id,
                                         scene.issuer.endpoint};
            scriptedserver_refuse(scene.scriptedserver);
            for (size_t k = 0; k < 4; k++) {
                issuer_put(files[k], odd[j], 0666);
                search(apiclient_login(&scene.apiclient).words);
                issuer_put(files[k], odd[j], 0600);
                search(apiclient_login(&scene.apiclient).words);
            }
            scene_release(&scene);
        }
    }
}

/* A test that searches nothing finds nothing. */
static void words__were_searched(void **state)
{
    assert_true(searched > 3U * QUOTES * STATUSES);
}

UNIT_GROUP(apiclient_prepare, NULL, cmocka_unit_test(words__hold_no_password),
           cmocka_unit_test(words__hold_no_access_token),
           cmocka_unit_test(words__hold_no_client_secret),
           cmocka_unit_test(words__hold_nothing_of_the_files),
           cmocka_unit_test(words__were_searched))
