/* Places for connections: nobody without a role can take them all. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "broker/http/places.h"

enum { MAX = 400, UIDS = 10 };

static void uid__has_its_share_only(void **state)
{
    (void)state;
    struct places places = {.max = MAX};
    struct share *share = NULL;
    for (int i = 0; i < PLACES_SHARE; i++) {
        struct share *taken = places_take_share(&places, 1000);
        assert_non_null(taken);
        assert_true(!share || share == taken);
        share = taken;
    }
    assert_null(places_take_share(&places, 1000));
    assert_int_equal(places.taken, PLACES_SHARE);
    struct share *other = places_take_share(&places, PLACES_NOBODY);
    assert_non_null(other);
    places_give_back(&places, share);
    assert_ptr_equal(places_take_share(&places, 1000), share);
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
            struct share *share = places_take_share(&places, uid);
            if (share)
                shares[common++] = share;
        }
    assert_int_equal(common, MAX / 2);
    for (int i = 0; i < MAX / 2; i++)
        assert_true(places_take(&places));
    assert_false(places_take(&places)); /* counted nevertheless */
    places_give_back(&places, shares[--common]);
    assert_null(places_take_share(&places, UIDS)); /* every place is taken still */
    places_give_back(&places, NULL);
    assert_non_null(shares[common++] = places_take_share(&places, UIDS));
    while (common > 0)
        places_give_back(&places, shares[--common]);
    assert_null(places.shares);
    assert_int_equal(places.taken, MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uid__has_its_share_only),
        cmocka_unit_test(uids__have_half_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
