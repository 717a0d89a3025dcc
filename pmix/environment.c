/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix/environment.h"
#include "client/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ca_name[] = "FI_CXI_COLL_FABRIC_MGR_CACERT";

static bool has(const struct infos *variables, const char *sought, const char **value)
{
    const char *name;
    for (size_t i = 0; i < variables->count; i++) {
        if (infos_variable(&variables->at[i], &name, value) && strcmp(name, sought) == 0)
            return true;
    }
    return false;
}

/* The CA is the node's to settle: whether the file is there can be seen there only. */
static int settle_one(const struct mcast_variable *variable, void *data)
{
    struct infos *variables = data;
    const char *value;
    if (strcmp(variable->name, ca_name) == 0 && has(variables, ca_name, &value))
        return 0;
    return infos_set_variable(variables, variable->name, variable->value) ? 0 : 1;
}

static void free_environment(char **environment)
{
    for (char **line = environment; line && *line; line++) {
        explicit_bzero(*line, strlen(*line));
        free(*line);
    }
    free(environment);
}

/* NAME=value, ended by NULL; NULL: memory is exhausted. */
static char **make_environment(const struct infos *variables)
{
    char **environment = calloc(variables->count + 1, sizeof *environment);
    const char *name, *value;
    size_t used = 0;
    for (size_t i = 0; environment && i < variables->count; i++) {
        if (!infos_variable(&variables->at[i], &name, &value) || !value)
            continue;
        if (asprintf(&environment[used], "%s=%s", name, value) < 0) {
            environment[used] = NULL;
            free_environment(environment);
            return NULL;
        }
        used++;
    }
    return environment;
}

static bool unset_others(struct infos *variables)
{
    const char *value;
    bool fits = true;
    for (const char *const *name = mcast_env_names(); fits && *name; name++)
        fits = has(variables, *name, &value) || infos_set_variable(variables, *name, NULL);
    return fits;
}

int environment_settle(struct infos *variables, const char *step, struct mcast_error *error)
{
    if (variables->count == 0)
        return 0;
    if (!step)
        return unset_others(variables) ? 0 : fault_nomem(error);
    char **environment = make_environment(variables);
    if (!environment)
        return fault_nomem(error);
    const int rc =
        mcast_env_inherit((const char *const *)environment, step, settle_one, variables, error);
    free_environment(environment);
    return rc > 0 ? fault_nomem(error) : rc;
}

bool environment_settle_ca(struct infos *variables)
{
    const char *value;
    return !has(variables, ca_name, &value) || !value || mcast_env_cacert_usable(value) ||
           infos_set_variable(variables, ca_name, "yes");
}

int environment_read(struct infos *variables, const char *json, size_t length,
                     struct mcast_error *error)
{
    json_t *object = json_loadb(json, length, JSON_REJECT_DUPLICATES, NULL), *value;
    const char *name;
    int rc = 0;
    if (!json_is_object(object) || json_object_size(object) > ENVIRONMENT_NAMES_MAX)
        rc = fault_set(error, MCAST_USAGE,
                       "this is not what mcast-node env --format json prints: no JSON object of at "
                       "most %d variables; look at what the program wrote to standard error",
                       ENVIRONMENT_NAMES_MAX);
    json_object_foreach(object, name, value)
    {
        if (rc == 0 && !name[0])
            rc = fault_set(error, MCAST_USAGE, "a variable without name");
        else if (rc == 0 && !json_is_string(value) && !json_is_null(value))
            rc =
                fault_set(error, MCAST_USAGE, "variable %.100s is neither a string nor null", name);
        else if (rc == 0 && !infos_set_variable(variables, name, json_string_value(value)))
            rc = fault_nomem(error);
    }
    json_decref(object);
    return rc;
}

/* The place of NAME=… in it, or its end. */
static size_t find(char **env, const char *name)
{
    const size_t length = strlen(name);
    size_t i = 0;
    while (env[i] && (strncmp(env[i], name, length) != 0 || env[i][length] != '='))
        i++;
    return i;
}

static pmix_status_t set(char ***env, const char *name, const char *value)
{
    char *line;
    const size_t at = find(*env, name);
    if (asprintf(&line, "%s=%s", name, value) < 0)
        return PMIX_ERR_NOMEM;
    if ((*env)[at]) {
        free((*env)[at]);
        (*env)[at] = line;
        return PMIX_SUCCESS;
    }
    char **grown = realloc(*env, (at + 2) * sizeof *grown);
    if (!grown) {
        free(line);
        return PMIX_ERR_NOMEM;
    }
    grown[at] = line;
    grown[at + 1] = NULL;
    *env = grown;
    return PMIX_SUCCESS;
}

static void unset(char **env, const char *name)
{
    size_t at = find(env, name);
    free(env[at]);
    for (; env[at]; at++)
        env[at] = env[at + 1];
}

pmix_status_t environment_apply(const struct infos *variables, char ***env)
{
    const char *name, *value;
    pmix_status_t rc = PMIX_SUCCESS;
    if (!*env && !(*env = calloc(1, sizeof **env)))
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; rc == PMIX_SUCCESS && i < variables->count; i++) {
        if (!infos_variable(&variables->at[i], &name, &value))
            continue;
        if (value)
            rc = set(env, name, value);
        else
            unset(*env, name);
    }
    return rc;
}
