/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What stops the broker from acting until the cause is gone or an administrator decides (B11): when
 * much is wrong at once, or when what is at the fabric manager may belong to another broker,
 * nothing is declared lost and nothing is deleted. */

/* name, word, what to do about it */
#define ALARM_KINDS(X)                                                                             \
    X(MASS_LOSS, "mass-loss",                                                                      \
      "check the fabric manager and what is in front of it; if the reservations are really gone: " \
      "mcastctl accept-loss")                                                                      \
    X(NAME_CONFLICT, "name-conflict",                                                              \
      "find the other broker or Slurm that uses this cluster name; if there is none, and the "     \
      "ledger is new, was restored, or told a job that it had lost this: mcastctl claim CLUSTER")  \
    X(OLD_LEDGER, "old-ledger",                                                                    \
      "the ledger does not know all running jobs: wait until they are over and their resource "    \
      "manager names no other; if no other VNIs are in use on the nodes, a short [vni] hold and "  \
      "a reload end it")                                                                           \
    X(PARTITIONS, "partitions",                                                                    \
      "compare [vni] pool and [vni] partition with the VNI partitions of the fabric manager; if "  \
      "they are right, wait: the next answer is believed")

enum alarm_kind {
#define ALARM_ENUM_(name, word, advice) ALARM_##name,
    ALARM_KINDS(ALARM_ENUM_)
#undef ALARM_ENUM_
        ALARM_KIND_COUNT
};
const char *alarm_kind_word(enum alarm_kind kind);
const char *alarm_kind_advice(enum alarm_kind kind);

/* One that is on. */
struct alarm {
    struct alarm *next; /* raised later */
    enum alarm_kind kind;
    const char *cluster; /* the core's own copy, shared; NULL: not of one cluster */
    int64_t since_ms;
    char detail[ERROR_TEXT_SIZE]; /* one sentence: what was seen, and what is not done because of it
                                   */
};

struct core;

/* The first time it is an event and a line in the log, then only the detail is replaced. */
__attribute__((format(printf, 4, 5))) void
alarm_raise(struct core *core, enum alarm_kind kind, const char *cluster, const char *format, ...);
void alarm_clear(struct core *core, enum alarm_kind kind, const char *cluster);
bool alarm_on(const struct core *core, enum alarm_kind kind, const char *cluster);
void alarm_release(struct core *core); /* all memory */
