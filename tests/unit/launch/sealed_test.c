/* SPDX-License-Identifier: Apache-2.0 */
/* The sealed envelope of launch documents (S5): nodes can read what the broker made, and no
 * one else can read or make one. */
#include "launch/sealed.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

static const char document[] = "{\"v\":1,\"tasks\":{\"FI_CXI_COLL_MCAST_TOKEN\":\"sess-secret\"}}";

struct pair {
    struct launch_key broker;
    struct launch_keys node;
};

/* Of count keys, and the node's by way of its file. */
static struct launch_keys make_broker_keys(size_t count)
{
    struct launch_keys keys = {.count = count};
    struct error err = {.text = ""};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(launch_key_create(&keys.at[i], &err), 0);
    return keys;
}

static struct launch_keys give_to_nodes(const struct launch_keys *keys)
{
    struct launch_keys nodes;
    struct error err = {.text = ""};
    char text[LAUNCH_KEYS_TEXT_SIZE];
    const size_t length = launch_keys_format(keys, true, text);
    assert_int_equal(length, strlen(text));
    assert_null(strstr(text, "sign"));
    assert_int_equal(launch_keys_parse(&nodes, text, &err), 0);
    assert_false(nodes.at[0].can_sign);
    return nodes;
}

static struct pair make_keys(void)
{
    const struct launch_keys keys = make_broker_keys(1);
    return (struct pair){.broker = keys.at[0], .node = give_to_nodes(&keys)};
}

UNIT(sealed__is_opened_by_nodes)
{
    struct pair pair = make_keys();
    struct error err = {.text = ""};
    char *first = sealed_close(&pair.broker, document, &err);
    char *second = sealed_close(&pair.broker, document, &err);
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

UNIT(sealed__key_file_is_read_as_written)
{
    struct launch_keys again;
    struct error err = {.text = ""};
    char text[LAUNCH_KEYS_TEXT_SIZE], three[3 * LAUNCH_KEYS_TEXT_SIZE];
    for (size_t count = 1; count <= LAUNCH_KEYS_MAX; count++) {
        const struct launch_keys keys = make_broker_keys(count);
        launch_keys_format(&keys, false, text);
        assert_int_equal(launch_keys_parse(&again, text, &err), 0);
        assert_memory_equal(&again, &keys, sizeof again);
    }
    /* Of a file that is not whole, nothing is believed. */
    for (size_t length = strlen(text) - 1; length > 0; length--) {
        text[length] = '\0';
        if (launch_keys_parse(&again, text, &err) == 0)
            assert_true(text[length - 1] == '\n' && again.count > 0);
        else
            assert_int_equal(again.count, 0);
    }
    const struct launch_keys one = make_broker_keys(1);
    launch_keys_format(&one, true, text);
    snprintf(three, sizeof three, "%s%s%s", text, text, text);
    assert_int_equal(launch_keys_parse(&again, three, &err), ERROR_CORRUPT);
    snprintf(three, sizeof three, "%smore\n", text);
    assert_int_equal(launch_keys_parse(&again, three, &err), ERROR_CORRUPT);
    assert_int_equal(launch_keys_parse(&again, "", &err), ERROR_CORRUPT);
    assert_int_equal(launch_keys_parse(&again, "seal 00\nverify 00\n", &err), ERROR_CORRUPT);
}

/* The next key is known to nodes before it is used, and the old one after that. */
UNIT(sealed__is_opened_through_a_rotation)
{
    const struct launch_keys both = make_broker_keys(2);
    const struct launch_keys before = {.count = 1, .at = {both.at[0]}};
    const struct launch_keys after = {.count = 1, .at = {both.at[1]}};
    const struct launch_keys nodes[] = {give_to_nodes(&before), give_to_nodes(&both),
                                        give_to_nodes(&after)};
    struct error err = {.text = ""};
    for (size_t signer = 0; signer < 2; signer++) {
        char *envelope = sealed_close(&both.at[signer], document, &err);
        for (size_t i = 0; i < 3; i++) {
            char *opened = sealed_open(&nodes[i], envelope, &err);
            assert_int_equal(opened != NULL, i != 2 * (1 - signer));
            assert_true(opened || strstr(err.text, "a launch key that this node does not have"));
            free(opened);
        }
        free(envelope);
    }
}

/* Whose file it is, and who can read it. */
UNIT(sealed__key_file_is_guarded)
{
    const struct launch_keys keys = make_broker_keys(1);
    struct launch_keys read;
    struct error err = {.text = ""};
    char path[] = "/tmp/launch_key.XXXXXX", text[LAUNCH_KEYS_TEXT_SIZE];
    const int file = mkstemp(path); /* mode 0600 */
    assert_true(file >= 0);
    const size_t length = launch_keys_format(&keys, false, text);
    assert_int_equal(write(file, text, length), length);
    assert_int_equal(launch_keys_read(&read, path, false, &err), 0);
    assert_int_equal(launch_keys_read(&read, path, true, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "which nodes must not have"));
    assert_int_equal(read.count, 0);
    assert_int_equal(fchmod(file, 0640), 0);
    assert_int_equal(launch_keys_read(&read, path, false, &err), ERROR_REFUSED);
    assert_int_equal(fchmod(file, 0600), 0);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    const size_t shorter = launch_keys_format(&keys, true, text);
    assert_int_equal(write(file, text, shorter), shorter);
    assert_int_equal(launch_keys_read(&read, path, true, &err), 0);
    assert_int_equal(launch_keys_read(&read, path, false, &err), ERROR_REFUSED);
    assert_int_equal(read.count, 0);
    close(file);
    unlink(path);
    assert_int_equal(launch_keys_read(&read, path, true, &err), ERROR_NOT_FOUND);
    assert_non_null(strstr(err.text, "mcastd --node-launch-key"));
}

/* Every byte counts, and so does its end. */
UNIT(sealed__changed_is_refused)
{
    struct pair pair = make_keys();
    struct error err = {.text = ""};
    char *envelope = sealed_close(&pair.broker, document, &err);
    size_t length = strlen(envelope);
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
UNIT(sealed__by_a_node_is_refused)
{
    struct pair pair = make_keys(), other = make_keys();
    struct error err = {.text = ""};
    struct launch_key forger = pair.node.at[0];
    memcpy(forger.sign, other.broker.sign, sizeof forger.sign);
    forger.can_sign = true;
    char *forged = sealed_close(&forger, document, &err);
    assert_non_null(forged);
    assert_null(sealed_open(&pair.node, forged, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_non_null(strstr(err.text, "not signed by the broker"));
    free(forged);
}

UNIT(sealed__of_another_broker_is_refused)
{
    struct pair pair = make_keys(), other = make_keys();
    struct error err = {.text = ""};
    char *envelope = sealed_close(&other.broker, document, &err);
    assert_null(sealed_open(&pair.node, envelope, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_non_null(strstr(err.text, "a launch key that this node does not have"));
    free(envelope);
}

UNIT(sealed__that_is_none_is_refused)
{
    static const char *const bad[] = {"",           "MCAST1.",    "MCAST1.AAAA", "MCAST2.AAAA",
                                      "MUNGE:AwQ:", "MCAST1.%%%%"};
    struct pair pair = make_keys();
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

UNIT_RUN(NULL, NULL)
