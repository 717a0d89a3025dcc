/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/names.h"
#include "core/core.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clusters whose Slurm has a plugin of its own, which takes the broker for the fabric manager (B9,
 * docs/facade.md). Step managers ask before each step, GET then POST, and tell the end of a step
 * (PATCH); slurmctld deletes what a job had when it is over (DELETE, once), reads the list every
 * 30 s and deletes what is no running job of its own. What the broker's edge does with that
 * (broker/http/api/plugin.c) is done here, too.
 *
 * A job may be a former one: it was there before the cluster changed over, its reservation was made
 * at the fabric manager, and is deleted there at its end, or by slurmctld after a list. In clusters
 * that name their jobs some jobs are reserved by hooks, beside the plugin: which neither ends, nor
 * replaces, what the other has. */

struct sim;
struct job;
struct request;
struct told;
struct jobview;
struct listing;

enum { FORMERS_MAX = 8 };

struct former {
    char name[FM_NAME_MAX + 1]; /* "<cluster>-<job>" */
    const char *id;             /* … of it */
    uint32_t cluster;
    bool runs;
};

struct slurm {
    struct former formers[FORMERS_MAX];
    size_t count;
    struct listing *listings[CLUSTERS_MAX]; /* on their way */
    int64_t away_ms[CLUSTERS_MAX];          /* until then slurmctld is away */
    struct rng rng;
};

void slurm_init(struct sim *sim); /* before the jobs */
void slurm_release(struct sim *sim);
/* The job's id and who reserves for it; the serial counts those of the cluster from 1. */
void slurm_draw(struct sim *sim, struct job *job, uint32_t serial);
void slurm_begin(struct sim *sim); /* after the jobs: what was there before the change-over */
void slurm_storm(struct sim *sim); /* restarts of slurmctld, ends of former jobs */
void slurm_drain(struct sim *sim);

/* The job starts, or cannot, as its former life runs; runs; and is over for Slurm. */
bool slurm_waits(const struct sim *sim, const struct job *job);
void slurm_starts(struct sim *sim, struct job *job);
void slurm_runs(struct sim *sim, struct job *job, int64_t for_ms);
void slurm_ends(struct sim *sim, struct job *job);
/* Whether hooks may ask for it: as elsewhere, or beside the plugin. */
bool slurm_allows_hooks(const struct sim *sim, const struct job *job);

/* A request of the plugin has arrived at a broker that may act. True: nothing of it is for the
 * core, or not yet: then `arrive` is called again. */
bool slurm_takes(struct sim *sim, struct request *request,
                 void (*arrive)(struct sim *sim, void *what, uint64_t mark));
void slurm_event(const struct sim *sim, const struct request *request, struct core_event *event);

/* What the core says to a reserve of the plugin, but for what holds of every reserve: whether it is
 * one. */
bool slurm_granted(struct sim *sim, const struct request *request, const struct told *told);

/* The core says to its DELETE that it is done, or will be. */
void slurm_deleted(struct sim *sim, const struct request *request);

/* Whether Slurm has a former job of that name as running; or any of that cluster. */
bool slurm_has(const struct sim *sim, const char *name);
bool slurm_has_any(const struct sim *sim, const char *cluster);
/* … which it names in lists of jobs, too. */
void slurm_name_formers(const struct sim *sim, struct jobview *jobview);

/* The id of a job that a cluster may have: with its plugin it is a number. */
void slurm_format_id(const struct sim *sim, uint32_t cluster, const char *word, uint64_t serial,
                     char *out, size_t size);
/* The id, if the cluster may have it; else the other one. */
const char *slurm_id(const struct sim *sim, uint32_t cluster, const char *id, const char *other);
