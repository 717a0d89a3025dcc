/* The configuration file (broker/config.h): the whole input. */

#include "broker/config.h"
#include "broker/config_table.h"
#include "broker/config_value.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 120 }; /* of what is written anew; longer ones would need more lines */

struct reports {
    FILE *out;
    char *text;
    size_t size;
};

/* config_create gives 64,511 ids to the pool, twice: once is enough. */
static struct config *fresh_config(void)
{
    static struct config *fresh;
    struct config *config = malloc(sizeof *config);
    if (!config || (!fresh && !(fresh = config_create())))
        abort();
    *config = *fresh;
    config->admins = NULL; /* the only thing in it that is on the heap */
    const struct config_key *admins = config_key_find("broker", "admins");
    FUZZ_CHECK(config_value_set(admins, config, admins->initial, false, NULL) == 0);
    return config;
}

static void on_report(void *arg, bool fault, const char *line)
{
    struct reports *reports = arg;
    (void)fprintf(reports->out, "%d %s\n", fault, line);
    for (; *line != '\0'; line++)
        FUZZ_CHECK((unsigned char)*line >= ' ' && *line != 0x7f);
}

static int load(struct config *config, const char *bytes, size_t length, struct reports *reports)
{
    reports->out = open_memstream(&reports->text, &reports->size);
    int rc = config_load(config, fuzz_file(bytes, length), on_report, reports);
    (void)fclose(reports->out);
    FUZZ_CHECK(rc == 0 || strstr(reports->text, "1 ") != NULL); /* who refuses says why */
    return rc;
}

static char *value_of(const struct config *config, const struct config_key *key, uint32_t cluster)
{
    bool in_cluster = strcmp(key->section, "cluster") == 0;
    char *text = config_value_text(key, in_cluster ? (const void *)&config->clusters[cluster]
                                                   : (const void *)config);
    FUZZ_CHECK(text);
    return text;
}

/* All values as a file; those that are too long for one line are left out. */
static void write_all(FILE *out, const struct config *config)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (uint32_t cluster = 0; cluster <= config->core.cluster_count; cluster++) {
        bool plain = cluster == config->core.cluster_count;
        if (!plain)
            (void)fprintf(out, "[cluster \"%s\"]\n", config->clusters[cluster].name);
        for (size_t i = 0; i < count; i++) {
            if (plain == (strcmp(keys[i].section, "cluster") == 0))
                continue;
            char *value = value_of(config, &keys[i], cluster);
            if (plain && (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0))
                (void)fprintf(out, "[%s]\n", keys[i].section);
            if (strlen(value) <= VALUE_MAX && strcmp(value, "unset") != 0)
                (void)fprintf(out, "%s=%s\n", keys[i].name, value);
            free(value);
        }
    }
}

static void check_same(const struct config *one, const struct config *other)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    FUZZ_CHECK(one->core.cluster_count == other->core.cluster_count);
    FUZZ_CHECK(memcmp(one->core.vni_pool.words, other->core.vni_pool.words,
                      sizeof one->core.vni_pool.words) == 0);
    for (uint32_t cluster = 0; cluster <= one->core.cluster_count; cluster++) {
        bool plain = cluster == one->core.cluster_count;
        for (size_t i = 0; i < count; i++) {
            if (plain == (strcmp(keys[i].section, "cluster") == 0))
                continue;
            if (keys[i].type == CONFIG_IDSET) /* 65,536 ids are many to look at in each try */
                continue;
            char *a = value_of(one, &keys[i], cluster), *b = value_of(other, &keys[i], cluster);
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
    struct reports reports = {0};
    struct config *again = fresh_config();
    write_all(out, config);
    (void)fclose(out);
    int rc = load(again, text, size, &reports);
    if (rc != 0)
        (void)fprintf(stderr, "%s\n%s", text, reports.text);
    FUZZ_CHECK(rc == 0);
    check_same(config, again);
    config_destroy(again);
    free(reports.text);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    struct config *config = fresh_config(), *again = fresh_config();
    struct reports first = {0}, second = {0};
    int rc = load(config, bytes, length, &first);
    FUZZ_CHECK(load(again, bytes, length, &second) == rc);
    FUZZ_CHECK(strcmp(first.text, second.text) == 0);
    if (rc == 0) {
        FUZZ_CHECK(core_config_check(&config->core, NULL) == 0);
        check_same(config, again);
        check_written(config);
    }
    config_destroy(config);
    config_destroy(again);
    free(first.text);
    free(second.text);
    free(bytes);
}
