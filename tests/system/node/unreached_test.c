/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that is away costs jobs, and drains no node; a node from which no way leads to it does
 * not take one job after the other (F10). */

#include "tests/system/http/tlssite.h"
#include "tests/system/node/fixture.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NO_WAY "--url unix:/nowhere --patience 0s"

static void give_jobs(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1025", 8));
}

/* So long ago was the first failure that the node remembers. False: it remembers none. */
static bool age(const struct fixture *fixture, int seconds)
{
    char spool[128], path[160], line[256] = "", boot[64], job[160], older[256];
    int64_t at_ms = 0;
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    FILE *file = fopen(folder_path(path, sizeof path, spool, "unreached"), "re");
    if (!file)
        return false;
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(sscanf(line, "%63s %" SCNd64 " %159s", boot, &at_ms, job), 3);
    snprintf(older, sizeof older, "%s %" PRId64 " %s\n", boot, at_ms - seconds * 1000, job);
    assert_int_equal(folder_write(spool, "unreached", 0600, older), 0);
    return true;
}

static void node__that_alone_cannot_reach_it_is_at_fault(void **state)
{
    struct fixture *fixture = *state;
    give_jobs(fixture);
    const int64_t began_ns = await_now_ns();
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    /* It may have gone away in the moment when both had been granted. */
    const int at_once = fixture_run(fixture, "prolog --job f18 " NO_WAY);
    assert_true(at_once == 4 || await_now_ns() - began_ns > 30 * INT64_C(1000000000));
    assert_true(age(fixture, 60));
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY); /* nothing is known that was not */
    EXPECT_RUN(4, "prolog --job f18 --dry-run " NO_WAY);
    EXPECT_RUN(1, "prolog --job f18 " NO_WAY);
    fixture_expect_err(fixture, "mcast-node: this node, or all nodes, cannot reach the broker, "
                                "which gave job f18 what it is to have: cannot reach mcastd at "
                                "/nowhere: No such file or directory; is it running? (systemctl "
                                "status mcastd) (nor for job f17, ");
    fixture_expect_err(fixture, "mcast-node prolog --job f18 --dry-run here asks the broker");
    EXPECT_SERVICES(0);
    /* As long as that is so, and not when it is mended. */
    EXPECT_RUN(1, "prolog --job f18 " NO_WAY);
    EXPECT_RUN(0, "prolog --job f18 --dry-run");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f18");
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
}

static void answer__of_any_kind_forgets_what_was(void **state)
{
    struct fixture *fixture = *state;
    give_jobs(fixture);
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_true(age(fixture, 60));
    EXPECT_RUN(3, "prolog --job f19");
    assert_false(age(fixture, 60));
    /* So does a job that needs no answer. */
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f18", 4712, "1025", 8),
                                      "prolog --job f18 --reservation - " NO_WAY),
                     0);
    assert_false(age(fixture, 60));
    /* A broker that has no time is reached. */
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    fakebroker_be_busy(fixture->broker, 1);
    EXPECT_RUN(4, "prolog --job f17");
    assert_false(age(fixture, 60));
}

/* Not by an outage of long ago, nor by one before the machine was booted, nor by nonsense. */
static void failure__of_another_time_is_none_of_now(void **state)
{
    struct fixture *fixture = *state;
    char spool[128];
    give_jobs(fixture);
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_true(age(fixture, 3600));
    EXPECT_RUN(4, "prolog --job f18 " NO_WAY);
    static const char *const others[] = {"another-boot 1 f17\n", "", "f17\n"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(folder_write(spool, "unreached", 0600, others[i]), 0);
        EXPECT_RUN(4, "prolog --job f18 " NO_WAY);
        assert_true(age(fixture, 60));
        EXPECT_RUN(1, "prolog --job f17 " NO_WAY); /* now f18's counts */
    }
}

/* The nodes of a large job ask all at once, right after it was granted. */
static void broker__that_is_slow_was_found(void **state)
{
    struct fixture *fixture = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[sizeof address.sun_path];
    strcpy(address.sun_path, folder_path(path, sizeof path, fixture->folder, "slow"));
    const int slow = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(slow, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(slow, 16), 0); /* and nothing takes what is asked */
    fixture_set_config(fixture, "timeout = 1s\n");
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_true(age(fixture, 60));
    EXPECT_RUN(4, "prolog --job f18 --patience 0s --url unix:%s", path);
    fixture_expect_err(fixture, "did not answer within 1000 ms");
    assert_false(age(fixture, 60));
    close(slow);
}

static const struct site_options cluster = {.mcastd = MCASTD, .nodes = "n[1-100]"};

static bool is_past(void *arg)
{
    return time(NULL) > *(const time_t *)arg;
}

/* The broker goes on with it. Returns when it is over. */
static void let_certificate_end(const struct tlssite *tls)
{
    time_t ends;
    bool taken = false;
    for (long life_s = 2; !taken; life_s *= 2) {
        const struct testcert server = {.common = "broker", .begins = -3600, .ends = life_s};
        ends = time(NULL) + life_s + 1;
        authority_write(&tls->authority, &server, tls->certificates, "server");
        taken = tlssite_reload((struct tlssite *)tls, &cluster);
    }
    assert_true(await(is_past, &ends, AWAIT_DEADLINE_MS));
}

/* What is wrong with the broker is wrong for all nodes; and prologs that wait for each other each
 * have the whole retry timeout. */
static void broker__whose_certificate_is_over_was_found(void **state)
{
    struct fixture *fixture = *state;
    struct tlssite *tls = tlssite_open(&cluster);
    char url[64], config[256];
    snprintf(url, sizeof url, "https://127.0.0.1:%d", site_port(tls->site));
    /* A system's store has not the authority. */
    EXPECT_RUN(4, "prolog --job f17 --patience 600s --url %s", url);
    assert_true(age(fixture, 60));
    EXPECT_RUN(4, "prolog --job f18 --patience 600s --url %s", url);
    assert_true(age(fixture, 600));
    EXPECT_RUN(1, "prolog --job f18 --patience 600s --url %s", url);
    snprintf(config, sizeof config, "cacert = %s/ca.pem\n", tls->certificates);
    fixture_set_config(fixture, config);
    let_certificate_end(tls);
    EXPECT_RUN(4, "prolog --job f18 --patience 0s --url %s", url);
    fixture_expect_err(fixture, "is not valid today");
    assert_false(age(fixture, 0));
    tlssite_close(tls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(node__that_alone_cannot_reach_it_is_at_fault),
          TEST(answer__of_any_kind_forgets_what_was), TEST(failure__of_another_time_is_none_of_now),
          TEST(broker__that_is_slow_was_found), TEST(broker__whose_certificate_is_over_was_found))
