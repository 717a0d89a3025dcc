/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/ledger.h"

static struct reservation *make(uint64_t number, const char *job)
{
    struct reservation *r = calloc(1, sizeof *r + strlen(job) + 1);
    r->number = number;
    r->cluster = "c";
    strcpy(r->job, job);
    return r;
}

UNIT(ledger__finds_newest_life_first)
{
    struct ledger l;
    struct reservation *first = make(1, "j"), *second = make(2, "j"), *third = make(5, "j");
    ledger_init(&l);
    ledger_index(&l);
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

/* The newest life goes, and others whose names fall into the same chain are found all the same. */
UNIT(ledger__keeps_names_behind_a_life_that_goes)
{
    enum { JOBS = 200 };
    static struct reservation *lives[2][JOBS];
    struct ledger l;
    char job[16];
    uint64_t number = 0;
    ledger_init(&l);
    ledger_index(&l);
    for (int life = 0; life < 2; life++) {
        for (int i = 0; i < JOBS; i++) {
            (void)snprintf(job, sizeof job, "job%d", i);
            lives[life][i] = make(++number, job);
            ledger_insert(&l, lives[life][i]);
        }
    }
    assert_int_equal(l.names, JOBS);
    for (int i = 0; i < JOBS; i++) {
        ledger_remove(&l, lives[1][i]);
        for (int k = 0; k < JOBS; k++)
            assert_ptr_equal(ledger_newest(&l, "c", lives[0][k]->job), lives[k > i][k]);
    }
    for (int i = 0; i < JOBS; i++) {
        ledger_remove(&l, lives[0][i]);
        for (int k = 0; k < JOBS; k++)
            assert_ptr_equal(ledger_newest(&l, "c", lives[0][k]->job), k > i ? lives[0][k] : NULL);
    }
    assert_int_equal(l.names, 0);
    for (int i = 0; i < JOBS; i++) {
        free(lives[0][i]);
        free(lives[1][i]);
    }
    ledger_release(&l);
}

/* Many come and go; number order, names and compaction hold. */
UNIT(ledger__survives_churn)
{
    enum { LIVE = 3000, ALL = 40000 };
    static struct reservation *live[ALL + 1];
    struct ledger l;
    ledger_init(&l);
    ledger_index(&l);
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
        assert_true(l.row_count <= 256 || l.count >= l.row_count - l.row_count / 4); /* G11 */
    }
    assert_int_equal(l.count, LIVE);
    assert_true(l.row_capacity <= 4 * LIVE);
    uint64_t expected = ALL - LIVE + 1;
    struct ledger_walk walk = {0}, beyond = {.after = UINT64_MAX};
    for (struct reservation *r; (r = ledger_walk(&l, &walk));) {
        assert_int_equal(r->number, expected);
        assert_ptr_equal(ledger_newest(&l, "c", r->job), r);
        assert_ptr_equal(ledger_by_number(&l, r->number), r);
        expected++;
    }
    assert_int_equal(expected, ALL + 1);
    assert_null(ledger_by_number(&l, 1));
    assert_null(ledger_by_number(&l, ALL + 1));
    assert_null(ledger_walk(&l, &beyond));
    for (uint64_t n = ALL - LIVE + 1; n <= ALL; n++)
        free(live[n]);
    ledger_release(&l);
}

/* G11: no name is the one for which all others move. */
UNIT(names__get_one_bucket_more_at_a_time)
{
    enum { ALL = 5000 };
    static struct reservation *all[ALL];
    struct ledger l;
    ledger_init(&l);
    ledger_index(&l);
    for (uint64_t n = 0; n < ALL; n++) {
        char job[16];
        size_t before = l.bucket_count;
        snprintf(job, sizeof job, "%llu", (unsigned long long)n);
        all[n] = make(n + 1, job);
        ledger_insert(&l, all[n]);
        assert_true(l.bucket_count - before <= 1);
        assert_true(l.names <= l.bucket_count);
        assert_ptr_equal(ledger_newest(&l, "c", all[n / 2]->job), all[n / 2]);
    }
    for (uint64_t n = 0; n < ALL; n++)
        assert_ptr_equal(ledger_newest(&l, "c", all[n]->job), all[n]);
    for (uint64_t n = 0; n < ALL; n++) {
        ledger_remove(&l, all[n]);
        assert_null(ledger_newest(&l, "c", all[n]->job));
        free(all[n]);
    }
    assert_int_equal(l.names, 0);
    ledger_release(&l);
}

/* Rows move up under its feet: each that is there all the while is seen, and once. */
UNIT(walk__sees_what_stays)
{
    enum { FIRST = 2000, ALL = 3000 };
    static struct reservation *all[ALL + 1];
    struct ledger l;
    struct ledger_walk walk = {0};
    uint64_t seen = 0;
    ledger_init(&l);
    ledger_index(&l);
    for (uint64_t n = 1; n <= ALL; n++) {
        char job[16];
        snprintf(job, sizeof job, "%llu", (unsigned long long)n);
        all[n] = make(n, job);
        if (n <= FIRST)
            ledger_insert(&l, all[n]);
    }
    for (struct reservation *r; (r = ledger_walk(&l, &walk)); seen++) {
        assert_int_equal(r->number, seen + 1);
        if (r->number < FIRST / 2 || r->number % 3 == 0) /* many that are behind, and itself */
            ledger_remove(&l, r);
        if (r->number < ALL - FIRST)
            ledger_insert(&l, all[FIRST + r->number]);
    }
    assert_int_equal(seen, ALL - 1);
    for (uint64_t n = 1; n <= ALL; n++)
        free(all[n]);
    ledger_release(&l);
}

/* The newest has gone: nothing behind the last row is one, however many there are. */
UNIT(walk__ends_with_the_last)
{
    static const uint64_t counts[] = {1, 2, 255, 256, 257, 511, 512, 513};
    static struct reservation *all[513 + 1];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint64_t count = counts[i];
        struct ledger l;
        struct ledger_walk walk = {0};
        ledger_init(&l);
        ledger_index(&l);
        for (uint64_t n = 1; n <= count; n++) {
            char job[16];
            snprintf(job, sizeof job, "%llu", (unsigned long long)n);
            all[n] = make(n, job);
            ledger_insert(&l, all[n]);
        }
        ledger_remove(&l, all[count]);
        for (uint64_t n = 1; n < count; n++)
            assert_int_equal(ledger_walk(&l, &walk)->number, n);
        assert_null(ledger_walk(&l, &walk));
        for (uint64_t n = 1; n <= count; n++)
            free(all[n]);
        ledger_release(&l);
    }
}

/* G7: names that were entered late are as if they had been entered one by one, lives too. */
UNIT(index__finds_what_was_postponed)
{
    enum { JOBS = 700, ALL = 3 * JOBS };
    static struct reservation *all[ALL + 2];
    struct ledger l;
    ledger_init(&l);
    for (uint64_t n = 1; n <= ALL + 1; n++) {
        char job[16];
        snprintf(job, sizeof job, "%llu", (unsigned long long)(n % JOBS));
        all[n] = make(n, job);
        if (n == ALL + 1)
            ledger_index(&l);
        ledger_insert(&l, all[n]);
        assert_ptr_equal(ledger_by_number(&l, n), all[n]);
    }
    ledger_index(&l); /* no harm */
    assert_int_equal(l.names, JOBS);
    for (uint64_t n = ALL - JOBS + 2; n <= ALL + 1; n++) {
        assert_ptr_equal(ledger_newest(&l, "c", all[n]->job), all[n]);
        assert_ptr_equal(all[n]->older, all[n - JOBS]);
        assert_ptr_equal(all[n]->older->older, all[n - 2 * JOBS]);
    }
    for (uint64_t n = 1; n <= ALL + 1; n++) {
        ledger_remove(&l, all[n]);
        free(all[n]);
    }
    assert_int_equal(l.names, 0);
    ledger_release(&l);
}

UNIT_RUN(NULL, NULL)
