/* SPDX-License-Identifier: Apache-2.0 */
/* Which reservation a session token belongs to (B3, F19): the table follows the ledger. */

#include "tests/unit/unit.h"

#include "broker/bearers.h"

static struct bearers *open_table(void)
{
    const struct chain key = {"a key"};
    struct bearers *bearers = bearers_create(&key);
    assert_non_null(bearers);
    return bearers;
}

/* token NULL: it has none (any more). */
static void save_as(struct bearers *bearers, uint64_t number, const char *token,
                    enum job_state state)
{
    const struct record record = {
        .kind = RECORD_RESERVATION,
        .u.reservation = {.number = number, .token = secret_of(token), .state = (uint8_t)state}};
    bearers_follow(bearers, &record);
}

static void save(struct bearers *bearers, uint64_t number, const char *token)
{
    save_as(bearers, number, token, JOB_ACTIVE);
}

static void end(struct bearers *bearers, uint64_t number)
{
    const struct record record = {.kind = RECORD_GONE, .u.gone = number};
    bearers_follow(bearers, &record);
}

static uint64_t find(const struct bearers *bearers, const char *token)
{
    return bearers_find(bearers, secret_of(token));
}

UNIT(token__is_found_while_its_reservation_has_it)
{
    struct bearers *bearers = open_table();
    assert_int_equal(find(bearers, "sess-1"), 0);
    save(bearers, 1, NULL);
    save(bearers, 1, "sess-1");
    save(bearers, 2, "sess-2");
    assert_int_equal(find(bearers, "sess-1"), 1);
    assert_int_equal(find(bearers, "sess-2"), 2);
    assert_int_equal(find(bearers, "sess-"), 0);
    assert_int_equal(find(bearers, "sess-11"), 0);
    assert_int_equal(find(bearers, ""), 0);

    save(bearers, 1, "sess-1"); /* saved again, as with each change */
    save(bearers, 1, "sess-3"); /* the fabric manager gave another one */
    assert_int_equal(find(bearers, "sess-1"), 0);
    assert_int_equal(find(bearers, "sess-3"), 1);
    save(bearers, 1, NULL); /* lost */
    assert_int_equal(find(bearers, "sess-3"), 0);
    end(bearers, 2);
    end(bearers, 2);
    end(bearers, 7);
    assert_int_equal(find(bearers, "sess-2"), 0);
    bearers_destroy(bearers);
}

/* For as long as anything of it is left, its end can be told. */
UNIT(token__of_what_is_released_is_known_until_it_is_gone)
{
    struct bearers *bearers = open_table();
    save(bearers, 1, "sess-1");
    save_as(bearers, 1, NULL, JOB_RELEASING);
    assert_int_equal(find(bearers, "sess-1"), 1);
    save_as(bearers, 2, NULL, JOB_RELEASING); /* loaded like that */
    end(bearers, 1);
    end(bearers, 2);
    assert_int_equal(find(bearers, "sess-1"), 0);
    bearers_destroy(bearers);
}

/* A fabric manager gives each once; one that does not must not bring two jobs together for longer
 * than both live. */
UNIT(token__of_two_is_the_newer_ones)
{
    struct bearers *bearers = open_table();
    save(bearers, 5, "same");
    save(bearers, 4, "same");
    assert_int_equal(find(bearers, "same"), 5);
    end(bearers, 5);
    assert_int_equal(find(bearers, "same"), 4);
    end(bearers, 4);
    assert_int_equal(find(bearers, "same"), 0);
    bearers_destroy(bearers);
}

UNIT(records__of_other_kinds_are_not_about_tokens)
{
    struct bearers *bearers = open_table();
    save(bearers, 1, "sess-1");
    const struct record node = {.kind = RECORD_NODE, .u.node = {.number = 1, .node = "n1"}},
                        cleanup = {.kind = RECORD_CLEANUP,
                                   .u.cleanup = {.number = 1, .step = "/fA"}},
                        counters = {.kind = RECORD_COUNTERS};
    bearers_follow(bearers, &node);
    bearers_follow(bearers, &cleanup);
    bearers_follow(bearers, &counters);
    assert_int_equal(find(bearers, "sess-1"), 1);
    bearers_destroy(bearers);
}

/* Through all its sizes, with tokens that come, change and go. */
UNIT(table__grows_with_reservations_only)
{
    enum { MANY = 20000 };
    struct bearers *bearers = open_table();
    char token[32];
    for (uint64_t i = 1; i <= MANY; i++) {
        (void)snprintf(token, sizeof token, "first-%u", (unsigned)i);
        save(bearers, i, token);
        (void)snprintf(token, sizeof token, "second-%u", (unsigned)i);
        save(bearers, i, token);
        if (i % 3 == 0)
            end(bearers, i);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        (void)snprintf(token, sizeof token, "second-%u", (unsigned)i);
        assert_int_equal(find(bearers, token), i % 3 == 0 ? 0 : i);
        (void)snprintf(token, sizeof token, "first-%u", (unsigned)i);
        assert_int_equal(find(bearers, token), 0);
    }
    bearers_destroy(bearers);
}

UNIT_RUN(NULL, NULL)
