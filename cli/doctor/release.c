/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"
#include "base/text.h"
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

bool release_find(const char *text, struct release *out)
{
    static const char digits[] = "0123456789";
    while (*(text += strcspn(text, digits))) {
        struct release found = {0};
        unsigned *part = found.part;
        if (sscanf(text, "%9u.%9u.%9u.%9u", &part[0], &part[1], &part[2], &part[3]) > 1) {
            *out = found;
            return true;
        }
        text += strspn(text, digits);
    }
    return false;
}

int release_compare(const struct release *a, const struct release *b)
{
    for (size_t i = 0; i < RELEASE_PARTS; i++) {
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    }
    return 0;
}

static bool is_affected(const json_t *fault, const char *name, const struct release *release)
{
    const char *fixed_in = command_text(fault, "fixed");
    struct release from, fixed;
    return strcmp(command_text(fault, "name"), name) == 0 &&
           release_find(command_text(fault, "from"), &from) &&
           release_compare(release, &from) >= 0 &&
           (!fixed_in || (release_find(fixed_in, &fixed) && release_compare(release, &fixed) < 0));
}

void release_judge(struct findings *findings, const char *name, const struct release *release,
                   const char *where)
{
    static const struct release first_cxi = {{1, 21, 0, 0}};
    const unsigned *part = release->part;
    json_t *faults = json_loads(text_find("faults", ".json"), 0, NULL);
    const json_t *fault;
    size_t index, found = 0;
    char number[64];
    int length = snprintf(number, sizeof number, "%u.%u.%u", part[0], part[1], part[2]);
    if (part[3] > 0)
        snprintf(number + length, sizeof number - (size_t)length, ".%u", part[3]);
    json_array_foreach(faults, index, fault)
    {
        if (!is_affected(fault, name, release))
            continue;
        found++;
        findings_add(findings, findings_level(command_text(fault, "level")), name,
                     command_text(fault, "advice"), "%s (%s): %s", number, where,
                     command_text(fault, "finding"));
    }
    json_decref(faults);
    if (found > 0)
        return;
    if (strcmp(name, "libfabric") == 0 && release_compare(release, &first_cxi) < 0)
        findings_add(findings, FINDING_OK, name, NULL,
                     "%s (%s): as published it has no cxi provider; what HPE's build of this "
                     "number does is not publicly known",
                     number, where);
    else
        findings_add(findings, FINDING_OK, name, NULL, "%s (%s): nothing bad is known of it",
                     number, where);
}
