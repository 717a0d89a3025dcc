/* SPDX-License-Identifier: Apache-2.0 */
/* Connection quotas: users without a role cannot take all connections. */

#include "broker/http/listen/quota.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

enum { MAX = 1024, SHARES = MAX / QUOTA_SHARE };

static struct quota quota;
static struct quota_slot taken[2 * MAX];
static unsigned count;

static bool shares_are_gone(void)
{
    bool gone = true;
    for (int i = 0; i < QUOTA_LISTS; i++)
        gone = gone && LIST_EMPTY(&quota.shares[i]);
    return gone;
}

static int empty(void **state)
{
    quota_init(&quota, MAX);
    memset(taken, 0, sizeof taken);
    count = 0;
    return 0;
}

static int give_back(void **state)
{
    for (unsigned i = 0; i < count; i++)
        if (taken[i].share)
            quota_release(&quota, &taken[i]);
    return shares_are_gone() ? 0 : -1;
}

static bool take(struct quota_holder holder)
{
    if (!quota_take_share(&quota, &taken[count], &holder))
        return false;
    count++;
    return true;
}

static unsigned take_all(struct quota_holder holder)
{
    unsigned more = 0;
    while (take(holder))
        more++;
    return more;
}

static void give_all_back(void)
{
    while (count > 0)
        quota_release(&quota, &taken[--count]);
    assert_true(shares_are_gone());
    for (int i = 0; i < CLASSES; i++)
        assert_int_equal(quota.classes[i].taken, 0);
}

static struct quota_holder address(enum quota_class which, const char *text)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(7470)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7471)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return quota_address(which, (const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return quota_address(which, (const struct sockaddr *)&v6);
}

static struct quota_holder host(enum quota_class which, unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "10.0.%u.%u", number / 250, 1 + number % 250);
    return address(which, text);
}

static unsigned displaced(struct quota_holder newcomer)
{
    const struct quota_slot *slot = quota_displaced(&quota, &newcomer);
    assert_non_null(slot);
    return (unsigned)(slot - taken);
}

#define TEST(name) UNIT_WITH(name, empty, give_back)

/* Each holder has a share of its own, of any kind: a job's user cannot take what the root of his
 * node needs, and one job's token is one holder on however many hosts. */
TEST(holder__has_its_share_only)
{
    const struct {
        struct quota_holder holder;
        unsigned share;
    } cases[] = {
        {quota_user(1000), QUOTA_SHARE},
        {host(CLASS_USERS, 1), QUOTA_SHARE},
        {host(CLASS_NODES, 1), QUOTA_SHARE},
        {quota_bearer(1), QUOTA_SHARE},
        {host(CLASS_UNAUTHENTICATED, 1), QUOTA_UNAUTHENTICATED_SHARE},
        {host(CLASS_UNAUTHENTICATED, 2), QUOTA_UNAUTHENTICATED_SHARE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned first = count;
        assert_int_equal(take_all(cases[i].holder), cases[i].share);
        quota_release(&quota, &taken[first]);
        assert_true(quota_take_share(&quota, &taken[first], &cases[i].holder));
        assert_ptr_equal(taken[first].share, taken[first + 1].share);
    }
    assert_int_equal(quota.classes[CLASS_UNAUTHENTICATED].taken, 2 * QUOTA_UNAUTHENTICATED_SHARE);
    give_all_back();
    assert_int_equal(quota.taken, 0);
}

/* Each class fills up, in any order, and leaves the others theirs; managers have an eighth. */
TEST(class__has_connections_of_its_own)
{
    for (unsigned i = 0; i < SHARES; i++) {
        take_all(quota_bearer(1 + i));
        take_all(quota_user(100000 + i));
        take_all(host(CLASS_USERS, i));
        take_all(host(CLASS_NODES, i));
    }
    for (unsigned i = 0; i < MAX / QUOTA_UNAUTHENTICATED_SHARE; i++)
        take_all(host(CLASS_UNAUTHENTICATED, i));
    assert_int_equal(quota.classes[CLASS_USERS].taken, MAX / 8);
    assert_int_equal(quota.classes[CLASS_BEARERS].taken, MAX / 8);
    assert_int_equal(quota.classes[CLASS_NODES].taken, 3 * MAX / 8);
    assert_int_equal(quota.classes[CLASS_UNAUTHENTICATED].taken, MAX / 4);
    assert_int_equal(quota.taken, 7 * MAX / 8);
    for (int i = 0; i < MAX / 8; i++)
        assert_true(quota_take(&quota));
    assert_false(quota_take(&quota)); /* counted nevertheless */
    quota_release(&quota, &taken[--count]);
    assert_false(take(host(CLASS_UNAUTHENTICATED, 999))); /* all are taken still */
    quota_release(&quota, &(struct quota_slot){0});
    assert_true(take(host(CLASS_UNAUTHENTICATED, 999)));
    give_all_back();
    assert_int_equal(quota.taken, MAX / 8);
}

/* More than half of a class are being served, of any users. */
TEST(class__is_crowded_by_those_that_are_served)
{
    for (unsigned i = 0; i < MAX / 8; i++)
        assert_true(take(quota_bearer(1 + i)));
    assert_false(quota_crowded(&quota, &taken[0])); /* all wait for their clients */
    for (unsigned i = 0; i < MAX / 16; i++)
        quota_serve(&quota, &taken[i]);
    assert_false(quota_crowded(&quota, &taken[0]));
    quota_serve(&quota, &taken[MAX / 16]);
    quota_serve(&quota, &taken[MAX / 16]);
    assert_true(quota_crowded(&quota, &taken[0]));
    assert_true(take(quota_user(1)));
    assert_false(quota_crowded(&quota, &taken[MAX / 8])); /* another class */
    assert_false(quota_crowded(&quota, &(struct quota_slot){0}));
    quota_wait(&quota, &taken[0]);
    quota_wait(&quota, &taken[0]);
    assert_false(quota_crowded(&quota, &taken[1]));
    quota_serve(&quota, &taken[0]);
    quota_release(&quota, &taken[1]);
    assert_false(quota_crowded(&quota, &taken[0]));
}

/* 33 sub-uids of one user, as newuidmap gives them out, against nodes and one honest owner (B8). */
TEST(many_uids__leave_nodes_and_owners_theirs)
{
    enum { SUB_UIDS = 33 };
    for (uint32_t i = 0; i < SUB_UIDS; i++)
        take_all(quota_user(100000 + i));
    assert_int_equal(quota.classes[CLASS_USERS].taken, MAX / 8);
    assert_int_equal(take_all(host(CLASS_NODES, 1)), QUOTA_SHARE);
    const struct quota_holder owner = quota_user(5588);
    assert_false(take(owner));
    assert_int_equal(displaced(owner), 0); /* the oldest of the first, who has most */
    quota_release(&quota, &taken[0]);
    assert_true(take(owner));
    assert_int_equal(displaced(owner), QUOTA_SHARE); /* of the second, who now has one more */
}

/* Whoever has most is who a newcomer of its own would have, too. */
TEST(newcomer__displaces_whoever_has_most)
{
    quota.max = 64; /* 8 users */
    for (int i = 0; i < 4; i++) {
        assert_true(take(quota_user(1)));
        assert_true(take(quota_user(2)));
    }
    assert_int_equal(displaced(quota_user(3)), 0); /* equal: the oldest of all */
    assert_int_equal(displaced(quota_user(2)), 1); /* it would have most */
    quota_serve(&quota, &taken[0]);
    assert_int_equal(displaced(quota_user(3)), 1);
    quota_wait(&quota, &taken[0]);
    assert_int_equal(displaced(quota_user(1)), 2);
    for (unsigned i = 0; i < 8; i += 2)
        quota_serve(&quota, &taken[i]);
    assert_int_equal(displaced(quota_user(1)), 1); /* of its own none waits for its client */
    for (unsigned i = 1; i < 8; i += 2)
        quota_serve(&quota, &taken[i]);
    const struct quota_holder newcomer = quota_user(3);
    assert_null(quota_displaced(&quota, &newcomer));
    quota_wait(&quota, &taken[5]);
    assert_int_equal(displaced(newcomer), 5);
    const struct quota_holder node = host(CLASS_NODES, 1); /* who has nothing to do with them */
    assert_null(quota_displaced(&quota, &node));
}

/* Who has all its share changes one of its own for another, and nobody else's. */
TEST(newcomer__of_a_full_share_displaces_its_own)
{
    assert_true(take(quota_user(1)));
    assert_int_equal(take_all(quota_user(2)), QUOTA_SHARE);
    assert_int_equal(displaced(quota_user(2)), 1);
    quota_serve(&quota, &taken[1]);
    quota_wait(&quota, &taken[1]);
    assert_int_equal(displaced(quota_user(2)), 2);
    for (unsigned i = 1; i <= QUOTA_SHARE; i++)
        quota_serve(&quota, &taken[i]);
    const struct quota_holder two = quota_user(2);
    assert_null(quota_displaced(&quota, &two));
}

TEST(holder__is_a_uid_a_reservation_or_an_address)
{
    const struct {
        struct quota_holder a, b;
        bool same;
    } cases[] = {
#define ADDRESSES(a, b, same) {address(CLASS_USERS, a), address(CLASS_USERS, b), same}
        ADDRESSES("10.0.0.7", "10.0.0.7", true),
        ADDRESSES("10.0.0.7", "10.0.0.8", false),
        ADDRESSES("10.0.0.7", "::ffff:10.0.0.7", true),
        ADDRESSES("::ffff:10.0.0.7", "::ffff:10.0.0.8", false),
        ADDRESSES("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true),
        ADDRESSES("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        {address(CLASS_NODES, "10.0.0.7"), address(CLASS_USERS, "10.0.0.7"), false},
        {quota_user(1), quota_user(1), true},
        {quota_user(1), quota_user(2), false},
        {quota_user(0xb80d0120), address(CLASS_USERS, "2001:db8::1"), false},
        {quota_user(0), address(CLASS_USERS, "::"), false},
        {quota_bearer(1), quota_bearer(1), true},
        {quota_bearer(1), quota_bearer(UINT64_C(1) << 32 | 1), false},
        {quota_bearer(1), quota_user(1), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(take(cases[i].a) && take(cases[i].b));
        assert_int_equal(taken[0].share == taken[1].share, cases[i].same);
        give_all_back();
    }
}

UNIT_RUN(NULL, NULL)
