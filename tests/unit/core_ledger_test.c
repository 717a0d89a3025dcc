#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/ledger.h"

static struct reservation *make(uint64_t number, const char *job)
{
    struct reservation *r = calloc(1, sizeof *r + strlen(job) + 1);
    r->number = number;
    r->cluster = "c";
    strcpy(r->job, job);
    return r;
}

static void ledger__finds_newest_life_first(void **state)
{
    (void)state;
    struct ledger l;
    struct reservation *first = make(1, "j"), *second = make(2, "j"), *third = make(5, "j");
    ledger_init(&l);
    ledger_insert(&l, first);
    ledger_insert(&l, second);
    ledger_insert(&l, third);
    assert_ptr_equal(ledger_newest(&l, "c", "j"), third);
    assert_null(ledger_newest(&l, "d", "j"));
    ledger_remove(&l, second); /* from the middle */
    assert_ptr_equal(third->older, first);
    ledger_remove(&l, third);
    assert_ptr_equal(ledger_newest(&l, "c", "j"), first);
    ledger_remove(&l, first);
    assert_null(ledger_newest(&l, "c", "j"));
    assert_int_equal(l.names, 0);
    free(first);
    free(second);
    free(third);
    ledger_release(&l);
}

/* Many come and go; number order, names and compaction hold. */
static void ledger__survives_churn(void **state)
{
    (void)state;
    enum { LIVE = 3000, ALL = 40000 };
    static struct reservation *live[ALL + 1];
    struct ledger l;
    ledger_init(&l);
    for (uint64_t n = 1; n <= ALL; n++) {
        char job[16];
        snprintf(job, sizeof job, "%llu", (unsigned long long)n);
        live[n] = make(n, job);
        ledger_insert(&l, live[n]);
        if (n > LIVE) {
            uint64_t gone = n - LIVE;
            ledger_remove(&l, live[gone]);
            free(live[gone]);
            live[gone] = NULL;
        }
    }
    assert_int_equal(l.count, LIVE);
    assert_true(l.row_room <= 4 * LIVE);
    uint64_t expected = ALL - LIVE + 1;
    for (struct reservation *r = ledger_next(&l, 0); r != NULL; r = ledger_next(&l, r->number)) {
        assert_int_equal(r->number, expected);
        assert_ptr_equal(ledger_newest(&l, "c", r->job), r);
        assert_ptr_equal(ledger_by_number(&l, r->number), r);
        expected++;
    }
    assert_int_equal(expected, ALL + 1);
    assert_null(ledger_by_number(&l, 1));
    assert_null(ledger_by_number(&l, ALL + 1));
    assert_null(ledger_next(&l, UINT64_MAX));
    for (uint64_t n = ALL - LIVE + 1; n <= ALL; n++)
        free(live[n]);
    ledger_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger__finds_newest_life_first),
        cmocka_unit_test(ledger__survives_churn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
