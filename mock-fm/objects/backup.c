#include "mock-fm/objects/backup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/recount.h"

struct backup {
    char **lines; /* changes, encoded as in the journal */
    size_t count, room;
};

static int add(void *cls, const struct change *change)
{
    struct backup *backup = cls;

    if (backup->count == backup->room) {
        size_t room = backup->room ? backup->room * 2 : 64;
        char **grown = reallocarray(backup->lines, room, sizeof grown[0]);

        if (!grown)
            return -ENOMEM;
        backup->lines = grown;
        backup->room = room;
    }
    if (!(backup->lines[backup->count] = change_encode(change)))
        return -ENOMEM;
    backup->count++;
    return 0;
}

struct backup *backup_create(const struct objects *objects)
{
    struct backup *backup = calloc(1, sizeof *backup);

    if (backup && recount(objects, add, backup) < 0) {
        backup_destroy(backup);
        return NULL;
    }
    return backup;
}

void backup_destroy(struct backup *backup)
{
    if (!backup)
        return;
    for (size_t i = 0; i < backup->count; i++) {
        explicit_bzero(backup->lines[i], strlen(backup->lines[i]));
        free(backup->lines[i]);
    }
    free(backup->lines);
    free(backup);
}

int backup_restore(const struct backup *backup, struct fabric *fabric, int64_t now_us,
                   struct problem *problem)
{
    const struct change reset = {.kind = CHANGE_RESET, .at_us = now_us};
    int result = fabric_commit(fabric, &reset, problem);

    for (size_t i = 0; i < backup->count && result == 0; i++) {
        struct change_read read;

        if (change_decode(backup->lines[i], strlen(backup->lines[i]), &read) < 0)
            return problem_set(problem, 500, "out of memory");
        result = fabric_commit(fabric, &read.change, problem);
        change_release(&read);
    }
    return result;
}
