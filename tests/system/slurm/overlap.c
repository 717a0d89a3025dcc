/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/overlap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times are text of one form (UTC), so that text compares as time does; to the millisecond. */
enum { TIME_SIZE = 24, NIC_SIZE = 16, VNIS_SIZE = 64, LINE_SIZE = 1024, SERVICES_MAX = 65536 };

struct service {
    char since[TIME_SIZE], until[TIME_SIZE]; /* until "": it is there still */
    char nic[NIC_SIZE];
    size_t node;
    unsigned int id;
    char vnis[VNIS_SIZE];
};

struct services {
    size_t count;
    struct service *at;
};

static bool has_vni(const char *list, unsigned long vni)
{
    char *end;
    for (const char *p = list; *p; p = *end ? end + 1 : end)
        if (strtoul(p, &end, 10) == vni && end > p)
            return true;
        else if (end == p)
            return false;
    return false;
}

/* "TIME pid=N uid=N alloc_svc cxi0 vnis=2000 … = 3", "… destroy_svc cxi0 svc=3 = 0". */
static void read_line(struct services *services, size_t node, const char *line)
{
    struct service s = {.node = node};
    char result[32];
    const char *what = strstr(line, "alloc_svc "), *end = strrchr(line, '=');
    unsigned int id;
    snprintf(s.since, sizeof s.since, "%.23s", line);
    snprintf(result, sizeof result, "%.31s", end ? end + 1 : "");
    if (what && sscanf(what, "alloc_svc %15s vnis=%63s", s.nic, s.vnis) == 2 &&
        (s.id = (unsigned int)strtoul(result, NULL, 10)) > 0 && !strchr(result, '-') &&
        services->count < SERVICES_MAX)
        services->at[services->count++] = s;
    what = strstr(line, "destroy_svc ");
    if (!what || sscanf(what, "destroy_svc %15s svc=%u", s.nic, &id) != 2 ||
        strcmp(result, " 0\n") != 0)
        return;
    for (size_t i = services->count; i-- > 0;) {
        struct service *known = &services->at[i];
        if (known->node == node && known->id == id && strcmp(known->nic, s.nic) == 0 &&
            !known->until[0]) {
            memcpy(known->until, s.since, sizeof known->until);
            break;
        }
    }
}

static void read_log(struct services *services, size_t node, const char *path)
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        read_line(services, node, line);
    if (file)
        fclose(file);
}

size_t overlap_find(const char *reservations, const char *const *logs, size_t log_count, char *out,
                    size_t size, size_t *looked)
{
    struct services services = {0, calloc(SERVICES_MAX, sizeof(struct service))};
    char line[LINE_SIZE], when[LINE_SIZE], job[32], vnis[VNIS_SIZE];
    FILE *file = fopen(reservations, "re");
    size_t found = 0, used = 0;
    *looked = 0;
    out[0] = '\0';
    for (size_t i = 0; services.at && i < log_count; i++)
        read_log(&services, i, logs[i]);
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %31s %63s", when, job, vnis) != 3)
            continue;
        when[TIME_SIZE - 1] = '\0';
        for (size_t i = 0; i < services.count; i++) {
            const struct service *s = &services.at[i];
            bool same = false;
            char *end;
            for (const char *p = s->vnis; !same && *p; p = *end ? end + 1 : end)
                same = has_vni(vnis, strtoul(p, &end, 10));
            *looked += same;
            if (!same || strcmp(s->since, when) >= 0 ||
                (s->until[0] && strcmp(s->until, when) <= 0))
                continue;
            found++;
            if (used < size)
                used += (size_t)snprintf(
                    out + used, size - used,
                    "job %s was given %s at %s; a service of node %zu, %s, had %s from %s to %s\n",
                    job, vnis, when, s->node + 1, s->nic, s->vnis, s->since, s->until);
        }
    }
    if (file)
        fclose(file);
    free(services.at);
    return found;
}
