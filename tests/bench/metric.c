/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the lines of this name with labels, or without. */
static double sum(struct plainhttp *http, const char *name, char next, const char *but)
{
    const size_t length = strlen(name);
    struct plainhttp_reply reply;
    double value = -1;
    char *rest = NULL;

    plainhttp_call(http, "GET", "/metrics", NULL, &reply);
    for (char *line = strtok_r(reply.text ? reply.text : (char[]){""}, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, name, length) == 0 && line[length] == next && !(but && strstr(line, but)))
            value = (value < 0 ? 0 : value) + strtod(strrchr(line, ' '), NULL);
    plainhttp_reply_release(&reply);
    if (value < 0)
        fprintf(stderr, "/metrics has no %s\n", name);
    return value;
}

double metric_ask(struct plainhttp *http, const char *name)
{
    return sum(http, name, ' ', NULL);
}

double metric_value(const struct testbed *testbed, const char *name)
{
    return metric_ask(testbed_http(testbed), name);
}

double metric_sum(const struct testbed *testbed, const char *name, const char *but)
{
    return sum(testbed_http(testbed), name, '{', but);
}
