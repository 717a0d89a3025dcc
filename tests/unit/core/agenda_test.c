/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/agenda.h"

enum { MANY = 500 };

UNIT(agenda__gives_them_in_order)
{
    struct agenda a = {0};
    struct reservation *r[MANY];
    uint32_t random = 12345;
    assert_null(agenda_first(&a));
    for (int i = 0; i < MANY; i++) {
        r[i] = calloc(1, sizeof **r + 1);
        random = random * 1664525u + 1013904223u;
        agenda_set(&a, r[i], random >> 16);
    }
    /* Change half of them, take a third off. */
    for (int i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        if (i % 2 == 0)
            agenda_set(&a, r[i], random >> 16);
        if (i % 3 == 0)
            agenda_set(&a, r[i], INT64_MAX);
    }
    int seen = 0;
    int64_t last = -1;
    for (const struct agenda_entry *first; (first = agenda_first(&a)); seen++) {
        struct reservation *due = first->reservation;
        assert_true(first->due_ms >= last);
        last = first->due_ms;
        agenda_set(&a, due, INT64_MAX);
        assert_int_equal(due->agenda_slot, 0);
    }
    assert_int_equal(seen, MANY - (MANY + 2) / 3);
    for (int i = 0; i < MANY; i++)
        free(r[i]);
    agenda_release(&a);
}

UNIT_RUN(NULL, NULL)
