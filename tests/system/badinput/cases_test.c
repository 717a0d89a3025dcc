/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/peer.h"
#include "tests/system/badinput/run.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* Bad input: no input whatsoever crashes the broker, blocks it, or changes state
 * halfway. Every table, over both transports, to one broker. */

static const struct bad_table *tables[] = {
    &json_table, &reserve_table, &nodelist_table, &sync_table,       &address_table,  &query_table,
    &head_table, &framing_table, &chunk_table,    &unfinished_table, &before_1_table,
};
enum { TABLES = sizeof tables / sizeof tables[0], CASES_AT_LEAST = 300 };

static struct run *run;

static int open_run(void **state)
{
    run = run_open(MCASTD);
    return 0;
}

static int close_run(void **state)
{
    run_close(run);
    return 0;
}

static void tables__hold_as_many_cases_as_promised(void **state)
{
    size_t count = 0;
    for (size_t i = 0; i < TABLES; i++) {
        print_message("%4zu %s\n", tables[i]->count, tables[i]->name);
        count += tables[i]->count;
    }
    assert_true(count >= CASES_AT_LEAST);
}

static void table__over_the_unix_socket(void **state)
{
    run_table(run, *state, TRANSPORT_UNIX);
}

static void table__over_tcp(void **state)
{
    run_table(run, *state, TRANSPORT_TCP);
}

int main(void)
{
    struct CMUnitTest tests[2 * TABLES + 1] = {
        cmocka_unit_test(tables__hold_as_many_cases_as_promised)};
    char names[2 * TABLES][64];
    if (run_since_1())
        tables[TABLES - 1] = &since_1_table;
    for (size_t i = 0; i < 2 * TABLES; i++) {
        const struct bad_table *table = tables[i / 2];
        bool tcp = i % 2;
        snprintf(names[i], sizeof names[i], "%s, over %s", table->name,
                 tcp ? "TCP" : "the Unix socket");
        tests[i + 1] =
            (struct CMUnitTest){.name = names[i],
                                .test_func = tcp ? table__over_tcp : table__over_the_unix_socket,
                                .initial_state = (void *)(uintptr_t)table};
    }
    return cmocka_run_group_tests(tests, open_run, close_run);
}
