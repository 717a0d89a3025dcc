/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/boot.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char file_name[] = "boot";

uint64_t boot_order(const struct notes *notes, int64_t started_ms)
{
    uint64_t order = started_ms > 0 ? (uint64_t)started_ms : 1;
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->at[i];
        if (!note_is_current(note) && note->order >= order)
            order = note->order + 1;
    }
    /* Of what is here now, nothing must be taken for over. */
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->at[i];
        if (note_is_current(note) && note->order > 0 && note->order <= order)
            order = note->order - 1;
    }
    return order > 0 ? order : 1;
}

static int64_t started_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - note_clock_ms();
}

/* Whether it is there and of this boot. */
static bool boot_read(struct boot *boot, const struct statedir *dir)
{
    char now[STATEDIR_BOOT_SIZE], *text = NULL;
    const char *id = "";
    json_int_t order = 0;
    int owed = 0;
    statedir_boot(now);
    *boot = (struct boot){.order = 0};
    memcpy(boot->id, now, sizeof now);
    if (statedir_read(dir, file_name, &text, NULL) < 0)
        return false;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool good =
        json_unpack(root, "{s:s,s:I,s:b}", "boot", &id, "order", &order, "owed", &owed) == 0 &&
        strcmp(id, now) == 0 && order > 0;
    if (good) {
        boot->order = (uint64_t)order;
        boot->owed = owed;
    }
    json_decref(root);
    free(text);
    return good;
}

int boot_write(const struct statedir *dir, const struct boot *boot, struct error *err)
{
    json_t *root = json_pack("{s:s,s:I,s:b}", "boot", boot->id, "order", (json_int_t)boot->order,
                             "owed", boot->owed);
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    int rc = text ? statedir_write(dir, file_name, text, err)
                  : error_set(err, ERROR_NOMEM, "memory is exhausted");
    json_decref(root);
    free(text);
    return rc;
}

int boot_open(struct boot *boot, const struct statedir *dir, const struct notes *notes,
              struct error *err)
{
    if (boot_read(boot, dir))
        return 0;
    /* Several commands may be the first ones. */
    int rc = statedir_lock(dir, STATEDIR_BOOT, err);
    if (rc == 0 && !boot_read(boot, dir)) {
        boot->order = boot_order(notes, started_ms());
        rc = boot_write(dir, boot, err);
    }
    statedir_unlock(dir, STATEDIR_BOOT);
    return rc;
}
