/* SPDX-License-Identifier: Apache-2.0 */
/* SIGHUP: the configuration in the files is in force wholly, or nothing is changed (F5). */

#include "tests/system/operation/certificate.h"
#include "tests/system/operation/managedbroker.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_house(void **state)
{
    managed_open(MCASTD, MOCK_FM);
    return 0;
}

static int close_house(void **state)
{
    managed_close();
    return 0;
}

static void configure_fm(const char *url, const char *more)
{
    char text[512];
    (void)snprintf(text, sizeof text, "[fm]\nurl = %s\n%s", url, more);
    managed_configure(text);
}

#define assert_logged(words) assert_non_null(strstr(managed_log(), words))

static void users__change_for_connections_that_are_open(void **state)
{
    managed_start();
    assert_int_equal(managed_reserve("f1", NULL, NULL), 201);
    managed_configure("[cluster \"elcap\"]\nusers = 1\n");
    assert_true(managed_reload());
    assert_logged("reload: [cluster \"elcap\"] users = ");
    assert_int_equal(managed_reserve("f2", NULL, NULL), 403);
    managed_remove("conf.d/50-test.conf");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f2", NULL, NULL), 201);
}

/* F5: what is given stays given; what is given next is of the new pool. */
static void pool_and_limits__hold_from_the_next_job_on(void **state)
{
    int vni = 0;
    managed_start();
    assert_int_equal(managed_reserve("f1", NULL, &vni), 201);
    assert_int_equal(vni, 1024);
    managed_configure("[vni]\npool = 3000-3001\n");
    assert_true(managed_reload());
    assert_logged("reload: [vni] pool = 1024-65535 -> 3000-3001\n");
    assert_int_equal(managed_reserve("f1", NULL, &vni), 200);
    assert_int_equal(vni, 1024);
    assert_int_equal(managed_reserve("f2", NULL, &vni), 201);
    assert_int_equal(vni, 3000);
    managed_configure("[vni]\npool = 3000-3001\nper_job = 0\n");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f3", NULL, &vni), 201);
    assert_int_equal(vni, 0);
}

static void log_level__changes(void **state)
{
    managed_start();
    assert_int_equal(managed_reserve("quiet", NULL, NULL), 201);
    assert_null(strstr(managed_log(), " debug "));
    managed_configure("[broker]\nlog_level = debug\n");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("loud", NULL, NULL), 201);
    assert_true(managed_logged(" debug elcap-loud: "));
}

static void nothing_changed__is_said(void **state)
{
    managed_start();
    assert_true(managed_reload());
    assert_logged("reloaded: the configuration is the same as before");
}

/* Another fabric manager: jobs that are there stay as they are, new ones go to the new one. */
static void fm_url__moves(void **state)
{
    const char *first = managed_fm(0), *second = managed_fm(1);
    configure_fm(first, "");
    managed_start();
    assert_true(managed_await_link(first));
    assert_int_equal(managed_reserve("f1", "required", NULL), 201);
    assert_true(managed_fm_holds(0, "elcap-f1"));
    configure_fm(second, "");
    assert_true(managed_reload());
    assert_logged("reload: [fm] url = http://127.0.0.1:");
    assert_true(managed_await_link(second));
    assert_int_equal(managed_reserve("f2", "required", NULL), 201);
    assert_true(managed_fm_holds(1, "elcap-f2"));
    assert_false(managed_fm_holds(0, "elcap-f2"));
}

static void fm__goes_and_comes(void **state)
{
    const char *first = managed_fm(0);
    managed_start();
    assert_int_equal(managed_reserve("f1", NULL, NULL), 201);
    configure_fm(first, "");
    assert_true(managed_reload());
    assert_true(managed_await_link(first));
    assert_int_equal(managed_reserve("f2", "required", NULL), 201);
    managed_remove("conf.d/50-test.conf");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f3", NULL, NULL), 201);
    configure_fm(first, "");
    assert_true(managed_reload());
    assert_true(managed_await_link(first));
    assert_true(managed_fm_holds(0, "elcap-f2"));
}

/* The file's name is the same, what is in it is not. */
static void password__is_read_again(void **state)
{
    const char *first = managed_fm(0);
    configure_fm(first, "");
    managed_start();
    assert_true(managed_await_link(first));
    managed_fm_password(0, "two");
    assert_true(managed_reload());
    assert_logged("reload: [fm] authdir: the file passwd was read again");
    assert_null(strstr(managed_log(), "two\n"));
    assert_int_equal(managed_reserve("f1", "required", NULL), 201);
    assert_true(managed_fm_holds(0, "elcap-f1"));
}

static void new_certificate(const char *cert, const char *key)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s", managed_path(cert));
    certificate_write(path, managed_path(key), 400);
}

static void certificate__is_rotated_with_its_key(void **state)
{
    char text[512], cert[128];
    new_certificate("tls.crt", "tls.key");
    (void)snprintf(cert, sizeof cert, "%s", managed_path("tls.crt"));
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = localhost:0\ntls_cert = %s\ntls_key = %s\n", cert,
                   managed_path("tls.key"));
    managed_configure(text);
    managed_start();
    assert_true(managed_reload());
    assert_logged("reloaded: the configuration is the same as before");
    new_certificate("tls.crt", "tls.key");
    assert_true(managed_reload());
    assert_logged("reload: [broker] tls_cert was read again");
    assert_logged("reload: [broker] tls_key was read again");
    new_certificate("other.crt", "tls.key"); /* only one of the two is replaced */
    assert_false(managed_reload());
    assert_logged("belongs to another certificate");
    managed_remove("tls.crt");
    assert_false(managed_reload());
    assert_logged("50-test.conf:3: tls_cert = ");
    assert_int_equal(managed_reserve("f1", NULL, NULL), 201);
}

/* ---- all or nothing ---- */

/* The reload is refused with these words, and the pool in the same file is not taken. */
static void refused(const char *text, const char *words)
{
    char whole[1024];
    int vni = 0;
    (void)snprintf(whole, sizeof whole, "[vni]\npool = 5000-5009\n%s", text);
    managed_configure(whole);
    bool applied = managed_reload();
    if (applied || !strstr(managed_log(), words))
        fail_msg("%s\nshould have been refused with: %s\n%s", text, words, managed_log());
    assert_logged("reload: nothing was changed: ");
    assert_int_equal(managed_reserve("f1", NULL, &vni), 200);
    assert_int_equal(vni, 1024);
    assert_int_equal(managed_reserve("other", NULL, &vni), 201);
    assert_in_range(vni, 1024, 1100);
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(managed_http(), "DELETE", "/v1/clusters/elcap/jobs/other", NULL, &reply),
        202);
    plainhttp_reply_release(&reply);
}

static void fault__changes_nothing(void **state)
{
    managed_start();
    assert_int_equal(managed_reserve("f1", NULL, NULL), 201);
    refused("[vni]\nhold = soon\n",
            "conf.d/50-test.conf:4: hold = soon: allowed is reports, or a duration");
    refused("nonsense\n", "conf.d/50-test.conf:3: neither a section nor");
    refused("[broker]\nadmins = nobody_by_this_name\n",
            "50-test.conf:4: user nobody_by_this_name is not known on this host");
    refused("[hwcoll]\nmin_nodes = 64\naddresses_per_job = auto\n", "[hwcoll]");
    refused("[fm]\nca = /nonexistent/ca\n", "50-test.conf:4: ca = /nonexistent/ca: No such file");
    /* the main file itself */
    managed_remove("conf.d/50-test.conf");
    managed_remove("mcastd.conf");
    assert_false(managed_reload());
    assert_logged("mcastd.conf: cannot be read: No such file or directory");
    assert_int_equal(managed_reserve("f1", NULL, NULL), 200);
}

/* The new one is run from the next job list poll on, which is at once. */
/* The keys of tokens: whoever puts others in their place reloads (B3). */
static void root_keys__are_read_again(void **state)
{
    char text[256] = "";
    managed_start();
    const char *path = managed_path("state/root.keys");
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(chmod(path, 0644), 0);
    assert_false(managed_reload());
    assert_logged("root.keys can be read by others");
    assert_int_equal(chmod(path, 0600), 0);
    managed_write("state/root.keys", 0600, "no key\n");
    assert_false(managed_reload());
    assert_logged("line 1 of the root key file ");
    managed_write("state/root.keys", 0600, text);
    assert_true(managed_reload());
    assert_logged("reload: [broker] root_key_file was read again");
    explicit_bzero(text, sizeof text);
}

static void list_command__comes_changes_and_goes(void **state)
{
    managed_start();
    managed_configure("[broker]\nlog_level = debug\n"
                      "[cluster \"elcap\"]\nlist_command = /bin/echo 17\n");
    assert_true(managed_reload());
    assert_logged("reload: [cluster \"elcap\"] list_command = unset -> /bin/echo 17\n");
    assert_true(managed_logged("cluster elcap names 1 active jobs"));
    managed_configure("[broker]\nlog_level = debug\n"
                      "[cluster \"elcap\"]\nlist_command = /bin/echo no id\n");
    assert_true(managed_reload());
    assert_logged("list_command = /bin/echo 17 -> /bin/echo no id\n");
    assert_true(managed_logged("list_command of cluster elcap: line 1 of its output, \"no id\""));
    /* What others could put in its place is no configuration. */
    managed_write("list", 0777, "#!/bin/sh\n");
    char text[256];
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = %s\n",
                   managed_path("list"));
    managed_configure(text);
    assert_false(managed_reload());
    assert_logged("50-test.conf:2: list_command: others than its owner can write to ");
    managed_remove("conf.d/50-test.conf");
    assert_true(managed_reload());
    assert_logged("list_command = /bin/echo no id -> unset\n");
}

static void restart_key__is_refused_whole_and_named(void **state)
{
    managed_start();
    assert_int_equal(managed_reserve("f1", NULL, NULL), 201);
    refused("[broker]\nconnections_max = 100\n",
            "reload: [broker] connections_max = 4096 -> 100 needs a restart");
    refused("[broker]\nsocket_mode = 0600\n[state]\nstore = memory\n",
            "reload: [broker] socket_mode = 0666 -> 0600 needs a restart");
    assert_logged("reload: [state] store = sqlite -> memory needs a restart");
}

/* B8: a user who could have written it must not become an admin by it. */
static void configuration_that_others_can_change__is_refused(void **state)
{
    managed_start();
    managed_write("conf.d/60-more.conf", 0666, "[broker]\nadmins = 65533\n");
    assert_false(managed_reload());
    assert_logged("60-more.conf: others than its owner can write to ");
    managed_write("conf.d/60-more.conf", 0644, "[broker]\nadmins = 65533\n");
    if (geteuid() == 0) {
        assert_int_equal(chown(managed_path("conf.d/60-more.conf"), 65533, 0), 0);
        assert_false(managed_reload());
        assert_logged("60-more.conf belongs to user 65533, who can change the configuration");
        assert_int_equal(chown(managed_path("conf.d/60-more.conf"), 0, 0), 0);
    }
    assert_int_equal(chmod(managed_path("state"), 0777), 0);
    assert_false(managed_reload());
    assert_logged("[state] path: others than its owner can write to ");
    assert_int_equal(chmod(managed_path("state"), 0755), 0);
    assert_true(managed_reload());
    assert_logged("reload: [broker] admins");
}

static void login_that_cannot_be_read__keeps_the_link(void **state)
{
    const char *first = managed_fm(0);
    configure_fm(first, "");
    managed_start();
    assert_true(managed_await_link(first));
    assert_int_equal(managed_reserve("f1", "required", NULL), 201);
    managed_write("login/passwd", 0644, "one\n");
    assert_false(managed_reload());
    assert_logged("login/passwd can be read by others: chmod 0600");
    assert_int_equal(managed_reserve("f2", "required", NULL), 201);
    managed_write("login/passwd", 0600, "one\n");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f3", "required", NULL), 201);
}

/* ---- drop-ins ---- */

static void drop_ins__come_go_and_override(void **state)
{
    int vni = 0;
    managed_start();
    managed_configure("[vni]\npool = 3000-3999\n");
    managed_write("conf.d/90-late.conf", 0644, "[vni]\npool = 4000-4999\n");
    managed_write("conf.d/95-not-read.conf.rpmnew", 0644, "nonsense\n");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f1", NULL, &vni), 201);
    assert_int_equal(vni, 4000);
    managed_remove("conf.d/90-late.conf");
    assert_true(managed_reload());
    assert_int_equal(managed_reserve("f2", NULL, &vni), 201);
    assert_int_equal(vni, 3000);
}

/* ---- at odd moments ---- */

enum { LOAD_JOBS = 3000, LOAD_RELOADS = 40 };

struct load {
    unsigned done, bad;
};

static void on_answer(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct load *load = arg;
    load->done++;
    if (reply->status != 201) {
        load->bad++;
        print_message("job %u: %d %s\n", (unsigned)tag, reply->status,
                      reply->body ? reply->body : "");
    }
}

/* Forty reloads, each with another fabric manager than the one before, under a load of job starts:
 * every request is answered once, and well. */
static void load__is_not_disturbed(void **state)
{
    const char *first = managed_fm(0), *second = managed_fm(1);
    struct load load = {0};
    configure_fm(first, "[vni]\npool = 1024-20000\n");
    managed_start();
    assert_true(managed_await_link(first));
    const struct wire_options options = {
        .socket = managed_path("s"), .connections = 8, .depth = 4, .done = on_answer, .arg = &load};
    struct wire *wire = wire_create(&options);
    assert_non_null(wire);
    pid_t pid = managed_pid();
    unsigned sent = 0, reloads = 0;
    while (load.done < LOAD_JOBS) {
        while (sent < LOAD_JOBS && wire_has_room(wire)) {
            char path[96];
            (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/load%u", sent);
            assert_int_equal(wire_send(wire, sent, "PUT", path,
                                       "{\"uid\":1,\"nodes\":\"n1\",\"hwcoll\":\"on\"}"),
                             0);
            sent++;
        }
        if (reloads < LOAD_RELOADS && load.done >= reloads * (LOAD_JOBS / LOAD_RELOADS)) {
            reloads++;
            configure_fm(reloads % 2 != 0 ? second : first, reloads % 3 != 0
                                                                ? "[vni]\npool = 1024-20000\n"
                                                                : "[vni]\npool = 30000-40000\n");
            assert_int_equal(kill(pid, SIGHUP), 0);
        }
        (void)wire_turn(wire, 1000);
        assert_true(process_alive(managed_broker()));
    }
    wire_destroy(wire);
    assert_int_equal(load.bad, 0);
    assert_int_equal(reloads, LOAD_RELOADS);
    assert_true(managed_reload());
    assert_true(managed_await_link(LOAD_RELOADS % 2 != 0 ? second : first));
    assert_int_equal(managed_reserve("after", "required", NULL), 201);
}

static unsigned times_logged(const char *words)
{
    unsigned count = 0;
    for (const char *at = managed_log(); (at = strstr(at, words)); at++)
        count++;
    return count;
}

/* One reload serves all signals that are waiting, and the last one's files are in force. */
static void many_signals__end_well(void **state)
{
    int vni = 0;
    managed_start();
    pid_t pid = managed_pid();
    for (int i = 0; i < 200; i++)
        assert_int_equal(kill(pid, SIGHUP), 0);
    managed_configure("[vni]\npool = 7000-7999\n");
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_true(managed_logged("pool = 1024-65535 -> 7000-7999"));
    assert_int_equal(managed_reserve("f1", NULL, &vni), 201);
    assert_int_equal(vni, 7000);
    assert_in_range(times_logged(" reloaded: "), 1, 201);
}

struct slow_file {
    const char *path;
    int fd;
};

/* There is somebody who reads it. */
static bool is_being_read(void *arg)
{
    struct slow_file *slow = arg;
    slow->fd = open(slow->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return slow->fd >= 0;
}

/* G11: a disk that does not answer keeps nobody waiting but the reload; and who asks for one
 * meanwhile gets another, for the first may have read the files already. */
static void slow_file__keeps_nobody_waiting(void **state)
{
    static const char text[] = "[vni]\npool = 8000-8999\n";
    char path[128];
    struct slow_file slow = {.path = path};
    int vni = 0;
    managed_start();
    managed_configure("[vni]\npool = 9000-9999\n");
    (void)snprintf(path, sizeof path, "%s", managed_path("conf.d/90-slow.conf"));
    assert_int_equal(mkfifo(path, 0644), 0);
    pid_t pid = managed_pid();
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_true(await(is_being_read, &slow, AWAIT_DEADLINE_MS));
    assert_int_equal(managed_reserve("f1", NULL, &vni), 201);
    assert_int_equal(vni, 1024);
    assert_int_equal(times_logged("reload"), 0);
    assert_int_equal(write(slow.fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(slow.fd), 0);
    assert_true(managed_logged("pool = 1024-65535 -> 8000-8999"));
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_true(await(is_being_read, &slow, AWAIT_DEADLINE_MS));
    managed_remove("conf.d/90-slow.conf");
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_int_equal(managed_reserve("f2", NULL, &vni), 201);
    assert_int_equal(vni, 8000);
    assert_int_equal(write(slow.fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(slow.fd), 0);
    assert_true(managed_logged("pool = 8000-8999 -> 9000-9999"));
    assert_int_equal(managed_reserve("f3", NULL, &vni), 201);
    assert_int_equal(vni, 9000);
}

static void signal_while_stopping__is_left_to_the_next_start(void **state)
{
    managed_start();
    pid_t pid = managed_pid();
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(kill(pid, SIGHUP), 0);
    managed_stop(); /* asserts the exit status */
}

/* One that comes before the loop runs is acted on when it does. It would end the program, were it
 * not blocked from the first line on; so it is sent to one that has it pending already. */
static void signal_during_the_start__is_kept(void **state)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t hangup;
    pid_t pid;
    int status;
    char config[128], log[128];
    (void)snprintf(config, sizeof config, "%s", managed_path("mcastd.conf"));
    (void)snprintf(log, sizeof log, "%s", managed_path("start.log"));
    char *argv[] = {MCASTD, "--config", config, NULL};
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &hangup);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(posix_spawn(&pid, MCASTD, &actions, &attributes, argv, environ), 0);
    assert_int_equal(kill(pid, SIGHUP), 0);
    char text[4096] = "";
    int64_t give_up = await_now_ns() + (int64_t)AWAIT_DEADLINE_MS * 1000000;
    while (!strstr(text, " reloaded: ") && await_now_ns() < give_up &&
           waitpid(pid, &status, WNOHANG) == 0) {
        FILE *file = fopen(log, "re");
        if (file) {
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            fclose(file);
        }
    }
    (void)kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    assert_non_null(strstr(text, " READY "));
    assert_non_null(strstr(text, " reloaded: "));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define BROKER_TEST(name) cmocka_unit_test_setup_teardown(name, open_house, close_house)

UNIT_MAIN(BROKER_TEST(users__change_for_connections_that_are_open),
          BROKER_TEST(pool_and_limits__hold_from_the_next_job_on), BROKER_TEST(log_level__changes),
          BROKER_TEST(nothing_changed__is_said), BROKER_TEST(fm_url__moves),
          BROKER_TEST(fm__goes_and_comes), BROKER_TEST(password__is_read_again),
          BROKER_TEST(certificate__is_rotated_with_its_key), BROKER_TEST(fault__changes_nothing),
          BROKER_TEST(root_keys__are_read_again), BROKER_TEST(list_command__comes_changes_and_goes),
          BROKER_TEST(restart_key__is_refused_whole_and_named),
          BROKER_TEST(configuration_that_others_can_change__is_refused),
          BROKER_TEST(login_that_cannot_be_read__keeps_the_link),
          BROKER_TEST(drop_ins__come_go_and_override), BROKER_TEST(load__is_not_disturbed),
          BROKER_TEST(many_signals__end_well), BROKER_TEST(slow_file__keeps_nobody_waiting),
          BROKER_TEST(signal_while_stopping__is_left_to_the_next_start),
          BROKER_TEST(signal_during_the_start__is_kept))
