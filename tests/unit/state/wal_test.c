/* SPDX-License-Identifier: Apache-2.0 */
/* What was committed is not forgotten because its log was damaged; what a power cut leaves is no
 * damage (I2). Each test lays a log out as a disk could hold it, made from what SQLite wrote. */

#include "tests/unit/state/fixture.h"

#include "state/sqlite/wal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum { HEADER = 32, FRAME_HEADER = 24, FRAME = FRAME_HEADER + 4096, SECTOR = 512 };

/* -- files as they are -- */

struct image {
    unsigned char *bytes;
    size_t length;
};

static void name_of(const char *path, const char *suffix, char name[128])
{
    snprintf(name, 128, "%s%s", path, suffix);
}

static struct image take(const char *path, const char *suffix)
{
    char name[128];
    name_of(path, suffix, name);
    struct stat status;
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    struct image image = {.length = (size_t)status.st_size};
    image.bytes = malloc(image.length + 1);
    assert_non_null(image.bytes);
    assert_int_equal(read(fd, image.bytes, image.length), (ssize_t)image.length);
    close(fd);
    return image;
}

static struct image copy_of(const struct image *image)
{
    struct image copy = {malloc(image->length + 1), image->length};
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, image->bytes, image->length);
    return copy;
}

static void put(const char *path, const char *suffix, const struct image *image)
{
    char name[128];
    name_of(path, suffix, name);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->bytes, image->length), (ssize_t)image->length);
    close(fd);
}

static bool is_same_file(const char *path, const char *suffix, const struct image *image)
{
    struct image now = take(path, suffix);
    bool same = now.length == image->length && memcmp(now.bytes, image->bytes, image->length) == 0;
    free(now.bytes);
    return same;
}

/* -- what stands in a log, as the test reads it -- */

static size_t frames(const struct image *log)
{
    return log->length < HEADER ? 0 : (log->length - HEADER) / FRAME;
}

static unsigned char *frame(const struct image *log, size_t number)
{
    return log->bytes + HEADER + (number - 1) * FRAME;
}

static bool is_commit(const struct image *log, size_t number)
{
    static const unsigned char none[4] = {0};
    return memcmp(frame(log, number) + 4, none, 4) != 0;
}

static bool is_of_log(const struct image *log, size_t number)
{
    return memcmp(frame(log, number) + 8, log->bytes + 16, 8) == 0;
}

/* The last frame of the transaction before the last one. */
static size_t frames_before_last(const struct image *log)
{
    size_t number = frames(log) - 1;
    while (number > 0 && !is_commit(log, number))
        number--;
    return number;
}

/* -- a ledger at work, and a body to look at -- */

struct wal {
    struct fixture *fixture;
    uint64_t number;
    char body[96]; /* the path of a ledger of which there is only what the test puts there */
};

static struct wal at_work(void **state)
{
    struct wal wal = {.fixture = *state};
    snprintf(wal.body, sizeof wal.body, "%s/body.db", wal.fixture->folder);
    fixture_open(wal.fixture);
    return wal;
}

/* One transaction of a few frames: the rows of a long list of nodes take some. */
static void work(struct wal *wal, size_t nodes_length)
{
    static char nodes[40000];
    memset(nodes, 'n', nodes_length);
    nodes[nodes_length] = '\0';
    struct record record = reservation(++wal->number, "f1");
    record.u.reservation.nodes = nodes;
    COMMIT(wal->fixture->store, record, event(wal->number, wal->number));
}

static void assert_whole(const struct wal *wal)
{
    struct error err = {0};
    if (wal_check(wal->body, &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_damaged(const struct wal *wal, const char *what, size_t at)
{
    struct error err = {0};
    char name[128];
    name_of(wal->body, "-wal is damaged (", name);
    if (wal_check(wal->body, &err) != ERROR_CORRUPT)
        fail_msg("%s, at byte %zu: not noticed", what, at);
    assert_int_equal(err.code, ERROR_CORRUPT);
    if (!strstr(err.text, name) || !strstr(err.text, "restore"))
        fail_msg("%s", err.text);
}

/* The log of the body, with one byte of it changed, and changed back. */
static void flip(const struct wal *wal, size_t at, unsigned char bits)
{
    char name[128];
    unsigned char byte;
    name_of(wal->body, "-wal", name);
    int fd = open(name, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= bits;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void assert_flip_is_damage(const struct wal *wal, size_t at)
{
    const unsigned char bits = (unsigned char)(1u << at % 8);
    flip(wal, at, bits);
    assert_damaged(wal, "a flipped byte", at);
    flip(wal, at, bits);
}

/* Ten transactions; the body has the log, and no index. */
static struct image ten_transactions(struct wal *wal)
{
    for (size_t i = 0; i < 10; i++)
        work(wal, i % 3 * 1000);
    struct image log = take(wal->fixture->path, "-wal");
    assert_in_range(frames(&log), 20, 40); /* no frame's header lies in two sectors */
    assert_true(is_commit(&log, frames(&log)));
    put(wal->body, "-wal", &log);
    return log;
}

/* -- what is whole -- */

#define AT_WORK(test) UNIT_WITH(test, fixture_setup, fixture_teardown)

AT_WORK(log__of_a_killed_broker_is_whole)
{
    struct wal wal = at_work(state);
    for (size_t i = 0; i < 20; i++) {
        work(&wal, i * 500);
        struct image log = take(wal.fixture->path, "-wal"), index = take(wal.fixture->path, "-shm");
        put(wal.body, "-wal", &log);
        put(wal.body, "-shm", &index);
        assert_whole(&wal);
        free(log.bytes);
        free(index.bytes);
    }
}

AT_WORK(log__without_frames_is_whole)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal);
    static const size_t lengths[] = {0, 1, 31, 32, 33, HEADER + FRAME - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put(wal.body, "-wal", &(struct image){log.bytes, lengths[i]});
        assert_whole(&wal);
    }
    memset(log.bytes, 0, log.length); /* as a file system may leave a file that had just grown */
    put(wal.body, "-wal", &log);
    assert_whole(&wal);
    char name[128];
    name_of(wal.body, "-wal", name);
    assert_int_equal(unlink(name), 0);
    assert_whole(&wal);
    free(log.bytes);
}

/* The log was written back and begun anew: what is behind its end is of the older one. */
static struct image with_leftovers(struct wal *wal, size_t transactions)
{
    struct image log;
    for (;;) {
        work(wal, 30000);
        log = take(wal->fixture->path, "-wal");
        if (!is_of_log(&log, frames(&log)))
            break;
        free(log.bytes);
    }
    free(log.bytes);
    for (size_t i = 0; i < transactions; i++)
        work(wal, 3000);
    log = take(wal->fixture->path, "-wal");
    assert_true(frames(&log) > 900);
    assert_false(is_of_log(&log, frames(&log)));
    put(wal->body, "-wal", &log);
    return log;
}

static size_t frames_of_log(const struct image *log)
{
    size_t count = 0;
    while (count < frames(log) && is_of_log(log, count + 1))
        count++;
    return count;
}

AT_WORK(leftovers__of_an_older_log_are_no_damage)
{
    struct wal wal = at_work(state);
    struct image log = with_leftovers(&wal, 4);
    const size_t mine = frames_of_log(&log);
    assert_true(mine >= 10);
    assert_whole(&wal);
    for (size_t number = mine + 1; number < frames(&log); number += 50) {
        const size_t at = HEADER + (number - 1) * FRAME + number % FRAME;
        flip(&wal, at, 1);
        assert_whole(&wal);
        flip(&wal, at, 1);
    }
    assert_flip_is_damage(&wal, HEADER + FRAME_HEADER + 77);
    free(log.bytes);
}

/* -- flipped bytes -- */

AT_WORK(flipped_byte__before_the_last_transaction_is_found)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal);
    for (size_t number = 1; number <= frames_before_last(&log); number++) {
        const size_t place = HEADER + (number - 1) * FRAME;
        for (size_t i = 0; i < FRAME_HEADER; i++)
            assert_flip_is_damage(&wal, place + i);
        for (size_t i = FRAME_HEADER; i < FRAME; i += 331)
            assert_flip_is_damage(&wal, place + i);
        assert_flip_is_damage(&wal, place + FRAME - 1);
    }
    assert_whole(&wal);
    free(log.bytes);
}

/* Alone, the last transaction looks as a power cut leaves one. With what the index says of it, it
 * does not: so a killed broker's log is known to its last byte. */
AT_WORK(flipped_byte__in_the_last_transaction_is_found_by_the_index)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal), index = take(wal.fixture->path, "-shm");
    const size_t place = HEADER + frames_before_last(&log) * FRAME;
    flip(&wal, place + 1000, 1);
    assert_whole(&wal);
    flip(&wal, place + 1000, 1);
    put(wal.body, "-shm", &index);
    assert_whole(&wal);
    for (size_t at = place; at < log.length; at += at % FRAME < 100 ? 1 : 97)
        assert_flip_is_damage(&wal, at);
    assert_whole(&wal);
    free(log.bytes);
    free(index.bytes);
}

AT_WORK(flipped_byte__in_the_header_is_found)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal);
    for (size_t at = 0; at < HEADER; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            flip(&wal, at, (unsigned char)(1u << bit));
            assert_damaged(&wal, "the header", at);
            flip(&wal, at, (unsigned char)(1u << bit));
        }
    free(log.bytes);
}

/* Many at once, in whole frames. */
AT_WORK(noise__before_the_last_transaction_is_found)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal);
    for (size_t number = 1; number + 1 < frames_before_last(&log); number++) {
        struct image noise = copy_of(&log);
        memset(frame(&noise, number), 0xa5, FRAME);
        put(wal.body, "-wal", &noise);
        assert_damaged(&wal, "noise in frame", number);
        memset(frame(&noise, 1), 0xa5, number * FRAME);
        put(wal.body, "-wal", &noise);
        if (number + 6 < frames_before_last(&log)) /* a whole transaction is left behind it */
            assert_damaged(&wal, "noise up to frame", number);
        free(noise.bytes);
    }
    free(log.bytes);
}

AT_WORK(log__cut_short_is_found_by_the_index)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal), index = take(wal.fixture->path, "-shm");
    for (size_t length = HEADER; length < log.length; length += 1371) {
        char name[128];
        name_of(wal.body, "-shm", name);
        (void)unlink(name);
        put(wal.body, "-wal", &(struct image){log.bytes, length});
        assert_whole(&wal); /* and without it nothing tells */
        put(wal.body, "-shm", &index);
        assert_damaged(&wal, "cut", length);
    }
    free(log.bytes);
    free(index.bytes);
}

AT_WORK(index__of_another_log_or_half_written_tells_nothing)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal), index = take(wal.fixture->path, "-shm");
    put(wal.body, "-wal", &(struct image){log.bytes, HEADER + FRAME});
    for (size_t at = 0; at < 96; at++) {
        struct image other = copy_of(&index);
        other.bytes[at] ^= 1;
        put(wal.body, "-shm", &other);
        assert_whole(&wal);
        free(other.bytes);
    }
    static const size_t lengths[] = {0, 3, 48, 95};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put(wal.body, "-shm", &(struct image){index.bytes, lengths[i]});
        assert_whole(&wal);
    }
    free(log.bytes);
    /* Of the one before. */
    log = with_leftovers(&wal, 1);
    put(wal.body, "-shm", &index);
    assert_whole(&wal);
    free(log.bytes);
    free(index.bytes);
}

/* -- power cuts -- */

/* What a transaction wrote, over what was there before it. */
struct torn {
    struct image before, after, index; /* index: as it was before, or after a cut perhaps older */
    size_t first, count;               /* its frames: numbers in after */
};

static struct torn tear(struct wal *wal, struct image before)
{
    struct torn torn = {.before = before, .index = take(wal->fixture->path, "-shm")};
    torn.first = frames_of_log(&before) + 1;
    work(wal, 9000);
    torn.after = take(wal->fixture->path, "-wal");
    torn.count = frames_of_log(&torn.after) + 1 - torn.first;
    assert_in_range(torn.count, 4, 10);
    /* What was not there reads as zeros. */
    if (torn.before.length < torn.after.length) {
        torn.before.bytes = realloc(torn.before.bytes, torn.after.length + 1);
        assert_non_null(torn.before.bytes);
        memset(torn.before.bytes + torn.before.length, 0, torn.after.length - torn.before.length);
        torn.before.length = torn.after.length;
    }
    put(wal->body, "-shm", &torn.index);
    return torn;
}

static void torn_release(struct torn *torn)
{
    free(torn->before.bytes);
    free(torn->after.bytes);
    free(torn->index.bytes);
}

/* Any of its frames may be there, and any not. */
static void assert_torn_frames_are_no_damage(const struct wal *wal, const struct torn *torn)
{
    for (size_t there = 0; there < (size_t)1 << torn->count; there++) {
        struct image log = copy_of(&torn->before);
        for (size_t i = 0; i < torn->count; i++)
            if (there & (size_t)1 << i)
                memcpy(frame(&log, torn->first + i), frame(&torn->after, torn->first + i), FRAME);
        put(wal->body, "-wal", &log);
        assert_whole(wal);
        free(log.bytes);
    }
}

/* Any of its sectors, too. The generator is that of POSIX's rand_r example: the same each time. */
static void assert_torn_sectors_are_no_damage(const struct wal *wal, const struct torn *torn)
{
    uint32_t chance = 1;
    for (int round = 0; round < 400; round++) {
        struct image log = copy_of(&torn->before);
        const uint32_t written = (uint32_t)round % 4 + 1; /* … of five sectors */
        for (size_t at = 0; at < log.length; at += SECTOR) {
            chance = chance * 1103515245 + 12345;
            if ((chance >> 16) % 5 < written)
                memcpy(log.bytes + at, torn->after.bytes + at,
                       log.length - at < SECTOR ? log.length - at : SECTOR);
        }
        put(wal->body, "-wal", &log);
        assert_whole(wal);
        free(log.bytes);
    }
}

AT_WORK(power_cut__in_a_transaction_at_the_end_is_no_damage)
{
    struct wal wal = at_work(state);
    struct torn torn = tear(&wal, ten_transactions(&wal));
    assert_torn_frames_are_no_damage(&wal, &torn);
    assert_torn_sectors_are_no_damage(&wal, &torn);
    torn_release(&torn);
}

AT_WORK(power_cut__over_leftovers_is_no_damage)
{
    struct wal wal = at_work(state);
    /* Far enough that some headers lie in two sectors, of two ages. */
    struct torn torn = tear(&wal, with_leftovers(&wal, 12));
    assert_torn_frames_are_no_damage(&wal, &torn);
    assert_torn_sectors_are_no_damage(&wal, &torn);
    torn_release(&torn);
}

/* Two transactions that came to nothing lie behind the end, one in the place of the other: the
 * disk failed under one, or power did, and the next ones continue from where it had. */
AT_WORK(power_cut__over_a_transaction_that_failed_is_no_damage)
{
    struct wal wal = at_work(state);
    struct image base = ten_transactions(&wal), file = take(wal.fixture->path, ""),
                 key = take(wal.fixture->path, ".key");
    work(&wal, 20000);
    struct image failed = take(wal.fixture->path, "-wal");
    assert_true(frames(&failed) > frames(&base) + 7);
    store_close(wal.fixture->store);

    /* The same ledger, without that one: shorter ones follow. */
    put(wal.fixture->path, "", &file);
    put(wal.fixture->path, "-wal", &base);
    put(wal.fixture->path, ".key", &key);
    fixture_open(wal.fixture);
    wal.number--;
    work(&wal, 100);
    struct image second = take(wal.fixture->path, "-wal");
    assert_true(frames(&second) < frames(&failed));
    assert_true(is_of_log(&second, frames(&second)));

    struct image log = copy_of(&failed);
    memcpy(log.bytes, second.bytes, second.length);
    put(wal.body, "-wal", &log);
    assert_whole(&wal); /* synced; the failed one's commit frame is behind it */
    for (size_t number = frames(&base) + 1; number <= frames(&second); number++) {
        memset(frame(&log, number), 0, FRAME);
        put(wal.body, "-wal", &log);
        assert_whole(&wal); /* torn */
        memcpy(frame(&log, number), frame(&second, number), FRAME);
    }
    memset(frame(&log, frames(&base) - 1), 0, FRAME);
    put(wal.body, "-wal", &log);
    assert_damaged(&wal, "noise in front of both", frames(&base) - 1);

    free(log.bytes);
    free(second.bytes);
    free(failed.bytes);
    free(base.bytes);
    free(file.bytes);
    free(key.bytes);
}

/* -- at the start of a broker -- */

AT_WORK(store__with_a_damaged_log_is_refused_and_left_as_it_is)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal), file = take(wal.fixture->path, ""),
                 key = take(wal.fixture->path, ".key"), index = take(wal.fixture->path, "-shm");
    put(wal.body, "", &file);
    put(wal.body, ".key", &key);
    put(wal.body, "-shm", &index);
    frame(&log, 3)[1000] ^= 1;
    put(wal.body, "-wal", &log);

    char expected[400];
    snprintf(expected, sizeof expected,
             "%s-wal is damaged (frame 3, at byte 8272, is not what was committed): "
             "restore %s from a backup, or move both away to start with nothing",
             wal.body, wal.body);
    for (int i = 0; i < 2; i++) {
        struct error err = {0};
        assert_null(open_sqlite(wal.body, &err));
        assert_int_equal(err.code, ERROR_CORRUPT);
        assert_string_equal(err.text, expected);
        assert_true(is_same_file(wal.body, "", &file));
        assert_true(is_same_file(wal.body, "-wal", &log));
    }

    frame(&log, 3)[1000] ^= 1;
    put(wal.body, "-wal", &log);
    struct error err = {0};
    struct store *store = open_sqlite(wal.body, &err);
    if (!store)
        fail_msg("%s", err.text);
    char *text = ledger_text(store);
    assert_non_null(strstr(text, "reservation 10 elcap-f1\n"));
    free(text);
    store_close(store);
    free(log.bytes);
    free(file.bytes);
    free(key.bytes);
    free(index.bytes);
}

/* SQLite's and ours, because the program comes before the library. The power is not cut here. */
static atomic_int syncs;

__attribute__((visibility("default"))) int
fdatasync(int fd) /* NOLINT(*-parameter-name): glibc's is reserved */
{
    syncs++;
    return 0;
}

/* It may be in the page cache only, and what is shown must be there after a power cut, too. */
AT_WORK(log__of_a_killed_broker_is_synced_before_it_is_believed)
{
    struct wal wal = at_work(state);
    struct image log = ten_transactions(&wal);
    syncs = 0;
    assert_whole(&wal);
    assert_int_equal(syncs, 1);
    free(log.bytes);
}

/* Any of the last transaction's blocks, and no other, over what an older log left there: wherever
 * its frames lie in their sectors, it is no damage. */
static void power_cut__of_any_blocks_is_no_damage(void **state, size_t block, size_t last)
{
#ifdef __SANITIZE_ADDRESS__
    enum { ROUNDS = 9, BEHIND = 6 }; /* each share once: it is about how memory is used */
#else
    enum { ROUNDS = 60, BEHIND = 6 };
#endif
    struct wal wal = at_work(state);
    struct image log = with_leftovers(&wal, 1);
    uint32_t chance = 7;
    while (frames_of_log(&log) < last) {
        struct torn torn = tear(&wal, log);
        const size_t first = (HEADER + (torn.first - 1) * FRAME) / block * block;
        const size_t length = HEADER + (torn.first + torn.count + BEHIND) * FRAME;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct image cut = copy_of(&torn.before);
            struct error err = {0};
            cut.length = length;
            for (size_t at = first; at < length; at += block) {
                chance = chance * 1103515245 + 12345;
                if ((chance >> 16) % 10 <= round % 9)
                    memcpy(cut.bytes + at, torn.after.bytes + at,
                           length - at < block ? length - at : block);
            }
            put(wal.body, "-wal", &cut);
            if (wal_check(wal.body, &err) != 0)
                fail_msg("blocks of %zu, round %u: %s", block, round, err.text);
            free(cut.bytes);
        }
        free(torn.before.bytes);
        free(torn.index.bytes);
        log = torn.after;
    }
    free(log.bytes);
}

AT_WORK(power_cut__of_any_sectors_is_no_damage)
{
    power_cut__of_any_blocks_is_no_damage(state, 512, 140);
}

AT_WORK(power_cut__of_any_pages_is_no_damage)
{
    power_cut__of_any_blocks_is_no_damage(state, 4096, 140);
}

UNIT_RUN(NULL, NULL)
