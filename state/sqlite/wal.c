#include "state/sqlite/wal.h"

#include "state/sqlite/walindex.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How damage is told from what a power cut leaves.
 *
 * Nothing orders the writes of one transaction before its sync: after a power cut any of its frames
 * may be there, or not, or old. But each checksum continues from that of the frame before, and the
 * next transaction is begun when the sync of the last one has succeeded (synchronous=FULL; one that
 * failed is rolled back, and the next one continues from where that one did). So when a frame
 * continues from a commit frame, the commit frame and all before it had been synced; that the log
 * ends before is damage, and never a power cut. It does not matter how many transactions are
 * behind the end, nor what else lies there: frames of an older log have other salts, those of
 * transactions that came to nothing are continued by none. The header is synced before the first
 * frame, so that it counts as a commit frame here.
 *
 * What a killed broker had written and not synced is read as committed at the next start, and
 * continued from. Two transactions would then be open to a power cut: hence the sync before.
 *
 * A commit frame is one frame: SQLite repeats it, to fill a sector, only where it is told that a
 * write may harm what lies beside it (psow=0).
 *
 * A checkpoint changes nothing of this: it writes pages from the log into the ledger, and the
 * first transaction after it begins a log with new salts.
 *
 * A power cut leaves a sector as it was or as it was to become. Of a header that lies in two of
 * them, the halves may be of different ages, and its fields prove nothing about each other. */

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
    const struct sum sum = sum_on(before, bytes, 8, log->big_endian); /* without salts and sum */
    return sum_on(sum, bytes + FRAME_HEADER_SIZE, log->page_size, log->big_endian);
}

/* ---- frames ---- */

static off_t frame_place(const struct log *log, uint32_t number)
{
    return HEADER_SIZE + (off_t)(number - 1) * (FRAME_HEADER_SIZE + (off_t)log->page_size);
}

/* 1; 0 at the end of the file; ERROR_IO with errno. */
static int read_frame(const struct log *log, uint32_t number, unsigned char *bytes)
{
    const size_t size = FRAME_HEADER_SIZE + log->page_size;
    const ssize_t length = pread(log->fd, bytes, size, frame_place(log, number));
    if (length < 0)
        return ERROR_IO;
    return (size_t)length == size;
}

/* Whether the frame that lies there was written as the one after that one; *frame is what it is in
 * either case. */
static bool continues(const struct log *log, const struct frame *before, const unsigned char *bytes,
                      struct frame *frame)
{
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

/* Looks on behind the log's end, which is before the frame whose bytes these are, for what proves
 * that it was not the end. */
static int look_behind(const struct log *log, struct frame before, unsigned char *bytes, bool *lost)
{
    int more = 1;
    while (more > 0 && !*lost) {
        struct frame frame;
        /* One with other salts that continues from one of this log: its salts were damaged. But a
         * torn frame has new salts and old bytes, from which an older log's may well continue: so
         * only from one that is right itself. */
        if (continues(log, &before, bytes, &frame))
            *lost = frame.is_of_log ? before.commit
                                    : before.checks && before.is_of_log && frame.one_sector;
        before = frame;
        more = read_frame(log, frame.number + 1, bytes);
    }
    return more < 0 ? more : 0;
}

/* In *sound the number of frames that check: the log as SQLite sees it. In *lost, whether it was
 * longer. 0 or ERROR_IO. */
static int walk(const struct log *log, const struct frame *header, unsigned char *bytes,
                uint32_t *sound, bool *lost)
{
    struct frame before = *header, frame;
    int more;
    while ((more = read_frame(log, before.number + 1, bytes)) > 0 &&
           continues(log, &before, bytes, &frame) && frame.is_of_log)
        before = frame;
    *sound = before.number;
    return more > 0 ? look_behind(log, before, bytes, lost) : more;
}

/* ---- the header ---- */

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

static struct frame as_frame(const struct log *log, const unsigned char header[HEADER_SIZE])
{
    return (struct frame){
        .commit = true,
        .is_of_log = true,
        .one_sector = true,
        .checks = true,
        .stored = sum_at(header + HEADER_SIZE - 8),
        .computed = sum_on((struct sum){0, 0}, header, HEADER_SIZE - 8, log->big_endian),
    };
}

/* SQLite takes a log with such a header for an empty one. What the header says is not to be
 * believed then: neither the salts, which are the first frame's, nor how words are read. */
static int walk_without_header(struct log *log, const unsigned char header[HEADER_SIZE],
                               unsigned char *bytes, bool *lost)
{
    int more = 0;
    log->page_size = LEDGER_PAGE_SIZE;
    for (int big = 0; big < 2 && !*lost && (more = read_frame(log, 1, bytes)) > 0; big++) {
        log->big_endian = big;
        log->salts[0] = word_at(bytes + 8);
        log->salts[1] = word_at(bytes + 12);
        more = look_behind(log, as_frame(log, header), bytes, lost);
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

static int look(struct log *log, unsigned char *bytes, const struct walindex *index,
                struct finding *finding)
{
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
    const struct frame first = as_frame(log, header);
    int code;
    *finding = (struct finding){
        .headless = (magic | 1) != (MAGIC | 1) || word_at(header + 4) != VERSION ||
                    !is_page_size(log->page_size) || !is_same(first.stored, first.computed)};
    if (finding->headless)
        code = walk_without_header(log, header, bytes, &finding->lost);
    else
        code = walk(log, &first, bytes, &finding->sound, &finding->lost);
    finding->place = finding->headless ? 0 : frame_place(log, finding->sound + 1);
    if (index && index->frames > finding->sound &&
        (finding->headless || memcmp(index->salts, log->salts, sizeof log->salts) == 0))
        finding->lost = true;
    return code;
}

static int refuse(const struct finding *finding, const char *path, struct error *err)
{
    char what[32] = "its header";
    if (!finding->headless)
        snprintf(what, sizeof what, "frame %u", finding->sound + 1);
    return error_set(err, ERROR_CORRUPT,
                     "%s-wal is damaged (%s, at byte %jd, is not what was committed): restore %s "
                     "from a backup, or move both away to start with nothing",
                     path, what, (intmax_t)finding->place, path);
}

static int check(int fd, const char *path, const struct walindex *index, struct error *err)
{
    struct log log = {.fd = fd};
    struct finding finding = {.lost = false};
    unsigned char *bytes = malloc(FRAME_HEADER_SIZE + PAGE_SIZE_MAX);
    if (!bytes)
        return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);

    /* Twice the same: else somebody writes while we read. */
    uint32_t before;
    int code = fdatasync(fd);
    do {
        before = finding.lost ? finding.sound : UINT32_MAX;
        code = code ? code : look(&log, bytes, index, &finding);
    } while (code == 0 && finding.lost && finding.sound != before);
    free(bytes);
    if (code < 0)
        return error_set(err, ERROR_IO, "cannot read %s-wal: %s: look for errors of its disk", path,
                         strerror(errno));
    return finding.lost ? refuse(&finding, path, err) : 0;
}

int wal_check(const char *path, struct error *err)
{
    /* The index first: what it says of a log that is written meanwhile stays true. */
    struct walindex index;
    const bool indexed = walindex_read(path, &index);
    char *name;
    if (asprintf(&name, "%s-wal", path) < 0)
        return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    int code = 0;
    if (fd >= 0)
        code = check(fd, path, indexed ? &index : NULL, err);
    else if (errno != ENOENT)
        code = error_set(err, ERROR_IO, "cannot open %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(name);
    return code;
}
