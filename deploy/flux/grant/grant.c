/* SPDX-License-Identifier: Apache-2.0 */
/* grant STEP: reads a reservation, as it was published in the job's part of the KVS, on standard
 * input, and prints the tasks' variables of this step, as lines for a TaskProlog: "export
 * NAME=value", or "unset NAME". Of an empty one, and with nothing on standard input, all are to be
 * unset. */

#include "client/mcast.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, FAILED, USAGE };

static int complain(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return FAILED;
}

static int print_variable(const struct mcast_variable *variable, void *data)
{
    (void)data;
    if (!variable->value)
        printf("unset %s\n", variable->name);
    else if (strchr(variable->value, '\n'))
        return FAILED; /* it would be read as lines of its own */
    else
        printf("export %s=%s\n", variable->name, variable->value);
    return 0;
}

/* NAME=value of each, ended by NULL, in one piece of memory. NULL: it is exhausted. */
static char **environment_of(json_t *variables)
{
    size_t count = json_object_size(variables);
    size_t length = 0;
    const char *name;
    json_t *value;
    json_object_foreach(variables, name, value) length +=
        strlen(name) + 1 + json_string_length(value) + 1;
    char **list = malloc((count + 1) * sizeof(*list) + length);
    if (!list)
        return NULL;
    char *end = (char *)(list + count + 1);
    size_t used = 0;
    json_object_foreach(variables, name, value)
    {
        const char *text = json_string_value(value);
        list[used++] = end;
        end = stpcpy(stpcpy(stpcpy(end, name), "="), text ? text : "") + 1;
    }
    list[used] = NULL;
    return list;
}

static int print_env(const json_t *grant, const char *step)
{
    struct mcast_error error = {0};
    char **environment = environment_of(json_object_get(grant, "env"));
    if (!environment)
        return complain("memory is exhausted");
    int rc =
        mcast_env_inherit((const char *const *)environment, step, print_variable, NULL, &error);
    free(environment);
    if (rc < 0)
        return complain(error.text);
    return rc > 0 ? complain("a variable of the reservation has a line break") : DONE;
}

/* Nothing at all on the input is no reservation, and no mistake. */
static bool read_grant(json_t **grant)
{
    int first = getc(stdin);
    *grant = NULL;
    if (first == EOF)
        return ferror(stdin) == 0;
    ungetc(first, stdin);
    *grant = json_loadf(stdin, 0, NULL);
    return json_is_object(*grant);
}

int main(int argc, char **argv)
{
    json_t *grant;
    int status;
    if (argc != 2) {
        fputs("Usage: grant STEP\n", stderr);
        return USAGE;
    }
    if (read_grant(&grant))
        status = print_env(grant, argv[1]);
    else
        status = complain("what is on standard input is no reservation");
    json_decref(grant);
    return fflush(stdout) == 0 ? status : FAILED;
}
