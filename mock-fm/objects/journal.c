/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"

/* The file is rewritten when it has this many lines more than four times what is held. */
#define SPARE_LINES 100000

struct journal {
    char *path;
    char *new_path; /* where a rewritten file grows before it takes the old one's place */
    const struct objects *objects;
    int fd;
    uint64_t lines; /* appended since the file was rewritten */
};

/* All bytes or none: what a full disk cut short is cut off again. */
static int write_line(int fd, const char *line, size_t length)
{
    off_t before = lseek(fd, 0, SEEK_END);
    size_t done = 0;
    while (done < length) {
        ssize_t written = write(fd, line + done, length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            int cause = errno;
            if (done > 0 && (before < 0 || ftruncate(fd, before) < 0))
                return -EIO;
            return -cause;
        }
        done += (size_t)written;
    }
    return 0;
}

static int write_change(int fd, const json_t *change)
{
    char *text = json_dumps(change, JSON_COMPACT);
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL */
    int result = write_line(fd, text, length + 1);
    free(text);
    return result;
}

static int write_all(int fd, const struct objects *objects)
{
    json_t *changes = objects_changes(objects);
    int result = 0;
    for (size_t i = 0; result == 0 && i < json_array_size(changes); i++)
        result = write_change(fd, json_array_get(changes, i));
    json_decref(changes);
    return result;
}

/* Writes what is held into a new file and puts it in the old one's place. */
static int rewrite(struct journal *journal)
{
    int fd = open(journal->new_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int result = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : write_all(fd, journal->objects);
    if (result == 0 && (fsync(fd) < 0 || rename(journal->new_path, journal->path) < 0))
        result = -errno;
    if (result < 0) {
        unlink(journal->new_path);
        close(fd);
        return result;
    }
    close(journal->fd);
    journal->fd = fd;
    journal->lines = 0;
    return 0;
}

static int replay(struct journal *journal, struct objects *objects, struct problem *problem)
{
    FILE *file = fdopen(dup(journal->fd), "r");
    char *line = NULL;
    size_t size = 0;
    unsigned long number = 0;
    ssize_t length;
    int result = 0;
    if (!file)
        return problem_set(problem, 500, "cannot read %s: %s", journal->path, strerror(errno));
    while (result == 0 && (length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n') {
        number++;
        json_t *change = json_loadb(line, (size_t)length, 0, NULL);
        result = objects_apply(objects, change);
        json_decref(change);
    }
    if (result < 0)
        problem_set(problem, 500,
                    "%s:%lu: this is no line of a mock-fm state file, or it contradicts the lines "
                    "before; move the file away to start empty",
                    journal->path, number);
    else if (ferror(file))
        result = problem_set(problem, 500, "cannot read %s: %s", journal->path, strerror(errno));
    free(line);
    fclose(file);
    return result < 0 ? -1 : 0;
}

static int open_file(struct journal *journal, struct objects *objects, struct problem *problem)
{
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->fd < 0)
        return problem_set(problem, 500, "cannot open %s: %s", journal->path, strerror(errno));
    if (flock(journal->fd, LOCK_EX | LOCK_NB) < 0)
        return problem_set(problem, 500, "%s is in use by another mock-fm", journal->path);
    if (replay(journal, objects, problem) < 0)
        return -1;
    int result = rewrite(journal);
    return result == 0 ? 0
                       : problem_set(problem, 500, "cannot write %s: %s", journal->new_path,
                                     strerror(-result));
}

struct journal *journal_open(const char *path, struct objects *objects, struct problem *problem)
{
    struct journal *journal = memory_zeroed(sizeof *journal);
    *journal = (struct journal){.path = memory_text(path),
                                .new_path = memory_format("%s.new", path),
                                .objects = objects,
                                .fd = -1};
    if (open_file(journal, objects, problem) == 0)
        return journal;
    journal_close(journal);
    return NULL;
}

int journal_append(struct journal *journal, json_t *change, struct problem *problem)
{
    uint64_t held = journal->objects->totals.jobs + journal->objects->totals.trees;
    int result = 0;
    if (journal->lines > SPARE_LINES + 4 * held)
        result = rewrite(journal);
    if (result == 0)
        result = write_change(journal->fd, change);
    if (result < 0)
        return problem_set(problem, 500, "cannot write %s: %s", journal->path, strerror(-result));
    journal->lines++;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    free(journal->new_path);
    free(journal->path);
    free(journal);
}
