/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"

#include "tests/bench/metric.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 128, LINE_SIZE = 512 };

/* A long turn as the broker's log has it; of these the one that computed most, for the rest of the
 * time others did. */
static void print_longest(const struct testbed *testbed, const char *key)
{
    static const char form[] = "event loop stalled for %u ms (CPU %u ms)";
    char path[PATH_SIZE], line[LINE_SIZE], longest[LINE_SIZE] = "";
    unsigned took, computed, most = 0;
    FILE *log = fopen(folder_path(path, sizeof path, testbed_folder(testbed), "mcastd.log"), "re");

    while (log && fgets(line, sizeof line, log)) {
        const char *words = strstr(line, "event loop stalled");

        if (words && sscanf(words, form, &took, &computed) == 2 && computed > most) {
            most = computed;
            snprintf(longest, sizeof longest, "%s", words);
        }
    }
    if (log)
        fclose(log);
    if (most > 0)
        printf("  %s: %s", key, longest);
}

int absence_note(struct report *report, const struct testbed *testbed, const char *key)
{
    static const struct report_goal g11 = {.id = "G11",
                                           .what = "longest time the loop was away, ms",
                                           .sense = REPORT_NEVER_ABOVE,
                                           .limit = 5};
    const double seconds = metric_value(testbed, "mcastd_loop_absence_max_seconds");

    if (seconds < 0)
        return -1;
    print_longest(testbed, key);
    report_goal(report, &g11, seconds * 1e3);
    report_figure(report, key, "ms", seconds * 1e3);
    return 0;
}
