/* SPDX-License-Identifier: Apache-2.0 */
/* What the SPANK plugin reads: a user's --mcast and those of the job around it, a line each; then
 * what Prolog left of the job's grant, in two pieces (deploy/slurm/spank). */

#include "deploy/slurm/spank/grant.h"
#include "deploy/slurm/spank/options.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_options(const char *text, const char *job)
{
    struct options options;
    struct error err = {0};
    const int rc = options_read(&options, text, &err);
    FUZZ_CHECK(rc == 0 || (rc == ERROR_INVALID && err.text[0]));
    FUZZ_CHECK(options_step_fits(text, text) && options_step_fits("hwcoll=off", job));
    (void)options_step_fits(text, job);
    if (rc < 0)
        return;
    /* It goes into environments and through shells' hands. */
    FUZZ_CHECK(!strpbrk(text, " \t\n'\"\\$`;&|<>(){}*?[]~#!%") && strlen(text) <= OPTIONS_TEXT_MAX);
    FUZZ_CHECK(options.of_job || strncmp(text, "hwcoll=", 7) == 0);
    FUZZ_CHECK(fuzz_is_line(text));
}

static void check_grant(const struct grant *grant)
{
    FUZZ_CHECK(grant->length <= sizeof grant->text);
    for (int i = 0; i < GRANT_COUNT; i++) {
        const char *value = grant->values[i];
        FUZZ_CHECK(!value || (value > grant->text && value < grant->text + grant->length));
        FUZZ_CHECK(!value || (value[0] && memchr(value, 0, grant->length)));
    }
}

static void take(struct grant *grant, const char *bytes, size_t length)
{
    const size_t room = sizeof grant->text - grant->length;
    const size_t before = grant->length;
    struct error err = {0};
    if (length > room)
        return;
    memcpy(grant->text + grant->length, bytes, length);
    const int rc = grant_take(grant, length, &err);
    FUZZ_CHECK(rc == 0 ? grant->length == before + length
                       : rc == ERROR_INVALID && grant->length == before);
    check_grant(grant);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct grant grant;
    char *text = fuzz_line(in), *job = fuzz_line(in);
    check_options(text, job);
    (void)grant_is_of(text, "elcap", 17);
    (void)grant_is_of(job, "", 17);
    size_t half = fuzz_pair(in), length;
    char *bytes = fuzz_bytes(in, &length);
    half = half < length ? half : length;
    grant_forget(&grant);
    take(&grant, bytes, half);
    take(&grant, bytes + half, length - half);
    free(bytes);
    free(job);
    free(text);
}
