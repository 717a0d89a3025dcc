/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator decides for the broker: fence, accept-loss, claim, step-down. */

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>

enum { REASON };

static const struct command_option fence_options[] = {[REASON] = {"reason", ""}, {0}};

static int print_fence(const struct call *call, json_t *answer)
{
    const char *node = call->arguments[0];
    json_int_t count = json_integer_value(json_object_get(answer, "reservations"));
    json_int_t active = json_integer_value(json_object_get(answer, "active"));
    printf("%s: %" JSON_INTEGER_FORMAT " reservation%s no longer wait%s for it\n", node, count,
           count == 1 ? "" : "s", count == 1 ? "s" : "");
    if (active > 0)
        printf("%s: %" JSON_INTEGER_FORMAT " active job%s on it %s not touched\n", node, active,
               active == 1 ? "" : "s", active == 1 ? "is" : "are");
    if (json_is_false(json_object_get(answer, "known")))
        fprintf(stderr,
                "mcastctl: warning: no cluster's nodes and no reservation has %s: is the name "
                "right? mcastctl list --held shows who waits for whom\n",
                node);
    return command_finish();
}

static int run_fence(struct call *call)
{
    char *json = NULL;
    if (call->argument_count != 1)
        return command_misused(call, "which node? name exactly one");
    if (!call->given[REASON])
        return command_misused(call, "why? give --reason TEXT");
    int rc = mcast_fence_json(call->handle, call->arguments[0], call->given[REASON], &json,
                              &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_fence);
}

static int print_count(const struct call *call, uint64_t count, const char *decided)
{
    if (call->json)
        printf("{\"reservations\": %" PRIu64 "}\n", count);
    else
        printf("%" PRIu64 " reservation%s %s\n", count, count == 1 ? "" : "s", decided);
    return command_finish();
}

static int run_accept_loss(struct call *call)
{
    uint64_t count = 0;
    int rc = mcast_accept_loss(call->handle, &count, &call->error);
    return rc < 0 ? rc
                  : print_count(call, count,
                                count > 0 ? "accepted as lost: each job is notified, and the alarm "
                                            "ends, when the fabric manager has said it once more"
                                          : "accepted as lost: no mass-loss alarm was on, or its "
                                            "jobs are back");
}

/* The cluster is an argument: MCAST_CLUSTER does not decide. */
static int run_claim(struct call *call)
{
    uint64_t count = 0;
    if (call->argument_count != 1)
        return command_misused(call, "which cluster? name exactly one");
    int rc = mcast_claim(call->handle, call->arguments[0], &count, &call->error);
    return rc < 0 ? rc
                  : print_count(call, count,
                                count > 0 ? "claimed"
                                          : "claimed: no name-conflict alarm of it was on");
}

static const struct command_option step_down_options[] = {{"force", NULL}, {0}};

static int run_step_down(struct call *call)
{
    int rc = call->given[0] ? mcast_step_down_forced(call->handle, &call->error)
                            : mcast_step_down(call->handle, &call->error);
    if (rc < 0)
        return rc;
    puts(call->json ? "{\"status\": \"stepping-down\"}"
                    : "the broker that led lets another one lead");
    return command_finish();
}

const struct command command_fence = {"fence",
                                      "declare an unresponsive node clean",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_CONNECTED,
                                      fence_options,
                                      .run = run_fence,
                                      .argument = "NODE"};
const struct command command_accept_loss = {
    "accept-loss",
    "accept that what the fabric manager no longer has is lost",
    COMMAND_NO_ARGUMENTS,
    COMMAND_CONNECTED,
    NULL,
    .run = run_accept_loss};
const struct command command_claim = {"claim",
                                      "declare that no other broker or Slurm uses a cluster's name",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_CONNECTED,
                                      NULL,
                                      .run = run_claim,
                                      .argument = "CLUSTER"};
const struct command command_step_down = {
    "step-down",          "let another broker lead, for maintenance of this one",
    COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED,
    step_down_options,    .run = run_step_down};
