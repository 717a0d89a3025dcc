/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/postmortem.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 160, SAID_SIZE = 8192, FLIPS_MAX = 16, BODIES = 2 };

/* Of the log: sqlite.org/fileformat2.html, 4. */
enum { LOG_HEADER_SIZE = 32, LOG_FRAME_HEADER_SIZE = 24, LOG_FRAME_SIZE = 24 + 4096, SALTS = 8 };

static const struct kind {
    const char *words;
    bool cut;    /* else bytes are flipped … */
    bool in_log; /* … in the log, else in the ledger itself */
    bool alone;  /* the log's index is gone, as after a power cut */
} kinds[POSTMORTEM_KINDS] = {
    [POSTMORTEM_CUT] = {.words = "cut short", .cut = true},
    [POSTMORTEM_FLIPPED] = {.words = "with flipped bytes"},
    [POSTMORTEM_CUT_LOG] = {.words = "with the log cut short", .cut = true, .in_log = true},
    [POSTMORTEM_FLIPPED_LOG] = {.words = "with flipped bytes in the log", .in_log = true},
    [POSTMORTEM_CUT_LOG_ALONE] = {.words = "with the log cut short and without its index",
                                  .cut = true,
                                  .in_log = true,
                                  .alone = true},
    [POSTMORTEM_FLIPPED_LOG_ALONE] = {.words =
                                          "with flipped bytes in the log and without its index",
                                      .in_log = true,
                                      .alone = true},
};

const char *postmortem_word(enum postmortem_kind kind)
{
    return kinds[kind].words;
}

struct table {
    struct scene *scene;
    const char *mcastd;
    const struct kind *kind;
    off_t left; /* the length after a cut */
    char folder[FOLDER_PATH_SIZE];
    char socket[PATH_SIZE], config[PATH_SIZE], log[PATH_SIZE], db[PATH_SIZE], wal[PATH_SIZE];
    struct process *process;
    struct plainhttp *http;
};

/* ---- the body ---- */

static void copy(struct table *table, const char *name)
{
    char from[PATH_SIZE], to[PATH_SIZE], block[65536];
    const int in = open(folder_path(from, sizeof from, testbed_folder(table->scene->testbed), name),
                        O_RDONLY | O_CLOEXEC);
    const int out = open(folder_path(to, sizeof to, table->folder, name),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (ssize_t length; in >= 0 && out >= 0 && (length = read(in, block, sizeof block)) > 0;)
        if (write(out, block, (size_t)length) != length)
            perror(to);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
}

static off_t size_of(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 ? found.st_size : 0;
}

/* How much of the log is of use: behind it are frames of an older one, with other salts. */
static off_t size_in_use(const char *path)
{
    unsigned char header[LOG_HEADER_SIZE], frame[LOG_FRAME_HEADER_SIZE];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = 0;

    if (fd >= 0 && pread(fd, header, sizeof header, 0) == (ssize_t)sizeof header) {
        size = LOG_HEADER_SIZE;
        while (pread(fd, frame, sizeof frame, size) == (ssize_t)sizeof frame &&
               memcmp(frame + 8, header + 16, SALTS) == 0)
            size += LOG_FRAME_SIZE;
    }
    if (fd >= 0)
        close(fd);
    return size;
}

/* Where damage can do harm, of a file that may be empty. */
static uint32_t size_to_harm(const struct table *table, const char *path)
{
    const off_t size = table->kind->in_log ? size_in_use(path) : size_of(path);

    return size > 0 ? (uint32_t)size : 1;
}

/* Sometimes of a page or less, else nearly everything or nearly nothing is left. */
static void cut(struct table *table, const char *path)
{
    struct prng *prng = &table->scene->prng;
    const uint32_t size = size_to_harm(table, path);
    const uint32_t missing =
        prng_percent(prng, 30) ? prng_between(prng, 1, 4096) : prng_between(prng, 1, size);

    table->left = size > missing ? size - missing : 0;
    if (truncate(path, table->left) < 0)
        perror(path);
}

static void flip(struct table *table, const char *path)
{
    struct prng *prng = &table->scene->prng;
    const uint32_t size = size_to_harm(table, path);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char byte;

    for (uint32_t flips = prng_between(prng, 1, FLIPS_MAX); fd >= 0 && flips > 0; flips--) {
        const off_t place = prng_below(prng, size);

        if (pread(fd, &byte, 1, place) != 1)
            continue;
        byte ^= (unsigned char)(1u << prng_below(prng, 8));
        if (pwrite(fd, &byte, 1, place) != 1)
            perror(path);
    }
    if (fd >= 0)
        close(fd);
}

/* ---- the broker that looks at it ---- */

static int lay_out(struct table *table)
{
    char text[1024];

    if (folder_create(table->folder) < 0)
        return -1;
    copy(table, "state.db");
    copy(table, "state.db-wal");
    if (!table->kind->alone)
        copy(table, "state.db-shm");
    copy(table, "state.key");
    folder_path(table->socket, sizeof table->socket, table->folder, "s");
    folder_path(table->config, sizeof table->config, table->folder, "mcastd.conf");
    folder_path(table->log, sizeof table->log, table->folder, "log");
    folder_path(table->db, sizeof table->db, table->folder, "state.db");
    folder_path(table->wal, sizeof table->wal, table->folder, "state.db-wal");
    snprintf(text, sizeof text,
             "[broker]\nsocket = %s\n[state]\npath = %s\nkey_file = %s/state.key\n"
             "events_keep = 1000000\nevents_age = 0\n[vni]\npool = 2000-2299\nhold = 1h\n"
             "[cluster \"elcap\"]\nusers = root\n[cluster \"elcap2\"]\nusers = root\n"
             "[cluster \"tuo\"]\nusers = root\n",
             table->socket, table->db, table->folder);
    table->http = plainhttp_create("http://mcastd", table->socket);
    return table->http ? folder_write(table->folder, "mcastd.conf", 0600, text) : -1;
}

static bool is_decided(void *arg)
{
    struct table *table = arg;

    return !process_alive(table->process) || plainhttp_probe(table->http, "/readyz") == 200;
}

static bool is_same(struct table *table, const struct job *job)
{
    struct plainhttp_reply reply;
    char path[JOB_PATH_SIZE];

    job_path(job, path);
    plainhttp_call(table->http, "GET", path, NULL, &reply);
    const bool same =
        reply.status == 200 && job_number(reply.json) == job_number(job->told) &&
        json_equal(json_object_get(reply.json, "vnis"), json_object_get(job->told, "vnis"));
    plainhttp_reply_release(&reply);
    return same;
}

static unsigned differing(struct table *table)
{
    unsigned count = 0;

    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(table->scene->crowd, i);

        /* Only what is certain: other requests were under way when it was killed. */
        count += job->life == JOB_LIVE && job->told && !is_same(table, job);
    }
    return count;
}

/* Of both files; a file that is not there has one, too. */
static uint64_t print_of_files(const struct table *table)
{
    const char *const paths[] = {table->db, table->wal};
    uint64_t print = 0xcbf29ce484222325u;
    unsigned char block[4096];

    for (size_t f = 0; f < 2; f++) {
        FILE *file = fopen(paths[f], "re");

        for (size_t length; file && (length = fread(block, 1, sizeof block, file)) > 0;)
            for (size_t i = 0; i < length; i++)
                print = (print ^ block[i]) * 0x100000001b3u;
        if (file)
            fclose(file);
    }
    return print;
}

static void judge_refusal(struct table *table, uint64_t before)
{
    struct verdict *verdict = &table->scene->verdict;
    const char *words = table->kind->words;
    const int status = process_exit_status(table->process);
    char said[SAID_SIZE];
    FILE *file = fopen(table->log, "re");

    said[file ? fread(said, 1, SAID_SIZE - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    if (status != 1 || !strstr(said, "cannot start: "))
        verdict_fault(verdict, "a ledger %s: exit status %d: %s", words, status, said);
    if (print_of_files(table) != before)
        verdict_fault(verdict, "a ledger %s is not left as it was by the refusal: %s", words, said);
}

/* Whether a broker that serves it may lack something. A log without a header is none. */
static bool is_beyond_notice(const struct table *table)
{
    if (!table->kind->in_log)
        return !table->kind->cut;
    return table->kind->alone || (table->kind->cut && table->left < LOG_HEADER_SIZE);
}

static void judge(struct table *table, struct postmortem_counts *counts)
{
    struct verdict *verdict = &table->scene->verdict;
    const char *const argv[] = {table->mcastd, "--config", table->config, NULL};
    const char *words = table->kind->words;

    const uint64_t before = print_of_files(table);
    table->process = process_start(argv, table->log);
    if (!table->process || !await(is_decided, table, AWAIT_DEADLINE_MS)) {
        verdict_fault(verdict, "a ledger %s: the broker neither starts nor refuses", words);
    } else if (!process_alive(table->process)) {
        counts->refused++;
        judge_refusal(table, before);
    } else {
        const unsigned different = differing(table);

        if (different > 0 && !is_beyond_notice(table))
            verdict_fault(verdict, "a ledger %s is served without %u jobs (%jd bytes are left)",
                          words, different, (intmax_t)table->left);
        counts->unnoticed += different > 0;
        counts->whole += different == 0;
        if (process_stop(table->process) != 0)
            verdict_fault(verdict, "a ledger %s: the broker ends badly", words);
        table->process = NULL;
    }
    process_kill(table->process);
}

static void examine(struct scene *scene, const char *mcastd, const struct kind *kind,
                    struct postmortem_counts *counts)
{
    struct table table = {.scene = scene, .mcastd = mcastd, .kind = kind, .left = -1};

    if (lay_out(&table) < 0) {
        verdict_fault(&scene->verdict, "the ledger cannot be copied");
    } else {
        (kind->cut ? cut : flip)(&table, kind->in_log ? table.wal : table.db);
        judge(&table, counts);
    }
    plainhttp_destroy(table.http);
    if (table.folder[0])
        folder_destroy(table.folder);
}

void postmortem(struct scene *scene, const char *mcastd, struct postmortem_counts *counts)
{
    for (int i = 0; i < BODIES; i++)
        for (int kind = 0; kind < POSTMORTEM_KINDS; kind++)
            examine(scene, mcastd, &kinds[kind], &counts[kind]);
}
