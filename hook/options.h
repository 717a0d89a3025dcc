/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_HOOK_OPTIONS_H
#define MCAST_HOOK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The command line of mcast-cleanup. */

#define OPTIONS_DEADLINE "30s"

struct options {
    const char *step; /* NULL: that of the environment */
    bool below, wait, strict;
    int64_t deadline_ms;
};

enum options_end {
    OPTIONS_GO_ON,
    OPTIONS_ANSWERED, /* --help and its like; standard output is to be flushed */
    OPTIONS_MISUSED,  /* said on standard error, in one line */
};

/* Fills options whatever is returned: strict is known even where something else is wrong. */
enum options_end options_read(struct options *options, int argc, char **argv);

#endif
