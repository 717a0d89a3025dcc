/* SPDX-License-Identifier: Apache-2.0 */
/* grant STEP: reads a reservation, as it was published in the job's part of the KVS, on standard
 * input, and prints the tasks' variables of this step, as lines for a TaskProlog: "export
 * NAME=value", or "unset NAME". Of an empty one, and with nothing on standard input, all are to be
 * unset. */

#include "client/mcast.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What the reservation does not name must be unset, so this process has it as its environment and
 * nothing else. */
static int print_env(const json_t *grant, const char *step)
{
    static const char *const none[] = {NULL};
    struct mcast_error error = {0};
    const char *name;
    json_t *value;
    clearenv();
    json_object_foreach(json_object_get(grant, "env"), name, value)
    {
        const char *text = json_string_value(value);
        if (setenv(name, text ? text : "", 1) < 0)
            return complain(strerror(errno));
    }
    int rc = mcast_env_inherit(environ ? (const char *const *)environ : none, step, print_variable,
                               NULL, &error);
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
