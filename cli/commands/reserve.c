/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl reserve --cluster NAME --uid N (--nodes LIST | --node-count N) [OPTIONS] JOB\n"
    "Reserves a job's VNIs and, when it is eligible, its multicast addresses. The same request\n"
    "again gets the same answer. Without multicast addresses a job runs as well, only slower:\n"
    "that is a warning, unless --hwcoll=required.\n\n"
    "  --uid N          the job's owner\n"
    "  --nodes LIST     the job's nodes, such as 'elcap[1-128]'\n"
    "  --node-count N   their number, when the names are not known\n"
    "  --cores N        cores per node that the job uses\n"
    "  --vnis N         0 to 4 (default: as the site is configured)\n"
    "  --hwcoll WISH    auto (if it is large enough), on, off, required\n"
    "  --tc CLASSES     traffic classes, such as best_effort,low_latency\n"
    "  --anew           the job starts (again): whatever was reserved otherwise under its id\n"
    "                   is of an earlier life of it, and is given back first. For the\n"
    "                   resource manager's hooks, which alone know\n\n"
    "With --json the answer carries the job's environment, its token included: keep it to\n"
    "yourself. A Flux job id may begin with ƒ.\n\n"
    "Example:\n"
    "  mcastctl reserve --cluster elcap --uid 5588 --nodes 'elcap[1-128]' --vnis 1 f2Rs8sydSxmd\n";

enum { CLASSES_MAX = 16, JOB_SIZE = 160 };

struct wanted {
    struct mcast_request request;
    const char *classes[CLASSES_MAX + 1];
    char *classes_text;
    bool anew;
};

static int take_classes(struct wanted *wanted, const char *value)
{
    size_t count = 0;
    free(wanted->classes_text);
    wanted->classes_text = strdup(value);
    char *rest = wanted->classes_text;
    for (char *word; (word = strsep(&rest, ","));) {
        if (!word[0] || count == CLASSES_MAX)
            return command_misused(&command_reserve,
                                   "--tc %.80s: names of traffic classes with commas between them",
                                   value);
        wanted->classes[count++] = word;
    }
    wanted->classes[count] = NULL;
    wanted->request.traffic_classes = wanted->classes;
    return COMMAND_GO_ON;
}

static int take_number(const char *name, const char *value, uint64_t max, uint64_t *out)
{
    if (command_number(value, max, out))
        return COMMAND_GO_ON;
    return command_misused(&command_reserve, "--%s %.80s: not a number from 0 to %llu", name, value,
                           (unsigned long long)max);
}

static int store_reserve_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    struct mcast_request *request = &wanted->request;
    uint64_t number = 0;
    int rc = COMMAND_GO_ON;
    switch (option) {
    case 'u':
        rc = take_number("uid", value, UINT32_MAX - 1, &number);
        request->uid = (uint32_t)number;
        break;
    case 'n':
        request->nodes = value;
        break;
    case 'N':
        rc = take_number("node-count", value, UINT32_MAX, &number);
        request->node_count = (uint32_t)number;
        break;
    case 'c':
        rc = take_number("cores", value, UINT32_MAX, &number);
        request->cores_per_node = (uint32_t)number;
        break;
    case 'v':
        rc = take_number("vnis", value, 4, &number);
        request->vni_count = (int32_t)number;
        break;
    case 'w':
        request->hwcoll = value;
        break;
    case 't':
        rc = take_classes(wanted, value);
        break;
    case 'a':
        wanted->anew = true;
        break;
    }
    return rc;
}

static int check_request(const struct command *command, const struct mcast_request *request)
{
    const char *wish = request->hwcoll;
    if (request->uid == UINT32_MAX)
        return command_misused(command, "whose job? give --uid N");
    if (!request->nodes && request->node_count == 0)
        return command_misused(command, "on which nodes? give --nodes LIST or --node-count N");
    if (wish && strcmp(wish, "auto") != 0 && strcmp(wish, "on") != 0 && strcmp(wish, "off") != 0 &&
        strcmp(wish, "required") != 0)
        return command_misused(command, "--hwcoll %.80s: auto, on, off or required", wish);
    return COMMAND_GO_ON;
}

/* A job that starts can meet an earlier run of itself, whose end was not reported (the resource
 * manager was killed) or was reported just now, before anything was reserved. */
static int reserve_anew(struct mcast *handle, const struct mcast_request *request,
                        struct mcast_reservation **out, struct mcast_error *error)
{
    int rc = mcast_reserve(handle, request, out, error);
    if (rc < 0 && strcmp(error->word, "conflict") == 0 &&
        (rc = mcast_release(handle, request->cluster, request->job, NULL, error)) == 0)
        rc = mcast_reserve(handle, request, out, error);
    if (rc < 0 && strcmp(error->word, "released-before-reserve") == 0)
        rc = mcast_reserve(handle, request, out, error);
    return rc;
}

static int reserve(const struct common *common, const struct wanted *wanted)
{
    struct mcast *handle = NULL;
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    int rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (wanted->anew)
        rc = reserve_anew(handle, &wanted->request, &reservation, &error);
    else
        rc = mcast_reserve(handle, &wanted->request, &reservation, &error);
    if (rc < 0)
        rc = command_failed(&error);
    else if (common->json)
        rc = command_print_json(
            mcast_reservation_json(reservation, MCAST_JSON_INDENT | MCAST_JSON_SECRETS));
    else
        rc = view_reservation(reservation);
    mcast_reservation_free(reservation);
    mcast_close(handle);
    return rc;
}

static int run_reserve(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"uid", required_argument, NULL, 'u'},
        {"nodes", required_argument, NULL, 'n'},
        {"node-count", required_argument, NULL, 'N'},
        {"cores", required_argument, NULL, 'c'},
        {"vnis", required_argument, NULL, 'v'},
        {"hwcoll", required_argument, NULL, 'w'},
        {"tc", required_argument, NULL, 't'},
        {"anew", no_argument, NULL, 'a'},
        {0},
    };
    struct wanted wanted = {.request = MCAST_REQUEST_INIT};
    char job[JOB_SIZE];
    int rc = command_options(command, common, argc, argv, options, store_reserve_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, common, argc, argv, job, sizeof(job));
    if (rc == COMMAND_GO_ON)
        rc = check_request(command, &wanted.request);
    if (rc == COMMAND_GO_ON) {
        wanted.request.cluster = common->cluster;
        wanted.request.job = job;
        rc = reserve(common, &wanted);
    }
    free(wanted.classes_text);
    return rc;
}

const struct command command_reserve = {"reserve", "get a job its VNIs and multicast addresses",
                                        usage, run_reserve};
