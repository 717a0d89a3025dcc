/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/plant.h"

#include "core/reservation/record.h"

#include <string.h>

static const struct {
    const char *word, *what;
} plants[PLANT_END] = {{"none", "nothing is done wrong on purpose"},
#define PLANT_ROW_(name, word, what) {word, what},
                       PLANTS(PLANT_ROW_)
#undef PLANT_ROW_
};

const char *plant_word(enum plant plant)
{
    return plants[plant].word;
}

const char *plant_what(enum plant plant)
{
    return plants[plant].what;
}

int plant_from_word(const char *word)
{
    for (int plant = 0; plant < PLANT_END; plant++)
        if (strcmp(plants[plant].word, word) == 0)
            return plant;
    return -1;
}

bool plant_record(enum plant plant, struct record *record)
{
    const struct reservation_record *r = &record->u.reservation;
    switch (plant) {
    case PLANT_SKIP_INTENT:
        return record->kind != RECORD_RESERVATION || r->hwcoll != HWCOLL_WANTED;
    case PLANT_LOSE_RELEASE:
        return record->kind != RECORD_RESERVATION || r->state != JOB_RELEASING;
    case PLANT_SWALLOW_LOST:
        if (record->kind == RECORD_EVENT && record->u.event.kind == EVENT_LOST)
            record->u.event.kind = EVENT_UNAVAILABLE;
        return true;
    default:
        return true;
    }
}
