/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/findings.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1024, WIDTH_DEFAULT = 100, INDENT = 4 };

struct findings {
    json_t *levels[FINDING_LEVELS]; /* arrays */
};

static const char *const level_words[] = {
    [FINDING_PROBLEM] = "problem", [FINDING_WARNING] = "warning", [FINDING_OK] = "ok"};

struct findings *findings_create(void)
{
    struct findings *findings = memory_zeroed(sizeof *findings);
    for (int i = 0; i < FINDING_LEVELS; i++)
        findings->levels[i] = memory_must(json_array());
    return findings;
}

void findings_destroy(struct findings *findings)
{
    for (int i = 0; i < FINDING_LEVELS; i++)
        json_decref(findings->levels[i]);
    free(findings);
}

/* The words of programs and of the fabric manager shall not drive the terminal. */
static json_t *plain(const char *text)
{
    char clean[TEXT_SIZE];
    if (!text)
        return json_null();
    snprintf(clean, sizeof clean, "%s", text);
    plain_make(clean);
    json_t *value = json_string(clean);
    return value ? value
                 : json_string("(not UTF-8)"); /* cut within a character, or a file's name */
}

void findings_add(struct findings *findings, enum finding_level level, const char *check,
                  const char *advice, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_array_append_new(findings->levels[level],
                          json_pack("{s:o, s:s, s:o, s:o}", "check", plain(check), "level",
                                    level_words[level], "finding", plain(text), "advice",
                                    plain(advice)));
}

enum finding_level findings_level(const char *word)
{
    for (int i = 0; word && i < FINDING_LEVELS; i++) {
        if (strcmp(level_words[i], word) == 0)
            return (enum finding_level)i;
    }
    return FINDING_WARNING;
}

bool findings_add_line(struct findings *findings, char *line)
{
    const char *level = strsep(&line, "\t"), *check = strsep(&line, "\t");
    const char *finding = strsep(&line, "\t"), *advice = strsep(&line, "\t");
    if (finding)
        findings_add(findings, findings_level(level), check, advice, "%s", finding);
    return finding;
}

void findings_add_json(struct findings *findings, const json_t *array)
{
    size_t index;
    const json_t *one;
    json_array_foreach(array, index, one)
    {
        const char *check = command_text(one, "check"), *finding = command_text(one, "finding");
        if (check && finding)
            findings_add(findings, findings_level(command_text(one, "level")), check,
                         command_text(one, "advice"), "%s", finding);
    }
}

size_t findings_count(const struct findings *findings, enum finding_level level)
{
    return json_array_size(findings->levels[level]);
}

static void print_level(const json_t *list, const char *title, size_t width)
{
    size_t index;
    const json_t *one;
    if (json_array_size(list) == 0)
        return;
    printf("%s (%zu)\n", title, json_array_size(list));
    json_array_foreach(list, index, one)
    {
        char lead[64];
        const char *advice = command_text(one, "advice");
        snprintf(lead, sizeof lead, "%-12s ", command_text(one, "check"));
        plain_wrapped(width, 2, lead, command_text(one, "finding"));
        if (advice)
            plain_wrapped(width, 2 + strlen(lead), "→ ", advice);
    }
}

static int print_findings(const struct findings *findings)
{
    static const char *const titles[] = {
        [FINDING_PROBLEM] = "PROBLEMS", [FINDING_WARNING] = "WARNINGS", [FINDING_OK] = "FINE"};
    const size_t width = plain_width(WIDTH_DEFAULT);
    for (int i = 0; i < FINDING_LEVELS; i++)
        print_level(findings->levels[i], titles[i], width);
    size_t problems = findings_count(findings, FINDING_PROBLEM);
    size_t warnings = findings_count(findings, FINDING_WARNING);
    printf("%zu problem%s, %zu warning%s.\n", problems, problems == 1 ? "" : "s", warnings,
           warnings == 1 ? "" : "s");
    return command_finish();
}

int findings_finish(struct findings *findings, bool json, int code, enum finding_level bad)
{
    const int printed =
        json ? command_print_object(findings_json(findings)) : print_findings(findings);
    for (int i = 0; i <= (int)bad && code == MCAST_EXIT_OK; i++)
        code = json_array_size(findings->levels[i]) > 0 ? MCAST_EXIT_REFUSED : MCAST_EXIT_OK;
    findings_destroy(findings);
    return code != MCAST_EXIT_OK ? code : printed;
}

json_t *findings_json(const struct findings *findings)
{
    json_t *all = json_array();
    for (int i = 0; i < FINDING_LEVELS; i++)
        json_array_extend(all, findings->levels[i]);
    return json_pack("{s:I, s:I, s:o}", "problems",
                     (json_int_t)findings_count(findings, FINDING_PROBLEM), "warnings",
                     (json_int_t)findings_count(findings, FINDING_WARNING), "findings", all);
}
