/* SPDX-License-Identifier: Apache-2.0 */
/* node.conf (node/settings.h): the whole input. What was taken is read a second time here, by
 * hand. */

#include "base/names.h"
#include "core/reservation/record.h"
#include "node/settings.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char file_name[] = "node.conf";
static struct settings initial; /* the defaults take longer than most inputs */

/* The faults as one text. */
static unsigned int parse(const char *text, struct settings *settings, char **faults)
{
    size_t size = 0;
    char *copy = strdup(text);
    FILE *out = open_memstream(faults, &size);
    if (!copy || !out)
        abort();
    *settings = initial;
    unsigned int count = settings_parse(settings, copy, file_name, out);
    fclose(out);
    free(copy);
    return count;
}

static void check_faults(const char *faults, unsigned int count)
{
    for (; count > 0; count--) {
        FUZZ_CHECK(strncmp(faults, file_name, strlen(file_name)) == 0);
        faults = strchr(faults, '\n');
        FUZZ_CHECK(faults);
        faults++;
    }
    FUZZ_CHECK(*faults == '\0');
}

static bool is_duration(int64_t ms)
{
    return ms >= 0 && ms <= 86400000;
}

static void check_bounds(const struct settings *settings)
{
    struct cxi_rsrc_limits want;
    const char *const paths[] = {settings->cacert, settings->cert, settings->key,
                                 settings->munge_socket, settings->spool};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        FUZZ_CHECK(paths[i][0] == '/' || paths[i][0] == '\0');
    FUZZ_CHECK(!settings->cluster[0] || cluster_name_valid(settings->cluster));
    FUZZ_CHECK(is_duration(settings->timeout_ms) && is_duration(settings->epilog_ms) &&
               is_duration(settings->housekeeping_ms));
    FUZZ_CHECK(settings->min_nics <= 16);
    FUZZ_CHECK(settings->traffic_classes && settings->traffic_classes <= TC_ALL);
    limits_want(&settings->limits, settings->min_nics * 4000, &want);
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        const struct limits_rule *rule = &settings->limits.of[type];
        FUZZ_CHECK(rule->def <= UINT16_MAX && rule->res <= UINT16_MAX && rule->max <= UINT16_MAX);
        FUZZ_CHECK(want.type[type].res <= want.type[type].max && want.type[type].max <= rule->max);
    }
    FUZZ_CHECK(want.tles.res == want.tles.max);
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);)
        text[--length] = '\0';
    return text;
}

/* The key's value as it stands in a sound file, or NULL. In text, which is cut. */
static char *value_of(char *text, const char *key)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        char *word = strsep(&line, "=");
        word = trim(word);
        if (line && word[0] != '#' && word[0] != ';' && strcmp(word, key) == 0)
            return trim(line);
    }
    return NULL;
}

static void check_text(const char *text, const char *key, const char *taken)
{
    char *copy = strdup(text), *value = value_of(copy, key);
    FUZZ_CHECK(!value || strcmp(value, taken) == 0);
    free(copy);
}

static void check_number(const char *text, const char *key, uint32_t taken)
{
    char *copy = strdup(text), *value = value_of(copy, key);
    FUZZ_CHECK(!value || strtoul(value, NULL, 10) == taken);
    free(copy);
}

static void check_values(const char *text, const struct settings *settings)
{
    const struct limits_rule *acs = &settings->limits.of[CXI_RSRC_TYPE_AC];
    check_text(text, "url", settings->url);
    check_text(text, "node", settings->node);
    check_text(text, "key", settings->key);
    check_text(text, "cluster", settings->cluster);
    check_text(text, "report", settings->report ? "yes" : "no");
    check_text(text, "adjust_limits", settings->adjust_limits ? "yes" : "no");
    check_number(text, "def_acs", acs->def);
    check_number(text, "res_acs", acs->res);
    check_number(text, "max_acs", acs->max);
    check_number(text, "min_nics", settings->min_nics);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct settings settings, again;
    char *faults = NULL, *other = NULL, *text = fuzz_rest(in);
    if (!initial.traffic_classes)
        settings_init(&initial);
    unsigned int count = parse(text, &settings, &faults);
    check_faults(faults, count);
    check_bounds(&settings);
    if (count == 0) {
        FUZZ_CHECK(parse(text, &again, &other) == 0);
        FUZZ_CHECK(memcmp(&settings.limits, &again.limits, sizeof again.limits) == 0);
        FUZZ_CHECK(settings.pool.count == again.pool.count);
        check_values(text, &again);
        check_values(text, &settings);
    }
    free(faults);
    free(other);
    free(text);
}
