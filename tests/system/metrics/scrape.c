/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/metrics/scrape.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128 };

/* "# HELP name text" and "# TYPE name type": puts what follows the name into the family. */
static void take_comment(struct scrape *scrape, const char *line)
{
    char name[NAME_SIZE];
    int words = 0;
    const char *member = strncmp(line, "# HELP ", 7) == 0 ? "help" : "type";
    assert_true(sscanf(line + 7, "%127s %n", name, &words) == 1 && words > 0);
    json_t *family = json_object_get(scrape->families, name);
    if (!family) {
        family = json_pack("{s:s, s:i}", "labels", "", "samples", 0);
        assert_int_equal(json_object_set_new(scrape->families, name, family), 0);
    }
    if (json_object_get(family, member))
        fail_msg("%s has its %s twice", name, member);
    assert_int_equal(json_object_set_new(family, member, json_string(line + 7 + words)), 0);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* The family that a sample's name belongs to; a histogram's samples have three endings. */
static json_t *family_of(const struct scrape *scrape, const char *sample, size_t length)
{
    static const char *const endings[] = {"", "_bucket", "_sum", "_count"};
    char name[NAME_SIZE];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!ends_with(sample, length, endings[i]))
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - strlen(endings[i])), sample);
        json_t *family = json_object_get(scrape->families, name);
        if (family && (i > 0) == (strcmp(json_string_value(json_object_get(family, "type")),
                                         "histogram") == 0))
            return family;
    }
    fail_msg("%.*s has no HELP and TYPE before it", (int)length, sample);
    return NULL;
}

static void add_label(json_t *family, const char *label, size_t length)
{
    char labels[NAME_SIZE];
    const char *have = json_string_value(json_object_get(family, "labels"));
    if (length == 2 && memcmp(label, "le", 2) == 0)
        return;
    for (const char *at = have; *at; at += strcspn(at, ",") + (strchr(at, ',') ? 2 : 0))
        if (strcspn(at, ",") == length && memcmp(at, label, length) == 0)
            return;
    (void)snprintf(labels, sizeof labels, "%s%s%.*s", have, *have ? ", " : "", (int)length, label);
    json_object_set_new(family, "labels", json_string(labels));
}

static void take_sample(struct scrape *scrape, const char *line)
{
    size_t name = strcspn(line, "{ ");
    json_t *family = family_of(scrape, line, name);
    const char *at = line + name;
    json_t *samples = json_object_get(family, "samples");
    json_integer_set(samples, json_integer_value(samples) + 1);
    scrape->samples++;
    if (*at != '{')
        return;
    for (at++; *at != '}';) {
        size_t length = strcspn(at, "=");
        assert_true(at[length] == '=' && at[length + 1] == '"');
        add_label(family, at, length);
        for (at += length + 2; *at != '"'; at++) {
            at += *at == '\\';
            assert_true(*at);
        }
        at += at[1] == ',' ? 2 : 1;
    }
}

void scrape_take(struct scrape *scrape, struct plainhttp *http)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(http, "GET", "/metrics", NULL, &reply), 200);
    *scrape = (struct scrape){.families = json_object()};
    assert_true(asprintf(&scrape->text, "\n%s", reply.text) > 0);
    char *save = NULL, *lines = strdup(reply.text);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#')
            take_comment(scrape, line);
        else
            take_sample(scrape, line);
    }
    free(lines);
    plainhttp_reply_release(&reply);
}

void scrape_release(struct scrape *scrape)
{
    free(scrape->text);
    json_decref(scrape->families);
}

static const char *find(const struct scrape *scrape, const char *series)
{
    size_t length = strlen(series);
    for (const char *at = scrape->text; (at = strstr(at, series)) != NULL; at++)
        if (at[-1] == '\n' && at[length] == ' ')
            return at + length + 1;
    return NULL;
}

bool scrape_has(const struct scrape *scrape, const char *series)
{
    return find(scrape, series) != NULL;
}

double scrape_value(const struct scrape *scrape, const char *series)
{
    const char *value = find(scrape, series);
    if (!value)
        fail_msg("there is no %s in\n%s", series, scrape->text);
    return strtod(value, NULL);
}
