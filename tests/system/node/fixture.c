/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/fixture.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/boottime.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/secretscan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 32, PATH_SIZE = 160, JOB_TEXT_SIZE = 512, JOB_TEXTS = 8 };

static void set_environment(const char *name, const char *folder, const char *file)
{
    char value[PATH_SIZE];
    snprintf(value, sizeof value, "%s%s%s", folder, file[0] ? "/" : "", file);
    assert_int_equal(setenv(name, value, 1), 0);
}

static void clear_environment(void)
{
    static const char *const names[] = {"SLINGSHOT_VNIS", "SLINGSHOT_DEVICES", "SLINGSHOT_SVC_IDS",
                                        "SLINGSHOT_TCS", "SLURMD_NODENAME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

void fixture_set_cxi(struct fixture *fixture, const char *text)
{
    char whole[4096], path[PATH_SIZE];
    folder_path(path, sizeof path, fixture->folder, "cxi");
    snprintf(whole, sizeof whole, "[mock]\nprivileged = any\n%s", text);
    assert_int_equal(folder_write(path, "new", 0644, whole), 0);
    /* In one step: programs may read it at any time. */
    char from[PATH_SIZE], to[PATH_SIZE];
    folder_path(from, sizeof from, path, "new");
    folder_path(to, sizeof to, path, "cxi.conf");
    assert_int_equal(rename(from, to), 0);
}

void fixture_set_config(struct fixture *fixture, const char *text)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s%s%s%s", strstr(text, "timeout") ? "" : "timeout = 30s\n",
             text, strstr(text, "busy_retry") ? "" : "busy_retry = 0s\n",
             strstr(text, "inventory") ? "" : "inventory = no\n");
    assert_int_equal(folder_write(fixture->folder, "node.conf", 0644, whole), 0);
}

int fixture_create(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char path[PATH_SIZE];
    if (!fixture || folder_create(fixture->folder) < 0)
        return -1;
    assert_int_equal(mkdir(folder_path(path, sizeof path, fixture->folder, "cxi"), 0755), 0);
    clear_environment();
    set_environment("MOCK_CXI", fixture->folder, "cxi");
    set_environment("LD_LIBRARY_PATH", MOCK_CXI_FOLDER, "");
    set_environment("MCAST_NODE_SPOOL", fixture->folder, "spool");
    set_environment("MCAST_URL", fixture->folder, "broker.sock");
    setenv("MCAST_CLUSTER", "elcap", 1);
    boottime_set(boottime_usual());
    fixture_set_cxi(fixture, "nics = 4\n");
    fixture_set_config(fixture, "");
    fixture->broker =
        fakebroker_create(folder_path(path, sizeof path, fixture->folder, "broker.sock"));
    *state = fixture;
    return 0;
}

int fixture_destroy(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_destroy(fixture->broker);
    folder_destroy(fixture->folder);
    free(fixture);
    return 0;
}

/* The program's name, --config and --node, and what the text has, split in place. */
static void split(const struct fixture *fixture, char *text, const char *argv[ARGUMENTS_MAX])
{
    static char config[PATH_SIZE];
    size_t count = 0;
    folder_path(config, sizeof config, fixture->folder, "node.conf");
    argv[count++] = MCAST_NODE;
    char *command = strsep(&text, " ");
    argv[count++] = command;
    if (command[0] != '-' && command[0] != '\0') {
        argv[count++] = "--config";
        argv[count++] = config;
        argv[count++] = "--node";
        argv[count++] = "n1";
    }
    for (char *word; (word = strsep(&text, " "));) {
        assert_true(count < ARGUMENTS_MAX - 1);
        if (word[0])
            argv[count++] = word;
    }
    argv[count] = NULL;
}

static void read_file(const char *path, bool secret, char out[FIXTURE_TEXT_SIZE])
{
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(out, 1, FIXTURE_TEXT_SIZE - 1, file) : 0;
    assert_non_null(file);
    fclose(file);
    out[length] = '\0';
    if (!secret)
        secretscan_fail_if_text(out, length, path); /* the next run writes over it */
}

static int run(struct fixture *fixture, const char *input, char *arguments)
{
    const char *argv[ARGUMENTS_MAX];
    char in[PATH_SIZE], out[PATH_SIZE], err[PATH_SIZE];
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    int status = 0;
    folder_path(in, sizeof in, fixture->folder, "in");
    folder_path(out, sizeof out, fixture->folder, fixture->prints_secrets ? "out.token" : "out");
    folder_path(err, sizeof err, fixture->folder, "err");
    assert_int_equal(folder_write(fixture->folder, "in", 0600, input), 0);
    split(fixture, arguments, argv);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int rc = posix_spawn(&child, MCAST_NODE, &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    assert_int_equal(rc, 0);
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    read_file(out, fixture->prints_secrets, fixture->out);
    read_file(err, false, fixture->err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int fixture_run(struct fixture *fixture, const char *arguments, ...)
{
    char text[1024];
    va_list args;
    va_start(args, arguments);
    vsnprintf(text, sizeof text, arguments, args);
    va_end(args);
    return run(fixture, "", text);
}

int fixture_run_with(struct fixture *fixture, const char *input, const char *arguments)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", arguments);
    return run(fixture, input, text);
}

struct process *fixture_start(struct fixture *fixture, const char *arguments)
{
    const char *argv[ARGUMENTS_MAX];
    char text[1024], log[PATH_SIZE];
    snprintf(text, sizeof text, "%s", arguments);
    split(fixture, text, argv);
    struct process *process =
        process_start(argv, folder_path(log, sizeof log, fixture->folder, "log"));
    assert_non_null(process);
    return process;
}

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

int fixture_join(struct process *process)
{
    assert_true(await(has_ended, process, AWAIT_DEADLINE_MS));
    int status = process_exit_status(process);
    process_kill(process);
    return status;
}

unsigned int fixture_services(struct fixture *fixture, const char *nic)
{
    static struct fixture look; /* leaves the outputs of the run before as they are */
    char text[] = "list --json";
    memcpy(look.folder, fixture->folder, sizeof look.folder);
    assert_int_equal(run(&look, "", text), 0);
    json_t *root = json_loads(look.out, 0, NULL);
    const json_t *services = json_object_get(root, "services");
    unsigned int count = 0;
    assert_non_null(services);
    for (size_t i = 0; i < json_array_size(services); i++) {
        const json_t *service = json_array_get(services, i);
        const char *device = json_string_value(json_object_get(service, "device"));
        count +=
            json_is_false(json_object_get(service, "system")) && (!nic || strcmp(nic, device) == 0);
    }
    json_decref(root);
    return count;
}

bool fixture_cxi_logged(struct fixture *fixture, const char *text)
{
    char path[PATH_SIZE], log[FIXTURE_TEXT_SIZE];
    snprintf(path, sizeof path, "%s/cxi/log", fixture->folder);
    if (access(path, F_OK) < 0)
        return false;
    read_file(path, false, log);
    return strstr(log, text);
}

bool fixture_remembers(struct fixture *fixture)
{
    char path[PATH_SIZE];
    bool any = false;
    DIR *listing = opendir(folder_path(path, sizeof path, fixture->folder, "spool"));
    const struct dirent *entry;
    while (listing && (entry = readdir(listing)))
        any |= strstr(entry->d_name, ".json") != NULL;
    if (listing)
        closedir(listing);
    return any;
}

bool fixture_edit_spool(struct fixture *fixture, const char *number, const char *from,
                        const char *to)
{
    char spool[PATH_SIZE], name[32], path[PATH_SIZE];
    char text[FIXTURE_TEXT_SIZE], edited[FIXTURE_TEXT_SIZE + 256];
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    snprintf(name, sizeof name, "%s.json", number);
    read_file(folder_path(path, sizeof path, spool, name), false, text);
    char *at = strstr(text, from);
    if (!at || !to)
        return at;
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_int_equal(folder_write(spool, name, 0644, edited), 0);
    return true;
}

static const char *make_job(const char *job, uint64_t number, const char *state, const char *vnis,
                            unsigned int cores)
{
    static char texts[JOB_TEXTS][JOB_TEXT_SIZE];
    static unsigned int next;
    char *text = texts[next++ % JOB_TEXTS];
    snprintf(text, JOB_TEXT_SIZE,
             "{\"cluster\":\"elcap\",\"job\":\"%s\",\"number\":%llu,\"state\":\"%s\",\"uid\":5588,"
             "\"nodes\":\"n[1-2]\",\"node_count\":2,\"cores_per_node\":%u,\"vnis\":[%s],"
             "\"traffic_classes\":[\"low_latency\",\"best_effort\"],"
             "\"created\":\"2026-01-02T03:04:05.678Z\",\"hwcoll\":{\"state\":\"off\"}}",
             job, (unsigned long long)number, state, cores, vnis);
    return text;
}

const char *fixture_job(const char *job, uint64_t number, const char *vnis, unsigned int cores)
{
    return make_job(job, number, "active", vnis, cores);
}

void fixture_make_services(struct fixture *fixture, const char *job, uint64_t number,
                           const char *vnis, unsigned int cores)
{
    fakebroker_set_job(fixture->broker, job, fixture_job(job, number, vnis, cores));
    assert_int_equal(fixture_run(fixture, "prolog --job %s", job), 0);
}

const char *fixture_released(const char *job, uint64_t number, const char *vnis)
{
    return make_job(job, number, "releasing", vnis, 8);
}

static void expect(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in:\n%s", words, text);
}

void fixture_expect_out(const struct fixture *fixture, const char *words)
{
    expect(fixture->out, words);
}

void fixture_expect_err(const struct fixture *fixture, const char *words)
{
    expect(fixture->err, words);
}
