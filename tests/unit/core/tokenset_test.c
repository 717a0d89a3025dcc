/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/tokenset.h"

enum { MANY = 1000 };

static struct reservation *make(int number)
{
    char text[32];
    struct reservation *r = calloc(1, sizeof *r + 1);
    assert_non_null(r);
    (void)snprintf(text, sizeof text, "sess-%d", number);
    r->number = (uint64_t)number;
    r->token = secret_copy(secret_of(text));
    return r;
}

static void destroy(struct reservation *r)
{
    secret_wipe(&r->token);
    free(r);
}

/* I6: each is found as long as it is in, whatever came and went meanwhile. */
UNIT(tokenset__finds_who_has_a_token)
{
    struct tokenset set = {0};
    struct reservation *all[MANY];
    assert_null(tokenset_find(&set, secret_of("sess-1")));
    for (int i = 0; i < MANY; i++) {
        all[i] = make(i);
        tokenset_add(&set, all[i]);
    }
    assert_int_equal(set.count, MANY);
    for (int i = 0; i < MANY; i += 3)
        tokenset_remove(&set, all[i]);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(tokenset_find(&set, all[i]->token), i % 3 == 0 ? NULL : all[i]);
    assert_null(tokenset_find(&set, secret_of("sess-1000")));
    assert_null(tokenset_find(&set, secret_of("sess-")));
    for (int i = 0; i < MANY; i += 3)
        tokenset_add(&set, all[i]);
    for (int i = MANY - 1; i >= 0; i--) {
        assert_ptr_equal(tokenset_find(&set, all[i]->token), all[i]);
        tokenset_remove(&set, all[i]);
        assert_null(tokenset_find(&set, all[i]->token));
        destroy(all[i]);
    }
    assert_int_equal(set.count, 0);
    tokenset_release(&set);
}

UNIT(tokenset__no_token_is_none)
{
    struct tokenset set = {0};
    struct reservation *with = make(1), *without = calloc(1, sizeof *without + 1);
    assert_non_null(without);
    tokenset_add(&set, without);
    tokenset_remove(&set, without);
    tokenset_add(&set, with);
    assert_null(tokenset_find(&set, (struct secret){0}));
    assert_int_equal(set.count, 1);
    tokenset_release(&set);
    assert_int_equal(set.count, 0);
    destroy(with);
    free(without);
}

UNIT_RUN(NULL, NULL)
