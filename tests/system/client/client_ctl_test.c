/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl as people and scripts meet it: real processes, their exit codes and what they print. */

#include "client/mcast.h"
#include "fakebroker.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE(array) (sizeof array / sizeof((array)[0]))
#define AGENT "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n"
#define PROBLEM "application/problem+json"
#define RUN(...) run(test, (const char *[]){"mcastctl", __VA_ARGS__, NULL})
#define JOB                                                                                        \
    "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"     \
    "\"nodes\":\"elcap[1-128]\",\"node_count\":128,\"cores_per_node\":96,\"vnis\":[1024,1025],"    \
    "\"traffic_classes\":[\"best_effort\",\"low_latency\"],"                                       \
    "\"created\":\"2026-11-21T08:00:00.123Z\","                                                    \
    "\"hwcoll\":{\"state\":\"reserved\",\"addresses\":23,\"min_nodes\":64},"                       \
    "\"env\":{\"FI_CXI_COLL_JOB_ID\":\"elcap-f1\",\"FI_CXI_COLL_MCAST_TOKEN\":\"s3cr3t\"}}"

enum { OUTPUT_SIZE = 16384 };

struct test {
    struct fakebroker *fake;
    const char *input; /* file or folder for standard input; NULL: /dev/null */
    char out[OUTPUT_SIZE];
    char err[OUTPUT_SIZE];
    size_t out_length;
};

static size_t read_file(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, OUTPUT_SIZE - 1, file);
    text[length] = '\0';
    fclose(file);
    return length;
}

/* Runs it to its end and returns its exit code. */
static int run(struct test *test, const char *const *arguments)
{
    char out[128], err[128], url[160], preload[] = "LC_ALL=C.UTF-8";
    const char *folder = fakebroker_folder(test->fake);
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = 0;
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    snprintf(url, sizeof url, "MCAST_URL=%s", fakebroker_url(test->fake));
    char *environment[] = {url, preload, NULL};
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    posix_spawn_file_actions_addopen(&files, 0, test->input ? test->input : "/dev/null", O_RDONLY,
                                     0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(
        posix_spawn(&child, MCASTCTL, &files, NULL, (char *const *)arguments, environment), 0);
    posix_spawn_file_actions_destroy(&files);
    assert_int_equal(waitpid(child, &status, 0), child);
    test->out_length = read_file(out, test->out);
    read_file(err, test->err);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static struct test *begin(const struct reply *script, size_t count)
{
    struct test *test = calloc(1, sizeof *test);
    assert_non_null(test);
    test->fake = fakebroker_create(script, count);
    return test;
}

static void end(struct test *test)
{
    fakebroker_destroy(test->fake);
    free(test);
}

static void ctl__explains_itself(void **state)
{
    static const char *const commands[] = {
        "reserve", "release", "show",   "list",        "env",       "sync",
        "fence",   "events",  "status", "doctor",      "token",     "accept-loss",
        "claim",   "cleanup", "check",  "nodes-clean", "step-down", "vni"};
    struct test *test = begin(NULL, 0);
    assert_int_equal(RUN("--help"), 0);
    for (size_t i = 0; i < SIZE(commands); i++)
        assert_words(test->out, commands[i]);
    assert_words(test->out,
                 "Exit codes: 0 ok, 1 refused, 2 usage, 3 not found, 4 not now: no broker");
    for (size_t i = 0; i < SIZE(commands); i++) {
        char example[64];
        snprintf(example, sizeof example, "mcastctl %s", commands[i]);
        assert_int_equal(RUN(commands[i], "--help"), 0);
        assert_words(test->out, "Example:\n");
        assert_words(strstr(test->out, "Example:\n"), example);
        assert_words(test->out, "--url URL");
        assert_string_equal(test->err, "");
    }
    assert_int_equal(RUN("--version"), 0);
    assert_string_equal(test->out, "mcastctl " MCAST_VERSION "\n");
    fakebroker_expect(test->fake, 0, NULL);
    end(test);
}

static void ctl__misuse_is_2_and_sends_nothing(void **state)
{
    static const char *const lines[][8] = {
        {"mcastctl", NULL},
        {"mcastctl", "frobnicate", NULL},
        {"mcastctl", "--frobnicate", NULL},
        {"mcastctl", "show", "--cluster", "elcap", NULL},
        {"mcastctl", "show", "--cluster", "elcap", "f1", "f2", NULL},
        {"mcastctl", "show", "--cluster", "el-cap", "f1", NULL},
        {"mcastctl", "show", "--cluster", "elcap", "f/1", NULL},
        {"mcastctl", "show", "--frobnicate", NULL},
        {"mcastctl", "reserve", "--cluster", "elcap", "--nodes", "n1", "f1", NULL},
        {"mcastctl", "reserve", "--cluster", "elcap", "--uid", "5", "f1", NULL},
        {"mcastctl", "reserve", "--uid", "no-such-user", "--node-count", "1", "f1", NULL},
        {"mcastctl", "reserve", "--uid", "4294967295", "f1", NULL},
        {"mcastctl", "reserve", "--vnis", "5", "f1", NULL},
        {"mcastctl", "reserve", "--vnis", "-1", "f1", NULL},
        {"mcastctl", "reserve", "--tc", "a,,b", "f1", NULL},
        {"mcastctl", "reserve", "--shared-vni", "a,b,c,d", "f1", NULL},
        {"mcastctl", "reserve", "--has-vnis", "1024,", "f1", NULL},
        {"mcastctl", "reserve", "--has-vnis", "65536", "f1", NULL},
        {"mcastctl", "reserve", "--has-vnis", "1,2,3,4,5", "f1", NULL},
        {"mcastctl", "env", "--format", "csh", "f1", NULL},
        {"mcastctl", "env", "--cluster", "elcap", "--step", "a b", "f1", NULL},
        {"mcastctl", "list", "elcap", NULL},
        {"mcastctl", "list", "--state", "gone", NULL},
        {"mcastctl", "list", "--limit", "0", NULL},
        {"mcastctl", "list", "--node", "n 1", NULL},
        {"mcastctl", "events", "--after", "-1", NULL},
        {"mcastctl", "status", "now", NULL},
        {"mcastctl", "doctor", "now", NULL},
        {"mcastctl", "status", "--cert", "/nonexistent/cert", NULL},
        {"mcastctl", "--key", "/nonexistent/key", "status", NULL},
        {"mcastctl", "sync", "f1", NULL},
        {"mcastctl", "--url", "nowhere", "status", NULL},
        {"mcastctl", "status", "--url", "http://host", NULL},
    };
    struct test *test = begin(NULL, 0);
    for (size_t i = 0; i < SIZE(lines); i++) {
        int code = run(test, lines[i]);
        if (code != 2)
            fail_msg("line %zu ends with %d, not 2: %s", i, code, test->err);
        assert_string_equal(test->out, "");
        assert_true(test->err[0]);
    }
    fakebroker_expect(test->fake, 0, NULL);
    end(test);
}

static void ctl__without_a_broker_is_4(void **state)
{
    struct test *test = begin(NULL, 0);
    assert_int_equal(RUN("--url", "/nonexistent/mcastd.sock", "status"), 4);
    assert_string_equal(test->err,
                        "mcastctl: cannot reach mcastd at /nonexistent/mcastd.sock: No such file "
                        "or directory; is it running? (systemctl status mcastd)\n");
    assert_int_equal(RUN("events", "--follow", "--url", "unix:/nonexistent/s"), 4);
    end(test);
}

/* B8: in mcastd's place, while it is away. */
static void ctl__tells_nothing_to_a_server_of_another_user(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char byte;
    if (geteuid() != 0)
        skip();
    struct test *test = begin(NULL, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/other",
             fakebroker_folder(test->fake));
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(seteuid(65533), 0); /* who listens is who serves */
    int rc = listen(listener, 1);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(rc, 0);
    assert_int_equal(RUN("--url", address.sun_path, "status"), 4);
    assert_words(test->err, "mcastctl: what listens at ");
    assert_words(test->err,
                 " is not taken for mcastd (user 65533 serves it, who is neither root nor "
                 "user 0, its folder's), and nothing was sent; ");
    int client = accept(listener, NULL, NULL);
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    assert_int_equal(RUN("--url", address.sun_path, "--server-user", "no_such_user", "status"), 4);
    assert_words(test->err, "and the user that should, 'no_such_user', is not known");
    close(listener);
    unlink(address.sun_path);
    end(test);
}

/* B4: a job needs no cluster where the broker serves one; of several none is taken. */
static void cluster__is_asked_for(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"identity\":\"x\",\"only_cluster\":\"elcap\"}", THEN_KEEP},
        {200, NULL, JOB, THEN_KEEP},
        {200, NULL, "{\"identity\":\"x\",\"clusters\":[\"elcap\"]}", THEN_KEEP},
    };
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("show", "f1"), 0);
    assert_words(test->out, "elcap");
    fakebroker_expect(test->fake, 2,
                      "GET /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("show", "f1"), 2);
    assert_words(test->err, "which cluster? give --cluster NAME or set MCAST_CLUSTER");
    fakebroker_expect(test->fake, 3,
                      "GET /v1/whoami HTTP/1.1\r\n" AGENT "Accept: application/json\r\n\r\n");
    end(test);
}

static void ctl__refused_is_1_and_not_found_3(void **state)
{
    static const struct reply script[] = {
        {503, PROBLEM,
         "{\"detail\":\"failed to reserve 4 VNIs (2 available)\","
         "\"code\":\"vnis-exhausted\"}",
         THEN_KEEP},
        {200, NULL, "{\"vnis\":{\"held\":4}}", THEN_KEEP},
        {404, PROBLEM, "{\"detail\":\"elcap has no job f1\"}", THEN_KEEP},
        {200, "text/html", "<html>hello</html>", THEN_KEEP},
    };
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("reserve", "--cluster", "elcap", "--uid", "1", "--node-count", "1", "f1"),
                     1);
    assert_string_equal(test->err,
                        "mcastctl: failed to reserve 4 VNIs (2 available); 4 quarantined: mcastctl "
                        "list --held says for which nodes\n");
    assert_int_equal(RUN("release", "--cluster", "elcap", "f1"), 3);
    assert_string_equal(test->err, "mcastctl: elcap has no job f1\n");
    assert_int_equal(RUN("show", "--cluster", "elcap", "f1"), 4);
    end(test);
}

#define STOPPING "{\"detail\":\"mcastd is stopping\",\"code\":\"stopping\"}"

/* What is no word about the job is told apart from a no, and asked again by who retries. */
static void ctl__not_now_is_4(void **state)
{
    static const struct reply script[] = {
        {503, PROBLEM, STOPPING, THEN_CLOSE},
        {503, PROBLEM, STOPPING, THEN_CLOSE},
        {503, PROBLEM, STOPPING, THEN_CLOSE},
        {200, NULL, JOB, THEN_KEEP},
    };
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("show", "--cluster", "elcap", "f1"), 4);
    assert_string_equal(test->err, "mcastctl: mcastd is stopping\n");
    assert_int_equal(RUN("show", "--cluster", "elcap", "--patience", "30", "f1"), 0);
    assert_string_equal(test->err,
                        "mcastctl: mcastd is stopping; retrying for as long as --patience says\n");
    static const char *const bad[] = {"soon", "-1", "25h", "86401", ""};
    for (size_t i = 0; i < SIZE(bad); i++) {
        assert_int_equal(RUN("show", "--cluster", "elcap", "--patience", bad[i], "f1"), 2);
        assert_words(test->err, "a time such as 500ms, 30 (seconds) or 2m, up to 24h");
    }
    end(test);
}

/* B7: one of them leads. */
static void ctl__several_brokers(void **state)
{
    static const struct reply script[] = {{200, NULL, JOB, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    struct fakebroker *standby = fakebroker_create(NULL, 0);
    char urls[300];
    fakebroker_stand_by(standby, fakebroker_url(test->fake));
    snprintf(urls, sizeof urls, "unix:/nonexistent/s, %s,%s", fakebroker_url(standby),
             fakebroker_url(test->fake));
    assert_int_equal(RUN("--url", urls, "show", "--cluster", "elcap", "f1"), 0);
    assert_string_equal(test->err, "");
    *strrchr(urls, ',') = '\0';
    assert_int_equal(RUN("--url", urls, "show", "--cluster", "elcap", "f1"), 4);
    assert_words(test->err,
                 "mcastctl: none of the 2 brokers serves this now (/nonexistent/s: No such");
    assert_words(test->err, "not-leader: the leader unix:/");
    assert_int_equal(RUN("--url", "/a,/b,/a", "show", "--cluster", "elcap", "f1"), 2);
    assert_string_equal(test->err, "mcastctl: URL 3 of the list: /a is named twice\n");
    fakebroker_destroy(standby);
    end(test);
}

/* B7: the leader's status, whichever is listed first, and what each of the others is. */
static void status__is_the_leaders(void **state)
{
    static const char leads[] =
        "{\"version\":\"0.1.0\",\"role\":\"leader\",\"jobs\":{\"active\":7}}";
    static const char follows[] = "{\"version\":\"0.1.0\",\"role\":\"standby\","
                                  "\"leadership\":{\"leader\":\"https://m9:7443\"}}";
    static const struct reply leader[] = {{200, NULL, leads, THEN_KEEP},
                                          {200, NULL, leads, THEN_KEEP}};
    static const struct reply standby[] = {{200, NULL, follows, THEN_KEEP},
                                           {200, NULL, follows, THEN_KEEP},
                                           {200, NULL, follows, THEN_KEEP}};
    struct test *test = begin(leader, SIZE(leader));
    char urls[400];
    struct fakebroker *other = fakebroker_create(standby, SIZE(standby));
    (void)snprintf(urls, sizeof urls, "/nonexistent/s, %s,%s", fakebroker_url(other),
                   fakebroker_url(test->fake));
    assert_int_equal(RUN("--url", urls, "status"), 0);
    assert_words(test->out, "THE BROKER /nonexistent/s DOES NOT ANSWER: No such");
    assert_words(test->out, "\nbroker         0.1.0 leader, unix:/");
    assert_words(test->out, "\nno answer      /nonexistent/s\n");
    assert_words(test->out, "\nstandby        unix:/");
    assert_words(test->out, "\njobs           7 active\n");
    assert_int_equal(RUN("--url", urls, "status", "--json"), 0);
    assert_words(test->out, "\"role\": \"leader\"");
    assert_words(test->out, "\"error\": \"No such file");
    *strrchr(urls, ',') = '\0';
    assert_int_equal(RUN("--url", urls, "status"), 0);
    assert_words(test->out, "THE LEADER https://m9:7443 IS NOT AMONG THOSE THAT ANSWER");
    fakebroker_destroy(other);
    end(test);
}

/* The first one's status, and that another one leads as well; not of one that has two addresses. */
static void status__of_two_leaders(void **state)
{
    static const char mine[] = "{\"role\":\"leader\",\"started\":\"2026-01-01T00:00:00.000Z\","
                               "\"jobs\":{\"active\":7}}";
    static const char others[] = "{\"role\":\"leader\",\"started\":\"2026-01-02T00:00:00.000Z\","
                                 "\"jobs\":{\"active\":9}}";
    static const struct reply first[] = {{200, NULL, mine, THEN_KEEP},
                                         {200, NULL, mine, THEN_KEEP}};
    static const struct reply second[] = {{200, NULL, others, THEN_KEEP},
                                          {200, NULL, mine, THEN_KEEP}};
    struct test *test = begin(first, SIZE(first));
    struct fakebroker *other = fakebroker_create(second, SIZE(second));
    char urls[400];
    (void)snprintf(urls, sizeof urls, "%s,%s", fakebroker_url(test->fake), fakebroker_url(other));
    assert_int_equal(RUN("--url", urls, "status"), 0);
    assert_words(test->out, "TWO BROKERS LEAD, unix:/");
    assert_words(test->out, "\njobs           7 active\n");
    assert_int_equal(RUN("--url", urls, "status"), 0);
    assert_words(test->out, "All is well.");
    fakebroker_destroy(other);
    end(test);
}

static void reserve__sends_the_options(void **state)
{
    static const struct reply script[] = {{201, NULL, JOB, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("--cluster", "elcap", "reserve", "--uid", "5588", "f1", "--nodes",
                         "elcap[1-128]", "--cores=96", "--vnis", "2", "--hwcoll=on", "--tc",
                         "best_effort,low_latency", "--interconnect", "slingshot",
                         "--tasks-per-node=8", "--cpus-per-task=12"),
                     0);
    fakebroker_expect(test->fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 196\r\n\r\n"
                      "{\"uid\":5588,\"nodes\":\"elcap[1-128]\",\"cores_per_node\":96,"
                      "\"interconnect\":\"slingshot\",\"tasks_per_node\":8,\"cpus_per_task\":12,"
                      "\"vni_count\":2,\"hwcoll\":\"on\","
                      "\"traffic_classes\":[\"best_effort\",\"low_latency\"]}");
    assert_words(test->out, "elcap/f1");
    assert_words(test->out, "1024,1025");
    assert_words(test->out, "reserved, 23 addresses");
    assert_null(strstr(test->out, "s3cr3t"));
    end(test);
}

/* S1: the same options say for which job a launch document is wanted. */
static void launch__sends_the_options(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"active\",\"vnis\":[],"
         "\"interconnect\":\"omnipath\",\"launch\":\"MUNGE:x:\"}",
         THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("--cluster", "elcap", "launch", "f1", "--restart", "2", "--interconnect",
                         "omnipath", "--tasks-per-node", "8", "--cpus-per-task", "4"),
                     0);
    fakebroker_expect(test->fake, 1,
                      "POST /v1/clusters/elcap/jobs/f1/launch HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 76\r\n\r\n"
                      "{\"restart\":2,\"interconnect\":\"omnipath\",\"tasks_per_node\":8,"
                      "\"cpus_per_task\":4}");
    assert_string_equal(test->out, "MUNGE:x:\n");
    assert_int_equal(RUN("launch", "--cluster=elcap", "f1", "--interconnect=elan"), 2);
    assert_words(test->err, "slingshot, omnipath");
    assert_int_equal(RUN("launch", "--cluster=elcap", "f1", "--tasks-per-node=0"), 2);
    end(test);
}

/* Programs need the token; people, logs and screens must not get it. */
static void token__shows_only_where_it_is_asked_for(void **state)
{
    static const struct reply script[] = {
        {201, NULL, JOB, THEN_KEEP},
        {200, NULL, JOB, THEN_KEEP},
        {200, NULL, JOB, THEN_KEEP},
        {202, NULL, JOB, THEN_KEEP},
        {202, NULL, JOB, THEN_KEEP},
        {200, NULL, "{\"FI_CXI_COLL_MCAST_TOKEN\":\"s3cr3t\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("reserve", "--json", "--cluster=elcap", "--uid=1", "--node-count=1", "f1"),
                     0);
    assert_words(test->out, "\"FI_CXI_COLL_MCAST_TOKEN\": \"s3cr3t\"");
    assert_int_equal(RUN("show", "--cluster=elcap", "f1"), 0);
    assert_null(strstr(test->out, "s3cr3t"));
    assert_words(test->out, "FI_CXI_COLL_MCAST_TOKEN=***");
    assert_words(test->out, "FI_CXI_COLL_JOB_ID=elcap-f1");
    assert_int_equal(RUN("show", "--json", "--cluster=elcap", "f1"), 0);
    assert_null(strstr(test->out, "s3cr3t"));
    assert_words(test->out, "\"FI_CXI_COLL_MCAST_TOKEN\": \"***\"");
    assert_int_equal(RUN("release", "--cluster=elcap", "f1"), 0);
    assert_string_equal(test->out, "elcap/f1: active (reservation 4711)\n");
    assert_int_equal(RUN("release", "--json", "--cluster=elcap", "f1"), 0);
    assert_null(strstr(test->out, "s3cr3t"));
    assert_int_equal(RUN("env", "--cluster=elcap", "f1"), 0);
    assert_string_equal(test->out, "FI_CXI_COLL_MCAST_TOKEN=s3cr3t\n");
    end(test);
}

/* F3: an administrator declares a node clean. */
static void fence__needs_a_node_and_a_reason(void **state)
{
    static const char forbidden[] = "{\"code\":\"forbidden\",\"detail\":\"only an admin may\"}";
    static const struct reply script[] = {
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":1}", THEN_KEEP},
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":0}", THEN_KEEP},
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":2,\"active\":1,\"known\":true}",
         THEN_KEEP},
        {200, NULL, "{\"node\":\"elcpa7\",\"reservations\":0,\"active\":2,\"known\":false}",
         THEN_KEEP},
        {403, PROBLEM, forbidden, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("fence", "elcap7"), 2);
    assert_words(test->err, "--reason");
    assert_int_equal(RUN("fence", "--reason", "off"), 2);
    assert_int_equal(RUN("fence", "--reason", "off", "elcap7", "elcap8"), 2);
    assert_int_equal(RUN("fence", "--reason", "", "elcap7"), 2);
    assert_int_equal(RUN("fence", "--reason", "off", "elcap7/../x"), 2);
    assert_int_equal(RUN("fence", "--reason", "\xff", "elcap7"), 2);
    fakebroker_expect(test->fake, 0, NULL);
    assert_int_equal(RUN("fence", "--reason", "powered \"off\"", "elcap7"), 0);
    assert_string_equal(test->out, "elcap7: 1 reservation no longer waits for it\n");
    fakebroker_expect(test->fake, 1,
                      "PUT /v1/nodes/elcap7/fence HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 28\r\n\r\n{\"reason\":\"powered \\\"off\\\"\"}");
    assert_int_equal(RUN("fence", "elcap7", "--reason=off"), 0);
    assert_string_equal(test->out, "elcap7: 0 reservations no longer wait for it\n");
    assert_int_equal(RUN("--json", "fence", "elcap7", "--reason=off"), 0);
    assert_words(test->out, "\"reservations\": 2");
    assert_words(test->out, "\"active\": 1");
    assert_int_equal(RUN("fence", "elcpa7", "--reason=off"), 0);
    assert_string_equal(test->out, "elcpa7: 0 reservations no longer wait for it\n"
                                   "elcpa7: 2 active jobs on it are not touched\n");
    assert_words(test->err, "no cluster's nodes and no reservation has elcpa7");
    assert_int_equal(RUN("fence", "elcap7", "--reason=off"), 1);
    assert_words(test->err, "only an admin may");
    end(test);
}

/* F3: one report for many nodes. */
static void nodes_clean__says_how_many_are(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"active\","
         "\"node_count\":4000,\"clean\":4000,\"lingering\":\"\"}",
         THEN_KEEP},
        {200, NULL,
         "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"releasing\","
         "\"node_count\":4000,\"clean\":12,\"lingering\":\"elcap[3,9]\",\"lingering_more\":5}",
         THEN_KEEP},
        {200, NULL,
         "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"active\","
         "\"node_count\":4000,\"clean\":4000,\"lingering\":\"\"}",
         THEN_KEEP},
        {404, PROBLEM, "{\"code\":\"not-found\",\"detail\":\"no such reservation\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("nodes-clean", "--cluster", "elcap", "--number", "7", "f1"), 2);
    assert_int_equal(RUN("nodes-clean", "--cluster", "elcap", "f1", "elcap[1-4]"), 2);
    assert_words(test->err, "--number");
    assert_int_equal(RUN("nodes-clean", "--number", "7", "f1", "elcap[1-4]"), 2);
    assert_words(test->err, "--cluster");
    assert_int_equal(RUN("nodes-clean", "--cluster", "elcap", "--number", "0", "f1", "n1"), 2);
    fakebroker_expect(test->fake, 0, NULL);
    assert_int_equal(RUN("nodes-clean", "--cluster", "elcap", "--number", "7", "f1", "elcap[1-4]"),
                     0);
    assert_string_equal(test->out, "elcap/f1: 4000 of 4000 nodes are clean\n");
    fakebroker_expect(test->fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 53\r\n\r\n"
                      "{\"number\":7,\"nodes\":\"elcap[1-4]\",\"state\":\"destroyed\"}");
    assert_int_equal(
        RUN("nodes-clean", "--cluster", "elcap", "--number", "7", "--lingering", "f1", "n1"), 0);
    assert_string_equal(test->out,
                        "elcap/f1: 12 of 4000 nodes are clean\n"
                        "services linger on elcap[3,9],…: mcastctl fence, once nothing runs "
                        "there\n");
    fakebroker_expect(test->fake, 2,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 45\r\n\r\n"
                      "{\"number\":7,\"nodes\":\"n1\",\"state\":\"lingering\"}");
    assert_int_equal(
        RUN("--json", "nodes-clean", "--cluster", "elcap", "--number", "7", "f1", "n1"), 0);
    assert_words(test->out, "\"clean\": 4000");
    assert_int_equal(RUN("nodes-clean", "--cluster", "elcap", "--number", "7", "f1", "n1"), 3);
    end(test);
}

/* F22, B4: an administrator's answers to an alarm. */
static void decisions__are_explicit(void **state)
{
    static const char forbidden[] = "{\"code\":\"forbidden\",\"detail\":\"only an admin may\"}";
    static const struct reply script[] = {{200, NULL, "{\"reservations\":12}", THEN_KEEP},
                                          {200, NULL, "{\"reservations\":1}", THEN_KEEP},
                                          {200, NULL, "{\"reservations\":2}", THEN_KEEP},
                                          {200, NULL, "{\"reservations\":0}", THEN_KEEP},
                                          {403, PROBLEM, forbidden, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("claim"), 2);
    assert_int_equal(RUN("claim", "--cluster", "elcap"), 2);
    assert_words(test->err, "which cluster?");
    assert_int_equal(RUN("claim", "elcap", "tuo"), 2);
    assert_int_equal(RUN("claim", "elcap/../x"), 2);
    assert_int_equal(RUN("accept-loss", "elcap"), 2);
    fakebroker_expect(test->fake, 0, NULL);
    assert_int_equal(RUN("accept-loss"), 0);
    assert_words(test->out,
                 "12 reservations accepted as lost: each job is notified, and the alarm ends, ");
    fakebroker_expect(test->fake, 1,
                      "POST /v1/accept-loss HTTP/1.1\r\n" AGENT "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("claim", "elcap"), 0);
    assert_string_equal(test->out, "1 reservation claimed\n");
    fakebroker_expect(test->fake, 2,
                      "POST /v1/clusters/elcap/claim HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("--json", "claim", "elcap"), 0);
    assert_string_equal(test->out, "{\"reservations\": 2}\n");
    assert_int_equal(RUN("accept-loss"), 0);
    assert_words(test->out, "0 reservations accepted as lost: no mass-loss alarm was on");
    assert_int_equal(RUN("accept-loss"), 1);
    assert_words(test->err, "only an admin may");
    end(test);
}

#define SHARED                                                                                     \
    "{\"name\":\"daos\",\"vni\":1030,\"uid\":77,\"state\":\"open\",\"created\":"                   \
    "\"2026-11-21T08:00:00.000Z\",\"expires\":null,\"any_user\":false,\"users\":[5588,0],"         \
    "\"clusters\":[],\"jobs\":3,\"waiting\":0}"
#define SHARED_TO_USERS                                                                            \
    "{\"name\":\"mochi\",\"vni\":1031,\"uid\":78,\"state\":\"closed\",\"created\":"                \
    "\"2026-11-21T08:00:00.000Z\",\"expires\":\"2026-11-22T08:00:00.000Z\"}"

/* B1. */
static void vni__has_four_verbs(void **state)
{
    static const char in_use[] = "{\"code\":\"in-use\",\"detail\":\"daos is in use by 3 jobs\"}";
    static const struct reply script[] = {
        {201, NULL, SHARED, THEN_KEEP},
        {200, NULL, "{\"vnis\":[" SHARED "," SHARED_TO_USERS "]}", THEN_KEEP},
        {200, NULL, SHARED_TO_USERS, THEN_KEEP},
        {409, PROBLEM, in_use, THEN_KEEP},
        {202, NULL, SHARED, THEN_KEEP},
        {201, NULL, JOB, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("vni"), 2);
    assert_int_equal(RUN("vni", "make", "daos"), 2);
    assert_int_equal(RUN("vni", "create"), 2);
    assert_int_equal(RUN("vni", "create", "Daos"), 2);
    assert_int_equal(RUN("vni", "create", "--users", "no-such-user-here", "daos"), 2);
    assert_int_equal(RUN("vni", "list", "--users", "1"), 2);
    assert_int_equal(RUN("vni", "create", "--when-unused", "daos"), 2);
    fakebroker_expect(test->fake, 0, NULL);
    assert_int_equal(RUN("vni", "create", "--users", "5588,root", "--clusters", "elcap,tuo",
                         "--expires", "1h", "daos"),
                     0);
    assert_words(test->out, "1030");
    assert_words(test->out, "5588,root");
    fakebroker_expect(test->fake, 1,
                      "PUT /v1/vnis/daos HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 60\r\n\r\n"
                      "{\"users\":[5588,0],\"clusters\":[\"elcap\",\"tuo\"],\"expires\":3600}");
    assert_int_equal(RUN("vni", "list"), 0);
    assert_words(test->out, "mochi");
    assert_words(test->out, "closed");
    assert_int_equal(RUN("--json", "vni", "show", "mochi"), 0);
    assert_words(test->out, "\"state\": \"closed\"");
    assert_int_equal(RUN("vni", "remove", "daos"), 1);
    assert_words(test->err, "in use by 3 jobs");
    assert_int_equal(RUN("vni", "remove", "--when-unused", "daos"), 0);
    fakebroker_expect(test->fake, 5,
                      "DELETE /v1/vnis/daos?when=unused HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("--cluster", "elcap", "reserve", "--uid", "5588", "f1", "--nodes", "n1",
                         "--vnis=1", "--shared-vni", "daos,mochi"),
                     0);
    fakebroker_expect(
        test->fake, 6,
        "PUT /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT
        "Accept: application/json\r\nContent-Type: application/json\r\n"
        "Content-Length: 70\r\n\r\n"
        "{\"uid\":5588,\"nodes\":\"n1\",\"vni_count\":1,\"shared_vnis\":[\"daos\",\"mochi\"]}");
    end(test);
}

#define HELD(number, job, waiting)                                                                 \
    "{\"cluster\":\"elcap\",\"job\":\"" job "\",\"number\":" number ",\"state\":\"releasing\","    \
    "\"uid\":5,\"node_count\":9,\"vnis\":[1024],\"created\":\"2026-11-21T08:00:00.000Z\","         \
    "\"released\":\"2026-11-21T09:00:00.000Z\",\"held_until\":\"2026-11-21T09:10:00.000Z\","       \
    "\"waiting_for\":" waiting "}"
#define NOT_HELD                                                                                   \
    "{\"cluster\":\"elcap\",\"job\":\"free\",\"number\":2,\"state\":\"releasing\",\"vnis\":[]}"

/* F3: what waits for whom. */
static void list__shows_what_is_quarantined(void **state)
{
    static const char page[] = "{\"jobs\":[" NOT_HELD "," HELD(
        "4", "f4",
        "{\"count\":7,\"unheard\":4,\"nodes\":[\"elcap7\",\"elcap9\"],\"lingering\":1,"
        "\"created\":2,\"reports\":[{\"node\":\"elcap7\",\"state\":\"lingering\"},"
        "{\"node\":\"elcap9\",\"state\":\"created\"}]}") "," HELD("5", "f5",
                                                                  "{\"count\":0,\"unheard\":0,"
                                                                  "\"nodes\":[]}") "],\"next\":"
                                                                                   "null}";
    static const struct reply script[] = {
        {200, NULL, page, THEN_KEEP},
        {200, NULL, page, THEN_KEEP},
        {200, NULL, page, THEN_KEEP},
        {200, NULL, HELD("4", "f4", "{\"count\":1,\"unheard\":1,\"nodes\":[]}"), THEN_KEEP},
        {200, NULL, HELD("4", "f4", "{\"count\":1,\"unheard\":2,\"nodes\":[]}"), THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("list", "--held", "--state", "active"), 2);
    assert_int_equal(RUN("list", "--held"), 0);
    fakebroker_expect(test->fake, 1,
                      "GET /v1/jobs?limit=1000&state=releasing HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_words(test->out, " WAITING\n");
    assert_words(
        test->out,
        " d ago elcap7 (lingering), elcap9 (created), 1 more (1 lingering and 2 created in all), "
        "4 that said nothing (which is not known: the job only gave the number of nodes; "
        "only the time ends it)\n");
    assert_words(test->out, "no node, only the time\n");
    assert_null(strstr(test->out, "free"));
    assert_int_equal(RUN("list", "--held", "--json"), 0);
    assert_words(test->out, "\"unheard\":4");
    assert_words(test->out, "\"job\":\"f5\"");
    assert_null(strstr(test->out, "free"));
    assert_int_equal(RUN("list", "--held", "--limit", "1"), 0); /* of those that are quarantined */
    assert_words(test->out, "f4");
    assert_null(strstr(test->out, "f5"));
    assert_int_equal(RUN("show", "--cluster=elcap", "f4"), 0);
    assert_words(test->out, "2026-11-21T09:10:00.000Z");
    assert_words(test->out, "1 that said nothing");
    assert_words(test->out, "which is not known");
    assert_int_equal(RUN("show", "--cluster=elcap", "f4"), 4); /* it makes no sense */
    end(test);
}

/* F3: with [vni] hold = reports no time ends it. */
static void list__shows_what_waits_for_reports(void **state)
{
#define UNTIL_REPORTED                                                                             \
    "{\"cluster\":\"elcap\",\"job\":\"f6\",\"number\":6,\"state\":\"releasing\",\"uid\":5,"        \
    "\"node_count\":2,\"vnis\":[1024],\"created\":\"2026-11-21T08:00:00.000Z\","                   \
    "\"released\":\"2026-11-21T09:00:00.000Z\",\"waiting_for\":{\"count\":2,\"unheard\":2,"        \
    "\"nodes\":[]}}"
    static const struct reply script[] = {
        {200, NULL, "{\"jobs\":[" NOT_HELD "," UNTIL_REPORTED "],\"next\":null}", THEN_KEEP},
        {200, NULL, UNTIL_REPORTED, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("list", "--held"), 0);
    assert_words(test->out, " d all report 2 that said nothing (which is "
                            "not known: the job only gave the number of nodes)\n");
    assert_null(strstr(test->out, "free"));
    assert_int_equal(RUN("show", "--cluster=elcap", "f6"), 0);
    assert_words(test->out, "all its nodes have reported");
    end(test);
}

/* Whom to look after, and whom to fence. */
static void list__tells_lingering_from_silent(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"jobs\":[" HELD("4", "f4",
                            "{\"count\":128,\"unheard\":126,\"nodes\":[\"n1\",\"n2\"],"
                            "\"lingering\":1,\"created\":1,\"reports\":[{\"node\":\"n1\","
                            "\"state\":\"lingering\",\"services\":\"cxi2:2\"},{\"node\":"
                            "\"n2\",\"state\":\"created\"}],\"silent\":\"n[3-128]\"}") "],"
                                                                                       "\"next\":"
                                                                                       "null}",
         THEN_KEEP},
        {200, NULL,
         HELD("4", "f4",
              "{\"count\":60,\"unheard\":30,\"nodes\":[\"n1\"],\"lingering\":30,"
              "\"created\":0,\"reports\":[{\"node\":\"n1\",\"state\":\"lingering\"}],"
              "\"silent\":\"n[31-40]\",\"silent_more\":20}"),
         THEN_KEEP},
        {200, NULL,
         HELD("4", "f4", "{\"count\":1,\"unheard\":0,\"nodes\":[\"n1\"],\"reports\":[7]}"),
         THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("list", "--held"), 0);
    assert_words(test->out, "n1 (lingering: cxi2:2), n2 (created), silent: n[3-128]\n");
    assert_int_equal(RUN("show", "--cluster=elcap", "f4"), 0);
    assert_words(test->out, "n1 (lingering), 29 more (30 lingering and 0 created in all), silent: "
                            "n[31-40] and 20 more");
    assert_int_equal(RUN("show", "--cluster=elcap", "f4"), 4);
    end(test);
}

/* Nothing at all would leave open whether it was understood. */
static void show__says_that_there_are_no_steps(void **state)
{
#define WITH(state, hwcoll)                                                                        \
    "{\"cluster\":\"elcap\",\"job\":\"f4\",\"number\":4,\"state\":\"" state "\",\"vnis\":[],"      \
    "\"hwcoll\":{\"state\":\"" hwcoll "\"}}"
    static const char none[] = "{\"steps\":[],\"skipped\":0}";
    static const char without[] = "elcap/f4: the job has no multicast addresses\n";
    static const struct reply script[] = {
        {200, NULL, none, THEN_KEEP}, {200, NULL, WITH("active", "reserved"), THEN_KEEP},
        {200, NULL, none, THEN_KEEP}, {200, NULL, WITH("active", "denied"), THEN_KEEP},
        {200, NULL, none, THEN_KEEP}, {200, NULL, WITH("releasing", "released"), THEN_KEEP},
        {200, NULL, none, THEN_KEEP}, {404, PROBLEM, "{\"detail\":\"gone\"}", THEN_KEEP},
        {200, NULL, none, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("show", "--steps", "--cluster=elcap", "f4"), 0);
    assert_string_equal(test->out, "no step of elcap/f4 has multicast trees\n");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(RUN("show", "--steps", "--cluster=elcap", "f4"), 0);
        assert_string_equal(test->out, without);
    }
    assert_int_equal(RUN("show", "--steps", "--json", "--cluster=elcap", "f4"), 0);
    assert_words(test->out, "\"steps\": []");
    end(test);
}

/* A job arrives as ƒ… or f…, and is one and the same. */
static void jobid__flux_form_becomes_plain(void **state)
{
    static const struct reply script[] = {{200, NULL, JOB, THEN_KEEP},
                                          {200, NULL, "{\"active\":2,\"confirmed\":2}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("show", "--cluster=elcap", "ƒ2Rs8sydSxmd"), 0);
    fakebroker_expect(test->fake, 1,
                      "GET /v1/clusters/elcap/jobs/f2Rs8sydSxmd HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("sync", "--cluster=elcap", "ƒA", "fB"), 0);
    fakebroker_expect(test->fake, 2,
                      "POST /v1/clusters/elcap/sync HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 22\r\n\r\n{\"active\":[\"fA\",\"fB\"]}");
    end(test);
}

/* What the broker does not name is unset (F16): nothing of an outer job stays. */
#define UNSET_SH                                                                                   \
    "unset FI_CXI_HWCOLL_MIN_NODES\nunset FI_CXI_HWCOLL_ADDRS_PER_JOB\n"                           \
    "unset FI_CXI_COLL_JOB_ID\nunset FI_CXI_COLL_JOB_STEP_ID\nunset FI_CXI_COLL_MCAST_TOKEN\n"     \
    "unset FI_CXI_COLL_FABRIC_MGR_URL\nunset FI_CXI_COLL_FABRIC_MGR_CACERT\n"                      \
    "unset FI_OPX_UUID\nunset FI_PSM3_UUID\nunset FI_OPX_PKEY\nunset PSM3_PKEY\n"
#define UNSET_JSON                                                                                 \
    "\n  \"FI_CXI_HWCOLL_MIN_NODES\": null,\n  \"FI_CXI_HWCOLL_ADDRS_PER_JOB\": null,"             \
    "\n  \"FI_CXI_COLL_JOB_ID\": null,\n  \"FI_CXI_COLL_JOB_STEP_ID\": null,"                      \
    "\n  \"FI_CXI_COLL_MCAST_TOKEN\": null,\n  \"FI_CXI_COLL_FABRIC_MGR_URL\": null,"              \
    "\n  \"FI_CXI_COLL_FABRIC_MGR_CACERT\": null,\n  \"FI_OPX_UUID\": null,"                       \
    "\n  \"FI_PSM3_UUID\": null,\n  \"FI_OPX_PKEY\": null,\n  \"PSM3_PKEY\": null\n}\n"

static void env__every_format(void **state)
{
    static const char env[] = "{\"FI_CXI_A\":\"it's $HOME `x` \\\"q\\\"\",\"FI_CXI_B\":\"\"}";
    static const struct reply script[] = {{200, NULL, env, THEN_KEEP},
                                          {200, NULL, env, THEN_KEEP},
                                          {200, NULL, env, THEN_KEEP},
                                          {200, NULL, env, THEN_KEEP},
                                          {200, NULL, "{}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("env", "--cluster=c", "--step=/fA/fB", "f1"), 0);
    assert_string_equal(test->out, "FI_CXI_A=it's $HOME `x` \"q\"\nFI_CXI_B=\n");
    fakebroker_expect(test->fake, 1,
                      "GET /v1/clusters/c/jobs/f1/env?step=%2FfA%2FfB HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("env", "--cluster=c", "--format=sh", "f1"), 0);
    assert_string_equal(
        test->out, "export FI_CXI_A='it'\\''s $HOME `x` \"q\"'\nexport FI_CXI_B=''\n" UNSET_SH);
    assert_int_equal(RUN("env", "--cluster=c", "--json", "f1"), 0);
    assert_string_equal(
        test->out,
        "{\n  \"FI_CXI_A\": \"it's $HOME `x` \\\"q\\\"\",\n  \"FI_CXI_B\": \"\"," UNSET_JSON);
    assert_int_equal(RUN("env", "--cluster=c", "--format=null", "f1"), 0);
    static const char null_form[] = "FI_CXI_A=it's $HOME `x` \"q\"\0FI_CXI_B=";
    assert_int_equal(test->out_length, sizeof null_form);
    assert_memory_equal(test->out, null_form, sizeof null_form);
    assert_int_equal(RUN("env", "--cluster=c", "--format=json", "f1"), 0);
    assert_string_equal(test->out, "{" UNSET_JSON);
    end(test);
}

/* F16: libfabric would look for it for ever. */
static void env__with_a_ca_that_is_not_there(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"FI_CXI_COLL_FABRIC_MGR_CACERT\":\"/nowhere/ca.pem\"}", THEN_KEEP},
        {200, NULL, "{\"FI_CXI_COLL_FABRIC_MGR_CACERT\":\"/\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("env", "--cluster=c", "--step",
                         "/\xc6\x92"
                         "1",
                         "f1"),
                     0);
    assert_string_equal(test->out, "FI_CXI_COLL_FABRIC_MGR_CACERT=yes\n");
    assert_words(test->err, "warning: there is no file or folder /nowhere/ca.pem here");
    fakebroker_expect(test->fake, 1,
                      "GET /v1/clusters/c/jobs/f1/env?step=%2Ff1 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(RUN("env", "--cluster=c", "f1"), 0);
    assert_string_equal(test->out, "FI_CXI_COLL_FABRIC_MGR_CACERT=/\n");
    assert_string_equal(test->err, "");
    end(test);
}

/* Half an environment must never be evaluated, and a name never be a command. */
static void env__all_or_nothing(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"FI_CXI_A\":\"1\",\"FI_CXI_B\":\"x\\ny\"}", THEN_KEEP},
        {200, NULL, "{\"FI_CXI_A\":\"1\",\"FI_CXI_B\":\"x\\ny\"}", THEN_KEEP},
        {200, NULL, "{\"FI_CXI_A\":\"1\",\"B;reboot\":\"x\"}", THEN_KEEP},
        {200, NULL, "{\"FI_CXI_A\":\"1\",\"LD_PRELOAD\":\"/tmp/x.so\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("env", "--cluster=c", "f1"), 4);
    assert_string_equal(test->out, "");
    assert_int_equal(RUN("env", "--cluster=c", "--format=sh", "f1"), 4);
    assert_string_equal(test->out, "");
    assert_int_equal(RUN("env", "--cluster=c", "--format=sh", "f1"), 4);
    assert_string_equal(test->out, "");
    /* What is none of Slingshot's nobody is to evaluate (B3). */
    assert_int_equal(RUN("env", "--cluster=c", "--format=sh", "f1"), 0);
    assert_string_equal(test->out, "export FI_CXI_A='1'\n" UNSET_SH);
    end(test);
}

static void list__table_and_json(void **state)
{
    static const char one[] = "{\"jobs\":[" JOB "],\"next\":null}";
    static const struct reply script[] = {{200, NULL, one, THEN_KEEP},
                                          {200, NULL, one, THEN_KEEP},
                                          {200, NULL, "{\"jobs\":[]}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(
        RUN("list", "--state=active", "--uid=5588", "--limit=5",
            "--output=number,cluster,job,state,uid,nodes,vnis,hwcoll,addresses,created"),
        0);
    fakebroker_expect(test->fake, 1,
                      "GET /v1/jobs?limit=5&state=active&uid=5588 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_string_equal(
        test->out, "NUMBER CLUSTER JOB STATE   UID NODES VNIS      HWCOLL   ADDRESSES CREATED\n"
                   "  4711 elcap   f1  active 5588   128 1024,1025 reserved        23 "
                   "2026-11-21T08:00:00.123Z\n");
    assert_int_equal(RUN("list", "--json", "--cluster=elcap"), 0);
    assert_int_equal(strncmp(test->out, "{\"jobs\":[\n  {\"cluster\":\"elcap\"", 30), 0);
    assert_null(strstr(test->out, "s3cr3t"));
    assert_int_equal(RUN("list", "--json"), 0);
    assert_string_equal(test->out, "{\"jobs\":[]}\n");
    end(test);
}

/* Who would clean a node by hand is told that this is not all. */
static void list__of_a_node(void **state)
{
    static const char page[] =
        "{\"jobs\":[{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":1,\"state\":\"active\","
        "\"on_node\":\"possible\"}],\"hidden\":2,\"next\":null}";
    static const struct reply script[] = {{200, NULL, page, THEN_KEEP},
                                          {200, NULL, page, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("list", "--node", "elcap17", "--state", "active"), 0);
    fakebroker_expect(test->fake, 1,
                      "GET /v1/jobs?limit=1000&state=active&node=elcap17 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_words(test->out, "ONNODE\n");
    assert_words(test->out, "possible\n");
    assert_string_equal(test->err, "mcastctl: 2 more may have something on elcap17, of clusters "
                                   "whose reservations are not shown to you; ask as an admin\n");
    assert_int_equal(RUN("list", "--node", "elcap17", "--json"), 0);
    assert_words(test->out, "\"on_node\":\"possible\"");
    assert_words(test->err, "2 more");
    end(test);
}

static void write_input(struct test *test, char path[128], const char *text, size_t length)
{
    snprintf(path, 128, "%s/in", fakebroker_folder(test->fake));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    test->input = path;
}

/* To whom others' jobs are not shown, an empty list says so. */
static void list__of_nothing(void **state)
{
    static const char none[] = "{\"jobs\":[],\"next\":null}";
    static const struct reply script[] = {
        {200, NULL, none, THEN_KEEP},
        {200, NULL, "{\"admin\":false,\"clusters\":[]}", THEN_KEEP},
        {200, NULL, none, THEN_KEEP},
        {200, NULL, "{\"admin\":true,\"clusters\":[]}", THEN_KEEP},
        {200, NULL, "{\"vnis\":[]}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("list"), 0);
    assert_words(test->err, "no such reservation of yours; those of others are shown to admins");
    assert_int_equal(RUN("list", "--held"), 0);
    assert_string_equal(test->err,
                        "mcastctl: there is no such reservation with quarantined VNIs\n");
    assert_int_equal(RUN("vni", "list"), 0);
    assert_string_equal(test->err, "mcastctl: there is no shared VNI that you may see\n");
    end(test);
}

static void sync__reads_standard_input(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"active\":3,\"confirmed\":2,\"suspect\":[\"x\"],\"released\":[\"y\"],"
         "\"unknown\":[\"c\"],\"suspect_count\":2,\"released_count\":1,\"unknown_count\":1}",
         THEN_KEEP}};
    static const char input[] = "a\r\n\n  b \nƒc";
    struct test *test = begin(script, SIZE(script));
    char path[128];
    write_input(test, path, input, sizeof input - 1);
    assert_int_equal(RUN("sync", "--cluster=elcap"), 0);
    fakebroker_expect(test->fake, 1,
                      "POST /v1/clusters/elcap/sync HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 25\r\n\r\n{\"active\":[\"a\",\"b\",\"fc\"]}");
    assert_string_equal(test->out,
                        "3 active, 2 of them confirmed\n"
                        "not active, to be released if the next sync says so too (2): x …\n"
                        "not active for the second time, released (1): y\n"
                        "active without a reservation (1): c\n");
    end(test);
}

/* A list that is not whole would release jobs that run. */
static void sync__refuses_what_may_not_be_whole(void **state)
{
    static const struct reply script[] = {{200, NULL, "{\"active\":0,\"confirmed\":0}", THEN_KEEP}};
    static const char binary[] = "a\nb\0c\n", space[] = "slurm_load_jobs error\n";
    struct test *test = begin(script, SIZE(script));
    char path[128];
    assert_int_equal(RUN("sync", "--cluster=elcap"), 2);
    assert_words(test->err, "--empty");
    test->input = "/"; /* reading it fails */
    assert_int_equal(RUN("sync", "--cluster=elcap", "--empty"), 2);
    assert_words(test->err, "could not be read to its end (Is a directory)");
    write_input(test, path, binary, sizeof binary - 1);
    assert_int_equal(RUN("sync", "--cluster=elcap"), 2);
    assert_words(test->err, "line 2");
    write_input(test, path, space, sizeof space - 1);
    assert_int_equal(RUN("sync", "--cluster=elcap"), 2);
    fakebroker_expect(test->fake, 0, NULL);
    test->input = NULL;
    assert_int_equal(RUN("sync", "--cluster=elcap", "--empty"), 0);
    fakebroker_expect(test->fake, 1,
                      "POST /v1/clusters/elcap/sync HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 13\r\n\r\n{\"active\":[]}");
    end(test);
}

static void events__lines_and_json(void **state)
{
    static const char stream[] =
        "event: gap\ndata: {\"from\":1,\"to\":40}\n\n"
        "id: 41\nevent: link-up\ndata: {\"seq\":41,\"time\":\"2026-11-21T08:00:00.000Z\","
        "\"event\":\"link-up\",\"fatal\":false}\n\n"
        "id: 42\nevent: lost\ndata: {\"seq\":42,\"time\":\"2026-11-21T08:00:01.000Z\","
        "\"event\":\"lost\",\"fatal\":true,\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,"
        "\"uid\":5,\"state\":\"active\",\"node_count\":64,\"vnis\":[1024,1025],"
        "\"addresses\":0,\"detail\":\"not there\\u001b[2J\"}\n\n";
    static const struct reply script[] = {
        {200, "text/event-stream", stream, THEN_KEEP},
        {200, "text/event-stream", stream, THEN_KEEP},
        {200, "text/event-stream", stream, THEN_CLOSE},
        {403, PROBLEM, "{\"detail\":\"no longer yours\"}", THEN_KEEP},
        {422, PROBLEM, "{\"code\":\"no-such-event\",\"detail\":\"the last one is 3\"}", THEN_KEEP},
    };
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("events", "--after=3"), 0);
    assert_string_equal(
        test->out, "       …  events 1 to 40 are no longer kept\n"
                   "      41  2026-11-21T08:00:00.000Z  link-up     -\n"
                   "      42  2026-11-21T08:00:01.000Z !lost        elcap/f1  number 7, 64 nodes, "
                   "VNIs 1024,1025, 0 addresses  not there?[2J\n");
    assert_int_equal(RUN("events", "--json"), 0);
    assert_int_equal(strncmp(test->out, "{\"from\":1,\"to\":40}\n{\"seq\":41,", 29), 0);
    assert_int_equal(RUN("events", "--follow"), 1);
    assert_words(test->out, "!lost");
    assert_string_equal(test->err, "mcastctl: no longer yours\n");
    fakebroker_expect(test->fake, 4,
                      "GET /v1/events?after=42 HTTP/1.1\r\n" AGENT
                      "Accept: text/event-stream\r\n\r\n");
    assert_int_equal(RUN("events", "--after=5000"), 3);
    assert_string_equal(test->err, "mcastctl: the last one is 3\n");
    end(test);
}

/* Fields that this version does not know are in the JSON. */
static void status__table_and_json(void **state)
{
    static const char body[] =
        "{\"version\":\"0.1.0\",\"role\":\"leader\",\"fabric_manager\":{"
        "\"link\":\"up\",\"url\":\"https://fmn\",\"last_error\":null},"
        "\"vnis\":{\"free\":3,\"live\":1,\"pool\":4},\"strays\":0,\"new\":[1]}";
    static const struct reply script[] = {{200, NULL, body, THEN_KEEP},
                                          {200, NULL, body, THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("status"), 0);
    assert_string_equal(test->out, "All is well.\n"
                                   "broker         0.1.0 leader\n"
                                   "fabric manager https://fmn\n"
                                   "VNIs           3 free of 4, 1 in use\n");
    assert_int_equal(RUN("status", "--json"), 0);
    assert_words(test->out, "  \"version\": \"0.1.0\",\n");
    assert_words(test->out, "  \"new\": [\n");
    end(test);
}

static void step_down__is_refused_or_forced(void **state)
{
    static const struct reply script[] = {
        {409, PROBLEM, "{\"code\":\"no-standby\",\"detail\":\"no standby is known\"}", THEN_KEEP},
        {202, NULL, "{\"status\":\"stepping-down\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("step-down"), 1);
    assert_words(test->err, "no standby is known");
    assert_int_equal(RUN("step-down", "--force"), 0);
    fakebroker_expect(test->fake, 2,
                      "POST /v1/step-down HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 14\r\n\r\n{\"force\":true}");
    end(test);
}

/* A broker of another time, and of an older version that has no findings; and one that has. */
static void doctor__listens_to_the_broker(void **state)
{
    static const struct reply script[] = {
        {404, PROBLEM, "{\"code\":\"no-such-path\",\"detail\":\"nothing there\"}", THEN_KEEP},
        {0, NULL,
         "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: "
         "application/json\r\nContent-Length: "
         "36\r\n\r\n{\"identity\":\"nobody\",\"proof\":\"none\"}",
         THEN_CLOSE},
        {200, NULL,
         "{\"job_ca\":\"/nonexistent/ca.pem\",\"findings\":[{\"check\":\"link\",\"level\":\"ok\","
         "\"finding\":\"up\",\"advice\":null},{\"check\":\"vnis\",\"level\":\"problem\","
         "\"finding\":\"none free\\u001b[2J\",\"advice\":\"enlarge\"}]}",
         THEN_KEEP},
        {404, PROBLEM, "{\"code\":\"no-such-path\",\"detail\":\"nothing there\"}", THEN_KEEP},
    };
    struct test *test = begin(script, SIZE(script));
    assert_int_equal(RUN("doctor"), 1);
    assert_words(test->out, "older than this mcastctl");
    assert_words(test->out, "s behind this machine's");
    assert_words(test->out, "does not know who you are");
    assert_int_equal(RUN("doctor"), 1);
    assert_int_equal(strncmp(test->out, "PROBLEMS (", 10), 0);
    assert_words(test->out, "\n  vnis         none free?[2J\n               → enlarge\n");
    assert_words(test->out, "\n               → put the file there on every node, or set [hwcoll] "
                            "job_ca = yes and have the CA in"
                            "\n                 the system's store\n");
    assert_words(test->out, "\n  link         up\n");
    end(test);
}

/* A script must learn that its file is not what it should be. */
static void ctl__full_disk_is_an_error(void **state)
{
    static const struct reply script[] = {{200, NULL, "{\"version\":\"0.1.0\"}", THEN_KEEP}};
    struct test *test = begin(script, SIZE(script));
    char command[512];
    snprintf(command, sizeof command, "'%s' status --url '%s' >/dev/full 2>/dev/null", MCASTCTL,
             fakebroker_url(test->fake));
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    end(test);
}

UNIT_MAIN(
    cmocka_unit_test(ctl__explains_itself), cmocka_unit_test(ctl__misuse_is_2_and_sends_nothing),
    cmocka_unit_test(ctl__without_a_broker_is_4),
    cmocka_unit_test(ctl__tells_nothing_to_a_server_of_another_user),
    cmocka_unit_test(ctl__refused_is_1_and_not_found_3), cmocka_unit_test(cluster__is_asked_for),
    cmocka_unit_test(ctl__not_now_is_4), cmocka_unit_test(ctl__several_brokers),
    cmocka_unit_test(status__of_two_leaders), cmocka_unit_test(list__of_nothing),
    cmocka_unit_test(status__is_the_leaders), cmocka_unit_test(reserve__sends_the_options),
    cmocka_unit_test(launch__sends_the_options),
    cmocka_unit_test(token__shows_only_where_it_is_asked_for),
    cmocka_unit_test(fence__needs_a_node_and_a_reason),
    cmocka_unit_test(nodes_clean__says_how_many_are), cmocka_unit_test(decisions__are_explicit),
    cmocka_unit_test(vni__has_four_verbs), cmocka_unit_test(list__shows_what_is_quarantined),
    cmocka_unit_test(list__shows_what_waits_for_reports),
    cmocka_unit_test(list__tells_lingering_from_silent),
    cmocka_unit_test(show__says_that_there_are_no_steps),
    cmocka_unit_test(jobid__flux_form_becomes_plain), cmocka_unit_test(env__every_format),
    cmocka_unit_test(env__with_a_ca_that_is_not_there), cmocka_unit_test(env__all_or_nothing),
    cmocka_unit_test(list__table_and_json), cmocka_unit_test(list__of_a_node),
    cmocka_unit_test(sync__reads_standard_input),
    cmocka_unit_test(sync__refuses_what_may_not_be_whole), cmocka_unit_test(events__lines_and_json),
    cmocka_unit_test(status__table_and_json), cmocka_unit_test(step_down__is_refused_or_forced),
    cmocka_unit_test(doctor__listens_to_the_broker), cmocka_unit_test(ctl__full_disk_is_an_error))
