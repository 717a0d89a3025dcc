#ifndef MCAST_CLI_SLURM_PLUGSTACK_H
#define MCAST_CLI_SLURM_PLUGSTACK_H

/* Slurm's plugstack.conf: which SPANK plugins are loaded, line by line. Pure. */

#include <stdbool.h>
#include <stddef.h>

enum plugstack_kind { PLUGSTACK_OPTIONAL, PLUGSTACK_REQUIRED, PLUGSTACK_INCLUDE };

struct plugstack_line {
    enum plugstack_kind kind;
    const char *path;  /* of a plugin; what an include names, perhaps a pattern */
    const char *words; /* behind it; "" for none */
};

/* Cut at their lines' ends; only for the time of the call. */
typedef void plugstack_fn(const struct plugstack_line *line, void *data);

/* Calls each for the lines that are understood, and returns how many are not. */
size_t plugstack_read(const char *text, plugstack_fn *each, void *data);

#endif
