#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/http.h"
#include "broker/http/identity.h"

static const char *const root[] = {"root", NULL}, *const numbers[] = {"1001", "1002", NULL},
                         *const other[] = {"1002", "4294967294", NULL}, *const nobody[] = {NULL};

static struct rights *site(void)
{
    static const struct http_cluster clusters[] = {{"elcap", numbers, NULL},
                                                   {"tuo", other, NULL},
                                                   {"empty", nobody, NULL},
                                                   {"none", NULL, NULL}};
    struct error err;
    struct rights *rights = rights_create(root, clusters, 4, &err);
    assert_non_null(rights);
    return rights;
}

static void rights__follow_the_lists(void **state)
{
    (void)state;
    static const struct {
        uint32_t uid;
        bool admin, elcap, tuo, empty, unknown;
        const char *only;
    } cases[] = {
        {0, true, true, true, true, true, NULL},
        {1001, false, true, false, false, false, "elcap"},
        {1002, false, true, true, false, false, NULL},
        {4294967294, false, false, true, false, false, "tuo"},
        {1003, false, false, false, false, false, NULL},
    };
    struct rights *rights = site();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct identity who = rights_of_uid(rights, cases[i].uid);
        assert_true(who.known);
        assert_int_equal(who.uid, cases[i].uid);
        assert_int_equal(who.admin, cases[i].admin);
        assert_int_equal(rights_manages(rights, &who, "elcap"), cases[i].elcap);
        assert_int_equal(rights_manages(rights, &who, "tuo"), cases[i].tuo);
        assert_int_equal(rights_manages(rights, &who, "empty"), cases[i].empty);
        assert_int_equal(rights_manages(rights, &who, "elcap2"), cases[i].unknown);
        const char *only = rights_only_cluster(rights, &who);
        assert_int_equal(only != NULL, cases[i].only != NULL);
        if (only)
            assert_string_equal(only, cases[i].only);
    }
    rights_destroy(rights);
}

static void rights__name_the_user_nobody_knows(void **state)
{
    (void)state;
    static const char *const unknown[] = {"no-such-user-here", NULL};
    const struct http_cluster cluster = {"elcap", unknown, NULL};
    struct error err;
    assert_null(rights_create(unknown, NULL, 0, &err));
    assert_int_equal(err.code, ERROR_INVALID);
    assert_non_null(strstr(err.text, "admins: "));
    assert_non_null(strstr(err.text, "no-such-user-here"));
    assert_null(rights_create(root, &cluster, 1, &err));
    assert_non_null(strstr(err.text, "elcap"));
    static const char *const too_large[] = {"4294967295", NULL}; /* (uid_t)-1 is nobody */
    assert_null(rights_create(too_large, NULL, 0, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights__follow_the_lists),
        cmocka_unit_test(rights__name_the_user_nobody_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
