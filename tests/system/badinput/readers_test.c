/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/gauge.h"
#include "tests/system/badinput/peer.h"
#include "tests/system/badinput/run.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"
#include "tests/unit/unit.h"

/* Subscribers of events (F24) that never read, while thousands happen. */

enum {
    STUCK = 64,
    ROUNDS = 16,
    ROUND_JOBS = 500, /* each is reserved and released: two events */
    CONNECTIONS = 8,
    DEPTH = 8,
    EVENTS_KEPT = 10000, /* the default of events_keep */
    EVENT_BYTES = 512,
    JOB_BYTES = 1024,        /* of a released one whose VNIs are quarantined */
    STREAM_BYTES = 32 << 10, /* its connection, and what is rendered ahead */
    BYTES_BESIDE = 4 << 20,
    SANITIZED_TIMES = 8,
};

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    unsigned *good = arg;
    *good += reply->status == 201 || reply->status == 202;
}

/* Each job of the round: one call. */
static void call_all(struct wire *wire, int round, const char *method, const char *body)
{
    for (int i = 0; i < ROUND_JOBS; i++) {
        char path[64];
        snprintf(path, sizeof path, JOB "r%d.%d", round, i);
        while (!wire_has_room(wire))
            wire_turn(wire, -1);
        assert_int_equal(wire_send(wire, (uint64_t)i, method, path, body), 0);
    }
    while (wire_under_way(wire))
        wire_turn(wire, -1);
}

static struct peer *subscribe(const struct site *site, const char *version)
{
    char text[128];
    struct peer *peer = peer_open(site_socket(site), 0);
    int length = snprintf(text, sizeof text, "GET /v1/events HTTP/%s\r\nHost: x\r\n\r\n", version);
    assert_true(peer_send(peer, text, (size_t)length));
    return peer;
}

/* The event is there, and none is missing before it. */
static void read_up_to(struct peer *reader, unsigned seq)
{
    char text[32];
    snprintf(text, sizeof text, "\nid: %u\n", seq);
    assert_true(peer_skip_past(reader, text, "event: gap"));
}

static size_t memory_bound(void)
{
    size_t bytes = (size_t)EVENTS_KEPT * EVENT_BYTES + (size_t)ROUNDS * ROUND_JOBS * JOB_BYTES +
                   (size_t)STUCK * STREAM_BYTES + BYTES_BESIDE;
    return GAUGE_SANITIZED ? bytes * SANITIZED_TIMES : bytes;
}

static void reader_that_never_reads__is_dropped_and_others_go_on(void **state)
{
    struct peer *stuck[STUCK];
    unsigned good = 0;
    struct site *site = site_open(&(struct site_options){.mcastd = MCASTD});
    struct wire *wire = wire_create(&(struct wire_options){.socket = site_socket(site),
                                                           .connections = CONNECTIONS,
                                                           .depth = DEPTH,
                                                           .done = on_reply,
                                                           .arg = &good});
    assert_non_null(wire);
    /* HTTP/1.0: without chunks, whose marks could stand in the middle of a line. */
    struct peer *reader = subscribe(site, "1.0");
    pid_t pid = peer_process(reader);
    call_all(wire, 0, "PUT", "{\"uid\":1,\"node_count\":1}");
    read_up_to(reader, ROUND_JOBS);
    const size_t descriptors = gauge_descriptors(pid);
    size_t memory = gauge_memory(pid);
    for (int i = 0; i < STUCK; i++)
        stuck[i] = subscribe(site, "1.1");
    call_all(wire, 0, "DELETE", NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        call_all(wire, round, "PUT", "{\"uid\":1,\"node_count\":1}");
        call_all(wire, round, "DELETE", NULL);
        read_up_to(reader, 2 * ROUND_JOBS * (unsigned)(round + 1));
    }
    assert_int_equal(good, 2 * ROUND_JOBS * (ROUNDS + 1));
    assert_true(gauge_await_descriptors(pid, descriptors));
    size_t after = gauge_memory(pid);
    print_message("%zu KiB before, %zu after, at most %zu\n", memory >> 10, after >> 10,
                  (memory + memory_bound()) >> 10);
    assert_true(after <= memory + memory_bound());
    for (int i = 0; i < STUCK; i++) { /* what was on its way to them, and the end */
        assert_true(peer_read_out(stuck[i]));
        assert_int_equal(strncmp(peer_rest(stuck[i]), "HTTP/1.1 200 ", 13), 0);
        peer_close(stuck[i]);
    }
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, NULL), 200);
    peer_close(reader);
    wire_destroy(wire);
    site_close(site);
}

UNIT_MAIN(cmocka_unit_test(reader_that_never_reads__is_dropped_and_others_go_on))
