/* What real clients were recorded to send, byte for byte; and what they accept as an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/system/mockfm/authority.h"
#include "tests/system/mockfm/double.h"
#include "tests/system/mockfm/transcript.h"

/* libfabric's recording begins with a job and its token given, and expects tree 1. */
static const char libfabric_state[] =
    "{\"op\":\"job\",\"job\":\"mockc-42\",\"token\":\"sess-0123456789abcdef\",\"limit\":4,"
    "\"serial\":1,\"version\":0,\"at\":1}\n"
    "{\"op\":\"mark\",\"serial\":1,\"nextMcastID\":1,\"at\":1}\n";

static const char *const https[] = {"--tls-cert", "server.pem", "--tls-key", "server.key", NULL};

static void make_certificate(const struct double_fm *fm)
{
    struct authority authority;

    authority_create(&authority, fm->folder, "ca");
    authority_issue(&authority, fm->folder, "server", time(NULL) + 3600);
    authority_destroy(&authority);
}

static const char *string_of(const struct rawhttp_reply *reply, const char *name)
{
    const char *value = json_string_value(json_object_get(reply->json, name));

    return value ? value : "";
}

/* Sends the requests over connections like the recorded ones; the replies are to be released. */
static void play(const struct double_fm *fm, const struct transcript *transcript,
                 struct rawhttp_reply *replies)
{
    struct rawhttp http = {.fd = -1};
    int connection = 0;

    for (size_t i = 0; i < transcript->count; i++) {
        const struct transcript_request *request = &transcript->requests[i];

        if (request->connection != connection) {
            if (connection)
                rawhttp_close(&http);
            rawhttp_open(&http, fm->port);
            if (fm->tls)
                rawhttp_secure(&http);
            connection = request->connection;
        }
        rawhttp_send(&http, request->bytes, request->length);
        rawhttp_receive(&http, &replies[i]);
        while (replies[i].status == 100)
            rawhttp_receive(&http, &replies[i]);
    }
    rawhttp_close(&http);
}

/* slurmctld and its step manager: reserve, one step, release. */
static void play_slurm(struct double_fm *fm, bool tls)
{
    struct transcript transcript;
    struct rawhttp_reply replies[TRANSCRIPT_REQUESTS_MAX] = {0};

    transcript_read(&transcript, TRANSCRIPTS "/slurm-02-basic-fakelibcxi-nodebug.txt");
    assert_int_equal(transcript.count, 4);
    double_start(fm, tls ? https : NULL);
    play(fm, &transcript, replies);

    /* GET of a job that is not there: 404, and `detail` is what Slurm logs. */
    assert_int_equal(replies[0].status, 404);
    assert_string_not_equal(string_of(&replies[0], "detail"), "");

    /* POST: a success needs sessionToken. */
    assert_int_equal(replies[1].status, 201);
    assert_string_not_equal(string_of(&replies[1], "sessionToken"), "");

    /* PATCH of a step that has no trees: 200 with a body. */
    assert_int_equal(replies[2].status, 200);
    assert_true(json_is_object(replies[2].json));

    /* DELETE, chunked and with Expect. */
    assert_int_equal(replies[3].status, 200);
    assert_int_equal(double_count_jobs(fm), 0);
    for (size_t i = 0; i < transcript.count; i++)
        rawhttp_release(&replies[i]);
    double_stop(fm);
}

static void slurm__gets_what_it_accepts(void **state)
{
    play_slurm(*state, false);
}

static void slurm__gets_it_over_tls_too(void **state)
{
    make_certificate(*state);
    play_slurm(*state, true);
}

/* libfabric: a tree, over one connection. */
static void play_libfabric(struct double_fm *fm, bool tls)
{
    struct transcript transcript;
    struct rawhttp_reply replies[TRANSCRIPT_REQUESTS_MAX] = {0};
    const json_t *id;

    assert_int_equal(folder_write(fm->folder, "fm.state", 0600, libfabric_state), 0);
    transcript_read(&transcript, TRANSCRIPTS "/libfabric-01-create-delete.txt");
    assert_int_equal(transcript.count, 2);
    double_start(fm, tls ? https : NULL);
    play(fm, &transcript, replies);

    /* Success is 200 or 201, mcastID 0–8191, hwRoot one of the NICs in six groups. */
    assert_int_equal(replies[0].status, 201);
    id = json_object_get(replies[0].json, "mcastID");
    assert_true(json_is_integer(id));
    assert_int_equal(json_integer_value(id), 1);
    assert_string_equal(string_of(&replies[0], "hwRoot"), "00:00:00:01:12:00");

    /* A deletion is 200 or 201 to libfabric, nothing else. */
    assert_int_equal(replies[1].status, 200);
    assert_int_not_equal(replies[1].body_length % 4096, 0);
    assert_int_equal(double_log_total(fm, "connections"), 1);
    for (size_t i = 0; i < transcript.count; i++)
        rawhttp_release(&replies[i]);
    double_stop(fm);
}

static void libfabric__gets_what_it_accepts(void **state)
{
    play_libfabric(*state, false);
}

static void libfabric__gets_it_over_tls_too(void **state)
{
    make_certificate(*state);
    play_libfabric(*state, true);
}

#define WITH_DOUBLE(test) cmocka_unit_test_setup_teardown(test, double_setup, double_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOUBLE(slurm__gets_what_it_accepts),
        WITH_DOUBLE(slurm__gets_it_over_tls_too),
        WITH_DOUBLE(libfabric__gets_what_it_accepts),
        WITH_DOUBLE(libfabric__gets_it_over_tls_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
