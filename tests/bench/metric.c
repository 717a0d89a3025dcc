/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double metric_value(const struct testbed *testbed, const char *name)
{
    const size_t length = strlen(name);
    struct plainhttp_reply reply;
    double value = -1;

    if (plainhttp_call(testbed_http(testbed), "GET", "/metrics", NULL, &reply) == 200) {
        for (const char *line = reply.text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (strncmp(line, name, length) == 0 && line[length] == ' ')
                value = strtod(line + length, NULL);
        }
    }
    plainhttp_reply_release(&reply);
    if (value < 0)
        fprintf(stderr, "/metrics has no %s\n", name);
    return value;
}
