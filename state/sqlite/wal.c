/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/wal.h"

#include "base/memory.h"
#include "state/sqlite/statefile.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How damage differs from what a power cut leaves.
 *
 * The writes of one transaction are not ordered before its sync: after a power cut any of its
 * frames may be there, missing or old. But each checksum continues from that of the frame before,
 * and the next transaction begins when the sync of the last one has succeeded (synchronous=FULL; a
 * failed one is rolled back, and the next continues from where that one did). So when a frame
 * continues from a commit frame, that frame and all before it were synced: a log that ends earlier
 * is damaged. Other frames behind the end prove nothing: those of an older log have other salts,
 * and nothing continues those of failed transactions. The header is synced before the first frame,
 * so it counts as a commit frame.
 *
 * What a killed broker wrote without sync is read as committed at the next start. wal_check syncs
 * it, else two transactions could be lost by a power cut.
 *
 * SQLite repeats a commit frame to fill a sector only with psow=0. A checkpoint writes pages from
 * the log into the ledger; the first transaction after it begins a log with new salts.
 *
 * A power cut leaves a sector old or new. In a header that lies in two sectors, the halves may be
 * of different ages, and its fields prove nothing about each other. */

enum {
    MAGIC = 0x377f0682, /* or the next number: checksums read words as big endian */
    VERSION = 3007000,
    HEADER_SIZE = 32,
    FRAME_HEADER_SIZE = 24,
    PAGE_SIZE_MIN = 512,
    PAGE_SIZE_MAX = 65536,
    LEDGER_PAGE_SIZE = 4096, /* SQLite's default: as schema.c makes them */
    SECTOR = 512,
};

struct sum {
    uint32_t a, b;
};

struct log {
    int fd;
    bool big_endian; /* the words that sums are made of */
    uint32_t page_size;
    uint32_t salts[2];
};

/* A frame, or the header as the one before the first. */
struct frame {
    uint32_t number;
    bool commit;    /* the last one of a transaction; surely so */
    bool is_of_log; /* has its salts */
    bool one_sector;
    bool checks;         /* continues from the one before */
    struct sum stored;   /* which the next one continues from … */
    struct sum computed; /* … or this, when what is stored was damaged */
};

/* ---- words and sums ---- */

static uint32_t word_at(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return be32toh(word);
}

static struct sum sum_at(const unsigned char *bytes)
{
    return (struct sum){word_at(bytes), word_at(bytes + 4)};
}

static bool is_same(struct sum one, struct sum other)
{
    return one.a == other.a && one.b == other.b;
}

static struct sum sum_on(struct sum sum, const unsigned char *bytes, size_t length, bool big_endian)
{
    assert(length % 8 == 0);
    for (size_t i = 0; i < length; i += 8) {
        uint32_t words[2];
        memcpy(words, bytes + i, sizeof words);
        sum.a += (big_endian ? be32toh(words[0]) : le32toh(words[0])) + sum.b;
        sum.b += (big_endian ? be32toh(words[1]) : le32toh(words[1])) + sum.a;
    }
    return sum;
}

static struct sum frame_sum(const struct log *log, struct sum before, const unsigned char *bytes)
{
    assert(log->page_size % 8 == 0);
    const struct sum sum = sum_on(before, bytes, 8, log->big_endian); /* without salts and sum */
    return sum_on(sum, bytes + FRAME_HEADER_SIZE, log->page_size, log->big_endian);
}

/* ---- the index ---- */

/* What SQLite's index of the log ("<path>-shm") says was committed, if it outlived the broker
 * (sqlite.org/walformat.html, 2.1). SQLite rebuilds the index when the ledger is opened first. It
 * writes the log's length there after each commit's sync and not before, so the length is right
 * after a killed broker, and may be too short after a power cut. */
struct log_index {
    uint32_t frames;   /* committed, from the log's beginning */
    uint32_t salts[2]; /* of the log that they are in: those of its header */
};

/* As in the file, in this machine's byte order but for the salts. */
struct index_header {
    uint32_t version, unused, change;
    unsigned char is_initialized, big_endian;
    uint16_t page_size;
    uint32_t frames, pages;
    uint32_t frame_sum[2];
    uint32_t salts[2];
    uint32_t sum[2];
};
_Static_assert(sizeof(struct index_header) == 48, "the size that walformat.html gives");

static bool index_header_valid(const struct index_header *header)
{
    assert(header);
    const struct sum sum = sum_on((struct sum){0, 0}, (const unsigned char *)header,
                                  offsetof(struct index_header, sum), __BYTE_ORDER == __BIG_ENDIAN);
    return header->version == VERSION && header->is_initialized &&
           memcmp(&sum, header->sum, sizeof sum) == 0;
}

/* False when there is no index, or no valid one. */
static bool read_index(const char *path, struct log_index *index)
{
    assert(path && index);
    struct index_header copies[2];
    int fd = statefile_open(path, "-shm", O_RDONLY);
    ssize_t length = fd < 0 ? -1 : pread(fd, copies, sizeof copies, 0);
    if (fd >= 0)
        close(fd);
    /* The copies differ while the header is being written. */
    if (length != (ssize_t)sizeof copies || memcmp(&copies[0], &copies[1], sizeof *copies) != 0 ||
        !index_header_valid(&copies[0]))
        return false;
    *index =
        (struct log_index){.frames = copies[0].frames,
                           .salts = {be32toh(copies[0].salts[0]), be32toh(copies[0].salts[1])}};
    return true;
}

/* ---- frames ---- */

static off_t frame_place(const struct log *log, uint32_t number)
{
    assert(number > 0);
    return HEADER_SIZE + (off_t)(number - 1) * (FRAME_HEADER_SIZE + (off_t)log->page_size);
}

/* 1; 0 at the end of the file; ERROR_IO with errno. */
static int read_frame(const struct log *log, uint32_t number, unsigned char *bytes)
{
    assert(number > 0 && log->page_size <= PAGE_SIZE_MAX);
    const size_t size = FRAME_HEADER_SIZE + log->page_size;
    const ssize_t length = pread(log->fd, bytes, size, frame_place(log, number));
    if (length < 0)
        return ERROR_IO;
    return (size_t)length == size;
}

/* Whether the frame that lies there was written as the one after that one; *frame is what it is in
 * either case. */
static bool frame_continues(const struct log *log, const struct frame *before,
                            const unsigned char *bytes, struct frame *frame)
{
    assert(log->page_size >= PAGE_SIZE_MIN);
    const off_t place = frame_place(log, before->number + 1);
    *frame = (struct frame){
        .number = before->number + 1,
        .is_of_log = word_at(bytes + 8) == log->salts[0] && word_at(bytes + 12) == log->salts[1],
        .one_sector = place / SECTOR == (place + FRAME_HEADER_SIZE - 1) / SECTOR,
        .stored = sum_at(bytes + 16),
        .computed = frame_sum(log, before->stored, bytes),
    };
    bool checks = is_same(frame->stored, frame->computed);
    if (!checks && !is_same(before->stored, before->computed)) {
        const struct sum other = frame_sum(log, before->computed, bytes);
        if ((checks = is_same(frame->stored, other)))
            frame->computed = other;
    }
    if (word_at(bytes) == 0) /* no page: a hole in the file, whose sum is right */
        checks = false;
    frame->commit = word_at(bytes + 4) != 0 && (checks || frame->one_sector);
    frame->checks = checks;
    return checks;
}

/* Searches behind the log's end, which is before the frame with these bytes, for proof that it was
 * not the end. */
static int search_behind_end(const struct log *log, struct frame before, unsigned char *bytes,
                             bool *lost)
{
    int more = 1;
    assert(!*lost);
    while (more > 0 && !*lost) {
        struct frame frame;
        /* One with other salts that continues from one of this log: its salts were damaged. But a
         * torn frame has new salts and old bytes, from which an older log's may well continue: so
         * only from one that is right itself. */
        if (frame_continues(log, &before, bytes, &frame))
            *lost = frame.is_of_log ? before.commit
                                    : before.checks && before.is_of_log && frame.one_sector;
        before = frame;
        more = read_frame(log, frame.number + 1, bytes);
    }
    return more < 0 ? more : 0;
}

/* In *sound the number of frames that check: the log as SQLite sees it. In *lost, whether it was
 * longer. 0 or ERROR_IO. */
static int walk_frames(const struct log *log, const struct frame *header, unsigned char *bytes,
                       uint32_t *sound, bool *lost)
{
    assert(header->number == 0 && !*lost);
    struct frame before = *header, frame;
    int more;
    while ((more = read_frame(log, before.number + 1, bytes)) > 0 &&
           frame_continues(log, &before, bytes, &frame) && frame.is_of_log)
        before = frame;
    *sound = before.number;
    return more > 0 ? search_behind_end(log, before, bytes, lost) : more;
}

/* ---- the header ---- */

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

static struct frame header_as_frame(const struct log *log, const unsigned char header[HEADER_SIZE])
{
    assert(log->fd >= 0);
    return (struct frame){
        .commit = true,
        .is_of_log = true,
        .one_sector = true,
        .checks = true,
        .stored = sum_at(header + HEADER_SIZE - 8),
        .computed = sum_on((struct sum){0, 0}, header, HEADER_SIZE - 8, log->big_endian),
    };
}

/* SQLite takes a log with a damaged header for an empty one. Salts (here the first frame's) and
 * byte order are not taken from the header then. */
static int walk_without_header(struct log *log, const unsigned char header[HEADER_SIZE],
                               unsigned char *bytes, bool *lost)
{
    assert(log->fd >= 0 && !*lost);
    int more = 0;
    log->page_size = LEDGER_PAGE_SIZE;
    for (int big = 0; big < 2 && !*lost && (more = read_frame(log, 1, bytes)) > 0; big++) {
        log->big_endian = big;
        log->salts[0] = word_at(bytes + 8);
        log->salts[1] = word_at(bytes + 12);
        more = search_behind_end(log, header_as_frame(log, header), bytes, lost);
    }
    return more < 0 ? more : 0;
}

/* ---- the log ---- */

struct finding {
    bool lost;
    bool headless;  /* the header does not check */
    uint32_t sound; /* frames before the damage */
    off_t place;    /* of it */
};

static int read_log(struct log *log, unsigned char *bytes, const struct log_index *index,
                    struct finding *finding)
{
    assert(log->fd >= 0);
    unsigned char header[HEADER_SIZE];
    *finding = (struct finding){.lost = false};
    const ssize_t length = pread(log->fd, header, sizeof header, 0);
    if (length != (ssize_t)sizeof header)
        return length < 0 ? ERROR_IO : 0;

    const uint32_t magic = word_at(header);
    *log = (struct log){.fd = log->fd,
                        .big_endian = magic & 1,
                        .page_size = word_at(header + 8),
                        .salts = {word_at(header + 16), word_at(header + 20)}};
    const struct frame first = header_as_frame(log, header);
    int code;
    *finding = (struct finding){
        .headless = (magic | 1) != (MAGIC | 1) || word_at(header + 4) != VERSION ||
                    !is_page_size(log->page_size) || !is_same(first.stored, first.computed)};
    if (finding->headless)
        code = walk_without_header(log, header, bytes, &finding->lost);
    else
        code = walk_frames(log, &first, bytes, &finding->sound, &finding->lost);
    finding->place = finding->headless ? 0 : frame_place(log, finding->sound + 1);
    if (index && index->frames > finding->sound &&
        (finding->headless || memcmp(index->salts, log->salts, sizeof log->salts) == 0))
        finding->lost = true;
    return code;
}

static int refuse_damage(const struct finding *finding, const char *path, struct error *err)
{
    char what[32] = "its header";
    assert(finding->lost);
    if (!finding->headless)
        snprintf(what, sizeof what, "frame %u", finding->sound + 1);
    return error_set(err, ERROR_CORRUPT,
                     "%s-wal is damaged (%s, at byte %jd, is not what was committed): restore %s "
                     "from a backup, or move both away to start with nothing",
                     path, what, (intmax_t)finding->place, path);
}

static int check_log(int fd, const char *path, const struct log_index *index, struct error *err)
{
    struct log log = {.fd = fd};
    struct finding finding = {.lost = false};
    assert(fd >= 0);
    unsigned char *bytes = memory_zeroed(FRAME_HEADER_SIZE + PAGE_SIZE_MAX);
    /* Read until two readings agree: another process may be writing. */
    uint32_t before;
    int code = fdatasync(fd);
    do {
        before = finding.lost ? finding.sound : UINT32_MAX;
        code = code ? code : read_log(&log, bytes, index, &finding);
    } while (code == 0 && finding.lost && finding.sound != before);
    free(bytes);
    assert(code == 0 || code == ERROR_IO);
    if (code < 0)
        return error_set(err, ERROR_IO, "cannot read %s-wal: %s: look for errors of its disk", path,
                         strerror(errno));
    return finding.lost ? refuse_damage(&finding, path, err) : 0;
}

int wal_check(const char *path, struct error *err)
{
    /* The index first: what it says of a log stays true while that log is written. */
    struct log_index index;
    assert(path);
    const bool indexed = read_index(path, &index);
    int fd = statefile_open(path, "-wal", O_RDONLY);
    if (fd < 0)
        return errno == ENOENT
                   ? 0
                   : error_set(err, ERROR_IO, "cannot open %s-wal: %s", path, strerror(errno));
    int code = check_log(fd, path, indexed ? &index : NULL, err);
    close(fd);
    return code;
}
