/* SPDX-License-Identifier: Apache-2.0 */
/* What mcastctl doctor is told: a line from a program about its release (cli/doctor/doctor.h),
 * then the broker's findings (cli/doctor/findings.h). */

#include "cli/doctor/doctor.h"
#include "cli/command.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To print is not tried. */
int command_finish(void)
{
    abort();
}

int command_print_object(json_t *object)
{
    abort();
}

static void check_release(struct findings *findings, const char *text)
{
    static const char *const programs[] = {"libfabric", "slurm", "flux-core", "libcxi"};
    struct release release, again;
    char number[64];
    if (!release_find(text, &release))
        return;
    const unsigned *part = release.part;
    FUZZ_CHECK(strchr(text, '.') && release_compare(&release, &release) == 0);
    (void)snprintf(number, sizeof number, "%u.%u.%u.%u", part[0], part[1], part[2], part[3]);
    FUZZ_CHECK(release_find(number, &again) && release_compare(&release, &again) == 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        release_judge(findings, programs[i], &release, "by hand");
}

static void check(const struct findings *findings)
{
    json_t *document = findings_json(findings), *found;
    size_t i;
    FUZZ_CHECK(document);
    json_array_foreach(json_object_get(document, "findings"), i, found)
    {
        const char *words = json_string_value(json_object_get(found, "finding"));
        const char *advice = json_string_value(json_object_get(found, "advice"));
        FUZZ_CHECK(words);
        for (; *words != '\0'; words++)
            FUZZ_CHECK((unsigned char)*words >= ' ' && *words != 0x7f);
        for (; advice && *advice != '\0'; advice++)
            FUZZ_CHECK((unsigned char)*advice >= ' ' && *advice != 0x7f);
    }
    json_decref(document);
}

void fuzz_one(struct fuzz_input *in)
{
    struct findings *findings = findings_create();
    size_t length;
    char *line = fuzz_line(in), *bytes = fuzz_bytes(in, &length);
    json_t *array = json_loadb(bytes, length, 0, NULL);
    check_release(findings, line);
    findings_add_json(findings, array);
    check(findings);
    json_decref(array);
    findings_destroy(findings);
    free(line);
    free(bytes);
}
