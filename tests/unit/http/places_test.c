/* SPDX-License-Identifier: Apache-2.0 */
/* Places for connections: nobody without a role can take them all. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "broker/http/listen/places.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 1024, SHARES = MAX / PLACES_SHARE };

static struct places places;
static struct place taken[2 * MAX];
static unsigned count;
static uint64_t now_ms;

static int empty(void **state)
{
    (void)state;
    places = (struct places){.max = MAX};
    memset(taken, 0, sizeof taken);
    count = 0;
    now_ms = 1000;
    return 0;
}

static int give_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < count; i++)
        if (taken[i].share)
            places_give_back(&places, &taken[i]);
    return LIST_EMPTY(&places.shares) ? 0 : -1;
}

/* Each a moment later than the one before. */
static bool take(struct holder holder)
{
    if (!places_take_share(&places, &taken[count], &holder, now_ms++))
        return false;
    count++;
    return true;
}

static unsigned take_all(struct holder holder)
{
    unsigned more = 0;
    while (take(holder))
        more++;
    return more;
}

static void give_all_back(void)
{
    while (count > 0)
        places_give_back(&places, &taken[--count]);
    assert_true(LIST_EMPTY(&places.shares));
    for (int i = 0; i < CLASSES; i++)
        assert_int_equal(places.count[i], 0);
}

static struct holder address(enum holder_kind kind, const char *text)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(7470)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7471)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return holder_of_address(kind, (const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return holder_of_address(kind, (const struct sockaddr *)&v6);
}

static struct holder host(enum holder_kind kind, unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "10.0.%u.%u", number / 250, 1 + number % 250);
    return address(kind, text);
}

static unsigned displaced(struct holder newcomer)
{
    const struct place *place = places_displaced(&places, &newcomer);
    assert_non_null(place);
    return (unsigned)(place - taken);
}

static void uid__has_its_share_only(void **state)
{
    (void)state;
    assert_int_equal(take_all(holder_of_user(1000)), PLACES_SHARE);
    assert_int_equal(places.taken, PLACES_SHARE);
    assert_true(take(holder_of_user(1001)));
    assert_ptr_not_equal(taken[0].share, taken[PLACES_SHARE].share);
    assert_ptr_equal(taken[0].share, taken[1].share);
    places_give_back(&places, &taken[0]);
    const struct holder again = holder_of_user(1000);
    assert_true(places_take_share(&places, &taken[0], &again, now_ms));
    assert_ptr_equal(taken[0].share, taken[1].share);
    give_all_back();
    assert_int_equal(places.taken, 0);
}

/* Each class fills up, in whatever order, and leaves the others theirs; managers an eighth. */
static void class__has_places_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHARES; i++) {
        take_all(holder_of_bearer(1 + i));
        take_all(holder_of_user(100000 + i));
        take_all(host(HOLDER_ADDRESS, i));
        take_all(host(HOLDER_NODE, i));
    }
    for (unsigned i = 0; i < MAX / PLACES_UNAUTHENTICATED_SHARE; i++)
        take_all(host(HOLDER_UNAUTHENTICATED, i));
    assert_int_equal(places.count[CLASS_USERS], MAX / 8);
    assert_int_equal(places.count[CLASS_BEARERS], MAX / 8);
    assert_int_equal(places.count[CLASS_NODES], 3 * MAX / 8);
    assert_int_equal(places.count[CLASS_UNAUTHENTICATED], MAX / 4);
    assert_int_equal(places.taken, 7 * MAX / 8);
    for (int i = 0; i < MAX / 8; i++)
        assert_true(places_take(&places));
    assert_false(places_take(&places)); /* counted nevertheless */
    places_give_back(&places, &taken[--count]);
    assert_false(take(host(HOLDER_UNAUTHENTICATED, 999))); /* every place is taken still */
    places_give_back(&places, &(struct place){0});
    assert_true(take(host(HOLDER_UNAUTHENTICATED, 999)));
    give_all_back();
    assert_int_equal(places.taken, MAX / 8);
}

/* More than half of a class are worked for, of any users. */
static void class__is_crowded_by_those_that_are_worked_for(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MAX / 8; i++)
        assert_true(take(holder_of_bearer(1 + i)));
    assert_false(places_crowded(&places, &taken[0])); /* all wait for their clients */
    for (unsigned i = 0; i < MAX / 16; i++)
        place_works(&taken[i]);
    assert_false(places_crowded(&places, &taken[0]));
    place_works(&taken[MAX / 16]);
    place_works(&taken[MAX / 16]);
    assert_true(places_crowded(&places, &taken[0]));
    assert_true(take(holder_of_user(1)));
    assert_false(places_crowded(&places, &taken[MAX / 8])); /* another class */
    assert_false(places_crowded(&places, &(struct place){0}));
    place_waits(&taken[0], now_ms);
    place_waits(&taken[0], now_ms);
    assert_false(places_crowded(&places, &taken[1]));
    place_works(&taken[0]);
    places_give_back(&places, &taken[1]);
    assert_false(places_crowded(&places, &taken[0]));
}

/* 33 sub-uids of one user, as newuidmap gives them out, against nodes and one honest owner (B8). */
static void many_uids__leave_nodes_and_owners_theirs(void **state)
{
    (void)state;
    enum { SUB_UIDS = 33 };
    for (uint32_t i = 0; i < SUB_UIDS; i++)
        take_all(holder_of_user(100000 + i));
    assert_int_equal(places.count[CLASS_USERS], MAX / 8);
    assert_int_equal(take_all(host(HOLDER_NODE, 1)), PLACES_SHARE);
    const struct holder owner = holder_of_user(5588);
    assert_false(take(owner));
    assert_int_equal(displaced(owner), 0); /* the oldest of the first, who has most */
    places_give_back(&places, &taken[0]);
    assert_true(take(owner));
    assert_int_equal(displaced(owner), PLACES_SHARE); /* of the second, who now has one more */
}

/* Whoever has most is who a newcomer of its own would have, too. */
static void newcomer__displaces_whoever_has_most(void **state)
{
    (void)state;
    places.max = 64; /* 8 users */
    for (int i = 0; i < 4; i++) {
        assert_true(take(holder_of_user(1)));
        assert_true(take(holder_of_user(2)));
    }
    assert_int_equal(displaced(holder_of_user(3)), 0); /* equal: the oldest of all */
    assert_int_equal(displaced(holder_of_user(2)), 1); /* it would have most */
    place_works(&taken[0]);
    assert_int_equal(displaced(holder_of_user(3)), 1);
    place_waits(&taken[0], now_ms);
    assert_int_equal(displaced(holder_of_user(1)), 2);
    for (unsigned i = 0; i < 8; i += 2)
        place_works(&taken[i]);
    assert_int_equal(displaced(holder_of_user(1)), 1); /* of its own none waits for its client */
    for (unsigned i = 1; i < 8; i += 2)
        place_works(&taken[i]);
    const struct holder newcomer = holder_of_user(3);
    assert_null(places_displaced(&places, &newcomer));
    place_waits(&taken[5], now_ms);
    assert_int_equal(displaced(newcomer), 5);
    const struct holder node = host(HOLDER_NODE, 1); /* who has nothing to do with them */
    assert_null(places_displaced(&places, &node));
}

/* Who has all its share changes one of its own for another, and nobody else's. */
static void newcomer__of_a_full_share_displaces_its_own(void **state)
{
    (void)state;
    assert_true(take(holder_of_user(1)));
    assert_int_equal(take_all(holder_of_user(2)), PLACES_SHARE);
    assert_int_equal(displaced(holder_of_user(2)), 1);
    place_works(&taken[1]);
    place_waits(&taken[1], now_ms);
    assert_int_equal(displaced(holder_of_user(2)), 2);
    for (unsigned i = 1; i <= PLACES_SHARE; i++)
        place_works(&taken[i]);
    const struct holder two = holder_of_user(2);
    assert_null(places_displaced(&places, &two));
}

/* However many addresses unauthenticated peers come from; who has proved something is none of them.
 */
static void unauthenticated__have_a_small_share(void **state)
{
    (void)state;
    assert_int_equal(take_all(host(HOLDER_UNAUTHENTICATED, 1)), PLACES_UNAUTHENTICATED_SHARE);
    assert_true(take(host(HOLDER_UNAUTHENTICATED, 2)));
    assert_int_equal(take_all(host(HOLDER_NODE, 1)), PLACES_SHARE);
    assert_int_equal(places.count[CLASS_UNAUTHENTICATED], PLACES_UNAUTHENTICATED_SHARE + 1);
}

/* A job's user cannot take what the root of his node needs to end jobs there. */
static void node__has_a_share_beside_its_users(void **state)
{
    (void)state;
    assert_int_equal(take_all(host(HOLDER_ADDRESS, 1)), PLACES_SHARE);
    assert_int_equal(take_all(host(HOLDER_NODE, 1)), PLACES_SHARE);
    give_all_back();
}

/* One job's token, on however many hosts, is one holder. */
static void bearers__have_one_share_each(void **state)
{
    (void)state;
    assert_int_equal(take_all(holder_of_bearer(1)), PLACES_SHARE);
    assert_true(take(holder_of_bearer(2)));
}

static void holder__is_a_uid_or_an_address(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"10.0.0.7", "10.0.0.7", true},
        {"10.0.0.7", "10.0.0.8", false},
        {"10.0.0.7", "::ffff:10.0.0.7", true},
        {"::ffff:10.0.0.7", "::ffff:10.0.0.8", false},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct holder a = address(HOLDER_UNAUTHENTICATED, cases[i].a);
        const struct holder b = address(HOLDER_UNAUTHENTICATED, cases[i].b);
        const struct holder proven = address(HOLDER_ADDRESS, cases[i].b);
        assert_int_equal(holder_equal(&a, &b), cases[i].same);
        assert_false(holder_equal(&a, &proven));
    }
    const struct holder one = holder_of_user(1), two = holder_of_user(2);
    assert_true(holder_equal(&one, &one));
    assert_false(holder_equal(&one, &two));
}

static void holder__of_a_token_is_its_reservation(void **state)
{
    (void)state;
    const struct holder one = holder_of_bearer(1), other = holder_of_bearer(UINT64_C(1) << 32 | 1);
    const struct holder user = holder_of_user(1);
    assert_true(holder_equal(&one, &one));
    assert_false(holder_equal(&one, &other));
    assert_false(holder_equal(&one, &user));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(uid__has_its_share_only, empty, give_back),
        cmocka_unit_test_setup_teardown(class__has_places_of_its_own, empty, give_back),
        cmocka_unit_test_setup_teardown(class__is_crowded_by_those_that_are_worked_for, empty,
                                        give_back),
        cmocka_unit_test_setup_teardown(many_uids__leave_nodes_and_owners_theirs, empty, give_back),
        cmocka_unit_test_setup_teardown(newcomer__displaces_whoever_has_most, empty, give_back),
        cmocka_unit_test_setup_teardown(newcomer__of_a_full_share_displaces_its_own, empty,
                                        give_back),
        cmocka_unit_test(holder__is_a_uid_or_an_address),
        cmocka_unit_test_setup_teardown(unauthenticated__have_a_small_share, empty, give_back),
        cmocka_unit_test_setup_teardown(node__has_a_share_beside_its_users, empty, give_back),
        cmocka_unit_test_setup_teardown(bearers__have_one_share_each, empty, give_back),
        cmocka_unit_test(holder__of_a_token_is_its_reservation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
