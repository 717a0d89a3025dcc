/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "broker/config/config.h"
#include "broker/config/table.h"
#include "broker/config/value.h"
#include "core/config.h"
#include "core/reservation/record.h"

static struct config *config;
static struct error err;

static int open_config(void **state)
{
    config = config_create();
    assert_non_null(config);
    return 0;
}

static int close_config(void **state)
{
    config_destroy(config);
    return 0;
}

static const struct config_key *key_of(const char *section, const char *name)
{
    const struct config_key *key = config_key_find(section, name);
    assert_non_null(key);
    return key;
}

static bool takes(const char *section, const char *name, const char *text)
{
    return config_value_set(key_of(section, name), config, text, false, &err) == 0;
}

/* Refused, with words that say what is allowed. */
static void refuses(const char *section, const char *name, const char *text, const char *words)
{
    if (takes(section, name, text))
        fail_msg("[%s] %s = %s was taken", section, name, text);
    if (!strstr(err.text, words))
        fail_msg("[%s] %s = %s: \"%s\" lacks \"%s\"", section, name, text, err.text, words);
}

#define CONFIG_TEST(name) UNIT_WITH(name, open_config, close_config)

CONFIG_TEST(duration__has_units)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0", 0},        {"0s", 0},       {"500ms", 500},   {"2s", 2000},
                {"10m", 600000}, {"1h", 3600000}, {"7d", 604800000}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(takes("vni", "hold", good[i].text));
        assert_int_equal(config->core.vni_hold_ms, good[i].ms);
    }
    static const char *const bad[] = {"",    "10",   "2 s",        "s",
                                      "-1s", "1.5s", "8d",         "2sx",
                                      "2S",  "+2s",  "0x2s",       "99999999999999999999s",
                                      "ms",  "1h1m", "2147483647d"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("vni", "hold", bad[i], "allowed is reports, or a duration of 0 to 7d");
    assert_int_equal(config->core.vni_hold_ms, 604800000); /* a refused value changes nothing */
}

/* F3: only a site that says so has VNIs freed by time. */
CONFIG_TEST(duration__may_be_a_word)
{
    assert_true(takes("vni", "hold", "reports"));
    assert_int_equal(config->core.vni_hold_ms, HOLD_UNTIL_REPORTED);
    char *text = config_value_text(key_of("vni", "hold"), config);
    assert_string_equal(text, "reports");
    free(text);
    refuses("vni", "hold", "report", "allowed is reports, or");
    refuses("vni", "hold", "-1ms", "allowed is reports, or");
    refuses("fm", "grace", "reports", "allowed is a duration of 10ms to 1d");
}

/* F5: a site that has the older name keeps what it has set. */
CONFIG_TEST(grace__has_an_older_name)
{
    assert_true(takes("fm", "grace", "5s"));
    assert_int_equal(config->core.stray_grace_ms, 5000);
    assert_true(takes("fm", "stray_grace", "1d"));
    assert_int_equal(config->core.stray_grace_ms, 86400000);
    assert_ptr_equal(key_of("fm", "stray_grace"), key_of("fm", "grace"));
}

CONFIG_TEST(number__has_a_range)
{
    assert_true(takes("vni", "per_job", "0"));
    assert_true(takes("vni", "per_job", "4"));
    assert_int_equal(config->core.vni_per_job, 4);
    static const char *const bad[] = {"5", "-1", "", "four", "1 ", "0x1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("vni", "per_job", bad[i], "allowed is a number of 0 to 4");
    assert_true(takes("hwcoll", "min_nodes", "64"));
    assert_int_equal(config->core.min_nodes, 64);
    assert_true(takes("hwcoll", "min_nodes", "")); /* unset again: only jobs that ask (F14) */
    assert_int_equal(config->core.min_nodes, 0);
    refuses("hwcoll", "min_nodes", "0", "1 to 1000000");
}

CONFIG_TEST(auto_number__is_zero)
{
    assert_true(takes("hwcoll", "addresses_per_job", "23"));
    assert_int_equal(config->core.addresses_per_job, 23);
    assert_true(takes("hwcoll", "addresses_per_job", "auto"));
    assert_int_equal(config->core.addresses_per_job, 0);
    refuses("hwcoll", "addresses_per_job", "0", "auto, or a number");
}

CONFIG_TEST(bool__is_yes_or_no)
{
    assert_true(takes("fm", "verify", "no"));
    assert_false(config->fm_verify);
    assert_true(takes("fm", "verify", "yes"));
    assert_true(config->fm_verify);
    refuses("fm", "verify", "true", "allowed is yes or no");
    refuses("fm", "verify", "NO", "allowed is yes or no");
}

CONFIG_TEST(choice__takes_only_what_works)
{
    assert_true(takes("state", "store", "memory"));
    assert_int_equal(config->store, CONFIG_STORE_MEMORY);
    refuses("state", "store", "postgres", "allowed is sqlite, memory or etcd");
    refuses("state", "store", "sql", "allowed is sqlite, memory or etcd");
    assert_true(takes("fm", "auth", "none"));
    assert_int_equal(config->fm_auth, FMAPI_AUTH_NONE);
    refuses("fm", "auth", "kerberos", "allowed is none, basic or oauth");
    assert_true(takes("broker", "log_level", "debug"));
    assert_int_equal(config->log_level, 7);
    assert_true(takes("broker", "log_level", "error"));
    assert_int_equal(config->log_level, 3);
}

/* F12 */
CONFIG_TEST(classes__are_words)
{
    const struct config_key *key = key_of("vni", "traffic_classes");
    assert_true(takes("vni", "traffic_classes", "bulk_data, best_effort,low_latency"));
    assert_int_equal(config->core.classes_default, TC_BULK_DATA | TC_BEST_EFFORT | TC_LOW_LATENCY);
    char *text = config_value_text(key, config);
    assert_string_equal(text, "best_effort low_latency bulk_data");
    assert_true(takes("vni", "allowed_traffic_classes", text));
    assert_int_equal(config->core.classes_allowed, config->core.classes_default);
    free(text);
    static const char *const bad[] = {"",
                                      ",",
                                      "best",
                                      "BEST_EFFORT",
                                      "best_effort;bulk_data",
                                      "best_effort_and_very_much_more_than_that"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("vni", "traffic_classes", bad[i], "one or more of best_effort");
    assert_int_equal(config->core.classes_default, TC_BULK_DATA | TC_BEST_EFFORT | TC_LOW_LATENCY);
}

CONFIG_TEST(mode__is_octal)
{
    assert_true(takes("broker", "socket_mode", "0660"));
    assert_int_equal(config->socket_mode, 0660);
    assert_true(takes("broker", "socket_mode", "600"));
    assert_int_equal(config->socket_mode, 0600);
    static const char *const bad[] = {"66", "0888", "1777", "00666", "rw", "0066"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("broker", "socket_mode", bad[i], "octal file mode");
}

CONFIG_TEST(path__is_absolute_and_fits)
{
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[108] = '\0';
    refuses("broker", "socket", "run/mcastd.sock", "absolute path");
    refuses("broker", "socket", longest, "at most 107");
    longest[107] = '\0';
    assert_true(takes("broker", "socket", longest));
    assert_string_equal(config->socket, longest);
}

CONFIG_TEST(url__loses_its_trailing_slash)
{
    assert_true(takes("fm", "url", "https://api-gw/apis/fabric-manager/"));
    assert_string_equal(config->core.fm_urls[0], "https://api-gw/apis/fabric-manager");
    assert_false(takes("fm", "url", "fmn:8000"));
    assert_false(takes("fm", "url", "https://user:word@fmn"));
    assert_true(takes("fm", "url", ""));
    assert_true(takes("hwcoll", "job_url", "https://fmn:8001/"));
    assert_true(takes("hwcoll", "job_url", ""));
    assert_false(takes("hwcoll", "job_url", "https://fmn:8001 https://fmn:8002"));
    assert_false(takes("hwcoll", "job_url", "fmn:8001"));
    assert_string_equal(config->core.fm_urls[0], "");
}

CONFIG_TEST(listen__is_an_address)
{
    static const char *const good[] = {"127.0.0.1:7470",  "127.0.0.1:0",  "[::1]:7470",
                                       "localhost:65535", "127.1.2.3:1",  "0.0.0.0:7470",
                                       "[::]:7470",       "10.0.0.1:7470"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(takes("broker", "listen", good[i]));
    assert_string_equal(config->listen, "10.0.0.1:7470");
    static const char *const far[] = {"mgmt1:7470", ":7470", "127.0.0.1.example.com:80", "[::1:80",
                                      "::1:80"};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        refuses("broker", "listen", far[i], "ADDRESS:PORT");
    refuses("broker", "listen", "127.0.0.1", "ADDRESS:PORT");
    refuses("broker", "listen", "127.0.0.1:65536", "ADDRESS:PORT");
    refuses("broker", "listen", "127.0.0.1:http", "ADDRESS:PORT");
}

CONFIG_TEST(job_ca__is_a_word_or_a_path)
{
    static const char *const good[] = {"auto", "yes", "no", "/etc/ca.pem"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(takes("hwcoll", "job_ca", good[i]));
    refuses("hwcoll", "job_ca", "maybe", "auto, yes, no or an absolute path");
}

CONFIG_TEST(idset__replaces_or_goes_on)
{
    const struct config_key *key = key_of("vni", "pool");
    assert_true(takes("vni", "pool", "100-199,"));
    assert_int_equal(config->core.vni_pool.count, 100);
    assert_int_equal(config_value_set(key, config, "65535,0-9", true, &err), 0);
    assert_int_equal(config->core.vni_pool.count, 111);
    assert_true(idset_has(&config->core.vni_pool, 65535));
    assert_true(takes("vni", "pool", "7"));
    assert_int_equal(config->core.vni_pool.count, 1);
    assert_false(takes("vni", "pool", "1024-65536"));
    assert_false(takes("vni", "pool", "2047-1024"));
    assert_false(takes("vni", "pool", ""));
    assert_int_equal(config->core.vni_pool.count, 1);
}

CONFIG_TEST(users__replace_or_go_on)
{
    const struct config_key *key = key_of("broker", "admins");
    assert_true(takes("broker", "admins", "root, flux\tslurm,"));
    assert_string_equal(config->admins[0], "root");
    assert_string_equal(config->admins[1], "flux");
    assert_string_equal(config->admins[2], "slurm");
    assert_null(config->admins[3]);
    assert_int_equal(config_value_set(key, config, "1000", true, &err), 0);
    assert_string_equal(config->admins[3], "1000");
    assert_null(config->admins[4]);
    assert_true(takes("broker", "admins", ""));
    assert_null(config->admins[0]);
}

/* No shell: what only a shell would understand is told, not run. */
CONFIG_TEST(command__is_a_path_and_words)
{
    const struct config_key *key = key_of("cluster", "list_command");
    struct config_cluster *cluster = &config->clusters[0];
    assert_int_equal(
        config_value_set(key, cluster, "/usr/bin/squeue  -o\t%A,{id} --x=y*", false, &err), 0);
    assert_string_equal(cluster->list_command[0], "/usr/bin/squeue");
    assert_string_equal(cluster->list_command[1], "-o");
    assert_string_equal(cluster->list_command[2], "%A,{id}");
    assert_string_equal(cluster->list_command[3], "--x=y*");
    assert_null(cluster->list_command[4]);
    char *text = config_value_text(key, cluster);
    assert_string_equal(text, "/usr/bin/squeue -o %A,{id} --x=y*");
    free(text);
    static const char *const shells[] = {"/a 'b'", "/a \"b\"", "/a | b", "/a;b",   "/a $B",
                                         "/a `b`", "/a > b",   "/a < b", "/a & b", "/a \\b"};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        assert_int_equal(config_value_set(key, cluster, shells[i], false, &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, "no shell reads it"));
    }
    assert_int_equal(config_value_set(key, cluster, "squeue", false, &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, "allowed is an absolute path and its arguments"));
    assert_string_equal(cluster->list_command[0], "/usr/bin/squeue"); /* as it was */
    assert_int_equal(config_value_set(key, cluster, "", false, &err), 0);
    assert_null(cluster->list_command);
}

/* One table makes everything: so each row must be whole. */
CONFIG_TEST(table__is_whole)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(&keys[i], allowed, sizeof allowed);
        assert_true(strlen(allowed) > 0);
        assert_true(keys[i].sentence[strlen(keys[i].sentence) - 1] == '.');
        assert_true((keys[i].initial) != (keys[i].example));
        assert_ptr_equal(config_key_find(keys[i].section, keys[i].name), &keys[i]);
        assert_int_equal(
            config_value_set(&keys[i], config_base(config, config_key_place(&keys[i]), 0),
                             keys[i].initial ? keys[i].initial : keys[i].example, false, &err),
            0);
    }
}

UNIT_RUN(NULL, NULL)
