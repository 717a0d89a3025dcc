/* SPDX-License-Identifier: Apache-2.0 */
/* What a request line points at (broker/http/request/target.h): the whole input. */

#include "broker/http/request/target.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text, each byte of it percent-encoded that could mean something. */
static void put_encoded(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (strchr("/?&=%#+ ", *text) || *text < ' ' || *text > '~')
            (void)fprintf(out, "%%%02x", (unsigned char)*text);
        else
            (void)fputc(*text, out);
}

static char *encoded(const struct target *target)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    if (target->segment_count == 0)
        (void)fputc('/', out);
    for (size_t i = 0; i < target->segment_count; i++) {
        (void)fputc('/', out);
        put_encoded(out, target->segments[i]);
    }
    for (size_t i = 0; i < target->query_count; i++) {
        (void)fputc(i == 0 ? '?' : '&', out);
        put_encoded(out, target->query[i].name);
        (void)fputc('=', out);
        put_encoded(out, target->query[i].value);
    }
    (void)fclose(out);
    return text;
}

static void check_same(const struct target *one, const struct target *other)
{
    FUZZ_CHECK(one->segment_count == other->segment_count);
    FUZZ_CHECK(one->query_count == other->query_count);
    for (size_t i = 0; i < one->segment_count; i++)
        FUZZ_CHECK(strcmp(one->segments[i], other->segments[i]) == 0);
    for (size_t i = 0; i < one->query_count; i++) {
        FUZZ_CHECK(strcmp(one->query[i].name, other->query[i].name) == 0);
        FUZZ_CHECK(strcmp(one->query[i].value, other->query[i].value) == 0);
    }
}

static void check_number(const char *text, uint64_t max)
{
    uint64_t value = 0;
    if (!target_number(text, max, &value))
        return;
    FUZZ_CHECK(value <= max && text[strspn(text, "0123456789")] == '\0');
    FUZZ_CHECK(value == strtoull(text, NULL, 10));
}

static void check_taken(const struct target *target)
{
    struct target again;
    struct problem problem;
    FUZZ_CHECK(target->segment_count <= TARGET_SEGMENTS_MAX);
    FUZZ_CHECK(target->query_count <= TARGET_QUERY_MAX);
    char *text = encoded(target);
    FUZZ_CHECK(target_split(text, &again, &problem) == 0);
    check_same(target, &again);
    free(text);
    for (size_t i = 0; i < target->query_count; i++) {
        FUZZ_CHECK(target_query(target, target->query[i].name) == target->query[i].value);
        check_number(target->query[i].value, UINT64_MAX);
        check_number(target->query[i].value, 1000);
    }
}

void fuzz_one(struct fuzz_input *in)
{
    struct target target;
    struct problem problem = {0};
    char *text = fuzz_rest(in);
    if (target_split(text, &target, &problem) == 0)
        check_taken(&target);
    else
        FUZZ_CHECK((problem.status == 400 || problem.status == 404) && problem.detail[0] != '\0');
    free(text);
}
