/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file (broker/config/config.h): the whole input. */

#include "broker/config/config.h"
#include "broker/config/table.h"
#include "broker/config/value.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 120 }; /* of what is written anew; longer ones would need more lines */

/* What was reported, as a hash: there can be thousands of lines. */
struct reports {
    uint64_t hash;
    unsigned faults;
    bool shown; /* on stderr */
};

/* config_create gives 64,511 ids to the pool, twice: once is enough. */
static const struct config *defaults(void)
{
    static struct config *fresh;
    if (!fresh && !(fresh = config_create()))
        abort();
    return fresh;
}

static struct config *fresh_config(void)
{
    struct config *config = malloc(sizeof *config);
    if (!config)
        abort();
    *config = *defaults();
    config->admins = NULL; /* the only thing in it that is on the heap */
    const struct config_key *admins = config_key_find("broker", "admins");
    FUZZ_CHECK(config_value_set(admins, config, admins->initial, false, NULL) == 0);
    return config;
}

static void on_report(void *arg, bool fault, const char *line)
{
    struct reports *reports = arg;
    if (reports->shown)
        (void)fprintf(stderr, "%s\n", line);
    reports->faults += fault;
    reports->hash = (reports->hash ^ fault) * UINT64_C(0x100000001b3);
    for (; *line != '\0'; line++) {
        FUZZ_CHECK((unsigned char)*line >= ' ' && *line != 0x7f);
        reports->hash = (reports->hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
    }
}

static int load(struct config *config, const char *bytes, size_t length, struct reports *reports)
{
    int rc =
        config_load(config, fuzz_file(bytes, length), CONFIG_ANY_OWNER, NULL, on_report, reports);
    FUZZ_CHECK((rc == 0) == (reports->faults == 0)); /* who refuses says why */
    return rc;
}

/* The sections with names, clusters before profiles, and behind them all the others as one. */
static bool next_section(const struct config *config, enum config_place *place, uint32_t *index)
{
    const uint32_t counts[] = {[CONFIG_CLUSTER] = config->core.cluster_count,
                               [CONFIG_PROFILE] = config->core.profile_count,
                               [CONFIG_PLAIN] = 0};
    ++*index;
    while (*place != CONFIG_PLAIN && *index == counts[*place]) {
        *place = *place == CONFIG_CLUSTER ? CONFIG_PROFILE : CONFIG_PLAIN;
        *index = 0;
    }
    return *place != CONFIG_PLAIN || *index == 0;
}

#define EACH_SECTION(config, place, index)                                                         \
    enum config_place place = CONFIG_CLUSTER;                                                      \
    for (uint32_t index = UINT32_MAX; next_section(config, &place, &index);)

static char *value_of(const struct config *config, const struct config_key *key, uint32_t index)
{
    struct config *base = (struct config *)(uintptr_t)config;
    char *text = config_value_text(key, config_base(base, config_key_place(key), index));
    FUZZ_CHECK(text);
    return text;
}

static bool same_pool(const struct config *one, const struct config *other)
{
    const struct idset *a = &one->core.vni_pool, *b = &other->core.vni_pool;
    return memcmp(a->words, b->words, sizeof a->words) == 0;
}

/* All values as a file. Those that are too long for one line are left out, and the pool when it is
 * the default: to read that takes as long as all else. */
static void write_all(FILE *out, const struct config *config)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    EACH_SECTION(config, place, index)
    {
        const bool plain = place == CONFIG_PLAIN;
        if (!plain) /* both begin with their names */
            (void)fprintf(
                out, "[%s \"%s\"]\n", place == CONFIG_CLUSTER ? "cluster" : "profile",
                (const char *)config_base((struct config *)(uintptr_t)config, place, index));
        for (size_t i = 0; i < count; i++) {
            if (config_key_place(&keys[i]) != place)
                continue;
            bool pool_left_out = keys[i].type == CONFIG_IDSET && same_pool(config, defaults());
            char *value = pool_left_out ? NULL : value_of(config, &keys[i], index);
            if (plain && (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0))
                (void)fprintf(out, "[%s]\n", keys[i].section);
            bool none = value && strcmp(value, "unset") == 0;
            if (value && strlen(value) <= VALUE_MAX && (!none || keys[i].initial))
                (void)fprintf(out, "%s=%s\n", keys[i].name, none ? "" : value);
            free(value);
        }
    }
}

static void check_same(const struct config *one, const struct config *other)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    FUZZ_CHECK(one->core.cluster_count == other->core.cluster_count);
    FUZZ_CHECK(same_pool(one, other));
    FUZZ_CHECK(one->core.profile_count == other->core.profile_count);
    EACH_SECTION(one, place, index)
    {
        for (size_t i = 0; i < count; i++) {
            if (config_key_place(&keys[i]) != place)
                continue;
            if (keys[i].type == CONFIG_IDSET) /* 65,536 ids are many to look at in each try */
                continue;
            char *a = value_of(one, &keys[i], index), *b = value_of(other, &keys[i], index);
            FUZZ_CHECK(strcmp(a, b) == 0 || strlen(a) > VALUE_MAX);
            free(a);
            free(b);
        }
    }
}

/* What was understood, written down, is understood as the same. */
static void check_written(const struct config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct config *again = fresh_config();
    struct reports reports = {0}, shown = {.shown = true};
    write_all(out, config);
    (void)fclose(out);
    if (load(again, text, size, &reports) != 0) {
        (void)fprintf(stderr, "%s\n", text);
        (void)load(again, text, size, &shown);
        FUZZ_CHECK(!"what was written is understood");
    }
    check_same(config, again);
    config_destroy(again);
    free(text);
}

/* One in eight, always the same. */
static bool chosen(const char *bytes, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += (unsigned char)bytes[i];
    return sum % 8 == 0;
}

/* The same bytes come to the same, in words too: nothing is left over from what was read before. */
static void check_again(const char *bytes, size_t length, const struct config *config, int rc,
                        const struct reports *reports)
{
    struct config *again = fresh_config();
    struct reports second = {0};
    FUZZ_CHECK(load(again, bytes, length, &second) == rc);
    FUZZ_CHECK(second.hash == reports->hash && second.faults == reports->faults);
    if (rc == 0)
        check_same(config, again);
    config_destroy(again);
}

void fuzz_one(struct fuzz_input *in)
{
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    struct config *config = fresh_config();
    struct reports reports = {0};
    int rc = load(config, bytes, length, &reports);
    if (chosen(bytes, length))
        check_again(bytes, length, config, rc, &reports);
    if (rc == 0) {
        FUZZ_CHECK(core_config_check(&config->core, NULL) == 0);
        check_written(config);
    }
    config_destroy(config);
    free(bytes);
}
