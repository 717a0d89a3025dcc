/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nodelist.h"
#include "cli/command.h"
#include "cli/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024 };

static bool is_true(const json_t *facts, const char *name)
{
    return command_text(facts, name)[0] != '\0';
}

static const json_t *find_cluster(const json_t *list, const char *name)
{
    size_t index;
    const json_t *one;
    json_array_foreach(list, index, one)
    {
        const char *text = json_is_string(one) ? json_string_value(one) : command_text(one, "name");
        if (text && strcmp(text, name) == 0)
            return one;
    }
    return NULL;
}

/* Whether another user than SlurmUser, "slurm(64030)", has asked. */
static bool is_other_user(const char *user, const json_t *whoami)
{
    const char *number = strchr(user, '(');
    const json_t *uid = json_object_get(whoami, "uid");
    return number && json_is_integer(uid) && json_integer_value(uid) != atoll(number + 1);
}

static void judge_identity(struct findings *findings, const json_t *facts, const json_t *whoami)
{
    char advice[LINE_SIZE];
    const char *identity = command_text(whoami, "identity");
    const char *cluster = command_text(facts, "cluster"), *user = command_text(facts, "user");
    const int length = (int)strcspn(user, "(");
    if (find_cluster(json_object_get(whoami, "clusters"), cluster)) {
        findings_add(findings, FINDING_OK, "broker", NULL,
                     "it answers, and takes %s for the resource manager of %s",
                     identity ? identity : "you", cluster);
    } else if (!is_true(facts, "controller") || is_true(facts, "manager")) {
        findings_add(findings, FINDING_OK, "broker", NULL, "it answers");
    } else if (is_other_user(user, whoami)) {
        snprintf(advice, sizeof advice, "runuser -u %.*s -- mcastctl check slurm", length, user);
        findings_add(findings, is_true(facts, "node") ? FINDING_OK : FINDING_WARNING, "broker",
                     advice,
                     "it answers; whether it takes %.*s for the resource manager of %s only %.*s "
                     "can see",
                     length, user, cluster, length, user);
    } else {
        snprintf(advice, sizeof advice, "mcastd.conf: [cluster \"%.32s\"] users = %.*s", cluster,
                 length, user);
        findings_add(findings, FINDING_PROBLEM, "broker", advice,
                     "it answers, but %s is not the resource manager of %s",
                     identity ? identity : "this user", cluster);
    }
}

static void judge_list(struct findings *findings, const json_t *facts, const json_t *cluster)
{
    char advice[LINE_SIZE];
    const json_int_t failures = json_integer_value(json_object_get(cluster, "list_failures"));
    const char *error = command_text(cluster, "list_error");
    snprintf(advice, sizeof advice, "mcastd.conf: [cluster \"%.32s\"] list_command = %.900s/jobs",
             command_text(facts, "cluster"), command_text(facts, "hooks"));
    if (!json_is_true(json_object_get(cluster, "list_command")))
        findings_add(findings, FINDING_PROBLEM, "list_command", advice,
                     "not set: jobs whose epilog Slurm never ran are never released");
    else if (failures > 0 && error && error[0])
        findings_add(findings, FINDING_PROBLEM, "list_command",
                     "run it as mcastd's user and see; docs/operations.md",
                     "it fails (%lld times so far): %s", (long long)failures, error);
    else
        findings_add(findings, FINDING_OK, "list_command", NULL,
                     "mcastd asks Slurm which jobs are active");
}

struct outside {
    const char *nodes; /* of the cluster in mcastd.conf */
    char first[256];   /* that is not among them */
    size_t count;
};

static void look_at_node(void *arg, const char *name)
{
    struct outside *outside = arg;
    if (nodelist_contains(outside->nodes, name))
        return;
    if (outside->count++ == 0)
        snprintf(outside->first, sizeof outside->first, "%s", name);
}

/* Whether those that Slurm has may report (F3). What is no list for us is left to the broker. */
static void judge_nodes(struct findings *findings, const json_t *facts, const json_t *cluster)
{
    struct outside outside = {.nodes = command_text(cluster, "nodes")};
    const char *text = command_text(facts, "nodes");
    char advice[LINE_SIZE];
    struct error err;
    uint32_t count;
    if (!outside.nodes || !text[0] || nodelist_count(text, &count, &err) < 0)
        return;
    nodelist_each(text, look_at_node, &outside);
    snprintf(advice, sizeof advice, "mcastd.conf: [cluster \"%.32s\"] nodes: all NodeNames",
             command_text(facts, "cluster"));
    if (outside.count == 0)
        findings_add(findings, FINDING_OK, "nodes", NULL,
                     "all of Slurm's may report to the broker");
    else
        findings_add(findings, FINDING_PROBLEM, "nodes", advice,
                     "%zu of Slurm's, %s first, %s not in the cluster's nodes: the broker takes no "
                     "report of theirs, and VNIs wait for them",
                     outside.count, outside.first, outside.count == 1 ? "is" : "are");
}

void manager_judge(struct findings *findings, const json_t *facts, const json_t *whoami,
                   const json_t *status)
{
    const json_t *clusters = json_object_get(status, "clusters");
    const char *name = command_text(facts, "cluster");
    const json_t *cluster = find_cluster(clusters, name);
    char advice[LINE_SIZE];
    if (whoami)
        judge_identity(findings, facts, whoami);
    snprintf(advice, sizeof advice, "mcastd.conf: a section [cluster \"%.32s\"]", name);
    if (cluster) {
        judge_list(findings, facts, cluster);
        judge_nodes(findings, facts, cluster);
    } else if (clusters && is_true(facts, "controller"))
        findings_add(findings, FINDING_PROBLEM, "list_command", advice,
                     "the broker shows no cluster %s", name);
}
