/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's file and its log, damaged in any way (state/store.h): a small real one is made, and
 * the input says what befalls it. First byte: odd, the log is not yet in the file. Then blows, each
 * a byte (what, and how much), two (where) and what it needs.
 *
 * It is loaded, and the core starts from it, or it is refused with a sentence. */

#include "core/core.h"
#include "tests/coreconfig.h"
#include "state/columns.h"
#include "state/store.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 256 * 1024, BLOWS_MAX = 32, JOBS = 12 };

struct file {
    char bytes[FILE_MAX];
    size_t size; /* 0: not there */
};

static char folder[32], path[64], log_path[80], key_path[64];
static struct file sound[2][2]; /* without and with a log: ledger, log */

/* ---- files ---- */

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void read_file(const char *name, struct file *file)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, file->bytes, FILE_MAX);
    if (size < 0 || size == FILE_MAX)
        give_up(name);
    file->size = (size_t)size;
    if (fd >= 0)
        (void)close(fd);
}

static void copy_file(struct file *to, const struct file *from)
{
    to->size = from->size;
    memcpy(to->bytes, from->bytes, from->size);
}

static void write_file(const char *name, const struct file *file)
{
    if (file->size == 0)
        return;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, file->bytes, file->size) != (ssize_t)file->size)
        give_up(name);
    (void)close(fd);
}

/* All but the key. */
static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    if (!dir)
        give_up(folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "key") != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
}

static void remove_folder(void)
{
    empty_folder();
    (void)unlink(key_path);
    (void)rmdir(folder);
}

/* ---- a sound ledger ---- */

static struct record make_reservation(uint64_t number)
{
    static const char *const jobs[JOBS] = {"f1", "f2", "f3", "4",  "5",  "6",
                                           "7",  "8",  "9",  "f1", "f2", "12"};
    struct record record = {.kind = RECORD_RESERVATION};
    struct reservation_record *r = &record.u.reservation;
    bool active = number > JOBS / 2;
    r->number = number;
    r->cluster = number % 3 == 0 ? "eldorado" : "elcap";
    r->job = jobs[number - 1];
    r->nodes = "elcap[1-128]";
    r->reason = active ? NULL : "HTTP 507";
    r->token = secret_of(active ? "session-token" : NULL);
    r->uid = 5588;
    r->wish = WISH_AUTO;
    r->state = active ? JOB_ACTIVE : JOB_RELEASING;
    r->hwcoll = active ? HWCOLL_RESERVED : HWCOLL_RELEASED;
    r->fm_side = active ? FM_SIDE_THERE : FM_SIDE_NOTHING;
    r->node_count = 128;
    r->addresses = 8;
    r->vni_count = r->vni_asked = 1;
    r->vnis[0] = (uint16_t)(1024 + number);
    r->created_ms = 1000000;
    r->released_ms = r->hold_until_ms = active ? 0 : 2000000;
    return record;
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed)
{
    if (result->code != 0) {
        (void)fprintf(stderr, "%s\n", result->error.text);
        exit(1);
    }
    *(bool *)arg = true;
}

static void commit(struct store *store, uint64_t first, uint64_t last)
{
    struct batch *batch = batch_create();
    bool done = false;
    for (uint64_t i = first; i <= last; i++) {
        struct record reservation = make_reservation(i);
        struct record event = {.kind = RECORD_EVENT,
                               .u.event = {.seq = i,
                                           .time_ms = 1000000,
                                           .number = i,
                                           .cluster = reservation.u.reservation.cluster,
                                           .job = reservation.u.reservation.job,
                                           .kind = EVENT_RESERVED}};
        batch_add(batch, &reservation);
        batch_add(batch, &event);
    }
    store_commit(store, batch, on_done, &done);
    while (!done) {
        struct pollfd ready = {.fd = store_fd(store), .events = POLLIN};
        (void)poll(&ready, 1, -1);
        store_dispatch(store);
    }
}

static struct store *must_open(void)
{
    struct error err = {0};
    struct store *store = store_sqlite_open(path, key_path, &err);
    if (!store) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return store;
}

static void make_sound_ones(void)
{
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/fuzz-ledger-XXXXXX", memory);
    if (!mkdtemp(folder))
        give_up(folder);
    (void)snprintf(path, sizeof path, "%s/state.db", folder);
    (void)snprintf(log_path, sizeof log_path, "%s-wal", path);
    (void)snprintf(key_path, sizeof key_path, "%s/key", folder);
    (void)atexit(remove_folder);
    struct store *store = must_open();
    commit(store, 1, JOBS / 2);
    store_close(store);
    store = must_open();
    commit(store, JOBS / 2 + 1, JOBS);
    read_file(path, &sound[1][0]);
    read_file(log_path, &sound[1][1]);
    store_close(store);
    read_file(path, &sound[0][0]);
}

/* ---- what befalls it ---- */

static void strike(struct file files[2], struct fuzz_input *in)
{
    uint8_t what = fuzz_byte(in);
    size_t much = (what >> 3 & 15) + 1u, at = fuzz_pair(in);
    struct file *file = &files[what >> 7];
    if (file->size == 0)
        return;
    at %= file->size;
    switch (what % 8) {
    case 0: /* its end is missing */
        file->size = at;
        break;
    case 1: /* it goes on */
        much *= 256;
        if (file->size + much < FILE_MAX) {
            memset(file->bytes + file->size, fuzz_byte(in), much);
            file->size += much;
        }
        break;
    case 2: /* a block is lost */
        much *= 256;
        memset(file->bytes + at, 0, at + much < file->size ? much : file->size - at);
        break;
    case 3: /* a bit has flipped */
        file->bytes[at] = (char)(file->bytes[at] ^ 1 << much % 8);
        break;
    default: /* other bytes */
        for (size_t i = at; i < at + much && i < file->size; i++)
            file->bytes[i] = (char)fuzz_byte(in);
        break;
    }
}

/* ---- and what comes of that ---- */

static int load(void *arg, const struct record *record)
{
    struct error err = {0};
    FUZZ_CHECK(!record_fault(record));
    int code = core_load(arg, record, &err);
    FUZZ_CHECK(code == 0 || (code == ERROR_CORRUPT && err.text[0] != '\0'));
    return code;
}

static void check_refusal(const struct error *err)
{
    FUZZ_CHECK(err->code != 0 && strstr(err->text, folder) && fuzz_is_line(err->text));
}

void fuzz_one(struct fuzz_input *in)
{
    static struct file files[2];
    static struct core_config config;
    struct error err = {0};
    if (folder[0] == '\0') {
        make_sound_ones();
        coreconfig_init(&config);
        idset_init(&config.vni_pool); /* all of them would take as long as the rest */
        for (uint16_t vni = 1024; vni < 1040; vni++)
            idset_add(&config.vni_pool, vni);
    }
    uint8_t which = fuzz_byte(in) % 2;
    copy_file(&files[0], &sound[which][0]);
    copy_file(&files[1], &sound[which][1]);
    bool struck = in->left > 0;
    for (int i = 0; i < BLOWS_MAX && in->left > 0; i++)
        strike(files, in);
    /* Where no file is left, a new one is made, always the same way, and that takes longest. */
    static bool made_anew;
    bool nothing = files[0].size == 0 && files[1].size == 0;
    if (nothing && made_anew)
        return;
    made_anew = made_anew || nothing;
    empty_folder();
    write_file(path, &files[0]);
    write_file(log_path, &files[1]);

    struct store *store = store_sqlite_open(path, key_path, &err);
    if (!store) {
        FUZZ_CHECK(struck);
        check_refusal(&err);
        return;
    }
    struct core *core = core_create(&config);
    int code = store_load(store, load, core, &err);
    if (code == 0)
        code = core_check_load(core, &(struct error){0});
    FUZZ_CHECK(code == 0 || struck);
    if (code == 0)
        core_start(core, 3000000);
    else if (code != ERROR_CORRUPT || err.code != 0) /* else the core has said it */
        check_refusal(&err);
    core_destroy(core);
    store_close(store);
}
