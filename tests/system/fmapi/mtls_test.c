/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/system/fmapi/authority.h"
#include "tests/system/fmapi/issuer.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* A fabric manager and a token endpoint that both want a certificate of the site's (F13). */

enum { HOUR = 3600 };

struct scene {
    struct authority site, own; /* own: issued to us by site */
    int64_t issued_s;           /* no later than that, Unix */
    struct scriptedserver *scriptedserver;
    struct issuer issuer;
    struct fmapi_options options;
    struct apiclient apiclient;
    char head[2048]; /* of the last call */
};

static void be_good(void *arg, const struct scriptedserver_request *request,
                    struct scriptedserver_answer *answer)
{
    struct scene *scene = arg;
    (void)snprintf(scene->head, sizeof scene->head, "%s", request->head);
    answer->body = scriptedserver_text("{\"sessionToken\":\"tok-1\"}");
    answer->close = true; /* the next call is on a new connection: another handshake */
}

static void scene_init(struct scene *scene, enum fmapi_auth auth)
{
    struct scriptedserver_options options = {.script = be_good, .arg = scene};

    *scene = (struct scene){0};
    authority_init(&scene->site, "IP:127.0.0.1");
    scene->issued_s = time(NULL);
    authority_issue(&scene->own, "DNS:mcastd", &scene->site, -HOUR, HOUR);
    options.tls_cert = options.client_ca = scene->site.cert;
    options.tls_key = scene->site.key;
    scene->scriptedserver = scriptedserver_create(&options);
    issuer_init(&scene->issuer, &options);
    scene->options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    scene->options.auth = auth;
    scene->options.authdir = scene->issuer.folder;
    scene->options.ca = scene->site.cert;
    scene->options.mtls_cert = scene->own.cert;
    scene->options.mtls_key = scene->own.key;
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    scriptedserver_destroy(scene->scriptedserver);
    issuer_release(&scene->issuer);
    authority_release(&scene->site);
    authority_release(&scene->own);
}

static void login_is(struct scene *scene, int code, const char *words)
{
    struct landing login = apiclient_login(&scene->apiclient);
    if (login.code != code || !strstr(login.words, words))
        fail_msg("%s: %s", error_word(login.code), login.words);
}

static struct landing call_is(struct scene *scene, enum fmcall_outcome outcome)
{
    struct landing landing = apiclient_call(&scene->apiclient, FMCALL_RESERVE, "c-1");
    if (landing.outcome != outcome)
        fail_msg("%s: %s", fmcall_outcome_word(landing.outcome), landing.words);
    scriptedserver_await_closed(scene->scriptedserver); /* or the next one may go out just before */
    return landing;
}

static void mtls__is_shown_with_every_way_to_log_in(void **state)
{
    static const enum fmapi_auth ways[] = {FMAPI_AUTH_NONE, FMAPI_AUTH_BASIC, FMAPI_AUTH_OAUTH};
    static const char *const headers[] = {NULL, "\r\nAuthorization: Basic Y3hpOmZtLXBhc3N3MHJk\r\n",
                                          "\r\nAuthorization: Bearer " ISSUER_TOKEN "-1\r\n"};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        char passwd[96];
        scene_init(&scene, ways[i]);
        (void)snprintf(passwd, sizeof passwd, "%s/passwd", scene.issuer.folder);
        issuer_put(passwd, "fm-passw0rd", 0600);
        apiclient_init(&scene.apiclient, &scene.options);
        login_is(&scene, 0, "");
        call_is(&scene, FM_OK);
        if (headers[i])
            assert_non_null(strstr(scene.head, headers[i]));
        else
            assert_null(strstr(scene.head, "\r\nAuthorization:"));
        assert_int_equal(issuer_requests(&scene.issuer), ways[i] == FMAPI_AUTH_OAUTH ? 1 : 0);
        assert_int_equal(apiclient_counters(&scene.apiclient).tls_errors, 0);
        int64_t ends_s = apiclient_counters(&scene.apiclient).certificate_ends_ms / 1000;
        assert_true(ends_s >= scene.issued_s + HOUR && ends_s <= time(NULL) + HOUR + 1);
        (void)unlink(passwd);
        scene_release(&scene);
    }
}

/* I6: whom our certificate stands for may do more than a job's token, so the two never come
 * together; not on a kept connection, and not in a TLS session that is resumed. */
static void mtls__is_not_shown_with_a_jobs_token(void **state)
{
    const struct fmcall_about step = {.name = "c-1", .step = "0", .token = secret_of("s3ssion")};
    struct scene scene;
    scene_init(&scene, FMAPI_AUTH_NONE);
    apiclient_init(&scene.apiclient, &scene.options);
    call_is(&scene, FM_OK);
    unsigned before = scriptedserver_requests(scene.scriptedserver);
    for (int i = 0; i < 3; i++) {
        struct landing landing = apiclient_step(&scene.apiclient, FMCALL_END_STEP, &step);
        assert_true(landing.outcome == FM_UNREACHED || landing.outcome == FM_BROKEN);
        assert_non_null(strstr(landing.words, "a job's token goes without one"));
    }
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), before);
    call_is(&scene, FM_OK);
    scene_release(&scene);
}

static void mtls__says_that_a_certificate_is_asked_for(void **state)
{
    struct scene scene;
    scene_init(&scene, FMAPI_AUTH_NONE);
    scene.options.mtls_cert = scene.options.mtls_key = NULL;
    apiclient_init(&scene.apiclient, &scene.options);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    /* With TLS 1.3 the refusal comes after the handshake, when the request may have left. */
    assert_true(landing.outcome == FM_UNREACHED || landing.outcome == FM_BROKEN);
    assert_non_null(strstr(landing.words, "set [fm] mtls_cert and mtls_key"));
    assert_int_equal(apiclient_counters(&scene.apiclient).tls_errors, 1);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);
    scene_release(&scene);
}

/* The token endpoint is asked first, with the same certificate. */
static void mtls__says_that_ours_is_not_accepted(void **state)
{
    static const enum fmapi_auth ways[] = {FMAPI_AUTH_NONE, FMAPI_AUTH_OAUTH};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        struct authority other, foreign;
        scene_init(&scene, ways[i]);
        authority_init(&other, "IP:127.0.0.1");
        authority_issue(&foreign, "DNS:mcastd", &other, -HOUR, HOUR);
        authority_overwrite(&scene.own, &foreign);
        apiclient_init(&scene.apiclient, &scene.options);
        struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
        assert_int_not_equal(landing.outcome, FM_OK);
        assert_non_null(strstr(landing.words, "the server does not accept our certificate"));
        assert_non_null(strstr(landing.words, "[fm] mtls_cert"));
        if (ways[i] == FMAPI_AUTH_OAUTH)
            assert_non_null(strstr(landing.words, "/realms/fm/token: "));
        assert_int_equal(apiclient_counters(&scene.apiclient).tls_errors, 1);
        assert_int_equal(
            scriptedserver_requests(scene.scriptedserver) + issuer_requests(&scene.issuer), 0);
        authority_release(&other);
        authority_release(&foreign);
        scene_release(&scene);
    }
}

/* Rotation needs no reload: from the next login on. */
static void mtls__takes_a_renewed_certificate(void **state)
{
    struct scene scene;
    struct authority other, foreign, renewed;
    scene_init(&scene, FMAPI_AUTH_OAUTH);
    authority_init(&other, "IP:127.0.0.1");
    authority_issue(&foreign, "DNS:mcastd", &other, -HOUR, HOUR);
    authority_issue(&renewed, "DNS:mcastd", &scene.site, -HOUR, HOUR);
    authority_overwrite(&scene.own, &foreign);
    apiclient_init(&scene.apiclient, &scene.options);
    login_is(&scene, ERROR_IO, "does not accept our certificate");

    authority_overwrite(&scene.own, &renewed);
    login_is(&scene, 0, "");
    call_is(&scene, FM_OK);

    authority_overwrite(&scene.own, &foreign);
    assert_int_not_equal(apiclient_login(&scene.apiclient).code, 0);
    authority_release(&other);
    authority_release(&foreign);
    authority_release(&renewed);
    scene_release(&scene);
}

static void protect_key(const char *path, const char *passphrase)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    assert_non_null(key);
    assert_int_equal(fclose(file), 0);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(),
                                          (const unsigned char *)passphrase,
                                          (int)strlen(passphrase), NULL, NULL),
                     1);
    assert_int_equal(fclose(file), 0);
    EVP_PKEY_free(key);
}

/* Told at the login in words that name the file, before anybody is spoken to. */
static void mtls__looks_at_the_pair_first(void **state)
{
    struct scene scene;
    struct authority leaf;
    char words[256];
    scene_init(&scene, FMAPI_AUTH_OAUTH);
    apiclient_init(&scene.apiclient, &scene.options);

    assert_int_equal(chmod(scene.own.key, 0640), 0);
    (void)snprintf(words, sizeof words, "%s can be read by others: chmod 0600 %s", scene.own.key,
                   scene.own.key);
    login_is(&scene, ERROR_REFUSED, words);
    assert_int_equal(chmod(scene.own.key, 0600), 0);

    authority_issue(&leaf, "DNS:mcastd", &scene.site, -HOUR, HOUR);
    authority_overwrite(&scene.own, &leaf);
    issuer_put(scene.own.cert, "-----BEGIN RUBBISH-----", 0644);
    login_is(&scene, ERROR_INVALID, "/cert.pem holds no certificate in PEM");
    authority_overwrite(&scene.own, &leaf);
    issuer_put(scene.own.key, "rubbish", 0600);
    login_is(&scene, ERROR_INVALID, "/key.pem holds no private key in PEM");
    authority_overwrite(&scene.own, &leaf);
    protect_key(scene.own.key, "p4ssphrase");
    login_is(&scene, ERROR_INVALID, "/key.pem is protected by a passphrase");
    authority_overwrite(&scene.own, &scene.site); /* another pair … */
    struct authority half = scene.own;
    (void)snprintf(half.key, sizeof half.key, "%.80s/not", scene.issuer.folder);
    authority_overwrite(&half, &leaf); /* … with the certificate of this one */
    (void)unlink(half.key);
    login_is(&scene, ERROR_INVALID, "/key.pem is not the key of the certificate in /");
    authority_release(&leaf);

    authority_issue(&leaf, "DNS:mcastd", &scene.site, -2L * HOUR, -HOUR);
    authority_overwrite(&scene.own, &leaf);
    login_is(&scene, ERROR_INVALID, "/cert.pem: the certificate expired on ");
    authority_release(&leaf);
    authority_issue(&leaf, "DNS:mcastd", &scene.site, HOUR, 2L * HOUR);
    authority_overwrite(&scene.own, &leaf);
    login_is(&scene, ERROR_INVALID, "/cert.pem: the certificate is not valid before ");
    authority_release(&leaf);
    assert_int_equal(unlink(scene.own.key), 0);
    login_is(&scene, ERROR_NOT_FOUND,
             "/key.pem: No such file or directory; it should hold the key");

    assert_int_equal(issuer_requests(&scene.issuer), 0);
    scene_release(&scene);
}

static void mtls__needs_both_files(void **state)
{
    struct error err = {0};
    struct fmapi_options options = apiclient_options("https://fmn:8000");
    options.mtls_cert = "/nonexistent";
    assert_int_equal(fmapi_check(&options, &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, "needs its key"));
    options.mtls_key = "/nonexistent";
    assert_int_equal(fmapi_check(&options, &err), ERROR_NOT_FOUND);
    options.mtls_cert = options.mtls_key = NULL;
    assert_int_equal(fmapi_check(&options, &err), 0);
}

UNIT_GROUP(apiclient_prepare, NULL, cmocka_unit_test(mtls__is_shown_with_every_way_to_log_in),
           cmocka_unit_test(mtls__is_not_shown_with_a_jobs_token),
           cmocka_unit_test(mtls__says_that_a_certificate_is_asked_for),
           cmocka_unit_test(mtls__says_that_ours_is_not_accepted),
           cmocka_unit_test(mtls__takes_a_renewed_certificate),
           cmocka_unit_test(mtls__looks_at_the_pair_first),
           cmocka_unit_test(mtls__needs_both_files))
