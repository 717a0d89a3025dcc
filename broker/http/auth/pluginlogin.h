/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "base/error.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stdint.h>

/* Slurm's own plugin logs in as at a fabric manager (docs/facade.md): with the user "cxi" and a
 * password, or with an OAuth2 client's id and secret, for which it gets an access token. Which
 * cluster's Slurm it is, the login says.
 *
 * Files in [cluster] plugin_login, as the plugin itself reads them on its side: passwd; client-id
 * and client-secret. passwd.old and client-secret.old, where they are there, are taken as well:
 * step managers read the login once, when their job begins, and show it until the job is over. */

struct pluginlogins;

/* What stands in the files of all clusters that have some; borrows names from config. NULL with a
 * sentence in err: a file that others can read, a secret that is too short, or that two clusters
 * have. */
struct pluginlogins *pluginlogins_read(const struct config *config, struct error *err);
void pluginlogins_destroy(struct pluginlogins *logins); /* NULL is allowed; wipes what it holds */

/* The cluster whose login it is, or NULL. *former is set when it is one of the files "*.old". */
const char *pluginlogins_basic(const struct pluginlogins *logins, const char *encoded,
                               bool *former);
const char *pluginlogins_client(const struct pluginlogins *logins, struct secret id,
                                struct secret secret, bool *former);
const char *pluginlogins_token(const struct pluginlogins *logins, struct secret token,
                               int64_t now_ms);

/* The cluster's access token of now: it is drawn anew when it is PLUGIN_TOKEN_MS old, and with each
 * start or reload; Slurm asks for another one when it is refused. None, with a sentence in err. */
enum { PLUGIN_TOKEN_MS = 3600 * 1000 };
struct secret pluginlogins_issue(struct pluginlogins *logins, const char *cluster, int64_t now_ms,
                                 struct error *err);

/* What was asked with a cluster's login; of a former one, since it was read. */
struct plugin_use {
    bool former_accepted; /* a former one is there */
    int64_t asked_ms;     /* the last request since the start; 0: none */
    uint64_t former_count;
    int64_t former_ms; /* the last one with the former login */
};

/* A request came with the login of this cluster; the first with a former one is logged. */
void pluginlogins_used(struct pluginlogins *logins, const char *cluster, bool former,
                       int64_t now_ms);
/* What is read anew goes on with when its clusters asked last. old: NULL: nothing. */
void pluginlogins_follow(struct pluginlogins *logins, const struct pluginlogins *old);
/* NULL: the cluster has no login. */
const struct plugin_use *pluginlogins_use(const struct pluginlogins *logins, const char *cluster);
