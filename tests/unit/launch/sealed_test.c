/* SPDX-License-Identifier: Apache-2.0 */
/* The sealed envelope of launch documents (S5): nodes can read what the broker made, and no
 * one else can read or make one. */
#include "launch/sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char document[] = "{\"v\":1,\"tasks\":{\"FI_CXI_COLL_MCAST_TOKEN\":\"sess-secret\"}}";

struct pair {
    struct launch_key broker, node;
};

/* The broker's key, and the node's by way of its file. */
static struct pair make_keys(void)
{
    struct pair pair;
    struct error err = {.text = ""};
    char text[LAUNCH_KEY_TEXT_SIZE];
    assert_int_equal(launch_key_create(&pair.broker, &err), 0);
    launch_key_format(&pair.broker, true, text);
    assert_null(strstr(text, "sign"));
    assert_int_equal(launch_key_parse(&pair.node, text, &err), 0);
    assert_false(pair.node.can_sign);
    return pair;
}

static void sealed__is_opened_by_nodes(void **state)
{
    struct pair pair = make_keys();
    struct error err = {.text = ""};
    char *first = sealed_close(&pair.broker, document, &err);
    char *second = sealed_close(&pair.broker, document, &err);
    (void)state;
    assert_non_null(first);
    assert_string_not_equal(first, second); /* another nonce */
    assert_null(strstr(first, "sess-secret"));
    assert_int_equal(strncmp(first, SEALED_PREFIX, strlen(SEALED_PREFIX)), 0);
    assert_int_equal(first[strspn(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-_.")],
                     '\0');
    char *opened = sealed_open(&pair.node, first, &err);
    assert_string_equal(opened, document);
    free(opened);
    free(second);
    free(first);
}

static void sealed__key_file_is_read_as_written(void **state)
{
    struct pair pair = make_keys();
    struct launch_key again;
    struct error err = {.text = ""};
    char text[LAUNCH_KEY_TEXT_SIZE];
    (void)state;
    launch_key_format(&pair.broker, false, text);
    assert_int_equal(launch_key_parse(&again, text, &err), 0);
    assert_memory_equal(&again, &pair.broker, sizeof again);
    assert_int_equal(launch_key_parse(&again, "", &err), ERROR_CORRUPT);
    assert_int_equal(launch_key_parse(&again, "seal 00\nverify 00\n", &err), ERROR_CORRUPT);
}

/* Every byte counts, and so does its end. */
static void sealed__changed_is_refused(void **state)
{
    struct pair pair = make_keys();
    struct error err = {.text = ""};
    char *envelope = sealed_close(&pair.broker, document, &err);
    size_t length = strlen(envelope);
    (void)state;
    for (size_t i = 0; i < length; i++) {
        char before = envelope[i];
        envelope[i] = before == 'A' ? 'B' : 'A';
        assert_null(sealed_open(&pair.node, envelope, &err));
        envelope[i] = before;
    }
    for (size_t cut = 0; cut < length; cut += 7) {
        char before = envelope[cut];
        envelope[cut] = '\0';
        assert_null(sealed_open(&pair.node, envelope, &err));
        envelope[cut] = before;
    }
    char *opened = sealed_open(&pair.node, envelope, &err);
    assert_string_equal(opened, document);
    free(opened);
    free(envelope);
}

/* Who has a node's key cannot make a document: root of one node, for the others. */
static void sealed__by_a_node_is_refused(void **state)
{
    struct pair pair = make_keys(), other = make_keys();
    struct error err = {.text = ""};
    struct launch_key forger = pair.node;
    (void)state;
    memcpy(forger.sign, other.broker.sign, sizeof forger.sign);
    forger.can_sign = true;
    char *forged = sealed_close(&forger, document, &err);
    assert_non_null(forged);
    assert_null(sealed_open(&pair.node, forged, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_non_null(strstr(err.text, "not signed by the broker"));
    free(forged);
}

static void sealed__of_another_broker_is_refused(void **state)
{
    struct pair pair = make_keys(), other = make_keys();
    struct error err = {.text = ""};
    char *envelope = sealed_close(&other.broker, document, &err);
    (void)state;
    assert_null(sealed_open(&pair.node, envelope, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_non_null(strstr(err.text, "another broker"));
    free(envelope);
}

static void sealed__that_is_none_is_refused(void **state)
{
    static const char *const bad[] = {"",           "MCAST1.",    "MCAST1.AAAA", "MCAST2.AAAA",
                                      "MUNGE:AwQ:", "MCAST1.%%%%"};
    struct pair pair = make_keys();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {.text = ""};
        assert_null(sealed_open(&pair.node, bad[i], &err));
        assert_int_equal(err.code, ERROR_INVALID);
    }
    char *large = malloc(2 * SEALED_LAUNCH_MAX);
    struct error err = {.text = ""};
    assert_non_null(large);
    memset(large, 'A', 2 * SEALED_LAUNCH_MAX);
    memcpy(large, SEALED_PREFIX, strlen(SEALED_PREFIX));
    large[2 * SEALED_LAUNCH_MAX - 1] = '\0';
    assert_null(sealed_open(&pair.node, large, &err));
    assert_int_equal(err.code, ERROR_INVALID);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sealed__is_opened_by_nodes),
        cmocka_unit_test(sealed__key_file_is_read_as_written),
        cmocka_unit_test(sealed__changed_is_refused),
        cmocka_unit_test(sealed__by_a_node_is_refused),
        cmocka_unit_test(sealed__of_another_broker_is_refused),
        cmocka_unit_test(sealed__that_is_none_is_refused),
    };
    return cmocka_run_group_tests_name("launch_sealed", tests, NULL, NULL);
}
