/* Places for connections: nobody without a role can take them all. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "broker/http/places.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

enum { MAX = 400, UIDS = 10 };

static struct share *take(struct places *places, uint32_t uid)
{
    const struct holder holder = holder_of_user(uid);
    return places_take_share(places, &holder);
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

static void uid__has_its_share_only(void **state)
{
    (void)state;
    struct places places = {.max = MAX};
    struct share *share = NULL;
    for (int i = 0; i < PLACES_SHARE; i++) {
        struct share *taken = take(&places, 1000);
        assert_non_null(taken);
        assert_true(!share || share == taken);
        share = taken;
    }
    assert_null(take(&places, 1000));
    assert_int_equal(places.taken, PLACES_SHARE);
    struct share *other = take(&places, 1001);
    assert_non_null(other);
    places_give_back(&places, share);
    assert_ptr_equal(take(&places, 1000), share);
    for (int i = 0; i < PLACES_SHARE; i++)
        places_give_back(&places, share);
    places_give_back(&places, other);
    assert_null(places.shares);
    assert_int_equal(places.taken, 0);
    assert_int_equal(places.common, 0);
}

/* Many uids together leave half of the places to those with a role, who can take all of them. */
static void uids__have_half_together(void **state)
{
    (void)state;
    struct places places = {.max = MAX};
    struct share *shares[MAX];
    unsigned common = 0;
    for (uint32_t uid = 0; uid < UIDS; uid++)
        for (int i = 0; i < PLACES_SHARE; i++) {
            struct share *share = take(&places, uid);
            if (share)
                shares[common++] = share;
        }
    assert_int_equal(common, MAX / 2);
    for (int i = 0; i < MAX / 2; i++)
        assert_true(places_take(&places));
    assert_false(places_take(&places)); /* counted nevertheless */
    places_give_back(&places, shares[--common]);
    assert_null(take(&places, UIDS)); /* every place is taken still */
    places_give_back(&places, NULL);
    assert_non_null(shares[common++] = take(&places, UIDS));
    while (common > 0)
        places_give_back(&places, shares[--common]);
    assert_null(places.shares);
    assert_int_equal(places.taken, MAX / 2);
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
        const struct holder a = address(HOLDER_STRANGER, cases[i].a);
        const struct holder b = address(HOLDER_STRANGER, cases[i].b);
        const struct holder proven = address(HOLDER_ADDRESS, cases[i].b);
        assert_int_equal(holder_equal(&a, &b), cases[i].same);
        assert_false(holder_equal(&a, &proven));
    }
    const struct holder one = holder_of_user(1), two = holder_of_user(2);
    assert_true(holder_equal(&one, &one));
    assert_false(holder_equal(&one, &two));
}

/* However many addresses strangers come from, a quarter is all they have, and whoever has proved
 * something does not count among them. */
static void strangers__have_a_quarter_together(void **state)
{
    (void)state;
    struct places places = {.max = MAX};
    struct share *shares[MAX];
    unsigned taken = 0, from_one = 0;
    for (int host = 1; host < 100; host++) {
        char text[32];
        snprintf(text, sizeof text, "10.0.0.%d", host);
        const struct holder holder = address(HOLDER_STRANGER, text);
        while ((shares[taken] = places_take_share(&places, &holder)) != NULL) {
            taken++;
            from_one += host == 1;
        }
        if (host == 1)
            assert_true(places_share_full(&places, &holder));
    }
    assert_int_equal(from_one, PLACES_STRANGER_SHARE);
    assert_int_equal(taken, MAX / 4);
    assert_int_equal(places.strangers, MAX / 4);
    const struct holder node = address(HOLDER_NODE, "10.0.0.1");
    struct share *share = places_take_share(&places, &node);
    assert_non_null(share);
    assert_int_equal(places.common, 1);
    places_give_back(&places, share);
    while (taken > 0)
        places_give_back(&places, shares[--taken]);
    assert_null(places.shares);
    assert_int_equal(places.strangers, 0);
    assert_int_equal(places.taken, 0);
}

/* A job's user cannot take what the root of his node needs to end jobs there. */
static void node__has_a_share_beside_its_users(void **state)
{
    (void)state;
    struct places places = {.max = 1024};
    struct share *shares[2 * PLACES_SHARE + 1];
    const struct holder users = address(HOLDER_ADDRESS, "10.0.0.1");
    const struct holder node = address(HOLDER_NODE, "10.0.0.1");
    unsigned taken = 0;
    while ((shares[taken] = places_take_share(&places, &users)) != NULL)
        taken++;
    assert_int_equal(taken, PLACES_SHARE);
    assert_false(places_share_full(&places, &node));
    while ((shares[taken] = places_take_share(&places, &node)) != NULL)
        taken++;
    assert_int_equal(taken, 2 * PLACES_SHARE);
    while (taken > 0)
        places_give_back(&places, shares[--taken]);
    assert_null(places.shares);
}

/* One job's token, on however many hosts, is one holder; and all jobs' together leave users, nodes
 * and managers theirs. */
static void bearers__have_an_eighth_together(void **state)
{
    (void)state;
    struct places places = {.max = 1024};
    struct share *shares[1024];
    unsigned taken = 0, of_one = 0, nodes = 0;
    for (uint64_t number = 1; number <= 40; number++) {
        const struct holder holder = holder_of_bearer(number);
        while ((shares[taken] = places_take_share(&places, &holder)) != NULL) {
            taken++;
            of_one += number == 1;
        }
        if (number == 1)
            assert_true(places_share_full(&places, &holder));
    }
    assert_int_equal(of_one, PLACES_SHARE);
    assert_int_equal(taken, 1024 / 8);
    assert_int_equal(places.bearers, taken);
    assert_int_equal(places.common, 0);
    for (int host = 1; host <= 200; host++) {
        char text[32];
        snprintf(text, sizeof text, "10.0.0.%d", host);
        const struct holder node = address(HOLDER_ADDRESS, text);
        struct share *share;
        while ((share = places_take_share(&places, &node)) != NULL) {
            shares[taken++] = share;
            nodes++;
        }
    }
    assert_int_equal(nodes, 1024 / 2);
    for (int i = 0; i < 1024 / 4; i++) { /* and strangers have taken all of theirs */
        char text[32];
        snprintf(text, sizeof text, "10.0.1.%d", i % 64);
        const struct holder stranger = address(HOLDER_STRANGER, text);
        assert_non_null(shares[taken++] = places_take_share(&places, &stranger));
    }
    for (int i = 0; i < 1024 / 8; i++)
        assert_true(places_take(&places));
    assert_false(places_take(&places));
    while (taken > 0)
        places_give_back(&places, shares[--taken]);
    assert_null(places.shares);
    assert_int_equal(places.bearers, 0);
    assert_int_equal(places.taken, 1024 / 8 + 1);
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
        cmocka_unit_test(uid__has_its_share_only),
        cmocka_unit_test(uids__have_half_together),
        cmocka_unit_test(holder__is_a_uid_or_an_address),
        cmocka_unit_test(strangers__have_a_quarter_together),
        cmocka_unit_test(node__has_a_share_beside_its_users),
        cmocka_unit_test(bearers__have_an_eighth_together),
        cmocka_unit_test(holder__of_a_token_is_its_reservation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
