/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ids (base/idset.h): the whole input is the text. */

#include "base/idset.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 6 * 65536 }; /* longer than any set's text */

static bool is_same(const struct idset *one, const struct idset *other)
{
    return one->count == other->count && memcmp(one->words, other->words, sizeof one->words) == 0;
}

static void check_next(const struct idset *set, uint32_t from)
{
    int next = idset_next(set, from);
    FUZZ_CHECK((next < 0) == (set->count == 0));
    FUZZ_CHECK(next < 0 || idset_has(set, (uint16_t)next));
    if (from <= UINT16_MAX && idset_has(set, (uint16_t)from))
        FUZZ_CHECK(next == (int)from);
}

static void check_taken(const struct idset *set, const char *text)
{
    static char formatted[TEXT_SIZE];
    struct idset again;
    formatted[0] = '\0';
    FILE *out = fmemopen(formatted, sizeof formatted, "w");
    FUZZ_CHECK(out);
    idset_print(out, set);
    FUZZ_CHECK(fclose(out) == 0);
    FUZZ_CHECK(strlen(formatted) <= strlen(text)); /* it is the shortest */
    idset_init(&again);
    FUZZ_CHECK(idset_parse(&again, formatted, NULL) == 0);
    FUZZ_CHECK(is_same(set, &again));

    uint32_t count = 0;
    for (size_t i = 0; i < IDSET_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    FUZZ_CHECK(count == set->count);
    for (uint32_t from = 0; from <= UINT16_MAX + 1; from += 4099)
        check_next(set, from);

    int first = idset_next(set, 0);
    if (first < 0)
        return;
    idset_remove(&again, (uint16_t)first);
    FUZZ_CHECK(again.count == count - 1 && !idset_has(&again, (uint16_t)first));
    idset_add(&again, (uint16_t)first);
    FUZZ_CHECK(is_same(set, &again));
}

void fuzz_one(struct fuzz_input *in)
{
    struct error err = {0};
    struct idset set;
    char *text = fuzz_rest(in);
    idset_init(&set);
    idset_add(&set, 7);
    if (idset_parse(&set, text, &err) == 0) {
        check_taken(&set, text);
    } else {
        FUZZ_CHECK(err.code == ERROR_INVALID && err.text[0] != '\0');
        FUZZ_CHECK(set.count == 1 && idset_has(&set, 7)); /* unchanged */
    }
    free(text);
}
