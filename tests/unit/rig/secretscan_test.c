/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"
#include "tests/system/rig/secretscan.h"
#include "tests/unit/unit.h"
#include "tokens/issuer.h"

/* The search for secrets in all that the programs wrote must be able to find one (B8). */

#define PASSWORD "correct-horse"

enum { TEXT_SIZE = 4096 };

/* What mock-fm's own functions make. */
static void print_of_mock_fm(const char *expression, char text[TEXT_SIZE])
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   "cd '" MOCK_FM_MODULES "' && python3 -B -c "
                   "'from mock_fm.login import *; print(%s, end=\"\")'",
                   expression);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(text, TEXT_SIZE, output));
    assert_int_equal(pclose(output), 0);
}

static void session_token_of_mock_fm(char text[TEXT_SIZE])
{
    print_of_mock_fm("session_token(None, 1)", text);
}

static void access_token_of_mock_fm(char text[TEXT_SIZE])
{
    print_of_mock_fm("AccessTokens(1000000).issue(1)", text);
}

static void token_of_the_broker(char text[TEXT_SIZE])
{
    static const struct rootkeys keys = {.count = 1};
    struct bearer bearer;
    assert_int_equal(issuer_mint(&keys, 7, "elcap", "f1", &bearer, NULL), 0);
    bearer_encode(&bearer, text);
}

static void login_of_basic(char text[TEXT_SIZE])
{
    (void)snprintf(text, TEXT_SIZE, "Basic Y3hpOmZtLXBhc3N3MHJk"); /* cxi:fm-passw0rd */
}

static void private_key(char text[TEXT_SIZE])
{
    (void)snprintf(text, TEXT_SIZE,
                   "-----BEGIN PRIVATE KEY-----\n"
                   "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2\n");
}

static void munge_credential(char text[TEXT_SIZE])
{
    (void)snprintf(text, TEXT_SIZE,
                   "MUNGE:AwQFAAAg2hTdoRPl8+4KJ7Vd0yqlxCm9nqYYgW8UxvkWPuJOzv0yqlxCm9:");
}

static void (*const makers[])(char text[TEXT_SIZE]) = {
    session_token_of_mock_fm,
    access_token_of_mock_fm,
    token_of_the_broker,
    login_of_basic,
    private_key,
    munge_credential,
};
enum { MAKERS = sizeof makers / sizeof makers[0] };

/* Each as the programs make it today: a new form of one shows here. */
UNIT(secretscan__knows_each_secret_by_its_form)
{
    for (size_t i = 0; i < MAKERS; i++) {
        char text[TEXT_SIZE], page[2 * TEXT_SIZE];
        struct secretscan found = {0};
        makers[i](text);
        const int length = snprintf(page, sizeof page, "situation%c%s -> decision\n", 0, text);
        assert_true(secretscan_find(page, (size_t)length, &found));
        assert_true(found.at >= strlen("situation") + 1);
        assert_non_null(found.what);
        /* Its beginning alone gives nothing away. */
        assert_false(secretscan_find(page, strlen("situation") + 12, &found));
    }
}

UNIT(secretscan__takes_nothing_else_for_one)
{
    static const char *const harmless[] = {
        "",
        "sess-unknown sess-0123456789abcdef",
        "token mcast1.… of job elcap/f1, key 0123456789abcdef",
        "FI_CXI_COLL_MCAST_TOKEN=***",
        "Basic authentication is needed",
        "-----BEGIN CERTIFICATE-----\nMIIB\n",
        "the file has no \"PRIVATE KEY-----\" line",
        "MUNGE: the credential is expired",
        "state.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    };
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        struct secretscan found;
        if (secretscan_find(harmless[i], strlen(harmless[i]), &found))
            fail_msg("%s is no secret: %s", found.what, harmless[i]);
    }
}

static void make_folder(char folder[FOLDER_PATH_SIZE])
{
    assert_int_equal(folder_create(folder), 0);
    assert_int_equal(folder_write(folder, "passwd", 0600, PASSWORD "\n"), 0);
    assert_int_equal(folder_write(folder, "mcastd.log", 0600, "all is well\n"), 0);
}

UNIT(secretscan__lets_secrets_stand_where_they_belong)
{
    static const char *const homes[] = {"fm.state", "fm.state.new", "client-secret", "ctl.3.token",
                                        "mgmt1.key"};
    char folder[FOLDER_PATH_SIZE], path[128], text[TEXT_SIZE];
    make_folder(folder);
    session_token_of_mock_fm(text);
    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++)
        assert_int_equal(folder_write(folder, homes[i], 0600, text), 0);
    assert_int_equal(mkdir(folder_path(path, sizeof path, folder, SECRETSCAN_OUT), 0755), 0);
    assert_int_equal(folder_write(path, "7", 0600, text), 0);
    assert_int_equal(mkdir(folder_path(path, sizeof path, folder, SECRETSCAN_KVS), 0755), 0);
    assert_int_equal(folder_write(path, "content.sqlite", 0600, text), 0);
    assert_int_equal(secretscan_search(folder), 0);
    folder_destroy(folder);
}

UNIT(secretscan__finds_what_the_folders_own_passwords_are)
{
    char folder[FOLDER_PATH_SIZE], path[128];
    make_folder(folder);
    assert_int_equal(folder_write(folder, "mcastd.log", 0600, "login: cxi:" PASSWORD "\n"), 0);
    assert_int_equal(secretscan_search(folder), 1);
    assert_int_equal(unlink(folder_path(path, sizeof path, folder, "mcastd.log")), 0);
    folder_destroy(folder);
}

/* Its exit status is what ctest sees. A shell's for "it was killed" would be no proof. */
static int ended_by(void (*act)(const char *), const char *argument)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        act(argument);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Its title is its own from exec on; before, it has ours. */
static bool has_title(void *arg)
{
    char path[64], title[16] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process_pid(arg));
    FILE *file = fopen(path, "re");
    if (file) {
        (void)fread(title, 1, sizeof title - 1, file);
        (void)fclose(file);
    }
    return strcmp(title, "/bin/sh") == 0;
}

static void run_with_title(const char *title)
{
    static const char *argv[] = {"/bin/sh", "-c", "kill -s STOP $$", NULL, NULL};
    argv[3] = title;
    struct process *process = process_start(argv, "/dev/null");
    if (!process || !await(has_title, process, AWAIT_DEADLINE_MS))
        _exit(2);
    process_kill(process);
}

/* The rig's own end of a test: with a token left in a log, a database or a title it fails. */
UNIT(secretscan__fails_the_test)
{
    for (size_t i = 0; i < MAKERS; i++) {
        static const char *const names[] = {"mcastd.log", "state.db-wal", "ctl.0"};
        char folder[FOLDER_PATH_SIZE], text[TEXT_SIZE], path[128];
        makers[i](text);
        make_folder(folder);
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            assert_int_equal(folder_write(folder, names[j], 0600, text), 0);
            assert_int_equal(ended_by(folder_destroy, folder), EXIT_FAILURE);
            assert_int_equal(unlink(folder_path(path, sizeof path, folder, names[j])), 0);
        }
        assert_int_equal(ended_by(folder_destroy, folder), 0);
        assert_int_equal(ended_by(run_with_title, text), EXIT_FAILURE);
    }
    assert_int_equal(ended_by(run_with_title, "--token-file=passwd"), 0);
}

UNIT_RUN(NULL, NULL)
