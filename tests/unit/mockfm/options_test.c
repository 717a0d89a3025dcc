/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of mock-fm. */

#include "mock-fm/options.h"
#include "tests/unit/unit.h"

#define ARGUMENTS_MAX 32

/* Parses words separated by blanks. */
static int parse(struct options *options, const char *words, struct problem *problem)
{
    static char copy[512];
    char *argv[ARGUMENTS_MAX] = {"mock-fm"};
    int argc = 1;

    strcpy(copy, words);
    for (char *word = strtok(copy, " "); word && argc < ARGUMENTS_MAX - 1; word = strtok(NULL, " "))
        argv[argc++] = word;
    return options_parse(options, argc, argv, problem);
}

static void options__have_defaults(void **state)
{
    struct options options;
    struct problem problem;

    assert_int_equal(parse(&options, "", &problem), 0);
    assert_string_equal(options.listener.host, "127.0.0.1");
    assert_string_equal(options.listener.port, "8000");
    assert_int_equal(options.auth, AUTH_NONE);
    assert_int_equal(options.addresses, 4086);
    assert_int_equal(options.latency_ms, 0);
    assert_false(options.mint.seeded);
    assert_false(options.overcommit);
    assert_int_equal(options.inventory.groups, 2);
    assert_int_equal(options.inventory.switches, 2);
    assert_int_equal(options.inventory.ports, 4);
    assert_int_equal(options.reach, SESSION_OWN_JOB);
    assert_null(options.state);
    assert_string_equal(options.jobs_listener.host, "");
}

static void options__are_read(void **state)
{
    struct options options;
    struct problem problem;

    assert_int_equal(parse(&options,
                           "--listen [::1]:0 --auth basic --authdir /etc/fmsim --addresses 8192 "
                           "--state /x --latency 20 --seed 0 --port-file /p --overcommit "
                           "--fabric 512x32x64 --session-tokens trees-only",
                           &problem),
                     0);
    assert_string_equal(options.listener.host, "::1");
    assert_string_equal(options.listener.port, "0");
    assert_int_equal(options.auth, AUTH_BASIC);
    assert_string_equal(options.authdir, "/etc/fmsim");
    assert_int_equal(options.addresses, 8192);
    assert_string_equal(options.state, "/x");
    assert_int_equal(options.latency_ms, 20);
    assert_true(options.mint.seeded);
    assert_int_equal(options.reach, SESSION_TREES_ONLY);
    assert_string_equal(options.listener.port_file, "/p");
    assert_true(options.overcommit);
    assert_int_equal(options.inventory.groups, 512);
    assert_int_equal(options.inventory.switches, 32);
    assert_int_equal(options.inventory.ports, 64);
}

static void options__of_login_and_tls_are_read(void **state)
{
    struct options options;
    struct problem problem;

    assert_int_equal(parse(&options,
                           "--auth oauth --authdir /a --token-lifetime 2.5 --tls-cert /c "
                           "--tls-key /k --client-ca /ca --jobs-listen [::1]:0 "
                           "--jobs-port-file /j",
                           &problem),
                     0);
    assert_int_equal(options.auth, AUTH_OAUTH);
    assert_int_equal(options.token_lifetime_us, 2500000);
    assert_string_equal(options.tls_cert, "/c");
    assert_string_equal(options.tls_key, "/k");
    assert_string_equal(options.client_ca, "/ca");
    assert_string_equal(options.jobs_listener.host, "::1");
    assert_string_equal(options.jobs_listener.port, "0");
    assert_string_equal(options.jobs_listener.port_file, "/j");
    assert_string_equal(options.listener.host, "127.0.0.1");
    assert_int_equal(parse(&options, "--auth oauth --authdir /a", &problem), 0);
    assert_int_equal(options.token_lifetime_us, INT64_C(3600000000));
}

static void options__wrong_are_named(void **state)
{
    static const struct {
        const char *words, *named;
    } wrong[] = {
        {"--listen 8000", "--listen"},
        {"--listen :8000", "--listen"},
        {"--listen h:x", "--listen"},
        {"--listen h:65536", "65535"},
        {"--listen h:", "--listen"},
        {"--listen h:-1", "--listen"},

        {"--addresses 0", "--addresses"},
        {"--addresses 8193", "8192"},
        {"--latency 1s", "--latency"},
        {"--fabric 2x2", "--fabric"},
        {"--fabric 2x2x4x", "--fabric"},
        {"--fabric 0x2x4", "--fabric"},
        {"--fabric 2x-2x4", "--fabric"},
        {"--fabric 513x32x64", "512x32x64"},
        {"--fabric 2x33x64", "512x32x64"},
        {"--fabric 2x2x65", "512x32x64"},
        {"--fabric 2x99999999999999999999x4", "512x32x64"},
        {"--fabric 2x2x2", "at least 3 ports"},
        {"--fabric 512x1x64", "at least 512 ports"},
        {"--seed -1", "--seed"},
        {"--seed 99999999999999999999", "--seed"},
        {"--auth oauth2", "oauth"},
        {"--auth oauth", "client-secret"},
        {"--token-lifetime 5", "--auth oauth"},
        {"--auth oauth --authdir /x --token-lifetime 1e9", "--token-lifetime"},
        {"--auth oauth --authdir /x --token-lifetime 0", "0.001"},
        {"--auth oauth --authdir /x --token-lifetime .", "--token-lifetime"},
        {"--auth oauth --authdir /x --token-lifetime 1.2.3", "--token-lifetime"},
        {"--session-tokens job", "trees-only"},
        {"--session-tokens", "--session-tokens"},
        {"--tls-cert /c", "--tls-key"},
        {"--tls-key /k", "--tls-cert"},
        {"--client-ca /a", "--tls-cert"},
        {"--tls-cert /c --tls-key /k --jobs-listen h:1", "--client-ca"},
        {"--tls-cert /c --tls-key /k --client-ca /a --jobs-listen h", "--jobs-listen must be"},
        {"--tls-cert /c --tls-key /k --client-ca /a --jobs-listen h:x", "port of --jobs-listen"},
        {"--jobs-port-file /j", "--jobs-listen"},
        {"--auth basic", "--authdir"},
        {"--authdir /x", "--auth basic"},
        {"--colour", "--colour"},
        {"--state", "--state"},
        {"serve", "serve"},
    };
    struct options options;
    struct problem problem;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(parse(&options, wrong[i].words, &problem), -1);
        assert_non_null(strstr(problem.text, wrong[i].named));
    }
}

UNIT_MAIN(cmocka_unit_test(options__have_defaults), cmocka_unit_test(options__are_read),
          cmocka_unit_test(options__of_login_and_tls_are_read),
          cmocka_unit_test(options__wrong_are_named))
