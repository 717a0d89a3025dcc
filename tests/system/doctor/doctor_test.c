/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl doctor as an administrator meets it: real programs, sick in one place at a time. */

#include "cli/program.h"
#include "secured.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { OUTPUT_SIZE = 65536, PATH_SIZE = 256, DAY_S = 86400 };

static char folder[FOLDER_PATH_SIZE]; /* of what belongs to no stage */

/* What one run of the doctor came to. */
struct visit {
    int status;
    json_t *report;
    char text[OUTPUT_SIZE];
};

static void visit_release(struct visit *visit)
{
    json_decref(visit->report);
    visit->report = NULL;
}

/* --json; url and config may be NULL. */
static void visit_make(struct visit *visit, const char *url, const char *config)
{
    const char *argv[8] = {MCASTCTL, "doctor", "--json"};
    size_t used = 3;
    if (url) {
        argv[used++] = "--url";
        argv[used++] = url;
    }
    if (config) {
        argv[used++] = "--config";
        argv[used++] = config;
    }
    visit->status = program_run(argv, NULL, visit->text, sizeof(visit->text));
    visit->report = json_loads(visit->text, 0, NULL);
    if (!visit->report)
        fail_msg("not JSON: %s", visit->text);
}

/* A finding with this check and level (NULL: any) whose text has these words; NULL: there is none.
 */
static const json_t *find(const struct visit *visit, const char *check, const char *level,
                          const char *words)
{
    size_t index;
    const json_t *one;
    json_array_foreach(json_object_get(visit->report, "findings"), index, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "check")), check) == 0 &&
            (!level || strcmp(json_string_value(json_object_get(one, "level")), level) == 0) &&
            strstr(json_string_value(json_object_get(one, "finding")), words))
            return one;
    }
    return NULL;
}

static void expect(const struct visit *visit, const char *check, const char *level,
                   const char *words)
{
    if (!find(visit, check, level, words))
        fail_msg("no %s of %s with \"%s\" in: %s", level, check, words, visit->text);
}

static void expect_problems(const struct visit *visit, json_int_t count)
{
    json_int_t found = json_integer_value(json_object_get(visit->report, "problems"));
    if (found != count)
        fail_msg("%d problems, not %d: %s", (int)found, (int)count, visit->text);
}

/* ---- a site with a fabric manager ---- */

static const struct testbed_options usual = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136\n",
};

static struct testbed *open_stage(const struct testbed_options *options)
{
    struct testbed *testbed = testbed_create(options);
    assert_non_null(testbed);
    assert_int_equal(testbed_start_fm(testbed), 0);
    return testbed;
}

static void visit_stage(struct visit *visit, const struct testbed *testbed)
{
    char config[PATH_SIZE];
    visit_make(visit, testbed_socket(testbed),
               folder_path(config, sizeof(config), testbed_folder(testbed), "mcastd.conf"));
}

static void doctor__finds_nothing_where_all_is_well(void **state)
{
    (void)state;
    struct visit visit;
    struct testbed *testbed = open_stage(&usual);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    visit_stage(&visit, testbed);
    expect_problems(&visit, 0);
    assert_int_equal(visit.status, 0);
    expect(&visit, "link", "ok", "up for");
    expect(&visit, "storage", "ok", "all is saved");
    expect(&visit, "sizing", "ok", "23 multicast addresses");
    expect(&visit, "neighbours", "ok", "");
    assert_non_null(find(&visit, "clock", NULL, "fabric manager's clock")); /* a busy machine's */
    assert_non_null(find(&visit, "clock", NULL, "broker's clock"));         /* may seem apart */
    expect(&visit, "identity", "ok", "an admin");
    expect(&visit, "config", "ok", "finds nothing wrong");
    expect(&visit, "files", "ok", "the password");
    expect(&visit, "files", "ok", "the state's key");
    visit_release(&visit);
    testbed_destroy(testbed);
}

static void doctor__finds_a_password_that_others_can_read(void **state)
{
    (void)state;
    char passwd[PATH_SIZE];
    struct visit visit;
    struct testbed *testbed = open_stage(&usual);
    folder_path(passwd, sizeof(passwd), testbed_folder(testbed), "passwd");
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(chmod(passwd, 0644), 0);
    visit_stage(&visit, testbed);
    assert_int_equal(visit.status, 1);
    expect(&visit, "config", "problem", "passwd can be read by others: chmod 0600 ");
    expect(&visit, "files", "problem", "passwd is open to others (mode 0644)");
    const json_t *finding = find(&visit, "files", "problem", "passwd");
    assert_non_null(strstr(json_string_value(json_object_get(finding, "advice")), "chmod 0600"));
    assert_null(strstr(visit.text, "stage-password"));
    visit_release(&visit);
    testbed_destroy(testbed);
}

/* B8: whatever others could put in its place, while a broker runs. */
static void doctor__finds_what_others_could_change(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
        mode_t mode;
    } places[] = {
        {"", "[broker] socket: others than its owner can write to ", 0777},
        {"", "[state] path: others can make files in ", 01777},
        {"mcastd.conf", "mcastd.conf: others than its owner can write to ", 0666},
        {"state.db", "[state] path: others than its owner can write to ", 0606},
        {"passwd", "[fm] authdir: others than its owner can write to ", 0602},
    };
    struct testbed *testbed = open_stage(&usual);
    assert_int_equal(testbed_start_broker(testbed), 0);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[PATH_SIZE];
        struct stat found;
        struct visit visit;
        folder_path(path, sizeof(path), testbed_folder(testbed), places[i].name);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(chmod(path, places[i].mode), 0);
        visit_stage(&visit, testbed);
        assert_int_equal(chmod(path, found.st_mode & 07777), 0);
        assert_int_equal(visit.status, 1);
        expect(&visit, "config", "problem", places[i].words);
        visit_release(&visit);
    }
    testbed_destroy(testbed);
}

static bool link_is_a_problem(void *arg)
{
    struct visit visit;
    visit_stage(&visit, arg);
    bool there = find(&visit, "link", "problem", "") != NULL;
    visit_release(&visit);
    return there;
}

static void doctor__finds_a_fabric_manager_that_is_away(void **state)
{
    (void)state;
    struct visit visit;
    struct testbed_options options = usual;
    options.fm = "relist = 1s\n";
    struct testbed *testbed = open_stage(&options);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    testbed_kill_fm(testbed);
    assert_true(await(link_is_a_problem, testbed, AWAIT_DEADLINE_MS));
    visit_stage(&visit, testbed);
    assert_int_equal(visit.status, 1);
    const json_t *finding = find(&visit, "link", "problem", "");
    assert_non_null(finding);
    assert_non_null(strstr(json_string_value(json_object_get(finding, "advice")), "jobs run"));
    visit_release(&visit);
    testbed_destroy(testbed);
}

/* A test that was never meant to stay: the doctor says so, and all is not well. */
static void doctor__finds_a_fabric_manager_that_is_not_verified(void **state)
{
    (void)state;
    char text[OUTPUT_SIZE];
    struct visit visit;
    struct testbed_options options = usual;
    options.fm = "verify = no\n";
    struct testbed *testbed = open_stage(&options);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    visit_stage(&visit, testbed);
    expect(&visit, "fm-verify", "warning", "can impersonate it");
    visit_release(&visit);
    const char *argv[] = {MCASTCTL, "--url", testbed_socket(testbed), "status", NULL};
    assert_int_equal(program_run(argv, NULL, text, sizeof(text)), 0);
    assert_non_null(strstr(text, "THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no)"));
    assert_null(strstr(text, "All is well"));
    testbed_destroy(testbed);
}

/* Its reservations and ours begin alike: a Slurm of that name takes ours for its own. */
static void doctor__finds_a_name_conflict(void **state)
{
    (void)state;
    struct visit visit;
    struct plainhttp_reply reply;
    struct testbed *testbed = open_stage(&usual);
    int status = plainhttp_call(testbed_fm_http(testbed), "POST", "/fabric/collectives/jobs",
                                "{\"jobID\":\"elca-17\",\"mcastLimit\":2}", &reply);
    plainhttp_reply_release(&reply);
    assert_in_range(status, 200, 299);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    visit_stage(&visit, testbed);
    assert_int_equal(visit.status, 1);
    expect(&visit, "neighbours", "problem", "elca");
    visit_release(&visit);
    testbed_destroy(testbed);
}

static void doctor__tells_only_admins_what_the_broker_finds(void **state)
{
    (void)state;
    struct visit visit;
    struct testbed_options options = usual;
    options.broker = "admins = daemon\n";
    struct testbed *testbed = open_stage(&options);
    assert_int_equal(testbed_start_broker(testbed), 0);
    visit_stage(&visit, testbed);
    expect(&visit, "broker", "warning", "only an admin may; see");
    assert_null(find(&visit, "storage", "ok", ""));
    expect(&visit, "files", "ok", "the password");
    visit_release(&visit);
    testbed_destroy(testbed);
}

static void doctor__speaks_to_people(void **state)
{
    (void)state;
    char text[OUTPUT_SIZE];
    struct testbed_options options = usual;
    options.hwcoll = "min_nodes = 64\naddresses_per_job = 4\n";
    struct testbed *testbed = open_stage(&options);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    const char *argv[] = {MCASTCTL, "--url", testbed_socket(testbed), "doctor", NULL};
    assert_int_equal(program_run(argv, NULL, text, sizeof(text)), 0);
    const char *fine = strstr(text, "FINE (");
    assert_non_null(fine);
    assert_non_null(strstr(fine, "\n  link         up for "));
    assert_null(strstr(text, "PROBLEMS"));
    assert_non_null(strstr(fine, "\n0 problems, "));
    testbed_destroy(testbed);
}

/* libfabric waits for ever for a file that is not there (release.c). */
static void doctor__finds_an_authority_that_jobs_would_miss(void **state)
{
    (void)state;
    char ca[PATH_SIZE], hwcoll[2 * PATH_SIZE];
    struct visit visit;
    struct testbed_options options = usual;
    assert_int_equal(folder_write(folder, "job-ca.pem", 0644, "not looked into\n"), 0);
    folder_path(ca, sizeof(ca), folder, "job-ca.pem");
    snprintf(hwcoll, sizeof(hwcoll), "%sjob_ca = %s\n", usual.hwcoll, ca);
    options.hwcoll = hwcoll;
    struct testbed *testbed = open_stage(&options);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    visit_stage(&visit, testbed);
    expect(&visit, "job-ca", "ok", ca);
    visit_release(&visit);
    assert_int_equal(unlink(ca), 0);
    visit_stage(&visit, testbed);
    assert_int_equal(visit.status, 1);
    expect(&visit, "job-ca", "problem", "their start hangs");
    visit_release(&visit);
    testbed_destroy(testbed);
}

/* ---- a site with TLS ---- */

static void doctor__finds_a_certificate_that_is_about_to_end(void **state)
{
    (void)state;
    struct visit visit;
    struct secured secured;
    secured_open(&secured, MCASTD, time(NULL) + 2 * DAY_S, false);
    visit_make(&visit, secured.socket, secured.config);
    assert_int_equal(visit.status, 1);
    expect(&visit, "certificate", "problem", "the one in use, ends in");
    expect(&visit, "config", "warning", "server.pem ends in");
    expect(&visit, "config", "warning", "ca.pem ends in");
    expect(&visit, "files", "ok", "server.key is its owner's alone");
    visit_release(&visit);
    secured_close(&secured);
}

/* From a node, as an admin by certificate: what the broker says comes over TLS. */
static void doctor__asks_over_tls(void **state)
{
    (void)state;
    char text[OUTPUT_SIZE];
    struct secured secured;
    secured_open(&secured, MCASTD, time(NULL) + 2 * DAY_S, false);
    const char *argv[] = {MCASTCTL,
                          "--url",
                          secured.url,
                          "--cacert",
                          secured_file(&secured, "ca.pem"),
                          "--cert",
                          secured_file(&secured, "admin.pem"),
                          "--key",
                          secured_file(&secured, "admin.key"),
                          "doctor",
                          NULL};
    assert_int_equal(program_run(argv, NULL, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "ends in"));
    assert_non_null(strstr(text, "certificate \"admin\", an admin"));
    argv[3] = "doctor"; /* nothing that proves who the broker is */
    argv[4] = NULL;
    assert_int_equal(program_run(argv, NULL, text, sizeof(text)), 4);
    assert_non_null(strstr(text, "is not trusted"));
    secured_close(&secured);
}

static void doctor__finds_munge_that_does_not_work(void **state)
{
    (void)state;
    struct visit visit;
    struct secured secured;
    secured_open(&secured, MCASTD, time(NULL) + 2 * DAY_S, true);
    visit_make(&visit, secured.socket, secured.config);
    expect(&visit, "munge", "ok", "makes and reads");
    visit_release(&visit);
    setenv("MCAST_MUNGE_SOCKET", "/nonexistent/munge", 1);
    visit_make(&visit, secured.socket, secured.config);
    unsetenv("MCAST_MUNGE_SOCKET");
    expect(&visit, "munge", "problem", "/nonexistent/munge");
    visit_release(&visit);
    secured_close(&secured);
}

/* ---- without a broker ---- */

static int make_folder(void **state)
{
    (void)state;
    return folder_create(folder);
}

static int remove_folder(void **state)
{
    (void)state;
    folder_destroy(folder);
    return 0;
}

static void doctor__looks_around_without_a_broker(void **state)
{
    (void)state;
    char config[PATH_SIZE], socket[PATH_SIZE];
    struct visit visit;
    assert_int_equal(folder_write(folder, "bad.conf", 0666,
                                  "[broker]\nsocket = relative\nlisten = nowhere\n"
                                  "[vni]\npool = 70000\n[nonsense]\nx = y\n"),
                     0);
    folder_path(config, sizeof(config), folder, "bad.conf");
    assert_int_equal(chmod(config, 0666), 0);
    visit_make(&visit, folder_path(socket, sizeof(socket), folder, "none"), config);
    assert_int_equal(visit.status, 4);
    expect(&visit, "broker", "problem", "cannot reach mcastd");
    expect(&visit, "config", "problem", "bad.conf:2");
    expect(&visit, "config", "problem", "bad.conf:3");
    expect(&visit, "config", "problem", "bad.conf:5");
    expect(&visit, "config", "problem", "bad.conf: others than its owner can write to ");
    visit_release(&visit);
    visit_make(&visit, socket, "/nonexistent/mcastd.conf");
    expect(&visit, "config", "problem", "/nonexistent/mcastd.conf cannot be read");
    visit_release(&visit);
}

static void write_program(const char *name, const char *says)
{
    char text[PATH_SIZE];
    snprintf(text, sizeof(text), "#!/bin/sh\necho '%s'\n", says);
    assert_int_equal(folder_write(folder, name, 0755, text), 0);
}

/* Programs that say they are of a release of which something is known. */
static void doctor__judges_the_software_of_the_machine(void **state)
{
    (void)state;
    char path[4096], socket[PATH_SIZE];
    char *before = strdup(getenv("PATH"));
    struct visit visit;
    write_program("fi_info", "fi_info: 2.2.0\nlibfabric: 2.2.0\nlibfabric api: 2.2");
    write_program("flux", "commands: 0.67.0\nlibflux-core: 0.67.0");
    snprintf(path, sizeof(path), "%s:%s", folder, before);
    setenv("PATH", path, 1);
    visit_make(&visit, folder_path(socket, sizeof(socket), folder, "none"), NULL);
    setenv("PATH", before, 1);
    free(before);
    assert_int_equal(visit.status, 4);
    expect(&visit, "libfabric", "warning", "2.2.0 (fi_info): gives up");
    expect(&visit, "libfabric", "ok", "wait for ever");
    expect(&visit, "flux-core", "warning", "0.67.0 (flux): a job whose prolog timed out");
    assert_null(find(&visit, "software", "ok", ""));
    visit_release(&visit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doctor__finds_nothing_where_all_is_well),
        cmocka_unit_test(doctor__finds_a_password_that_others_can_read),
        cmocka_unit_test(doctor__finds_what_others_could_change),
        cmocka_unit_test(doctor__finds_a_fabric_manager_that_is_away),
        cmocka_unit_test(doctor__finds_a_fabric_manager_that_is_not_verified),
        cmocka_unit_test(doctor__finds_a_name_conflict),
        cmocka_unit_test(doctor__tells_only_admins_what_the_broker_finds),
        cmocka_unit_test(doctor__speaks_to_people),
        cmocka_unit_test(doctor__finds_an_authority_that_jobs_would_miss),
        cmocka_unit_test(doctor__finds_a_certificate_that_is_about_to_end),
        cmocka_unit_test(doctor__asks_over_tls),
        cmocka_unit_test(doctor__finds_munge_that_does_not_work),
        cmocka_unit_test(doctor__looks_around_without_a_broker),
        cmocka_unit_test(doctor__judges_the_software_of_the_machine),
    };
    return cmocka_run_group_tests_name("doctor", tests, make_folder, remove_folder);
}
