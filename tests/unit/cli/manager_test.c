/* SPDX-License-Identifier: Apache-2.0 */
/* What mcastctl check slurm says of the broker's answers (F23). */

#include "cli/doctor/doctor.h"
#include "tests/unit/unit.h"

static struct findings *findings;
static json_t *facts;

static int setup(void **state)
{
    findings = findings_create();
    facts = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "cluster", "elcap", "hooks", "/hooks",
                      "user", "", "controller", "yes", "node", "yes", "nodes", "", "manager", "");
    return 0;
}

static int teardown(void **state)
{
    findings_destroy(findings);
    json_decref(facts);
    return 0;
}

static void set_fact(const char *name, const char *value)
{
    json_object_set_new(facts, name, json_string(value));
}

static void expect(const char *word, const char *level, const char *finding, const char *advice)
{
    json_t *all = findings_json(findings), *one;
    size_t index, found = 0;
    json_array_foreach(json_object_get(all, "findings"), index, one)
    {
        const char *said = json_string_value(json_object_get(one, "finding"));
        const char *next = json_string_value(json_object_get(one, "advice"));
        if (strcmp(json_string_value(json_object_get(one, "check")), word) != 0)
            continue;
        found++;
        assert_string_equal(json_string_value(json_object_get(one, "level")), level);
        assert_words(said, finding);
        if (advice && (!next || !strstr(next, advice)))
            fail_msg("'%s' does not advise '%s'", next ? next : "nothing", advice);
        assert_true(advice || !next);
    }
    assert_int_equal(found, 1);
    json_decref(all);
}

static void judge_broker(const char *whoami, const char *status)
{
    json_t *who = json_loads(whoami, 0, NULL), *how = json_loads(status, 0, NULL);
    manager_judge(findings, facts, who, how);
    json_decref(who);
    json_decref(how);
}

UNIT_WITH(manager__is_or_is_not_the_caller, setup, teardown)
{
    set_fact("user", "slurm(64030)");
    judge_broker("{\"identity\":\"uid 64030\",\"clusters\":[\"a\",\"elcap\"]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":true,\"list_failures\":0}]}");
    expect("broker", "ok", "uid 64030 for the resource manager of elcap", NULL);
    expect("list_command", "ok", "asks Slurm", NULL);
    teardown(NULL);
    setup(NULL);
    set_fact("user", "slurm(64030)");
    judge_broker("{\"identity\":\"uid 64030\",\"clusters\":[]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":false}]}");
    expect("broker", "problem", "is not the resource manager of elcap",
           "mcastd.conf: [cluster \"elcap\"] users = slurm");
    expect("list_command", "problem", "never released", "/jobs");
    teardown(NULL);
    setup(NULL);
    judge_broker("{\"clusters\":[\"elcap\"]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":true,\"list_failures\":3,"
                 "\"list_error\":\"it ended with 1\"}]}");
    expect("list_command", "problem", "it ended with 1", "mcastd's user");
    teardown(NULL);
    setup(NULL);
    judge_broker("{\"clusters\":[]}", "{\"clusters\":[]}");
    expect("list_command", "problem", "shows no cluster elcap", "[cluster \"elcap\"]");
    teardown(NULL);
    setup(NULL);
    set_fact("user", "slurm(64030)"); /* asked as root */
    set_fact("node", "");
    judge_broker("{\"uid\":0,\"clusters\":[]}", "{}");
    expect("broker", "warning", "only slurm can see", "runuser -u slurm");
    teardown(NULL);
    setup(NULL);
    set_fact("controller", ""); /* a node is no resource manager */
    judge_broker("{\"clusters\":[]}", "{}");
    expect("broker", "ok", "it answers", NULL);
}

UNIT_WITH(manager__was_asked_already, setup, teardown)
{
    set_fact("user", "slurm(64030)"); /* asked as root, which has asked as slurm besides */
    set_fact("manager", "slurm");
    judge_broker("{\"uid\":0,\"clusters\":[]}", "{}");
    expect("broker", "ok", "it answers", NULL);
}

/* F3: reports of a node that the broker does not know as the cluster's are refused. */
UNIT_WITH(nodes__are_all_of_the_clusters, setup, teardown)
{
    static const char status[] = "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":true,"
                                 "\"list_failures\":0,\"nodes\":\"n[1-4],m1\"}]}";
    set_fact("nodes", "m1,n[2-4]");
    judge_broker("{\"clusters\":[\"elcap\"]}", status);
    expect("nodes", "ok", "all of Slurm's", NULL);
    teardown(NULL);
    setup(NULL);
    set_fact("nodes", "n[1-6]");
    judge_broker("{\"clusters\":[\"elcap\"]}", status);
    expect("nodes", "problem", "2 of Slurm's, n5 first, are not in the cluster's nodes",
           "mcastd.conf: [cluster \"elcap\"] nodes");
}

UNIT_RUN(NULL, NULL)
