/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 16, VNIS_MAX = 4 };

enum { UID, NODES, NODE_COUNT, CORES, VNIS, HWCOLL, CLASSES, ANEW };

static const struct command_option reserve_options[] = {
    [UID] = {"uid", true},     [NODES] = {"nodes", true}, [NODE_COUNT] = {"node-count", true},
    [CORES] = {"cores", true}, [VNIS] = {"vnis", true},   [HWCOLL] = {"hwcoll", true},
    [CLASSES] = {"tc", true},  [ANEW] = {"anew", false},  {0},
};

/* The names are in classes_text, which stays the caller's. */
static int read_classes(struct call *call, char *classes_text, const char **classes)
{
    if (!call->given[CLASSES] || command_split(classes_text, classes, CLASSES_MAX))
        return 0;
    return command_misused(call, "--tc %.80s: names of traffic classes with commas between them",
                           call->given[CLASSES]);
}

static int read_request(struct call *call, struct mcast_request *request)
{
    static const char *const hwcoll[] = {"auto", "on", "off", "required", NULL};
    unsigned word = 0;
    uint64_t uid = UINT32_MAX, node_count = 0, cores = 0, vnis = UINT64_MAX;
    if (command_number(call, UID, 0, UINT32_MAX - 1, &uid) < 0 ||
        command_number(call, NODE_COUNT, 0, UINT32_MAX, &node_count) < 0 ||
        command_number(call, CORES, 0, UINT32_MAX, &cores) < 0 ||
        command_number(call, VNIS, 0, VNIS_MAX, &vnis) < 0)
        return MCAST_USAGE;
    if (uid == UINT32_MAX)
        return command_misused(call, "whose job? give --uid N");
    if (!call->given[NODES] && node_count == 0)
        return command_misused(call, "on which nodes? give --nodes LIST or --node-count N");
    request->cluster = call->cluster;
    request->job = call->job;
    request->uid = (uint32_t)uid;
    request->nodes = call->given[NODES];
    request->node_count = (uint32_t)node_count;
    request->cores_per_node = (uint32_t)cores;
    request->vni_count = vnis == UINT64_MAX ? -1 : (int32_t)vnis;
    request->hwcoll = call->given[HWCOLL];
    return command_word(call, HWCOLL, hwcoll, &word);
}

/* A job that starts can meet an earlier run of itself, whose end was not reported (the resource
 * manager was killed) or was reported just now, before anything was reserved. */
static int reserve_anew(struct call *call, const struct mcast_request *request,
                        struct mcast_reservation **out)
{
    struct mcast_error *error = &call->error;
    int rc = mcast_reserve(call->handle, request, out, error);
    if (rc < 0 && strcmp(error->word, "conflict") == 0 &&
        (rc = mcast_release(call->handle, request->cluster, request->job, NULL, error)) == 0)
        rc = mcast_reserve(call->handle, request, out, error);
    if (rc < 0 && strcmp(error->word, "released-before-reserve") == 0)
        rc = mcast_reserve(call->handle, request, out, error);
    return rc;
}

static int run_reserve(struct call *call)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_reservation *reservation = NULL;
    const char *classes[CLASSES_MAX + 1];
    char *classes_text = strdup(call->given[CLASSES] ? call->given[CLASSES] : "");
    int rc = read_classes(call, classes_text, classes);
    if (call->given[CLASSES])
        request.traffic_classes = classes;
    if (rc == 0)
        rc = read_request(call, &request);
    if (rc == 0 && call->given[ANEW])
        rc = reserve_anew(call, &request, &reservation);
    else if (rc == 0)
        rc = mcast_reserve(call->handle, &request, &reservation, &call->error);
    if (rc == 0)
        rc = view_reservation(reservation, call, MCAST_JSON_SECRETS);
    mcast_reservation_free(reservation);
    free(classes_text);
    return rc;
}

const struct command command_reserve = {
    "reserve",       "reserve a job's VNIs and multicast addresses",
    COMMAND_ONE_JOB, COMMAND_CONNECTED,
    reserve_options, run_reserve};

static int run_release(struct call *call)
{
    struct mcast_reservation *reservation = NULL;
    int rc = mcast_release(call->handle, call->cluster, call->job, &reservation, &call->error);
    if (rc == 0 && call->json) {
        rc = command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT));
    } else if (rc == 0) {
        printf("%s/%s: %s\n", reservation->cluster, reservation->job, reservation->state);
        rc = command_finish();
    }
    mcast_reservation_free(reservation);
    return rc;
}

const struct command command_release = {
    "release",  "release a job's reservation", COMMAND_ONE_JOB, COMMAND_CONNECTED, NULL,
    run_release};
