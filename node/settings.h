/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* node.conf: what a site says of its nodes. Every key has a default; one table makes the parser,
 * the sample file, the manual page, and what a job may want of the NICs' resources. */

#include "base/idset.h"
#include "core/reservation/record.h"
#include "node/services/limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SETTINGS_DEFAULT_FILE "/etc/mcastd/node.conf"

enum { SETTINGS_TEXT_SIZE = 400 };

struct settings {
    char url[SETTINGS_TEXT_SIZE]; /* "": as libmcast finds the broker */
    char cacert[SETTINGS_TEXT_SIZE], cert[SETTINGS_TEXT_SIZE], key[SETTINGS_TEXT_SIZE];
    char munge_socket[SETTINGS_TEXT_SIZE];
    char server_user[SETTINGS_TEXT_SIZE];
    char launch_user[SETTINGS_TEXT_SIZE], launch_key[SETTINGS_TEXT_SIZE];
    char cluster[SETTINGS_TEXT_SIZE]; /* "": none */
    char node[SETTINGS_TEXT_SIZE];    /* "": the host's name */
    char spool[SETTINGS_TEXT_SIZE];
    char libcxi[SETTINGS_TEXT_SIZE], sysfs[SETTINGS_TEXT_SIZE];
    int64_t timeout_ms, busy_ms, epilog_ms, housekeeping_ms, missed_ms, inventory_ms;
    char counters[TRAFFIC_KINDS][SETTINGS_TEXT_SIZE]; /* names as in a node list; "": none */
    bool report, inventory, traffic, single_node, adjust_limits, housekeeping;
    uint32_t min_nics;
    uint32_t traffic_classes; /* bits of enum traffic_class */
    struct idset pool, vnis;
    struct limits_rules limits;
};

void settings_init(struct settings *settings);

/* Reads a file over the defaults. Each fault goes to `faults` as "file:line: what is wrong, what is
 * allowed". The number of faults. A file that is not there is one, unless it may be missing. */
unsigned int settings_read(struct settings *settings, const char *path, bool may_be_missing,
                           FILE *faults);

/* The same from a text, which is changed; name: of the file, for faults. */
unsigned int settings_parse(struct settings *settings, char *text, const char *name, FILE *faults);

/* What one job wants of the NICs' resources, other than node.conf says, in the words that srun
 * takes after --network (F7): "def_txqs=4", "res_les=200", "max_cts=64", "adjust_limits",
 * "no_adjust_limits", with blanks or commas between them. The settings are the site's before, and
 * the job's after it. What is above the site's max_… becomes that, what is not understood is left
 * out; warn gets a sentence for each of them. */
typedef void settings_warn_fn(void *arg, const char *sentence);
void settings_apply_job_limits(struct settings *settings, const char *text, settings_warn_fn *warn,
                               void *arg);

/* Every key with its default and its sentence: the sample file, and for the manual page. */
void settings_print_sample(FILE *out);
void settings_print_page(FILE *out);

/* "500ms", "5s", "10m", "1h", and what forms add (duration.h): milliseconds, up to a day. False: it
 * is none. */
bool settings_duration(const char *text, unsigned int forms, int64_t *ms);

/* Digits, up to max. False: it is none. */
bool settings_number(const char *text, uint32_t max, uint32_t *out);
