/* SPDX-License-Identifier: Apache-2.0 */
/* What real clients were recorded to send, byte for byte; and what they accept as an answer. */

#include "tests/system/mockfm/authority.h"
#include "tests/system/mockfm/mockfm.h"
#include "tests/system/mockfm/transcript.h"
#include "tests/unit/unit.h"

/* libfabric's recording begins with a job and its token given, and expects tree 1. */
static const char libfabric_state[] =
    "{\"op\":\"job\",\"job\":\"mockc-42\",\"token\":\"sess-0123456789abcdef\",\"limit\":4,"
    "\"serial\":1,\"version\":0,\"at\":1}\n"
    "{\"op\":\"mark\",\"serial\":1,\"nextMcastID\":1,\"at\":1}\n";

/* Of two clusters: one job that Slurm's controller does not know any more, and somebody else's. */
static const char slurm_state[] =
    "{\"op\":\"job\",\"job\":\"mockc-4242\",\"token\":\"sess-1\",\"limit\":4,\"serial\":1,"
    "\"version\":0,\"at\":1}\n"
    "{\"op\":\"job\",\"job\":\"elcap-f2Rs8\",\"token\":\"sess-2\",\"limit\":4,\"serial\":2,"
    "\"version\":0,\"at\":1}\n";

static const char *const https[] = {"--tls-cert", "server.pem", "--tls-key", "server.key", NULL};

static void make_certificate(const struct mockfm_fm *fm)
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
static void play(const struct mockfm_fm *fm, const struct transcript *transcript,
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
static void play_slurm(struct mockfm_fm *fm, bool tls)
{
    struct transcript transcript;
    struct rawhttp_reply replies[TRANSCRIPT_REQUESTS_MAX] = {0};

    transcript_read(&transcript, TRANSCRIPTS "/slurm-02-basic-fakelibcxi-nodebug.txt");
    assert_int_equal(transcript.count, 4);
    mockfm_start(fm, tls ? https : NULL);
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
    assert_int_equal(mockfm_count_jobs(fm), 0);
    for (size_t i = 0; i < transcript.count; i++)
        rawhttp_release(&replies[i]);
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

/* Slurm 26.05: a job too small for a reservation, one of two steps, and the controller's look at
 * the list, after which it deletes what has its cluster's name and is no job of its own. */
static void slurm__steps_and_cleanup_get_what_they_accept(void **state)
{
    static const long statuses[] = {404, 404, 201, 200, 200, 200, 200, 200, 200};
    struct mockfm_fm *fm = *state;
    struct transcript transcript;
    struct rawhttp_reply replies[TRANSCRIPT_REQUESTS_MAX] = {0};

    assert_int_equal(folder_write(fm->folder, "fm.state", 0600, slurm_state), 0);
    transcript_read(&transcript, TRANSCRIPTS "/slurm-03-steps-and-cleanup.txt");
    assert_int_equal(transcript.count, sizeof statuses / sizeof statuses[0]);
    mockfm_start(fm, NULL);
    play(fm, &transcript, replies);
    for (size_t i = 0; i < transcript.count; i++)
        assert_int_equal(replies[i].status, statuses[i]);

    /* The second step is told the token of the first. */
    assert_string_not_equal(string_of(&replies[3], "sessionToken"), "");
    assert_string_equal(string_of(&replies[3], "sessionToken"),
                        string_of(&replies[2], "sessionToken"));

    /* slurmctld takes the job's name from behind the path it asked for. */
    assert_int_equal(json_array_size(json_object_get(replies[7].json, "documentLinks")), 2);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(replies[7].json, "documentLinks"), 0)),
        DOUBLE_JOBS "/mockc-4242");
    assert_int_equal(mockfm_count_jobs(fm), 1);
    assert_true(mockfm_holds(fm, "elcap-f2Rs8"));
    for (size_t i = 0; i < transcript.count; i++)
        rawhttp_release(&replies[i]);
}

/* What it sends to the token endpoint, which it does not wait for a 100 to send. */
static void slurm__gets_an_access_token(void **state)
{
    const char *const oauth[] = {"--auth", "oauth", NULL};
    struct mockfm_fm *fm = *state;
    struct transcript transcript;
    struct rawhttp_reply reply = {0};

    assert_int_equal(folder_write(fm->folder, "client-id", 0600, "wlm-client\n"), 0);
    assert_int_equal(folder_write(fm->folder, "client-secret", 0600, "plain-s3cret"), 0);
    transcript_read(&transcript, TRANSCRIPTS "/slurm-04-oauth.txt");
    assert_int_equal(transcript.count, 1);
    mockfm_start(fm, oauth);
    play(fm, &transcript, &reply);
    assert_int_equal(reply.status, 200); /* to Slurm 201 is a failure */
    assert_string_not_equal(string_of(&reply, "access_token"), "");
    rawhttp_release(&reply);
}

/* libfabric: a tree, over one connection. */
static void play_libfabric(struct mockfm_fm *fm, bool tls)
{
    struct transcript transcript;
    struct rawhttp_reply replies[TRANSCRIPT_REQUESTS_MAX] = {0};
    const json_t *id;

    assert_int_equal(folder_write(fm->folder, "fm.state", 0600, libfabric_state), 0);
    transcript_read(&transcript, TRANSCRIPTS "/libfabric-01-create-delete.txt");
    assert_int_equal(transcript.count, 2);
    mockfm_start(fm, tls ? https : NULL);
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
    assert_int_equal(mockfm_log_total(fm, "connections"), 1);
    for (size_t i = 0; i < transcript.count; i++)
        rawhttp_release(&replies[i]);
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

UNIT_MAIN(STOPPED(slurm__gets_what_it_accepts), STOPPED(slurm__gets_it_over_tls_too),
          STOPPED(slurm__steps_and_cleanup_get_what_they_accept),
          STOPPED(slurm__gets_an_access_token), STOPPED(libfabric__gets_what_it_accepts),
          STOPPED(libfabric__gets_it_over_tls_too))
