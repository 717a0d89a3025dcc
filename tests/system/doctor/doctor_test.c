/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl doctor as an administrator meets it: real programs, sick in one place at a time. */

#include "cli/program.h"
#include "secured.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 65536, PATH_SIZE = 256, DAY_S = 86400 };

static char folder[FOLDER_PATH_SIZE]; /* of what belongs to no testbed */
static struct testbed *testbed;
static struct secured *site;

/* What the last run of the doctor came to. */
static json_t *report;
static char text[OUTPUT_SIZE];

static const char *node_config; /* of the next runs, or NULL */

/* Its exit status; --json. url and config may be NULL. */
static int run_doctor(const char *url, const char *config)
{
    const char *argv[10] = {MCASTCTL, "doctor", "--json"};
    size_t used = 3;
    if (url) {
        argv[used++] = "--url";
        argv[used++] = url;
    }
    if (config) {
        argv[used++] = "--config";
        argv[used++] = config;
    }
    if (node_config) {
        argv[used++] = "--node-config";
        argv[used++] = node_config;
    }
    const int status = program_run_for(AWAIT_DEADLINE_MS, argv, NULL, text, sizeof text);
    json_decref(report);
    report = json_loads(text, 0, NULL);
    if (!report)
        fail_msg("not JSON: %s", text);
    return status;
}

/* A finding with this check and level (NULL: any) whose text has these words; NULL: there is none.
 */
static const json_t *find(const char *check, const char *level, const char *words)
{
    size_t index;
    const json_t *one;
    json_array_foreach(json_object_get(report, "findings"), index, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "check")), check) == 0 &&
            (!level || strcmp(json_string_value(json_object_get(one, "level")), level) == 0) &&
            strstr(json_string_value(json_object_get(one, "finding")), words))
            return one;
    }
    return NULL;
}

static void expect(const char *check, const char *level, const char *words)
{
    if (!find(check, level, words))
        fail_msg("no %s of %s with \"%s\" in: %s", level ? level : "finding", check, words, text);
}

static void expect_advice(const char *check, const char *level, const char *words,
                          const char *advice)
{
    expect(check, level, words);
    const json_t *said = json_object_get(find(check, level, words), "advice");
    assert_non_null(strstr(json_string_value(said), advice));
}

static void expect_text(const char *words)
{
    assert_words(text, words);
}

static int create_folder(void **state)
{
    return folder_create(folder);
}

static int destroy_all(void **state)
{
    testbed_destroy(testbed);
    testbed = NULL;
    if (site)
        secured_close(site);
    site = NULL;
    json_decref(report);
    report = NULL;
    folder_destroy(folder);
    return 0;
}

/* ---- a site with a fabric manager ---- */

static const struct testbed_options usual = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136\n",
};

/* linked: waits for the fabric manager. */
static void start_site(const struct testbed_options *options, bool linked)
{
    testbed = testbed_create(options);
    assert_non_null(testbed);
    assert_int_equal(testbed_start_fm(testbed), 0);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_true(!linked || testbed_await_link(testbed) == 0);
}

static int run_on_site(void)
{
    char config[PATH_SIZE];
    return run_doctor(testbed_socket(testbed),
                      folder_path(config, sizeof config, testbed_folder(testbed), "mcastd.conf"));
}

/* mcastctl and a command, for people. */
static int run_for_people(const char *command)
{
    const char *argv[] = {MCASTCTL, "--url", testbed_socket(testbed), command, NULL};
    return program_run_for(AWAIT_DEADLINE_MS, argv, NULL, text, sizeof text);
}

static void doctor__finds_nothing_where_all_is_well(void **state)
{
    start_site(&usual, true);
    assert_int_equal(run_on_site(), 0);
    assert_int_equal(json_integer_value(json_object_get(report, "problems")), 0);
    expect("link", "ok", "up for");
    expect("storage", "ok", "all is saved");
    expect("sizing", "ok", "23 multicast addresses");
    expect("neighbours", "ok", "");
    expect("clock", NULL, "fabric manager's clock"); /* a busy machine's */
    expect("clock", NULL, "broker's clock");         /* may seem apart */
    expect("identity", "ok", "an admin");
    expect("config", "ok", "finds nothing wrong");
    assert_int_equal(run_for_people("doctor"), 0);
    expect_text("FINE (");
    expect_text("\n  link         up for ");
    expect_text("\n0 problems, ");
    assert_null(strstr(text, "PROBLEMS"));
}

/* What is written but not reloaded is not in force. */
static void doctor__finds_a_configuration_that_was_not_reloaded(void **state)
{
    char path[PATH_SIZE];
    start_site(&usual, false);
    const struct timespec times[2] = {{time(NULL) + 60, 0}, {time(NULL) + 60, 0}};
    folder_path(path, sizeof path, testbed_folder(testbed), "mcastd.conf");
    (void)run_on_site();
    assert_false(find("config-age", "warning", ""));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    (void)run_on_site();
    expect_advice("config-age", "warning", "is not in force", "systemctl reload mcastd");
}

/* B8: all files that others could read or replace while a broker runs. */
static void doctor__finds_what_others_could_read_or_change(void **state)
{
    static const struct {
        const char *name, *words;
        mode_t mode;
    } places[] = {
        {"", "[broker] socket: others than its owner can write to ", 0777},
        {"", "[state] path: others can make files in ", 01777},
        {"mcastd.conf", "mcastd.conf: others than its owner can write to ", 0666},
        {"state.db", "[state] path: others than its owner can write to ", 0606},
        {"passwd", "[fm] authdir: others than its owner can write to ", 0602},
        {"passwd", "passwd can be read by others: chmod 0600 ", 0644},
    };
    start_site(&usual, false);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_SIZE];
        struct stat found;
        folder_path(path, sizeof path, testbed_folder(testbed), places[i].name);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(chmod(path, places[i].mode), 0);
        assert_int_equal(run_on_site(), 1);
        assert_int_equal(chmod(path, found.st_mode & 07777), 0);
        expect("config", "problem", places[i].words);
    }
    assert_null(strstr(text, "stage-password"));
}

static bool link_is_a_problem(void *arg)
{
    (void)run_on_site();
    return find("link", "problem", "");
}

static void doctor__finds_a_fabric_manager_that_is_away(void **state)
{
    struct testbed_options options = usual;
    options.fm = "relist = 1s\n";
    start_site(&options, true);
    testbed_kill_fm(testbed);
    assert_true(await(link_is_a_problem, NULL, AWAIT_DEADLINE_MS));
    assert_int_equal(run_on_site(), 1);
    expect_advice("link", "problem", "jobs run", "see that it runs");
}

/* A test that was never meant to stay: the doctor says so, and all is not well. */
static void doctor__finds_a_fabric_manager_that_is_not_verified(void **state)
{
    struct testbed_options options = usual;
    options.fm = "verify = no\n";
    start_site(&options, true);
    (void)run_on_site();
    expect("fm-verify", "warning", "can impersonate it");
    assert_int_equal(run_for_people("status"), 0);
    expect_text("THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no)");
    assert_null(strstr(text, "All is well"));
}

/* Its reservations and ours begin alike: a Slurm of that name takes ours for its own. */
static void doctor__finds_a_name_conflict(void **state)
{
    struct plainhttp_reply reply;
    start_site(&usual, false);
    int status = plainhttp_call(testbed_fm_http(testbed), "POST", "/fabric/collectives/jobs",
                                "{\"jobID\":\"elca-17\",\"mcastLimit\":2}", &reply);
    plainhttp_reply_release(&reply);
    assert_in_range(status, 200, 299);
    testbed_kill_broker(testbed);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    assert_int_equal(run_on_site(), 1);
    expect("neighbours", "problem", "elca");
}

static void doctor__tells_only_admins_what_the_broker_finds(void **state)
{
    struct testbed_options options = usual;
    options.broker = "admins = daemon\n";
    start_site(&options, false);
    (void)run_on_site();
    expect("broker", "warning", "only an admin may; see");
    assert_null(find("storage", "ok", ""));
    expect("config", "ok", "finds nothing wrong");
}

/* libfabric waits for ever for a file that is not there (cli/text/faults.json). */
static void doctor__finds_an_authority_that_jobs_would_miss(void **state)
{
    char ca[PATH_SIZE], hwcoll[2 * PATH_SIZE];
    struct testbed_options options = usual;
    assert_int_equal(folder_write(folder, "job-ca.pem", 0644, "not looked into\n"), 0);
    folder_path(ca, sizeof ca, folder, "job-ca.pem");
    snprintf(hwcoll, sizeof hwcoll, "%sjob_ca = %s\n", usual.hwcoll, ca);
    options.hwcoll = hwcoll;
    start_site(&options, true);
    (void)run_on_site();
    expect("job-ca", "ok", ca);
    assert_int_equal(unlink(ca), 0);
    assert_int_equal(run_on_site(), 1);
    expect("job-ca", "problem", "their start hangs");
}

/* ---- a site with TLS and MUNGE ---- */

static void start_secured(bool munge)
{
    static struct secured secured;
    secured_open(&secured, MCASTD, time(NULL) + 2 * DAY_S, munge);
    site = &secured;
}

static void doctor__finds_a_certificate_that_is_about_to_end(void **state)
{
    start_secured(false);
    assert_int_equal(run_doctor(site->socket, site->config), 1);
    expect("certificate", "problem", "the one in use, ends in");
    expect("config", "warning", "server.pem ends in");
    expect("config", "warning", "ca.pem ends in");
    /* From a node, as an admin by certificate: what the broker says comes over TLS. */
    const char *argv[] = {MCASTCTL,
                          "--url",
                          site->url,
                          "--cacert",
                          secured_file(site, "ca.pem"),
                          "--cert",
                          secured_file(site, "admin.pem"),
                          "--key",
                          secured_file(site, "admin.key"),
                          "doctor",
                          NULL};
    assert_int_equal(program_run_for(AWAIT_DEADLINE_MS, argv, NULL, text, sizeof text), 1);
    expect_text("ends in");
    expect_text("certificate \"admin\", an admin");
    argv[3] = "doctor"; /* nothing that proves who the broker is */
    argv[4] = NULL;
    assert_int_equal(program_run_for(AWAIT_DEADLINE_MS, argv, NULL, text, sizeof text), 4);
    expect_text("is not trusted");
}

static void doctor__finds_munge_that_does_not_work(void **state)
{
    start_secured(true);
    (void)run_doctor(site->socket, site->config);
    expect("munge", "ok", "makes and reads");
    setenv("MCAST_MUNGE_SOCKET", "/nonexistent/munge", 1);
    (void)run_doctor(site->socket, site->config);
    unsetenv("MCAST_MUNGE_SOCKET");
    expect("munge", "problem", "/nonexistent/munge");
}

/* ---- the launch keys of broker and node ---- */

static void run_mcastd(const char *config, const char *option)
{
    const char *argv[] = {MCASTD, "--config", config, option, NULL};
    assert_int_equal(program_run_for(AWAIT_DEADLINE_MS, argv, NULL, text, sizeof text), 0);
}

/* As an administrator makes them: the broker's first, from which the node's is printed. */
static void doctor__looks_at_launch_keys(void **state)
{
    char lines[4 * PATH_SIZE], config[PATH_SIZE], node[PATH_SIZE], key[PATH_SIZE];
    folder_path(key, sizeof key, folder, "node-launch.key");
    snprintf(lines, sizeof lines,
             "[broker]\nsocket = %s/s\nlaunch_key_file = %s/launch.keys\n"
             "[state]\npath = %s/state.db\nkey_file = %s/state.key\n",
             folder, folder, folder, folder);
    assert_int_equal(folder_write(folder, "mcastd.conf", 0644, lines), 0);
    folder_path(config, sizeof config, folder, "mcastd.conf");
    (void)run_doctor(NULL, config);
    expect("config", "problem", "it should hold what mcastd --rotate-launch-key makes");
    run_mcastd(config, "--rotate-launch-key");
    snprintf(lines, sizeof lines, "launch_key = %s\n", key);
    assert_int_equal(folder_write(folder, "node.conf", 0644, lines), 0);
    node_config = folder_path(node, sizeof node, folder, "node.conf");
    (void)run_doctor(NULL, config);
    assert_null(find("config", "problem", "mcastd.conf"));
    expect_advice("config", "problem", "it should hold what mcastd --node-launch-key prints",
                  "the broker is asked");
    run_mcastd(config, "--node-launch-key");
    assert_int_equal(folder_write(folder, "node-launch.key", 0600, text), 0);
    (void)run_doctor(NULL, config);
    expect("config", "ok", "mcast-node finds nothing wrong");
    assert_int_equal(folder_write(folder, "node.conf", 0644, "nonsense\n"), 0);
    (void)run_doctor(NULL, config);
    expect("config", "problem", "node.conf:1: 'nonsense' is not key = value");
    node_config = NULL;
}

/* ---- without a broker ---- */

static void doctor__looks_around_without_a_broker(void **state)
{
    char config[PATH_SIZE], socket[PATH_SIZE];
    assert_int_equal(folder_write(folder, "bad.conf", 0666,
                                  "[broker]\nsocket = relative\nlisten = nowhere\n"
                                  "[vni]\npool = 70000\n[nonsense]\nx = y\n"),
                     0);
    folder_path(config, sizeof config, folder, "bad.conf");
    folder_path(socket, sizeof socket, folder, "none");
    assert_int_equal(chmod(config, 0666), 0);
    assert_int_equal(run_doctor(socket, config), 4);
    expect("broker", "problem", "cannot reach mcastd");
    expect("config", "problem", "bad.conf:2");
    expect("config", "problem", "bad.conf:3");
    expect("config", "problem", "bad.conf:5");
    expect("config", "problem", "bad.conf: others than its owner can write to ");
    (void)run_doctor(socket, "/nonexistent/mcastd.conf");
    expect("config", "problem", "/nonexistent/mcastd.conf cannot be read");
}

static void write_program(const char *name, const char *says)
{
    char script[PATH_SIZE];
    snprintf(script, sizeof script, "#!/bin/sh\necho '%s'\n", says);
    assert_int_equal(folder_write(folder, name, 0755, script), 0);
}

/* Programs that say they are of a release of which something is known. */
static void doctor__judges_the_software_of_the_machine(void **state)
{
    char path[4096], socket[PATH_SIZE];
    char *before = strdup(getenv("PATH"));
    write_program("fi_info", "fi_info: 2.2.0\nlibfabric: 2.2.0\nlibfabric api: 2.2");
    write_program("flux", "commands: 0.67.0\nlibflux-core: 0.67.0");
    snprintf(path, sizeof path, "%s:%s", folder, before);
    setenv("PATH", path, 1);
    assert_int_equal(run_doctor(folder_path(socket, sizeof socket, folder, "none"), NULL), 4);
    setenv("PATH", before, 1);
    free(before);
    expect("libfabric", "warning", "2.2.0 (fi_info): gives up");
    expect("libfabric", "ok", "wait for ever");
    expect("flux-core", "warning", "0.67.0 (flux): a job whose prolog timed out");
    assert_null(find("software", "ok", ""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(doctor__##name, create_folder, destroy_all)

UNIT_MAIN(TEST(finds_nothing_where_all_is_well), TEST(finds_a_configuration_that_was_not_reloaded),
          TEST(finds_what_others_could_read_or_change), TEST(finds_a_fabric_manager_that_is_away),
          TEST(finds_a_fabric_manager_that_is_not_verified), TEST(finds_a_name_conflict),
          TEST(tells_only_admins_what_the_broker_finds),
          TEST(finds_an_authority_that_jobs_would_miss),
          TEST(finds_a_certificate_that_is_about_to_end), TEST(finds_munge_that_does_not_work),
          TEST(looks_at_launch_keys), TEST(looks_around_without_a_broker),
          TEST(judges_the_software_of_the_machine))
