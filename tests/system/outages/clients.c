/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/outages/clients.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <dirent.h>

enum { NODES = 128 };

static const struct testbed_options options = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136",
    .vni = "hold = 10m",
};

void clients_open(struct clients *clients, uint32_t jobs)
{
    *clients = (struct clients){.testbed = testbed_create(&options), .notes = notes_create(jobs)};
    assert_non_null(clients->testbed);
    assert_non_null(clients->notes);
    for (uint32_t job = 0; job < jobs; job++)
        clients->notes->jobs[job].life = NOTES_UNBORN;
    assert_int_equal(testbed_start_fm(clients->testbed), 0);
    assert_int_equal(testbed_start_broker(clients->testbed), 0);
    assert_int_equal(testbed_await_link(clients->testbed), 0);
}

void clients_close(struct clients *clients)
{
    size_t faults = clients->notes->faults;
    notes_destroy(clients->notes);
    testbed_destroy(clients->testbed);
    assert_int_equal(faults, 0);
}

static int call(struct clients *clients, const char *method, const char *path, const char *body,
                struct plainhttp_reply *reply)
{
    int status = plainhttp_call(testbed_http(clients->testbed), method, path, body, reply);
    assert_int_not_equal(status, 0);
    snprintf(clients->answer, sizeof clients->answer, "%s", reply->text);
    return status;
}

static void name_job(uint32_t job, char path[64])
{
    snprintf(path, 64, "/v1/clusters/elcap/jobs/f%u", (unsigned)job);
}

int clients_reserve(struct clients *clients, uint32_t job)
{
    struct note *note = &clients->notes->jobs[job];
    struct plainhttp_reply reply;
    char path[64], body[64];
    bool fresh = note->life == NOTES_UNBORN;
    name_job(job, path);
    snprintf(body, sizeof body, "{\"uid\":5588,\"node_count\":%d}", NODES);
    note->life = NOTES_ASKED;
    int status = call(clients, "PUT", path, body, &reply);
    if (status == 200 || status == 201)
        notes_reserved(clients->notes, job, reply.json, fresh);
    plainhttp_reply_release(&reply);
    return status;
}

int clients_release(struct clients *clients, uint32_t job)
{
    struct note *note = &clients->notes->jobs[job];
    struct plainhttp_reply reply;
    char path[64];
    name_job(job, path);
    if (note->life == NOTES_LIVE)
        notes_releasing(clients->notes, job);
    assert_int_equal(note->life, NOTES_RELEASING);
    int status = call(clients, "DELETE", path, NULL, &reply);
    if (status == 200 || status == 202)
        notes_released(clients->notes, job);
    plainhttp_reply_release(&reply);
    return status;
}

int clients_get(struct clients *clients, const char *path)
{
    struct plainhttp_reply reply;
    int status = call(clients, "GET", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    return status;
}

int clients_post(struct clients *clients, const char *path)
{
    struct plainhttp_reply reply;
    int status = call(clients, "POST", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    return status;
}

void clients_compare(struct clients *clients)
{
    for (uint32_t job = 0; job < clients->notes->job_count; job++) {
        enum notes_life life = clients->notes->jobs[job].life;
        struct plainhttp_reply reply;
        char path[64];
        if (life != NOTES_LIVE && life != NOTES_RELEASED)
            continue;
        name_job(job, path);
        int status = call(clients, "GET", path, NULL, &reply);
        if (life == NOTES_LIVE)
            notes_compare(clients->notes, job, status, reply.json);
        else
            notes_compare_released(clients->notes, job, status, reply.json);
        plainhttp_reply_release(&reply);
    }
    assert_int_equal(clients->notes->faults, 0);
}

static bool file_has(const char *path, const struct note *note)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re"), *copy = open_memstream(&bytes, &size);
    char block[4096];
    assert_non_null(copy);
    for (size_t got; file && (got = fread(block, 1, sizeof block, file)) > 0;)
        (void)fwrite(block, 1, got, copy);
    if (file)
        (void)fclose(file);
    assert_int_equal(fclose(copy), 0);
    bool has = memmem(bytes, size, note->token, strlen(note->token));
    free(bytes);
    return has;
}

/* The double keeps its tokens in the same folder, and its are for everybody to read. */
static bool is_the_doubles(const char *name)
{
    return strncmp(name, "fm.", strlen("fm.")) == 0 || strncmp(name, "mock-fm.", 8) == 0;
}

void clients_assert_secrets_kept(struct clients *clients)
{
    DIR *folder = opendir(testbed_folder(clients->testbed));
    unsigned files = 0, tokens = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        if (entry->d_type != DT_REG || is_the_doubles(entry->d_name))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", testbed_folder(clients->testbed), entry->d_name);
        files++;
        for (uint32_t job = 0; job < clients->notes->job_count; job++) {
            const struct note *note = &clients->notes->jobs[job];
            tokens += note->token[0] != '\0';
            if (note->token[0] && file_has(path, note))
                fail_msg("the token of job %u stands in %s", (unsigned)job, entry->d_name);
        }
    }
    closedir(folder);
    assert_true(files >= 4 && tokens > 0);
}

void clients_restart_broker(struct clients *clients)
{
    clients->notes->floor = clients->notes->highest;
    assert_int_equal(testbed_start_broker(clients->testbed), 0);
    assert_int_equal(testbed_await_link(clients->testbed), 0);
    clients_compare(clients);
}

static bool fm_holds_nothing(void *arg)
{
    struct clients *clients = arg;
    struct plainhttp_reply reply;
    plainhttp_call(testbed_fm_http(clients->testbed), "GET", "/mock/state", NULL, &reply);
    bool nothing = reply.json && json_array_size(json_object_get(reply.json, "jobs")) == 0;
    plainhttp_reply_release(&reply);
    return nothing;
}

void clients_conclude(struct clients *clients)
{
    for (uint32_t job = 0; job < clients->notes->job_count; job++) {
        enum notes_life life = clients->notes->jobs[job].life;
        if (life == NOTES_UNBORN || life == NOTES_ASKED)
            assert_in_range(clients_reserve(clients, job), 200, 201);
        if (life != NOTES_RELEASED)
            assert_in_range(clients_release(clients, job), 200, 202);
    }
    clients_compare(clients);
    notes_conclude(clients->notes);
    assert_true(await(fm_holds_nothing, clients, AWAIT_DEADLINE_MS));
}

char *clients_file(const struct clients *clients, const char *name, char out[160])
{
    return folder_path(out, 160, testbed_folder(clients->testbed), name);
}
