/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mcastctl vni: shared VNIs. */

enum { UID, USERS, ANY_USER, CLUSTERS, EXPIRES, WHEN_UNUSED };
enum { WORDS_MAX = 256, LIFETIME_MAX_DAYS = 3650 };

static const struct command_option options[] = {[UID] = {"uid", "USER"},
                                                [USERS] = {"users", ""},
                                                [ANY_USER] = {"any-user", NULL},
                                                [CLUSTERS] = {"clusters", "CLUSTER"},
                                                [EXPIRES] = {"expires", "TIME"},
                                                [WHEN_UNUSED] = {"when-unused", NULL},
                                                {0}};

/* ---- create ---- */

struct wanted {
    struct mcast_vni_request request;
    char *texts[2]; /* what the words point into */
    const char *clusters[WORDS_MAX + 1];
    uint32_t users[WORDS_MAX];
};

static int read_users(struct call *call, struct wanted *wanted)
{
    const char *words[WORDS_MAX + 1];
    wanted->texts[0] = memory_text(call->given[USERS]);
    if (!call->given[USERS])
        return 0;
    if (!command_split(wanted->texts[0], words, WORDS_MAX))
        return command_misused(call, "--users: names or uids with commas between them");
    for (size_t i = 0; words[i]; i++)
        if (!user_find(words[i], &wanted->users[wanted->request.user_count++]))
            return command_misused(call, "--users: there is no user '%.80s' on this host",
                                   words[i]);
    wanted->request.users = wanted->users;
    return 0;
}

static int read_wanted(struct call *call, struct wanted *wanted)
{
    int64_t lifetime_ms = 0;
    struct mcast_vni_request *request = &wanted->request;
    wanted->texts[1] = memory_text(call->given[CLUSTERS]);
    request->uid = UINT32_MAX;
    if (user_option(call, UID, &request->uid) < 0 || read_users(call, wanted) < 0 ||
        command_duration(call, EXPIRES, LIFETIME_MAX_DAYS * INT64_C(86400000), &lifetime_ms) < 0)
        return MCAST_USAGE;
    if (call->given[CLUSTERS] && !command_split(wanted->texts[1], wanted->clusters, WORDS_MAX))
        return command_misused(call, "--clusters: names with commas between them");
    if (call->given[CLUSTERS])
        request->clusters = wanted->clusters;
    request->name = call->arguments[1];
    request->any_user = call->given[ANY_USER];
    request->lifetime_s = (uint32_t)((lifetime_ms + 999) / 1000);
    return 0;
}

/* ---- showing ---- */

/* Words of a list, or uids as names; "" when it is not told. */
static void write_list(char *out, size_t size, const json_t *list)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(list) && used < size; i++) {
        const json_t *value = json_array_get(list, i);
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? "," : "",
                                 json_is_string(value)
                                     ? json_string_value(value)
                                     : user_name((uint32_t)json_integer_value(value)));
    }
}

static void add_row(struct table *table, const json_t *one)
{
    char text[512];
    table_row(table);
    table_cell(table, command_text(one, "name"));
    table_cellf(table, "%lld", (long long)json_integer_value(json_object_get(one, "vni")));
    table_cell(table, user_name((uint32_t)json_integer_value(json_object_get(one, "uid"))));
    table_cell(table, command_text(one, "state"));
    table_cell(table, command_text(one, "expires"));
    write_list(text, sizeof text, json_object_get(one, "users"));
    table_cell(table, json_is_true(json_object_get(one, "any_user")) ? "any" : text);
    write_list(text, sizeof text, json_object_get(one, "clusters"));
    table_cell(table, json_object_get(one, "clusters") && text[0] == '\0' ? "all" : text);
    if (json_object_get(one, "jobs"))
        table_cellf(table, "%lld", (long long)json_integer_value(json_object_get(one, "jobs")));
}

static struct table *create_table(void)
{
    return table_create("NAME,>VNI,OWNER,STATE,EXPIRES,~USERS,~CLUSTERS,>JOBS");
}

static int print_one(const struct call *call, json_t *answer)
{
    struct table *table = create_table();
    (void)call;
    add_row(table, answer);
    return table_print(table);
}

static int print_all(const struct call *call, json_t *answer)
{
    struct table *table = create_table();
    const json_t *list = json_object_get(answer, "vnis");
    (void)call;
    for (size_t i = 0; i < json_array_size(list); i++)
        add_row(table, json_array_get(list, i));
    if (json_array_size(list) == 0)
        fputs("mcastctl: there is no shared VNI that you may see\n", stderr);
    return table_print(table);
}

/* ---- the verbs ---- */

static int create_vni(struct call *call, char **json)
{
    struct wanted wanted = {.request = MCAST_VNI_REQUEST_INIT};
    int rc = read_wanted(call, &wanted);
    if (rc == 0)
        rc = mcast_vni_create(call->handle, &wanted.request, json, &call->error);
    free(wanted.texts[0]);
    free(wanted.texts[1]);
    return rc;
}

static int list_vnis(struct call *call, char **json)
{
    return mcast_vni_list(call->handle, json, &call->error);
}

static int show_vni(struct call *call, char **json)
{
    return mcast_vni_show(call->handle, call->arguments[1], json, &call->error);
}

static int remove_vni(struct call *call, char **json)
{
    return mcast_vni_remove(call->handle, call->arguments[1], call->given[WHEN_UNUSED], json,
                            &call->error);
}

static const struct verb {
    const char *name;
    size_t arguments;  /* words, itself, too */
    size_t first, end; /* options that it takes */
    int (*run)(struct call *call, char **json);
    int (*print)(const struct call *call, json_t *answer);
} verbs[] = {
    {"create", 2, UID, WHEN_UNUSED, create_vni, print_one},
    {"list", 1, 0, 0, list_vnis, print_all},
    {"show", 2, 0, 0, show_vni, print_one},
    {"remove", 2, WHEN_UNUSED, WHEN_UNUSED + 1, remove_vni, print_one},
    {0},
};

static int run_vni(struct call *call)
{
    const struct verb *verb = verbs;
    char *json = NULL;
    while (verb->name && (call->argument_count == 0 || strcmp(verb->name, call->arguments[0]) != 0))
        verb++;
    if (!verb->name)
        return command_misused(call, "what is to be done? create, list, show or remove");
    if (call->argument_count != verb->arguments)
        return command_misused(call, verb->arguments == 1 ? "list takes no name"
                                                          : "which shared VNI? name exactly one");
    for (size_t i = 0; options[i].name; i++)
        if ((i < verb->first || i >= verb->end) && call->given[i])
            return command_misused(call, "%s does not take --%s", verb->name, options[i].name);
    const int rc = verb->run(call, &json);
    return rc < 0 ? rc : command_print_answer(call, json, verb->print);
}

const struct command command_vni = {"vni",
                                    "make, show or remove VNIs that several jobs share",
                                    COMMAND_OWN_ARGUMENTS,
                                    COMMAND_CONNECTED,
                                    options,
                                    .run = run_vni,
                                    .argument = "create,list,show,remove"};
