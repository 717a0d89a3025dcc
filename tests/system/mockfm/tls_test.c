/* SPDX-License-Identifier: Apache-2.0 */
/* TLS, client certificates, and the exchange of both while it serves; seen by a real client. */
#include <sys/socket.h>

#include "tests/system/mockfm/authority.h"
#include "tests/system/mockfm/mockfm.h"
#include "tests/system/mockfm/httpclient.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#define PATH_SIZE 128
#define HOUR 3600

static const char *const https[] = {"--tls-cert", "server.pem", "--tls-key", "server.key", NULL};
static const char *const mutual[] = {"--tls-cert",  "server.pem",  "--tls-key", "server.key",
                                     "--client-ca", "clients.pem", NULL};

/* Two authorities; `ours` has issued the server's certificate. */
struct realm {
    struct mockfm_fm *fm;
    struct authority ours, other;
    char ours_pem[PATH_SIZE], other_pem[PATH_SIZE];
};

static void copy(const struct mockfm_fm *fm, const char *from, const char *to)
{
    char path[PATH_SIZE], text[4096];
    FILE *file = fopen(folder_path(path, sizeof path, fm->folder, from), "re");
    size_t length;

    assert_non_null(file);
    length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    mockfm_write(fm, to, text);
}

static void realm_init(struct realm *realm, struct mockfm_fm *fm)
{
    realm->fm = fm;
    authority_create(&realm->ours, fm->folder, "ours");
    authority_create(&realm->other, fm->folder, "other");
    authority_issue(&realm->ours, fm->folder, "server", time(NULL) + HOUR);
    copy(fm, "ours.pem", "clients.pem");
    folder_path(realm->ours_pem, PATH_SIZE, fm->folder, "ours.pem");
    folder_path(realm->other_pem, PATH_SIZE, fm->folder, "other.pem");
}

static void realm_release(struct realm *realm)
{
    authority_destroy(&realm->ours);
    authority_destroy(&realm->other);
}

static void visit(const struct realm *realm, struct httpclient *httpclient)
{
    httpclient_create(httpclient, "https", realm->fm->port);
    httpclient->ca = realm->ours_pem;
    httpclient->basic = "cxi:fm-passw0rd";
}

static CURLcode try_list(struct httpclient *httpclient)
{
    struct httpclient_reply reply;

    httpclient_hang_up(httpclient);
    httpclient_call(httpclient, "GET", DOUBLE_JOBS "/", NULL, &reply);
    httpclient_reply_release(&reply);
    return reply.code;
}

/* G8: the client offers HTTP/2 and gets 1.1, and its connection is kept. */
static void tls__serves_a_client_that_verifies(void **state)
{
    struct realm realm;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    realm_init(&realm, *state);
    mockfm_start(realm.fm, https);
    assert_true(mockfm_printed(realm.fm, "listening on https://127.0.0.1:"));
    visit(&realm, &httpclient);
    assert_int_equal(httpclient_call(&httpclient, "POST", DOUBLE_JOBS,
                                     "{\"jobID\":\"c-1\",\"mcastLimit\":4}", &reply),
                     201);
    assert_int_equal(reply.http_version, CURL_HTTP_VERSION_1_1);
    assert_int_equal(reply.new_connections, 1);
    httpclient_reply_release(&reply);
    assert_int_equal(httpclient_call(&httpclient, "DELETE", DOUBLE_JOBS "/c-1", NULL, &reply), 200);
    assert_int_equal(reply.new_connections, 0);
    httpclient_reply_release(&reply);
    httpclient.ca = realm.other_pem;
    assert_int_equal(try_list(&httpclient), CURLE_PEER_FAILED_VERIFICATION);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

/* To a client that does not speak TLS it is not there, and one that does is served after it. */
static void tls__survives_who_does_not_speak_it(void **state)
{
    struct realm realm;
    struct httpclient httpclient;
    struct rawhttp http;
    struct rawhttp_reply reply;

    realm_init(&realm, *state);
    mockfm_start(realm.fm, https);
    rawhttp_open(&http, realm.fm->port);
    rawhttp_send(&http, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_int_equal(recv(http.fd, &reply, sizeof reply, MSG_WAITALL), 0);
    rawhttp_close(&http);
    visit(&realm, &httpclient);
    assert_int_equal(try_list(&httpclient), CURLE_OK);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

static void client_ca__lets_in_its_own_only(void **state)
{
    static const long versions[] = {CURL_SSLVERSION_MAX_TLSv1_2, CURL_SSLVERSION_MAX_TLSv1_3};
    struct realm realm;
    struct httpclient httpclient;
    char names[6][PATH_SIZE];
    const char *const folder = ((struct mockfm_fm *)*state)->folder;

    realm_init(&realm, *state);
    authority_issue(&realm.ours, folder, "mine", time(NULL) + HOUR);
    authority_issue(&realm.ours, folder, "late", time(NULL) - HOUR);
    authority_issue(&realm.other, folder, "foreign", time(NULL) + HOUR);
    folder_path(names[0], PATH_SIZE, folder, "mine.pem");
    folder_path(names[1], PATH_SIZE, folder, "mine.key");
    folder_path(names[2], PATH_SIZE, folder, "late.pem");
    folder_path(names[3], PATH_SIZE, folder, "late.key");
    folder_path(names[4], PATH_SIZE, folder, "foreign.pem");
    folder_path(names[5], PATH_SIZE, folder, "foreign.key");
    mockfm_start(realm.fm, mutual);
    visit(&realm, &httpclient);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        httpclient.tls_max = versions[i];
        httpclient.cert = httpclient.key = NULL;
        assert_int_not_equal(try_list(&httpclient), CURLE_OK);
        for (size_t j = 0; j < 6; j += 2) {
            httpclient.cert = names[j];
            httpclient.key = names[j + 1];
            if (j == 0)
                assert_int_equal(try_list(&httpclient), CURLE_OK);
            else
                assert_int_not_equal(try_list(&httpclient), CURLE_OK);
        }
    }
    /* The control wants the same certificate. */
    httpclient.cert = httpclient.key = NULL;
    assert_int_equal(httpclient_call(&httpclient, "GET", "/mock/state", NULL, NULL), 0);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

/* libfabric has no client certificate to show. Slurm so knows two addresses of one fabric manager:
 * fm_mtls_url, where it logs in itself, and fm_url, which is all that its jobs are told. */
static void jobs_door__lets_in_libfabric_beside_client_ca(void **state)
{
    static const char *const two_doors[] = {"--tls-cert",    "server.pem",  "--tls-key",
                                            "server.key",    "--client-ca", "clients.pem",
                                            "--jobs-listen", "127.0.0.1:0", "--jobs-port-file",
                                            "jobs.port",     NULL};
    struct mockfm_fm *fm = *state;
    struct realm realm;
    struct httpclient manager, job;
    struct httpclient_reply reply;
    char mine[2][PATH_SIZE], body[256];

    realm_init(&realm, fm);
    authority_issue(&realm.ours, fm->folder, "mine", time(NULL) + HOUR);
    mockfm_start(fm, two_doors);
    assert_true(mockfm_printed(fm, "listening for jobs on https://127.0.0.1:"));
    visit(&realm, &manager);
    manager.cert = folder_path(mine[0], PATH_SIZE, fm->folder, "mine.pem");
    manager.key = folder_path(mine[1], PATH_SIZE, fm->folder, "mine.key");
    assert_int_equal(httpclient_call(&manager, "POST", DOUBLE_JOBS,
                                     "{\"jobID\":\"c-1\",\"mcastLimit\":4}", &reply),
                     201);
    httpclient_create(&job, "https", mockfm_number(fm, "jobs.port"));
    job.ca = realm.ours_pem;
    job.bearer = json_string_value(json_object_get(reply.json, "sessionToken"));
    assert_int_equal(
        httpclient_call(&job, "POST", DOUBLE_TREES, mockfm_tree(body, "c-1", "0", 0), NULL), 201);
    assert_int_equal(httpclient_call(&job, "DELETE", DOUBLE_TREES "/0", NULL, NULL), 200);
    httpclient_destroy(&job);
    /* At the first door the same job does not get as far as HTTP. */
    httpclient_create(&job, "https", fm->port);
    job.ca = realm.ours_pem;
    assert_int_equal(httpclient_call(&job, "DELETE", DOUBLE_TREES "/0", NULL, NULL), 0);
    httpclient_destroy(&job);
    httpclient_reply_release(&reply);
    httpclient_destroy(&manager);
    realm_release(&realm);
}

static void reload__exchanges_the_certificate_and_keeps_connections(void **state)
{
    struct realm realm;
    struct httpclient old, new;
    struct httpclient_reply reply;

    realm_init(&realm, *state);
    mockfm_start(realm.fm, https);
    visit(&realm, &old);
    visit(&realm, &new);
    assert_int_equal(try_list(&old), CURLE_OK);
    authority_issue(&realm.other, realm.fm->folder, "server", time(NULL) + HOUR);
    /* Not before it is told. */
    assert_int_equal(try_list(&new), CURLE_OK);
    assert_int_equal(httpclient_call(&old, "POST", "/mock/reload", "", NULL), 200);
    assert_int_equal(try_list(&new), CURLE_PEER_FAILED_VERIFICATION);
    new.ca = realm.other_pem;
    assert_int_equal(try_list(&new), CURLE_OK);
    assert_int_equal(httpclient_call(&old, "GET", DOUBLE_JOBS "/", NULL, &reply), 200);
    assert_int_equal(reply.new_connections, 0);
    httpclient_reply_release(&reply);
    httpclient_destroy(&old);
    httpclient_destroy(&new);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

static void reload__exchanges_the_authority_of_clients(void **state)
{
    struct realm realm;
    struct httpclient httpclient;
    char mine[2][PATH_SIZE], foreign[2][PATH_SIZE];
    const char *const folder = ((struct mockfm_fm *)*state)->folder;

    realm_init(&realm, *state);
    authority_issue(&realm.ours, folder, "mine", time(NULL) + HOUR);
    authority_issue(&realm.other, folder, "foreign", time(NULL) + HOUR);
    mockfm_start(realm.fm, mutual);
    visit(&realm, &httpclient);
    httpclient.cert = folder_path(mine[0], PATH_SIZE, folder, "mine.pem");
    httpclient.key = folder_path(mine[1], PATH_SIZE, folder, "mine.key");
    copy(realm.fm, "other.pem", "clients.pem");
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/reload", "", NULL), 200);
    assert_int_not_equal(try_list(&httpclient), CURLE_OK);
    httpclient.cert = folder_path(foreign[0], PATH_SIZE, folder, "foreign.pem");
    httpclient.key = folder_path(foreign[1], PATH_SIZE, folder, "foreign.key");
    assert_int_equal(try_list(&httpclient), CURLE_OK);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

static bool says_reloaded(void *arg)
{
    return mockfm_printed(arg, "mock-fm: reloaded");
}

static bool says_not_reloaded(void *arg)
{
    return mockfm_printed(arg, "mock-fm: not reloaded: cannot use certificate server.pem");
}

static void hangup__reloads(void **state)
{
    struct realm realm;
    struct httpclient httpclient;

    realm_init(&realm, *state);
    mockfm_start(realm.fm, https);
    visit(&realm, &httpclient);
    mockfm_write(realm.fm, "server.pem", "no certificate\n");
    mockfm_hangup(realm.fm);
    assert_true(await(says_not_reloaded, realm.fm, AWAIT_DEADLINE_MS));
    assert_int_equal(try_list(&httpclient), CURLE_OK);
    authority_issue(&realm.other, realm.fm->folder, "server", time(NULL) + HOUR);
    mockfm_hangup(realm.fm);
    assert_true(await(says_reloaded, realm.fm, AWAIT_DEADLINE_MS));
    httpclient.ca = realm.other_pem;
    assert_int_equal(try_list(&httpclient), CURLE_OK);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

/* A key that is not the certificate's: neither it nor the new password comes into force. */
static void reload__that_fails_changes_nothing(void **state)
{
    struct realm realm;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    realm_init(&realm, *state);
    mockfm_start(realm.fm, https);
    visit(&realm, &httpclient);
    authority_issue(&realm.ours, realm.fm->folder, "another", time(NULL) + HOUR);
    copy(realm.fm, "another.key", "server.key");
    mockfm_write(realm.fm, "passwd", "another\n");
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/reload", "", &reply), 500);
    assert_non_null(strstr(reply.text, "server.pem with key server.key"));
    httpclient_reply_release(&reply);
    assert_int_equal(httpclient_call(&httpclient, "GET", DOUBLE_JOBS "/", NULL, NULL), 200);
    assert_int_equal(try_list(&httpclient), CURLE_OK);
    httpclient_destroy(&httpclient);
    realm_release(&realm);
    mockfm_stop(realm.fm);
}

static void start__without_usable_files_names_them(void **state)
{
    static const struct {
        const char *cert, *key, *ca, *named;
    } wrong[] = {
        {"absent.pem", "server.key", "clients.pem", "cannot use certificate absent.pem"},
        {"server.pem", "absent.key", "clients.pem", "with key absent.key"},
        {"server.pem", "server.key", "absent.pem", "cannot use the client CA absent.pem"},
        {"server.pem", "server.key", "passwd", "cannot use the client CA passwd"},
    };
    struct mockfm_fm *fm = *state;
    struct realm realm;
    char log[PATH_SIZE];

    realm_init(&realm, fm);
    folder_path(log, sizeof log, fm->folder, "log");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *argv[] = {"/bin/sh",     "-c",        "cd \"$0\" && ! \"$@\"",
                              fm->folder,    MOCK_FM,     "--tls-cert",
                              wrong[i].cert, "--tls-key", wrong[i].key,
                              "--client-ca", wrong[i].ca, NULL};
        struct process *process = process_start(argv, log);

        assert_non_null(process);
        while (process_alive(process))
            ;
        assert_int_equal(process_stop(process), 0);
        assert_true(mockfm_printed(fm, wrong[i].named));
    }
    realm_release(&realm);
}

UNIT_MAIN(STOPPED(tls__serves_a_client_that_verifies), STOPPED(tls__survives_who_does_not_speak_it),
          STOPPED(client_ca__lets_in_its_own_only),
          STOPPED(jobs_door__lets_in_libfabric_beside_client_ca),
          STOPPED(reload__exchanges_the_certificate_and_keeps_connections),
          STOPPED(reload__exchanges_the_authority_of_clients), STOPPED(hangup__reloads),
          STOPPED(reload__that_fails_changes_nothing),
          STOPPED(start__without_usable_files_names_them))
