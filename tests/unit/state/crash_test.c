/* SPDX-License-Identifier: Apache-2.0 */
/* I2: what was acknowledged is there after kill -9, and what is there is whole. */

#include "tests/unit/state/fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 8, RESERVATIONS_A_BATCH = 5 };

struct stream {
    struct store *store;
    uint64_t number, seq;
    int acks; /* a pipe: the highest number of each batch that is durable */
};

static int take_counters(void *arg, const struct record *record)
{
    struct stream *stream = arg;
    if (record->kind == RECORD_COUNTERS) {
        stream->number = record->u.counters.last_number;
        stream->seq = record->u.counters.last_seq;
    }
    return 0;
}

/* Each batch: some reservations, and one event that names the last of them. */
static void commit_more(struct stream *stream, store_done_fn *done)
{
    struct batch *batch = batch_create();
    for (int i = 0; i < RESERVATIONS_A_BATCH; i++) {
        struct record record = reservation(++stream->number, "f1");
        batch_add(batch, &record);
    }
    struct record record = event(++stream->seq, stream->number);
    batch_add(batch, &record);
    store_commit(stream->store, batch, done, stream);
}

static void acknowledge(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct stream *stream = arg;
    if (result->code || failed ||
        write(stream->acks, &stream->number, sizeof stream->number) != sizeof stream->number)
        _exit(3);
    commit_more(stream, acknowledge);
}

/* Never returns: it is killed. */
static void commit_for_ever(const char *path, int acks)
{
    struct stream stream = {.store = open_sqlite(path, NULL), .acks = acks};
    if (!stream.store || store_load(stream.store, take_counters, &stream, NULL) < 0)
        _exit(1);
    commit_more(&stream, acknowledge);
    for (;;) {
        struct pollfd readable = {.fd = store_fd(stream.store), .events = POLLIN};
        poll(&readable, 1, -1);
        store_dispatch(stream.store);
    }
}

/* Kills the child after so many acknowledgements and returns the last one that it gave. */
static uint64_t kill_after(const char *path, int acknowledgements)
{
    int acks[2];
    assert_int_equal(pipe(acks), 0);
    pid_t child = fork();
    if (child == 0) {
        close(acks[0]);
        commit_for_ever(path, acks[1]);
    }
    close(acks[1]);
    uint64_t last = 0;
    for (int i = 0; i < acknowledgements; i++)
        assert_int_equal(read(acks[0], &last, sizeof last), sizeof last);
    kill(child, SIGKILL);
    while (read(acks[0], &last, sizeof last) == sizeof last)
        ;
    close(acks[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return last;
}

struct census {
    uint64_t reservations, events, last_number, last_seq;
};

static int count_record(void *arg, const struct record *record)
{
    struct census *census = arg;
    switch (record->kind) {
    case RECORD_COUNTERS:
        census->last_number = record->u.counters.last_number;
        census->last_seq = record->u.counters.last_seq;
        break;
    case RECORD_RESERVATION:
        assert_int_equal(record->u.reservation.number, ++census->reservations);
        break;
    case RECORD_EVENT:
        assert_int_equal(record->u.event.seq, ++census->events);
        assert_int_equal(record->u.event.number, census->events * RESERVATIONS_A_BATCH);
        break;
    default:
        fail();
    }
    return 0;
}

UNIT_WITH(acknowledged__is_there_after_a_kill, fixture_setup, fixture_teardown)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t acknowledged = kill_after(fixture->path, 1 + round * 13);
        struct error err = {0};
        struct store *store = open_sqlite(fixture->path, &err);
        if (!store)
            fail_msg("%s", err.text);
        struct census census = {0};
        assert_int_equal(store_load(store, count_record, &census, NULL), 0);
        store_close(store);

        assert_true(census.reservations >= acknowledged);
        assert_int_equal(census.reservations, census.last_number);
        assert_int_equal(census.events, census.last_seq);
        assert_int_equal(census.reservations, census.events * RESERVATIONS_A_BATCH);
        /* What was not acknowledged can only be the one commit that was under way. */
        assert_true(census.reservations <= acknowledged + RESERVATIONS_A_BATCH);
    }
}

UNIT_RUN(NULL, NULL)
