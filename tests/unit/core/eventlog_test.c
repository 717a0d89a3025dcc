/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/eventlog.h"

/* F24: replayable by number, bounded, whatever number it begins with. */
UNIT(eventlog__replays_what_is_kept)
{
    struct eventlog log = {0};
    char cluster[] = "c", job[] = "j";
    assert_null(eventlog_at(&log, 0));
    for (uint64_t seq = 1; seq <= 512; seq++) { /* also when there is no place left in its ring */
        eventlog_append(&log, &(struct event_record){.seq = seq});
        assert_non_null(eventlog_at(&log, 1));
        assert_null(eventlog_at(&log, seq + 1));
    }
    eventlog_prune(&log, 512);
    for (uint64_t seq = 1000; seq < 3000; seq++) {
        struct event_record event = {
            .seq = seq, .cluster = cluster, .job = job, .kind = EVENT_RESERVED};
        job[0] = (char)('a' + seq % 26);
        eventlog_append(&log, &event);
        if (seq >= 1500)
            eventlog_prune(&log, seq - 500);
    }
    cluster[0] = 'd';
    assert_int_equal(eventlog_count(&log), 500);
    assert_null(eventlog_at(&log, 2499));
    assert_null(eventlog_at(&log, 3000));
    for (uint64_t seq = 2500; seq < 3000; seq++) {
        const struct event_record *event = eventlog_at(&log, seq);
        assert_int_equal(event->seq, seq);
        assert_int_equal(event->job[0], 'a' + (int)(seq % 26)); /* its own copy */
        assert_string_equal(event->cluster, "c");
        assert_null(event->detail);
    }
    eventlog_prune(&log, 99999);
    assert_int_equal(eventlog_count(&log), 0);
    eventlog_release(&log);
}

/* As many as there are places: each is freed once (sanitizers). */
UNIT(eventlog__is_released_when_full)
{
    struct eventlog log = {0};
    for (uint64_t seq = 1; seq <= log.capacity; seq++)
        eventlog_append(&log, &(struct event_record){.seq = seq});
    assert_int_equal(eventlog_count(&log), log.capacity);
    eventlog_release(&log);
}

UNIT_RUN(NULL, NULL)
