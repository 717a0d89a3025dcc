/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/soak/reading.h"

#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 128 };

static double file_size(const struct testbed *testbed, const char *name)
{
    char path[PATH_SIZE];
    struct stat found;

    if (stat(folder_path(path, sizeof path, testbed_folder(testbed), name), &found) < 0)
        return 0;
    return (double)found.st_size;
}

/* By the kernel's own account, not the broker's. */
static double resident(const struct testbed *testbed)
{
    char path[PATH_SIZE];
    long pages = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)process_pid(testbed_broker(testbed)));
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = -1;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* The kernel shows them to root only: the broker is not dumpable. Its own count is of the same. */
static double descriptors(struct plainhttp *http)
{
    struct plainhttp_reply reply;
    double count = -1;

    if (plainhttp_call(http, "GET", "/metrics", NULL, &reply) == 200) {
        const char *line = strstr(reply.text, "\nprocess_open_fds ");

        if (line)
            count = strtod(line + strlen("\nprocess_open_fds "), NULL);
    }
    plainhttp_reply_release(&reply);
    return count;
}

static double number(const json_t *status, const char *part, const char *name)
{
    const json_t *object = part ? json_object_get(status, part) : status;

    return json_number_value(json_object_get(object, name));
}

int reading_take(struct testbed *testbed, struct reading *out)
{
    struct plainhttp *http = testbed_http(testbed);
    struct plainhttp_reply reply;
    const int status = plainhttp_call(http, "GET", "/v1/status", NULL, &reply);

    if (status == 200) {
        out->live = number(reply.json, "jobs", "active");
        out->events =
            number(reply.json, "events", "last") - number(reply.json, "events", "first") + 1;
        out->loop_ms = number(reply.json, NULL, "loop_absence_max_ms");
    }
    plainhttp_reply_release(&reply);
    out->rss = resident(testbed);
    out->fds = descriptors(http);
    out->db = file_size(testbed, "state.db");
    out->wal = file_size(testbed, "state.db-wal");
    return status == 200 && out->rss > 0 && out->fds > 0 ? 0 : -1;
}
