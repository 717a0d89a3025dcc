#ifndef MCAST_CLIENT_ENVNAMES_H
#define MCAST_CLIENT_ENVNAMES_H

/* The names of the variables that tasks are given (F16), once for all of the library. */

enum envname {
    ENVNAME_MIN_NODES,
    ENVNAME_ADDRESSES,
    ENVNAME_JOB,
    ENVNAME_STEP,
    ENVNAME_TOKEN, /* a secret: who holds it may make and delete the job's multicast trees */
    ENVNAME_URL,
    ENVNAME_CACERT,
    ENVNAME_COUNT
};

/* In the broker's order, ended by NULL (mcast_env_names). */
extern const char *const envnames[ENVNAME_COUNT + 1];

#endif
