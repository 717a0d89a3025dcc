/* SPDX-License-Identifier: Apache-2.0 */
/* A reserve meets trouble. Each row says what the fabric
 * manager does, and what the job sees of it, what becomes of the link, and what the log says.
 * Afterwards it is well again, and must hold exactly what the active jobs should have (I3). */

#include "tests/system/rig/await.h"
#include "tests/system/misbehaviour/scene.h"
#include "tests/unit/unit.h"

#define JOBS "\"path\":\"*/collectives/jobs\""

struct trouble {
    const char *name;
    const char *fault;  /* a rule of mock-fm */
    const char *sees;   /* hwcoll.state of the job */
    const char *reason; /* part of what it is told; NULL: nothing */
    const char *log;    /* part of a line; NULL: nothing in particular */
    bool link_lost;     /* until the fault is over */
};

static const struct trouble overcome[] = {
    /* Once: the second try helps, and the job notices nothing. */
    {"500 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":500}", "reserved", NULL,
     "HTTP 500", false},
    {"503 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":503}", "reserved", NULL,
     "HTTP 503", false},
    {"429 once",
     "{\"method\":\"POST\"," JOBS
     ",\"count\":1,\"status\":429,\"headers\":{\"Retry-After\":\"1\"}}",
     "reserved", NULL, "HTTP 429", false},
    /* It acted, and its answer is of no use: it is asked again, meets its own object (409), has it
     * released, and asks a third time. */
    {"truncated body once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"truncate\":true}",
     "reserved", NULL, "has one under this name already", false},
    {"body that is not JSON once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"garbage\":true}",
     "reserved", NULL, "has one under this name already", false},
    {"no token once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"no_session_token\":true}",
     "reserved", NULL, "has no sessionToken", false},
    {"token of a wrong type once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"merge\":{\"sessionToken\":12}}", "reserved", NULL,
     "sessionToken is not usable", false},
    {"token that breaks headers once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"merge\":{\"sessionToken\":\"a\\r\\nb\"}}",
     "reserved", NULL, "sessionToken is not usable", false},
    {"oversized body once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"fill_to\":2000000}",
     "reserved", NULL, "has one under this name already", false},
    {"connection dropped before acting once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"drop\":\"before\"}", "reserved", NULL, NULL,
     false},
    {"connection dropped after acting once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"drop\":\"after\"}", "reserved", NULL, NULL,
     false},
    {"slow answer once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"delay_ms\":20000}",
     "reserved", NULL, "has one under this name already", false},
    {"slow to act", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"act_after_ms\":900}", "reserved",
     NULL, NULL, false},
};

/* For good, or for longer than a job waits: it runs without. */
static const struct trouble lasting[] = {
    {"403", "{\"method\":\"POST\"," JOBS ",\"status\":403}", "denied", "HTTP 403",
     "the job runs without", false},
    {"404", "{\"method\":\"POST\"," JOBS ",\"status\":404}", "denied", "HTTP 404",
     "the job runs without", false},
    {"400", "{\"method\":\"POST\"," JOBS ",\"status\":400}", "denied", "HTTP 400",
     "the job runs without", false},
    {"507",
     "{\"method\":\"POST\"," JOBS ",\"status\":507,\"body\":{\"message\":\"02: none left\"}}",
     "denied", "HTTP 507: 02: none left", "the job runs without", false},
    {"500", "{\"method\":\"POST\"," JOBS ",\"status\":500}", "timeout", "HTTP 500",
     "a late success will be released", false},
    {"503", "{\"method\":\"POST\"," JOBS ",\"status\":503}", "timeout", "HTTP 503",
     "a late success will be released", false},
    {"429", "{\"method\":\"POST\"," JOBS ",\"status\":429}", "timeout", "HTTP 429",
     "a late success will be released", false},
    /* Another broker's or a Slurm's, for all that is known: it is left alone. */
    {"409 of something else", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":409}", "denied",
     "that this broker did not make", "the job runs without", false},
    {"409 for ever", "{\"method\":\"POST\"," JOBS ",\"status\":409}", "denied",
     "that this broker did not make", "the job runs without", false},
    {"no token for ever", "{\"method\":\"POST\"," JOBS ",\"no_session_token\":true}", "timeout",
     NULL, "a late success will be released", false},
    {"not JSON for ever", "{\"method\":\"POST\"," JOBS ",\"garbage\":true}", "timeout", NULL,
     "a late success will be released", false},
    {"slow answer", "{\"method\":\"POST\"," JOBS ",\"delay_ms\":20000}", "timeout", NULL,
     "a late success will be released", false},
    {"slow body", "{\"method\":\"POST\"," JOBS ",\"byte_every_ms\":100}", "timeout", NULL,
     "a late success will be released", false},
    /* The password, read again, is the same: asking again would lock the account. */
    {"401 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":401}", "unavailable",
     "HTTP 401", "link down, login at", false},
    {"401 for ever", "{\"path\":\"*/collectives/*\",\"status\":401}", "unavailable", "HTTP 401",
     "link down, login at", true},
    {"a gateway's page",
     "{\"method\":\"POST\"," JOBS ",\"status\":502,\"body\":\"<html>Bad "
     "Gateway</html>\"}",
     "timeout", "HTTP 502: the body is not a JSON object; is this the fabric manager?",
     "a late success will be released", false},
};

struct next {
    size_t row;
    int tries;
    char job[32], state[512], reason[512];
};

static bool is_waited_for(void *arg)
{
    struct next *next = arg;
    (void)snprintf(next->job, sizeof next->job, "next%zu.%d", next->row, next->tries++);
    scene_reserve(next->job, next->state, next->reason);
    if (strcmp(next->state, "unavailable") != 0)
        return true;
    scene_release(next->job);
    return false;
}

static void check_trouble(const struct trouble *trouble, size_t row)
{
    char job[32], other[32], state[512], reason[512], held[128];
    (void)snprintf(job, sizeof job, "%zu", row);
    scene_tell_fm("POST", "/mock/faults", trouble->fault);
    scene_reserve(job, state, reason);
    if (strcmp(state, trouble->sees) != 0)
        fail_msg("%s: the job should see %s, it sees %s (%s)", trouble->name, trouble->sees, state,
                 reason);
    if (trouble->reason && !strstr(reason, trouble->reason))
        fail_msg("%s: the reason should hold \"%s\", it is \"%s\"", trouble->name, trouble->reason,
                 reason);
    if (trouble->log)
        scene_await_logged(trouble->log);
    if (trouble->link_lost)
        scene_await_link("down");

    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_link("up");
    /* The job that lost keeps what it was told; the next one has what it asks for. Where nothing
     * was answered in time, it does when the list has been (F21). */
    struct next next = {.row = row};
    if (strncmp(trouble->name, "slow", strlen("slow")) == 0)
        assert_true(await(is_waited_for, &next, AWAIT_DEADLINE_MS));
    else
        (void)is_waited_for(&next);
    (void)snprintf(other, sizeof other, "%s", next.job);
    assert_string_equal(next.state, "reserved");
    scene_job_state(job, state);
    assert_string_equal(state, trouble->sees);
    if (strcmp(trouble->sees, "reserved") == 0)
        (void)snprintf(held, sizeof held, "elcap-%s elcap-%s", job, other);
    else
        (void)snprintf(held, sizeof held, "elcap-%s", other);
    scene_await_held(held);
    scene_release(job);
    scene_release(other);
    scene_await_held("");
}

static void overcome_trouble__is_not_noticed_by_the_job(void **state)
{
    for (size_t i = 0; i < sizeof overcome / sizeof overcome[0]; i++)
        check_trouble(&overcome[i], i);
}

static void lasting_trouble__costs_the_job_its_addresses_only(void **state)
{
    for (size_t i = 0; i < sizeof lasting / sizeof lasting[0]; i++)
        check_trouble(&lasting[i], 100 + i);
}

/* Enough time for every second try, also on a busy machine. */
static int start_retrying(void **state)
{
    struct testbed_options options = scene_quick;
    options.fm = "timeout = 3s\nreserve_timeout = 60s\nlink_retry = 50ms";
    return scene_start(&options);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(overcome_trouble__is_not_noticed_by_the_job,
                                          start_retrying, scene_stop),
          cmocka_unit_test_setup_teardown(lasting_trouble__costs_the_job_its_addresses_only,
                                          scene_start_quick, scene_stop))
