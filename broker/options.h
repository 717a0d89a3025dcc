/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_OPTIONS_H
#define MCAST_BROKER_OPTIONS_H

/* The command line of mcastd. One table makes the parser, --help and the manual page. */

enum options_task {
    OPTIONS_RUN,
    OPTIONS_CHECK,
    OPTIONS_MAKE_KEY,
    OPTIONS_DONE, /* everything is printed */
};

struct options {
    enum options_task task;
    const char *config_path;
    const char *user; /* CHECK, MAKE_KEY: of the service; NULL: not named (serviceuser.h) */
    int log_level;    /* -1: as configured */
};

/* 0; EX_USAGE with a sentence on stderr. Prints what is only to be printed. */
int options_parse(struct options *options, int argc, char **argv);

#endif
