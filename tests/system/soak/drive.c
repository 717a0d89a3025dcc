/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/soak/drive.h"

#include "tests/system/replay/notes.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 96, BODY_SIZE = 128, TURN_MS = 5, STALLED_S = 180 };

struct drive {
    struct drive_options options;
    const struct joblog *log;
    struct wire *wire;
    struct notes *notes; /* of this lap */
    bool *fresh;         /* by job: first asked for after the last break */
    uint32_t *again;     /* tags to be repeated */
    size_t again_count, cursor, answered;
    bool breaking, finishing;
    int64_t begun_ns, heard_ns;
    double sent;          /* events of the log, or passed by for being too late */
    size_t faults_before; /* of the laps that are over */
    struct drive_counts counts;
};

static bool start_lap(struct drive *drive)
{
    notes_destroy(drive->notes);
    drive->notes = notes_create(drive->log->job_count);
    if (!drive->notes)
        return false;
    drive->cursor = drive->answered = 0;
    return true;
}

struct drive *drive_create(const struct drive_options *options)
{
    struct drive *drive = calloc(1, sizeof *drive);

    if (!drive)
        return NULL;
    drive->options = *options;
    drive->log = options->log;
    drive->begun_ns = drive->heard_ns = await_now_ns();
    drive->fresh = calloc(drive->log->job_count, sizeof *drive->fresh);
    drive->again = calloc(drive->log->event_count, sizeof *drive->again);
    if (!drive->fresh || !drive->again || !start_lap(drive)) {
        drive_destroy(drive);
        return NULL;
    }
    return drive;
}

void drive_destroy(struct drive *drive)
{
    if (!drive)
        return;
    wire_destroy(drive->wire);
    notes_destroy(drive->notes);
    free(drive->fresh);
    free(drive->again);
    free(drive);
}

/* ---- requests ---- */

/* A request is known by its job and whether it is the end. */
static uint32_t tag_of(uint32_t job, bool ends)
{
    return job << 1 | (ends ? 1 : 0);
}

static void job_path(char path[PATH_SIZE], const struct drive *drive, uint32_t job)
{
    snprintf(path, PATH_SIZE, "/v1/clusters/elcap/jobs/%.32s.%llu", drive->log->jobs[job].id,
             (unsigned long long)drive->counts.laps);
}

static int send_request(struct drive *drive, uint32_t tag)
{
    const uint32_t job = tag >> 1;
    char path[PATH_SIZE], body[BODY_SIZE];

    job_path(path, drive, job);
    if (tag & 1)
        return wire_send(drive->wire, tag, "DELETE", path, NULL);
    snprintf(body, sizeof body, "{\"uid\":5588,\"node_count\":%u,\"cores_per_node\":64}",
             drive->log->jobs[job].nodes);
    return wire_send(drive->wire, tag, "PUT", path, body);
}

/* Counts only what this lap's notes have seen since the last look. */
static void acknowledge_reserve(struct drive *drive, uint32_t job, const struct wire_reply *reply)
{
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);
    const size_t reserved = drive->notes->reserved;

    notes_reserved(drive->notes, job, answer, drive->fresh[job]);
    drive->counts.repeated += reply->status == 200;
    if (drive->notes->reserved > reserved)
        drive->counts.reserved++;
    else
        drive->counts.without++;
    json_decref(answer);
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct drive *drive = arg;
    const uint32_t job = (uint32_t)(tag >> 1);
    const bool ends = tag & 1;

    drive->heard_ns = await_now_ns();
    if (reply->status == 0 && !drive->breaking)
        notes_fault(drive->notes, "job %u: the broker broke the connection", job);
    if (reply->status == 0 || reply->status == 503) { /* not now: to be repeated */
        drive->counts.refused += reply->status == 503;
        drive->again[drive->again_count++] = (uint32_t)tag;
        return;
    }
    if (drive->counts.latency_count < DRIVE_LATENCIES)
        drive->counts.latencies_ns[drive->counts.latency_count++] = reply->latency_ns;
    drive->answered++;
    if (!ends && (reply->status == 200 || reply->status == 201)) {
        acknowledge_reserve(drive, job, reply);
    } else if (ends && (reply->status == 200 || reply->status == 202 || reply->status == 404)) {
        notes_released(drive->notes, job);
        drive->counts.jobs++;
    } else {
        notes_fault(drive->notes, "job %u: %s answered %d: %.200s", job,
                    ends ? "release" : "reserve", reply->status, reply->body);
    }
}

/* ---- the log ---- */

/* Whether the next event may be sent; nothing overtakes a start that is not acknowledged. */
static bool is_due(struct drive *drive, const struct joblog_event *event)
{
    const double elapsed = (double)(await_now_ns() - drive->begun_ns) / 1e9;

    if (event->ends && drive->notes->jobs[event->job].life != NOTES_LIVE)
        return false;
    /* What a slow broker lets pile up is not hurled at it afterwards. */
    if (drive->sent + drive->options.jobs_per_second < elapsed * 2 * drive->options.jobs_per_second)
        drive->sent = (elapsed * 2 - 1) * drive->options.jobs_per_second;
    return drive->sent < elapsed * 2 * drive->options.jobs_per_second;
}

static int send_event(struct drive *drive, const struct joblog_event *event)
{
    drive->sent++;
    drive->cursor++;
    drive->fresh[event->job] = true;
    if (event->ends)
        notes_releasing(drive->notes, event->job);
    else
        drive->notes->jobs[event->job].life = NOTES_ASKED;
    return send_request(drive, tag_of(event->job, event->ends));
}

/* While finishing, the events of jobs that did not begin are passed over. */
static void pass_over(struct drive *drive)
{
    while (drive->finishing && drive->cursor < drive->log->event_count) {
        const struct joblog_event *event = &drive->log->events[drive->cursor];

        if (event->ends && drive->notes->jobs[event->job].life != NOTES_UNBORN)
            return;
        drive->cursor++;
        drive->answered++;
    }
}

static int feed(struct drive *drive)
{
    while (drive->again_count > 0 && wire_has_room(drive->wire))
        if (send_request(drive, drive->again[--drive->again_count]) < 0)
            return -1;
    for (;;) {
        pass_over(drive);
        if (drive->cursor == drive->log->event_count || !wire_has_room(drive->wire))
            return 0;
        const struct joblog_event *event = &drive->log->events[drive->cursor];
        if (!is_due(drive, event))
            return 0;
        if (send_event(drive, event) < 0)
            return -1;
    }
}

static bool lap_is_over(const struct drive *drive)
{
    return drive->answered == drive->log->event_count;
}

/* 0; -1 out of memory. */
static int end_lap(struct drive *drive)
{
    notes_conclude(drive->notes);
    drive->faults_before += drive->notes->faults;
    drive->counts.laps++;
    const uint64_t highest = drive->notes->highest;
    if (!start_lap(drive))
        return -1;
    drive->notes->highest = drive->notes->floor = highest;
    return 0;
}

int drive_turn(struct drive *drive)
{
    const struct wire_options wire = {.socket = testbed_socket(drive->options.testbed),
                                      .connections = drive->options.connections,
                                      .depth = 1,
                                      .done = on_reply,
                                      .arg = drive};

    if (!drive->wire && !(drive->wire = wire_create(&wire)))
        return -1;
    if (feed(drive) < 0) {
        fprintf(stderr, "the broker takes no connection: %s\n", strerror(errno));
        return -1;
    }
    (void)wire_turn(drive->wire, TURN_MS);
    if (wire_under_way(drive->wire) == 0)
        drive->heard_ns = await_now_ns();
    if (await_now_ns() - drive->heard_ns > STALLED_S * (int64_t)1000000000) {
        fprintf(stderr, "no answer for %d s: %zu requests under way\n", STALLED_S,
                wire_under_way(drive->wire));
        return -1;
    }
    drive->counts.live = drive->notes->live;
    drive->counts.faults = drive->faults_before + drive->notes->faults;
    if (lap_is_over(drive) && !drive->finishing)
        return end_lap(drive);
    return 0;
}

bool drive_finish(struct drive *drive)
{
    drive->finishing = true;
    pass_over(drive);
    return lap_is_over(drive);
}

void drive_broken(struct drive *drive)
{
    drive->breaking = true;
    while (drive->wire && wire_under_way(drive->wire) > 0)
        (void)wire_turn(drive->wire, -1); /* answers that had left, then broken connections */
    if (drive->wire)
        wire_hang_up(drive->wire);
    drive->breaking = false;
    drive->notes->floor = drive->notes->highest;
    memset(drive->fresh, 0, drive->log->job_count * sizeof *drive->fresh);
}

void drive_compare(struct drive *drive)
{
    struct plainhttp_reply reply;
    char path[PATH_SIZE];

    for (uint32_t job = 0; job < drive->notes->job_count; job++) {
        if (drive->notes->jobs[job].life != NOTES_LIVE)
            continue;
        job_path(path, drive, job);
        plainhttp_call(testbed_http(drive->options.testbed), "GET", path, NULL, &reply);
        notes_compare(drive->notes, job, reply.status, reply.json);
        plainhttp_reply_release(&reply);
    }
    drive->heard_ns = await_now_ns();
}

const struct drive_counts *drive_counts(const struct drive *drive)
{
    return &drive->counts;
}

void drive_forget_latencies(struct drive *drive)
{
    drive->counts.latency_count = 0;
}
