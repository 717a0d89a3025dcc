/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/user.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 16, VNIS_MAX = 4, SHARED_MAX = 3 };

enum {
    UID,
    NODES,
    NODE_COUNT,
    CORES,
    VNIS,
    HWCOLL,
    CLASSES,
    ANEW,
    LAUNCH,
    RESTART,
    EXPIRES,
    ADDRESSES,
    PROFILE,
    SHARED,
    HAS,
    LAYOUT, /* of its three options the first */
};

/* What a job is like: of two commands. */
struct layout {
    const char *interconnect;
    uint64_t tasks, cpus; /* 0: not given */
};
#define LAYOUT_OPTIONS(at)                                                                         \
    [at] = {"interconnect", "slingshot,omnipath,none"}, [(at) + 1] = {"tasks-per-node", "N"},      \
    [(at) + 2] = {"cpus-per-task", "N"}

static const struct command_option reserve_options[] = {
    [UID] = {"uid", "USER"},
    [NODES] = {"nodes", ""},
    [NODE_COUNT] = {"node-count", "N"},
    [CORES] = {"cores", "N"},
    [VNIS] = {"vnis", "N"},
    [SHARED] = {"shared-vni", ""},
    [HAS] = {"has-vnis", ""},
    [HWCOLL] = {"hwcoll", "auto,on,off,required"},
    [CLASSES] = {"tc", ""},
    [ANEW] = {"anew", NULL},
    [LAUNCH] = {"launch", NULL},
    [RESTART] = {"restart", "N"},
    [EXPIRES] = {"expires", "TIME"},
    [ADDRESSES] = {"addresses", NULL},
    [PROFILE] = {"profile", ""},
    LAYOUT_OPTIONS(LAYOUT),
    {0},
};

static int read_layout(struct call *call, size_t at, struct layout *layout)
{
    unsigned word = 0;
    *layout = (struct layout){.interconnect = call->given[at]};
    if (command_number(call, at + 1, 1, UINT32_MAX, &layout->tasks) < 0 ||
        command_number(call, at + 2, 1, UINT32_MAX, &layout->cpus) < 0)
        return MCAST_USAGE;
    return command_word(call, at, &word);
}

/* How a launch document is asked for: by these options, of which the first has this index. */
static int read_launch(struct call *call, size_t restart, struct mcast_launch *launch)
{
    const size_t expires = restart + 1;
    uint64_t count = UINT64_MAX;
    int64_t lifetime_ms = 0;
    if (command_number(call, restart, 0, INT32_MAX, &count) < 0 ||
        command_duration(call, expires, INT64_C(7) * 86400000, &lifetime_ms) < 0)
        return MCAST_USAGE;
    if (count != UINT64_MAX)
        launch->restart = (int64_t)count;
    launch->lifetime_s = (uint32_t)((lifetime_ms + 999) / 1000);
    launch->addresses = call->given[restart + 2];
    return 0;
}

/* Only the document, for the program that carries it to the nodes. */
static int print_launch(const struct call *call, const struct mcast_reservation *reservation)
{
    if (reservation->warning)
        fprintf(stderr, "mcastctl: warning: %s\n", reservation->warning);
    if (call->json)
        return command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT));
    printf("%s%s%s\n", reservation->launch ? reservation->launch : "",
           reservation->node_addresses ? " " : "",
           reservation->node_addresses ? reservation->node_addresses : "");
    return command_finish();
}

/* The names are in classes_text, which stays the caller's. */
static int read_classes(struct call *call, char *classes_text, const char **classes)
{
    if (!call->given[CLASSES] || command_split(classes_text, classes, CLASSES_MAX))
        return 0;
    return command_misused(call, "--tc %.80s: names of traffic classes with commas between them",
                           call->given[CLASSES]);
}

/* The same of shared VNIs. */
static int read_shared(struct call *call, char *shared_text, const char **shared)
{
    if (!call->given[SHARED] || command_split(shared_text, shared, SHARED_MAX))
        return 0;
    return command_misused(
        call,
        "--shared-vni %.80s: at most %d names of shared VNIs with commas between "
        "them",
        call->given[SHARED], SHARED_MAX);
}

/* VNIs that the job has, ended by 0. */
static int read_has(struct call *call, uint16_t vnis[VNIS_MAX + 1])
{
    const char *rest = call->given[HAS];
    size_t count = 0;
    for (char *end; rest && count < VNIS_MAX; rest = end + 1) {
        const unsigned long vni = strtoul(rest, &end, 10);
        if (rest[0] < '1' || rest[0] > '9' || vni > UINT16_MAX || !strchr(",", *end))
            break;
        vnis[count++] = (uint16_t)vni;
        if (*end == '\0')
            return vnis[count] = 0;
    }
    if (!rest)
        return 0;
    return command_misused(call, "--has-vnis %.80s: 1 to %d VNIs with commas between them",
                           call->given[HAS], VNIS_MAX);
}

static int read_request(struct call *call, struct mcast_request *request)
{
    unsigned word = 0;
    struct layout layout;
    uint32_t uid = UINT32_MAX;
    uint64_t node_count = 0, cores = 0, vnis = UINT64_MAX;
    if (user_option(call, UID, &uid) < 0 ||
        command_number(call, NODE_COUNT, 0, UINT32_MAX, &node_count) < 0 ||
        command_number(call, CORES, 0, UINT32_MAX, &cores) < 0 ||
        command_number(call, VNIS, 0, VNIS_MAX, &vnis) < 0 ||
        read_layout(call, LAYOUT, &layout) < 0)
        return MCAST_USAGE;
    if (uid == UINT32_MAX)
        return command_misused(call, "whose job? give --uid USER");
    if (!call->given[NODES] && node_count == 0)
        return command_misused(call, "on which nodes? give --nodes LIST or --node-count N");
    request->cluster = call->cluster;
    request->job = call->job;
    request->uid = uid;
    request->nodes = call->given[NODES];
    request->node_count = (uint32_t)node_count;
    request->cores_per_node = (uint32_t)cores;
    request->vni_count = vnis == UINT64_MAX ? -1 : (int32_t)vnis;
    request->hwcoll = call->given[HWCOLL];
    request->profile = call->given[PROFILE];
    request->interconnect = layout.interconnect;
    request->tasks_per_node = (uint32_t)layout.tasks;
    request->cpus_per_task = (uint32_t)layout.cpus;
    return command_word(call, HWCOLL, &word);
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

/* No VNI is free: others need not run any more. */
static void add_quarantined(struct call *call)
{
    struct mcast_error *error = &call->error;
    const size_t used = strlen(error->text);
    char *text = NULL;
    json_t *status =
        mcast_status(call->handle, &text, NULL) == 0 ? json_loads(text, 0, NULL) : NULL;
    const json_t *vnis = json_object_get(status, "vnis");
    const long long held = json_integer_value(json_object_get(vnis, "held"));
    if (held > 0)
        (void)snprintf(error->text + used, sizeof error->text - used,
                       "; %lld quarantined: mcastctl list --held says for which nodes", held);
    json_decref(status);
    free(text);
}

static int run_reserve(struct call *call)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_launch launch = MCAST_LAUNCH_INIT;
    struct mcast_reservation *reservation = NULL;
    const char *classes[CLASSES_MAX + 1], *shared[SHARED_MAX + 1];
    uint16_t vnis[VNIS_MAX + 1];
    char *classes_text = strdup(call->given[CLASSES] ? call->given[CLASSES] : "");
    char *shared_text = strdup(call->given[SHARED] ? call->given[SHARED] : "");
    int rc = read_classes(call, classes_text, classes);
    if (rc == 0)
        rc = read_shared(call, shared_text, shared);
    if (rc == 0)
        rc = read_has(call, vnis);
    if (call->given[SHARED])
        request.shared_vnis = shared;
    if (call->given[HAS])
        request.vnis = vnis;
    if (call->given[CLASSES])
        request.traffic_classes = classes;
    if (rc == 0)
        rc = read_request(call, &request);
    if (rc == 0)
        rc = read_launch(call, RESTART, &launch);
    if (call->given[LAUNCH])
        request.launch = &launch;
    if (rc == 0 && call->given[ANEW])
        rc = reserve_anew(call, &request, &reservation);
    else if (rc == 0)
        rc = mcast_reserve(call->handle, &request, &reservation, &call->error);
    if (rc == 0)
        rc = call->given[LAUNCH] ? print_launch(call, reservation)
                                 : view_reservation(reservation, call, MCAST_JSON_SECRETS);
    if (rc < 0 && strcmp(call->error.word, "vnis-exhausted") == 0)
        add_quarantined(call);
    mcast_reservation_free(reservation);
    free(classes_text);
    free(shared_text);
    return rc;
}

const struct command command_reserve = {
    "reserve",       "reserve a job's VNIs and multicast addresses",
    COMMAND_ONE_JOB, COMMAND_CONNECTED,
    reserve_options, .run = run_reserve};

enum { LAUNCH_RESTART, LAUNCH_EXPIRES, LAUNCH_ADDRESSES, LAUNCH_LAYOUT };

static const struct command_option launch_options[] = {[LAUNCH_RESTART] = {"restart", "N"},
                                                       [LAUNCH_EXPIRES] = {"expires", "TIME"},
                                                       [LAUNCH_ADDRESSES] = {"addresses", NULL},
                                                       LAYOUT_OPTIONS(LAUNCH_LAYOUT),
                                                       {0}};

static int run_launch(struct call *call)
{
    struct mcast_launch launch = MCAST_LAUNCH_INIT;
    struct mcast_reservation *reservation = NULL;
    struct layout layout = {0};
    int rc = read_launch(call, LAUNCH_RESTART, &launch);
    if (rc == 0)
        rc = read_layout(call, LAUNCH_LAYOUT, &layout);
    launch.interconnect = layout.interconnect;
    launch.tasks_per_node = (uint32_t)layout.tasks;
    launch.cpus_per_task = (uint32_t)layout.cpus;
    if (rc == 0)
        rc = mcast_launch(call->handle, call->cluster, call->job, &launch, &reservation,
                          &call->error);
    if (rc == 0)
        rc = print_launch(call, reservation);
    mcast_reservation_free(reservation);
    return rc;
}

const struct command command_launch = {"launch",        "print a job's launch document",
                                       COMMAND_ONE_JOB, COMMAND_CONNECTED,
                                       launch_options,  .run = run_launch};

enum { NUMBER, LINGERING };

static const struct command_option nodes_options[] = {
    [NUMBER] = {"number", "N"}, [LINGERING] = {"lingering", NULL}, {0}};

static int run_nodes_clean(struct call *call)
{
    struct mcast_reservation *seen = NULL;
    uint64_t number = 0;
    if (call->argument_count != 2)
        return command_misused(call, "name one job and its nodes");
    call->argument_count = 1; /* behind it, the nodes */
    int rc = command_job(call);
    if (rc == 0)
        rc = command_number(call, NUMBER, 1, INT64_MAX, &number);
    if (rc == 0 && number == 0)
        rc = command_misused(call, "which reservation of the job? give --number N");
    if (rc == 0)
        rc = mcast_nodes_clean(call->handle, call->cluster, call->job, number, call->arguments[1],
                               call->given[LINGERING] ? "lingering" : "destroyed", &seen,
                               &call->error);
    if (rc == 0 && call->json) {
        rc = command_print_json(mcast_reservation_json(seen, MCAST_JSON_INDENT));
    } else if (rc == 0) {
        printf("%s/%s: %u of %u nodes are clean\n", seen->cluster, seen->job, seen->clean,
               seen->node_count);
        if (seen->lingering && seen->lingering[0])
            printf("services linger on %s%s: mcastctl fence, once nothing runs there\n",
                   seen->lingering, seen->lingering_more > 0 ? ",…" : "");
        rc = command_finish();
    }
    mcast_reservation_free(seen);
    return rc;
}

const struct command command_nodes_clean = {
    "nodes-clean",         "report that a job has left nothing on many nodes",
    COMMAND_OWN_ARGUMENTS, COMMAND_CONNECTED,
    nodes_options,         .run = run_nodes_clean};

static const struct command_option release_options[] = {[NUMBER] = {"number", "N"}, {0}};

static int run_release(struct call *call)
{
    struct mcast_reservation *reservation = NULL;
    uint64_t number = 0;
    int rc = command_number(call, NUMBER, 1, INT64_MAX, &number);
    if (rc == 0)
        rc = number == 0
                 ? mcast_release(call->handle, call->cluster, call->job, &reservation, &call->error)
                 : mcast_release_number(call->handle, call->cluster, call->job, number,
                                        &reservation, &call->error);
    if (rc == 0 && call->json) {
        rc = command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT));
    } else if (rc == 0) {
        number = reservation->number > 0 ? reservation->number : number;
        printf("%s/%s: %s", reservation->cluster, reservation->job, reservation->state);
        if (number > 0)
            printf(strcmp(reservation->state, "gone") == 0 ? " (it has no reservation %llu)"
                                                           : " (reservation %llu)",
                   (unsigned long long)number);
        putchar('\n');
        rc = command_finish();
    }
    mcast_reservation_free(reservation);
    return rc;
}

const struct command command_release = {"release",       "release a job's reservation",
                                        COMMAND_ONE_JOB, COMMAND_CONNECTED,
                                        release_options, .run = run_release};
