/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/replay/rounds.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 64, BODY_SIZE = 128, RELEASED_KEPT = 256, STALLED_MS = AWAIT_DEADLINE_MS };

struct round {
    const struct rounds_options *options;
    const struct joblog *log;
    struct notes *notes;
    struct wire *wire;
    size_t cursor;   /* next event of the log */
    size_t answered; /* requests acknowledged; the round ends at one an event */
    size_t refused;  /* answers 503 */
    bool killing;    /* connections break now */
    bool *fresh;     /* by job: first asked for after the last kill */
    uint8_t *sent;   /* by tag: how often, up to 255 */
    uint32_t *again; /* tags to be repeated */
    size_t again_count;
    uint32_t recent[RELEASED_KEPT]; /* jobs released last, a ring */
    size_t recent_count;
    uint64_t prng;
};

/* A request is known by its job and whether it is the end. */
static uint32_t tag_of(uint32_t job, bool ends)
{
    return job << 1 | (ends ? 1 : 0);
}

static void job_path(char path[PATH_SIZE], const struct round *round, uint32_t job)
{
    snprintf(path, PATH_SIZE, "/v1/clusters/elcap/jobs/%.32s", round->log->jobs[job].id);
}

static int send_request(struct round *round, uint32_t tag)
{
    const uint32_t job = tag >> 1;
    char path[PATH_SIZE], body[BODY_SIZE];

    if (round->sent[tag] < UINT8_MAX)
        round->sent[tag]++;
    job_path(path, round, job);
    if (tag & 1)
        return wire_send(round->wire, tag, "DELETE", path, NULL);
    snprintf(body, sizeof body, "{\"uid\":5588,\"node_count\":%u,\"cores_per_node\":64}",
             round->log->jobs[job].nodes);
    return wire_send(round->wire, tag, "PUT", path, body);
}

/* A first request creates; 200 is for its repetition, which may well be the first to arrive. */
static void acknowledge_reserve(struct round *round, uint32_t job, const struct wire_reply *reply)
{
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);

    if (reply->status == 200 && round->sent[tag_of(job, false)] == 1)
        notes_fault(round->notes, "job %u: a first reserve was answered as a repetition", job);
    round->notes->repeated += reply->status == 200;
    notes_reserved(round->notes, job, answer, round->fresh[job]);
    json_decref(answer);
}

static void acknowledge_release(struct round *round, uint32_t job, const struct wire_reply *reply)
{
    if (reply->status != 202 && round->sent[tag_of(job, true)] == 1)
        notes_fault(round->notes, "job %u: a first release of a live job was answered %d", job,
                    reply->status);
    notes_released(round->notes, job);
    round->recent[round->recent_count++ % RELEASED_KEPT] = job;
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct round *round = arg;
    const uint32_t job = (uint32_t)(tag >> 1);
    const bool ends = tag & 1;

    if (reply->status == 0 && !round->killing)
        notes_fault(round->notes, "job %u: the broker broke the connection", job);
    if (reply->status == 0 || reply->status == 503) { /* not now: to be repeated */
        round->refused += reply->status == 503;
        round->again[round->again_count++] = (uint32_t)tag;
        return;
    }
    round->answered++;
    if (!ends && (reply->status == 200 || reply->status == 201))
        acknowledge_reserve(round, job, reply);
    else if (ends && (reply->status == 200 || reply->status == 202 || reply->status == 404))
        acknowledge_release(round, job, reply);
    else
        notes_fault(round->notes, "job %u: %s answered %d: %.200s", job,
                    ends ? "release" : "reserve", reply->status, reply->body);
}

/* Sends what is due. 0, or -1 when the broker takes no connection. */
static int feed(struct round *round)
{
    while (round->again_count > 0 && wire_has_room(round->wire))
        if (send_request(round, round->again[--round->again_count]) < 0)
            return -1;
    while (round->cursor < round->log->event_count && wire_has_room(round->wire)) {
        const struct joblog_event *event = &round->log->events[round->cursor];
        struct note *note = &round->notes->jobs[event->job];

        if (event->ends && note->life != NOTES_LIVE)
            return 0; /* its start is not acknowledged yet: nothing overtakes it */
        if (event->ends)
            notes_releasing(round->notes, event->job);
        else
            note->life = NOTES_ASKED;
        round->fresh[event->job] = true;
        round->cursor++;
        if (send_request(round, tag_of(event->job, event->ends)) < 0)
            return -1;
    }
    return 0;
}

/* What was acknowledged before the kill must be said again after it. */
static void compare_all(struct round *round)
{
    struct plainhttp *http = testbed_http(round->options->testbed);
    struct plainhttp_reply reply;
    char path[PATH_SIZE];
    const size_t kept = round->recent_count < RELEASED_KEPT ? round->recent_count : RELEASED_KEPT;

    for (uint32_t job = 0; job < round->notes->job_count; job++) {
        if (round->notes->jobs[job].life != NOTES_LIVE)
            continue;
        job_path(path, round, job);
        plainhttp_call(http, "GET", path, NULL, &reply);
        notes_compare(round->notes, job, reply.status, reply.json);
        plainhttp_reply_release(&reply);
    }
    for (size_t i = 0; i < kept; i++) {
        job_path(path, round, round->recent[i]);
        plainhttp_call(http, "GET", path, NULL, &reply);
        notes_compare_released(round->notes, round->recent[i], reply.status, reply.json);
        plainhttp_reply_release(&reply);
    }
}

/* kill -9 with requests under way, restart, compare; what was lost is sent again by feed. */
static int kill_and_restart(struct round *round)
{
    round->killing = true;
    testbed_kill_broker(round->options->testbed);
    while (wire_under_way(round->wire) > 0)
        wire_turn(round->wire, -1); /* answers that had left, then broken connections */
    wire_hang_up(round->wire);
    round->notes->floor = round->notes->highest;
    memset(round->fresh, 0, round->log->job_count * sizeof *round->fresh);
    if (testbed_start_broker(round->options->testbed) < 0)
        return -1;
    round->killing = false;
    compare_all(round);
    return 0;
}

/* The next moment to kill: somewhere in the kill's own share of the round. */
static size_t moment(struct round *round, unsigned kill)
{
    const size_t share = round->log->event_count / (round->options->kills + 1);

    round->prng = round->prng * 6364136223846793005u + 1442695040888963407u;
    return share * kill + share / 2 + (size_t)(round->prng >> 33) % share;
}

static int play(struct round *round)
{
    unsigned kills = 0;
    size_t next_kill = moment(round, 0);

    while (round->answered < round->log->event_count) {
        if (feed(round) < 0) {
            fprintf(stderr, "the broker takes no connection: %s\n", strerror(errno));
            return -1;
        }
        /* As soon as the moment is there and something is under way. */
        if (kills < round->options->kills && round->answered >= next_kill) {
            if (kill_and_restart(round) < 0)
                return -1;
            next_kill = moment(round, ++kills);
            continue;
        }
        if (wire_turn(round->wire, STALLED_MS) == 0) {
            fprintf(stderr, "no answer for %d s: %zu requests under way, %zu of %zu answered\n",
                    STALLED_MS / 1000, wire_under_way(round->wire), round->answered,
                    round->log->event_count);
            return -1;
        }
        if (round->notes->faults > 0)
            return 0; /* each of them fails the round; more would only hide the first */
    }
    if (kills < round->options->kills)
        notes_fault(round->notes, "only %u kills of %u happened", kills, round->options->kills);
    if (round->refused > 0)
        printf("  %zu answers were 503 and repeated\n", round->refused);
    return 0;
}

int rounds_play(const struct rounds_options *options, struct notes *notes)
{
    const struct joblog *log = options->log;
    struct round round = {.options = options, .log = log, .notes = notes, .prng = options->seed};
    const struct wire_options wire = {.socket = testbed_socket(options->testbed),
                                      .connections = options->connections,
                                      .depth = 1,
                                      .done = on_reply,
                                      .arg = &round};
    int result = -1;

    round.fresh = calloc(log->job_count, sizeof *round.fresh);
    round.sent = calloc(log->event_count, sizeof *round.sent);
    round.again = calloc(log->event_count, sizeof *round.again);
    round.wire = wire_create(&wire);
    if (round.fresh && round.sent && round.again && round.wire)
        result = play(&round);
    wire_destroy(round.wire);
    free(round.again);
    free(round.sent);
    free(round.fresh);
    return result;
}

static bool is_quiet(void *arg)
{
    struct testbed *testbed = arg;
    struct plainhttp_reply list, state;

    plainhttp_call(testbed_http(testbed), "GET", "/v1/jobs?limit=1", NULL, &list);
    plainhttp_call(testbed_fm_http(testbed), "GET", "/mock/state", NULL, &state);
    const json_t *held = json_object_get(list.json, "jobs");
    const json_t *jobs = json_object_get(state.json, "jobs");
    const bool quiet = json_is_array(held) && json_array_size(held) == 0 && json_is_array(jobs) &&
                       json_array_size(jobs) == 0;
    plainhttp_reply_release(&list);
    plainhttp_reply_release(&state);
    return quiet;
}

int rounds_await_quiet(struct testbed *testbed)
{
    struct plainhttp_reply reply;

    if (await(is_quiet, testbed, AWAIT_DEADLINE_MS))
        return 0;
    plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply);
    fprintf(stderr, "every job was released, and the broker still says %s\n",
            reply.text ? reply.text : "nothing");
    plainhttp_reply_release(&reply);
    plainhttp_call(testbed_fm_http(testbed), "GET", "/mock/state", NULL, &reply);
    fprintf(stderr, "the fabric manager holds %.2000s\n", reply.text ? reply.text : "");
    plainhttp_reply_release(&reply);
    return -1;
}
