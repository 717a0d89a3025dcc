/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration as mcastctl doctor reads it, and what mcastd --check prints of it
 * (cli/doctor/doctor.h). A byte for how that ended and two for how much it printed; then that,
 * and the file. */

#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/program.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* ---- mcastd --check, without a process ---- */

static struct {
    int status;
    const char *bytes;
    size_t length;
} printed;

int program_run(const char *const argv[], const char *input, char *out, size_t size)
{
    FUZZ_CHECK(strcmp(argv[1], "--check") == 0 && !input && size > 0);
    size_t kept = printed.length < size ? printed.length : size - 1;
    memcpy(out, printed.bytes, kept);
    out[kept] = '\0';
    return printed.status;
}

bool program_locate(const char *relative, char out[PROGRAM_PATH_SIZE])
{
    out[0] = '\0';
    return false;
}

/* To print is not tried. */
int command_finish(void)
{
    abort();
}

int command_print_object(json_t *object)
{
    abort();
}

/* ---- the target ---- */

static void check(const struct findings *findings)
{
    json_t *document = findings_json(findings), *found;
    size_t i, told = 0;
    FUZZ_CHECK(document);
    json_array_foreach(json_object_get(document, "findings"), i, found)
    {
        const char *words = json_string_value(json_object_get(found, "finding"));
        const char *advice = json_string_value(json_object_get(found, "advice"));
        FUZZ_CHECK(words && words[0] != '\0' && fuzz_is_line(words));
        FUZZ_CHECK(!advice || fuzz_is_line(advice));
        told++;
    }
    size_t counted = 0;
    for (int level = 0; level < FINDING_LEVELS; level++)
        counted += findings_count(findings, (enum finding_level)level);
    FUZZ_CHECK(told == counted && told > 0);
    json_decref(document);
}

void fuzz_one(struct fuzz_input *in)
{
    char socket[LOCALFILES_PATH_MAX];
    struct findings *findings = findings_create();
    printed.status = fuzz_byte(in) - 2; /* two are codes */
    size_t size = fuzz_pair(in), length;
    if (size > in->left)
        size = in->left;
    struct fuzz_input first = {.at = in->at, .left = size};
    in->at += size;
    in->left -= size;
    char *text = fuzz_bytes(&first, &printed.length), *bytes = fuzz_bytes(in, &length);
    printed.bytes = text;
    localfiles_judge(findings, fuzz_file(bytes, length), socket);
    FUZZ_CHECK(memchr(socket, '\0', sizeof socket));
    check(findings);
    findings_destroy(findings);
    free(text);
    free(bytes);
}
