/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/unreached.h"

#include "node/commands/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job that begins so long after another one has failed, and the retry timeout that one more had
 * meanwhile whose prolog this one's waited for, was granted what it has since. One that failed an
 * hour ago says nothing of now. */
enum { MOMENTS_MS = 30 * 1000, COUNTS_MS = 3600 * 1000 };

/* The first job that failed: "BOOT MS JOB", when by note_clock_ms. */
static const char unreached_file[] = "unreached";
enum { LINE_SIZE = STATEDIR_BOOT_SIZE + 32 + JOB_ID_MAX };

struct unreached {
    char boot[STATEDIR_BOOT_SIZE], job[JOB_ID_MAX + 1];
    int64_t at_ms;
};

/* False: none that counts at this time. */
static bool read_first(const struct node *node, int64_t now_ms, struct unreached *first)
{
    char *text = NULL;
    if (statedir_read(&node->dir, unreached_file, &text, NULL) < 0)
        return false;
    const bool good =
        sscanf(text, "%39s %19" SCNd64 " %128s", first->boot, &first->at_ms, first->job) == 3;
    free(text);
    return good && strcmp(first->boot, statedir_boot()) == 0 && first->at_ms <= now_ms &&
           now_ms - first->at_ms < COUNTS_MS;
}

static void write_first(const struct node *node, const char *job, int64_t now_ms)
{
    char line[LINE_SIZE];
    struct error err;
    snprintf(line, sizeof line, "%s %" PRId64 " %s\n", statedir_boot(), now_ms, job);
    if (statedir_write(&node->dir, unreached_file, line, &err) < 0)
        say("warning: %s", err.text);
}

int unreached_judge(const struct node *node, const char *job, int64_t began_ms)
{
    const int64_t now_ms = note_clock_ms();
    struct unreached first;
    if (!node->unreached[0])
        return COMMAND_UNREACHABLE; /* it was found, and had no time */
    if (!read_first(node, now_ms, &first)) {
        write_first(node, job, now_ms);
        return COMMAND_UNREACHABLE;
    }
    if (strcmp(first.job, job) == 0 || began_ms - first.at_ms < MOMENTS_MS + node->settings.busy_ms)
        return COMMAND_UNREACHABLE;
    say("this node, or all nodes, cannot reach the broker, which gave job %s what it is to have: "
        "%s (nor for job %s, %" PRId64 " s before); mend that, mcast-node prolog --job %s "
        "--dry-run here asks the broker, then let the node have jobs again",
        job, node->unreached, first.job, (now_ms - first.at_ms) / 1000, job);
    return COMMAND_REFUSED;
}

void unreached_forget(const struct node *node)
{
    if (node->dir.lock >= 0)
        (void)statedir_remove(&node->dir, unreached_file, NULL);
}
