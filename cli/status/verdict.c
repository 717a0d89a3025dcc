/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/verdict.h"
#include "base/memory.h"
#include "cli/plain.h"
#include "cli/status/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WIDTH = 80,            /* where there is no terminal */
    CAUSE_MAX = 3 * WIDTH, /* of one fault, in bytes */
    NAMES_MAX = 3,         /* that a line names; of the others it has the number */
};

void judge_fault(struct verdict *verdict, const char *step, const char *format, ...)
{
    char *cause = NULL, *plain = memory_text(step);
    va_list args;
    va_start(args, format);
    memory_must(vasprintf(&cause, format, args) >= 0 ? cause : NULL);
    va_end(args);
    verdict->faults++;
    if (verdict->lines >= verdict->lines_max) {
        verdict->hidden++;
    } else {
        plain_make(cause);
        plain_make(plain);
        if (strlen(cause) > CAUSE_MAX)
            strcpy(cause + plain_cut(cause, CAUSE_MAX - 3), "...");
        plain_colour(PLAIN_BAD);
        verdict->lines += plain_wrapped(verdict->width, 0, "", cause);
        plain_colour(PLAIN_NORMAL);
        verdict->lines += plain_wrapped(verdict->width, 2, "→ ", plain);
    }
    free(cause);
    free(plain);
}

const char *judge_text(const json_t *root, const char *object, const char *name)
{
    const char *text = command_text(object ? json_object_get(root, object) : root, name);
    return text ? text : "";
}

long long judge_count(const json_t *root, const char *object, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(root, object), name));
}

const char *judge_age(const struct verdict *verdict, const char *when, char out[AGE_SIZE + 8])
{
    char age[AGE_SIZE];
    age_between(when, verdict->now, age);
    if (age[0])
        (void)snprintf(out, AGE_SIZE + 8, " for %s", age);
    return out;
}

double judge_seconds_until(const struct verdict *verdict, const char *when)
{
    struct tm parts = {0};
    return strptime(when, "%Y-%m-%dT%H:%M:%S", &parts) ? difftime(timegm(&parts), verdict->now) : 0;
}

void judge_add_name(char names[JUDGE_NAMES_SIZE], long long index, const char *name)
{
    const char *rest = strstr(names, " and ");
    const size_t length = rest ? (size_t)(rest - names) : strlen(names);
    if (index < NAMES_MAX)
        (void)snprintf(names + length, JUDGE_NAMES_SIZE - length, "%s%.40s", index > 0 ? ", " : "",
                       name);
    else
        (void)snprintf(names + length, JUDGE_NAMES_SIZE - length, " and %lld more",
                       index + 1 - NAMES_MAX);
}

size_t verdict_print(const json_t *root, size_t height)
{
    static void (*const judges[])(struct verdict *) = {
        judge_leaders,    judge_role,    judge_storage,        judge_ended,    judge_munge,
        judge_service,    judge_vnis,    judge_partition_keys, judge_alarms,   judge_link,
        judge_addresses,  judge_budgets, judge_nodes,          judge_adopted,  judge_plugins,
        judge_partitions, judge_listed,  judge_standbys,       judge_cleanups, judge_verify,
        judge_reload,     judge_lists,   judge_ending,
    };
    struct verdict verdict = {
        .root = root, .now = time(NULL), .width = plain_width(WIDTH), .lines_max = height / 3};
    for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++)
        judges[i](&verdict);
    plain_colour(verdict.faults > 0 ? PLAIN_NORMAL : PLAIN_GOOD);
    if (verdict.hidden > 0)
        printf("And %zu more fault%s: mcastctl doctor\n", verdict.hidden,
               verdict.hidden == 1 ? "" : "s");
    else
        puts(verdict.faults > 0 ? "What else is wrong, and why: mcastctl doctor" : "All is well.");
    plain_colour(PLAIN_NORMAL);
    return verdict.lines + 1;
}
