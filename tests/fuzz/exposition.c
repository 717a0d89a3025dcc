/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics for Prometheus (broker/http/metrics/exposition.h): a byte for the kind of sample, eight
 * for its value, and two lines with what its labels say. Read back by the grammar of the text
 * format. */

#include "broker/http/metrics/exposition.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    LABEL_MAX = 200
}; /* longer than any cluster's name; labels are bounded where they come from */

/* Behind "text", unescaped into out. */
static const char *read_quoted(const char *at, char *out)
{
    FUZZ_CHECK(*at++ == '"');
    for (; *at != '"'; at++) {
        FUZZ_CHECK(*at >= ' ' && *at <= '~');
        if (*at == '\\') {
            at++;
            FUZZ_CHECK(*at == '"' || *at == '\\' || *at == 'n');
        }
        *out++ = *at;
    }
    *out = '\0';
    return at + 1;
}

static const char *read_name(const char *at)
{
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    FUZZ_CHECK(length > 0);
    return at + length;
}

/* What a label of this text reads as. */
static void check_label(const char *read, const char *written)
{
    FUZZ_CHECK(strlen(read) == strlen(written));
    for (; *read != '\0'; read++, written++)
        FUZZ_CHECK(*read == (*written >= ' ' && *written <= '~' ? *written : '?'));
}

/* name{label="text",…} value; returns the next line. */
static const char *read_sample(const char *at, const char *const texts[2])
{
    char text[4 * LABEL_MAX];
    size_t count = 0;
    at = read_name(at);
    if (*at == '{') {
        do {
            at = read_name(at + 1);
            FUZZ_CHECK(*at == '=');
            at = read_quoted(at + 1, text);
            if (count < 2)
                check_label(text, texts[count]);
            count++;
        } while (*at == ',');
        FUZZ_CHECK(*at++ == '}');
    }
    FUZZ_CHECK(*at++ == ' ');
    char *end = NULL;
    (void)strtod(at, &end);
    FUZZ_CHECK(end > at && *end == '\n' && count >= 2 && count <= 3);
    return end + 1;
}

static void check_text(const char *text, const char *const texts[2], unsigned samples)
{
    unsigned found = 0;
    FUZZ_CHECK(strncmp(text, "# HELP mcastd_x Help.\n# TYPE mcastd_x ", 38) == 0);
    text = strchr(strchr(text, '\n') + 1, '\n') + 1;
    for (; *text != '\0'; found++)
        text = read_sample(text, texts);
    FUZZ_CHECK(found == samples);
}

static uint64_t take_number(struct fuzz_input *in)
{
    uint64_t number = 0;
    for (int i = 0; i < 4; i++)
        number = number << 16 | fuzz_pair(in);
    return number;
}

static unsigned write_sample(struct exposition *to, uint8_t kind, uint64_t number,
                             const char *const texts[2])
{
    const char *const labels[] = {"cluster", texts[0], "url", texts[1], NULL};
    struct histogram histogram = {.scale = kind & 4 ? HISTOGRAM_SIZES : HISTOGRAM_TIMES};
    switch (kind % 4) {
    case 0:
        exposition_count(to, number, labels);
        return 1;
    case 1:
        exposition_real(to, (double)number / 7, labels);
        return 1;
    case 2:
        exposition_time(to, (int64_t)number, labels);
        return number != 0;
    default:
        for (int i = 0; i < 64; i += 8)
            histogram_add(&histogram, (int64_t)(number >> i & 0xffff));
        exposition_histogram(to, &histogram, labels);
        return (unsigned)histogram_bounds(histogram.scale) + 3;
    }
}

void fuzz_one(struct fuzz_input *in)
{
    static struct writer writer;
    struct exposition to = {.out = &writer};
    uint8_t kind = fuzz_byte(in);
    uint64_t number = take_number(in);
    char *one = fuzz_line(in), *other = fuzz_line(in);
    const char *const texts[2] = {one, other};
    if (strlen(one) <= LABEL_MAX && strlen(other) <= LABEL_MAX) {
        exposition_family(&to, "mcastd_x", kind % 4 == 3 ? HISTOGRAM : GAUGE, "Help.");
        unsigned samples = write_sample(&to, kind, number, texts);
        writer_textf(&writer, "%c", '\0');
        FUZZ_CHECK(!writer.failed);
        check_text(writer.data, texts, samples);
    }
    writer_wipe(&writer);
    free(one);
    free(other);
}
