/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "base/idset.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_SIZE = 512, SLURM_VNI_MIN = 1024, SLURM_VNI_MAX = 65535 };

/* Of "a=1,b=2", as Slurm reads it: the last one counts. False: it is not there. */
static bool parameter(const char *parameters, const char *name, char value[VALUE_SIZE])
{
    const size_t length = strlen(name);
    bool found = false;
    value[0] = '\0';
    for (const char *at = parameters; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncasecmp(at, name, length) != 0 || at[length] != '=')
            continue;
        at += length + 1;
        snprintf(value, VALUE_SIZE, "%.*s", (int)strcspn(at, ", \t\r\n"), at);
        found = true;
    }
    return found;
}

static long long number(const char *parameters, const char *name)
{
    char value[VALUE_SIZE];
    return parameter(parameters, name, value) ? atoll(value) : 0;
}

/* ---- VNIs ---- */

/* Those that Slurm gives: "MIN-MAX"; what it cannot read leaves it with its own. */
static void read_vnis(const char *parameters, struct idset *out)
{
    char value[VALUE_SIZE];
    unsigned least = SLURM_VNI_MIN, most = SLURM_VNI_MAX;
    if (parameter(parameters, "vnis", value) &&
        (sscanf(value, "%u-%u", &least, &most) != 2 || least >= most || most > SLURM_VNI_MAX))
        least = SLURM_VNI_MIN, most = SLURM_VNI_MAX;
    idset_init(out);
    for (unsigned vni = least; vni <= most; vni++)
        idset_add(out, (uint16_t)vni);
}

/* The caller's. A long one is cut: an administrator reads it. */
static char *print_set(const struct idset *set)
{
    char *text = NULL;
    size_t size;
    FILE *stream = memory_must(open_memstream(&text, &size));
    idset_print(stream, set);
    (void)fclose(stream);
    if (size > VALUE_SIZE)
        strcpy(text + VALUE_SIZE - 4, "...");
    return text;
}

static void add_overlap(struct findings *findings, const struct idset *slurm,
                        const struct idset *pool, const char *other)
{
    struct idset both = *pool, left = *pool;
    char advice[2 * VALUE_SIZE];
    for (unsigned vni = 0; vni <= SLURM_VNI_MAX; vni++)
        if (idset_has(slurm, (uint16_t)vni))
            idset_remove(&left, (uint16_t)vni);
        else
            idset_remove(&both, (uint16_t)vni);
    char *shared = print_set(&both), *own = print_set(&left), *all = print_set(slurm);
    if (left.count > 0)
        snprintf(advice, sizeof advice, "mcastd.conf: [vni] pool = %s, and a reload", own);
    else
        snprintf(advice, sizeof advice,
                 "mcastd.conf: [vni] pool = 1024-32767, and a reload; slurm.conf: "
                 "SwitchParameters=…,vnis=32768-65535 while no job runs");
    if (both.count > 0)
        findings_add(findings, FINDING_PROBLEM, "vnis", advice,
                     "Slurm's plugin gives VNIs of %s, and the broker gives %s of them to jobs of "
                     "cluster %s: two jobs can have the same, and neither side notices",
                     all, shared, other);
    else
        findings_add(findings, FINDING_OK, "vnis", NULL,
                     "Slurm's plugin gives %s, the broker's [vni] pool has none of them", all);
    free(shared);
    free(own);
    free(all);
}

/* The first cluster that gets VNIs from the broker; or NULL. */
static const char *with_hooks(const json_t *clusters)
{
    size_t i;
    const json_t *cluster;
    json_array_foreach(clusters, i, cluster)
    {
        if (!json_object_get(cluster, "plugin"))
            return command_text(cluster, "name");
    }
    return NULL;
}

static void judge_vnis(struct findings *findings, const char *parameters, const json_t *status)
{
    struct idset slurm, pool;
    struct error err;
    const char *numbers = command_text(json_object_get(status, "vnis"), "numbers");
    const char *other = with_hooks(json_object_get(status, "clusters"));
    if (!other) {
        findings_add(findings, FINDING_OK, "vnis", NULL,
                     "Slurm's plugin gives VNIs; no cluster gets any from the broker");
        return;
    }
    idset_init(&pool);
    if (!numbers || idset_parse(&pool, numbers, &err) < 0) {
        findings_add(findings, FINDING_WARNING, "vnis", "upgrade mcastd",
                     "the broker does not tell its pool: it is older than this mcastctl (%s)",
                     mcast_version());
        return;
    }
    idset_remove(&pool, 1); /* never given, whatever the pool names */
    idset_remove(&pool, 10);
    read_vnis(parameters, &slurm);
    add_overlap(findings, &slurm, &pool, other);
}

/* ---- where it asks, and for how much ---- */

static bool is_same_url(const char *a, const char *b)
{
    size_t length = strlen(a), other = strlen(b);
    while (length > 0 && a[length - 1] == '/')
        length--;
    while (other > 0 && b[other - 1] == '/')
        other--;
    return length == other && strncasecmp(a, b, length) == 0;
}

static void judge_url(struct findings *findings, const char *parameters, const json_t *status)
{
    char asked[VALUE_SIZE], advice[2 * VALUE_SIZE];
    const char *url = command_text(json_object_get(status, "front"), "url");
    (void)parameter(parameters, "fm_url", asked);
    snprintf(advice, sizeof advice,
             "slurm.conf: SwitchParameters: fm_url=%s; or mcastd.conf: "
             "[front] url = %s, and a reload",
             url ? url : "the broker's", asked);
    if (!url)
        findings_add(findings, FINDING_PROBLEM, "fm_url",
                     "mcastd.conf: [front] listen and url; docs/facade.md",
                     "Slurm asks %s, and this broker listens nowhere for it", asked);
    else if (!is_same_url(url, asked))
        findings_add(findings, FINDING_PROBLEM, "fm_url", advice,
                     "Slurm asks %s, and the broker is at %s ([front] url)", asked, url);
    else
        findings_add(findings, FINDING_OK, "fm_url", NULL, "Slurm asks the broker at %s", url);
}

static void judge_sizes(struct findings *findings, const char *parameters, const json_t *plugin,
                        const json_t *status)
{
    char advice[VALUE_SIZE];
    const long long wanted = number(parameters, "hwcoll_addrs_per_job");
    const long long given =
        json_integer_value(json_object_get(json_object_get(status, "addresses"), "per_job"));
    const char *limit = command_text(plugin, "limit");
    const bool refuse = limit && strcmp(limit, "refuse") == 0;
    if (number(parameters, "hwcoll_num_nodes") <= 0)
        findings_add(findings, FINDING_PROBLEM, "hwcoll_num_nodes",
                     "slurm.conf: SwitchParameters: hwcoll_num_nodes=64, or from how many nodes on "
                     "jobs are to have hardware collectives",
                     "not set: no job has hardware collectives");
    snprintf(advice, sizeof advice,
             "slurm.conf: SwitchParameters: hwcoll_addrs_per_job=%lld; or mcastd.conf: [hwcoll] "
             "addresses_per_job = %lld",
             given, wanted);
    if (given > 0 && wanted > given)
        findings_add(findings, refuse ? FINDING_PROBLEM : FINDING_WARNING, "hwcoll_addrs_per_job",
                     advice, "Slurm wants %lld addresses for a job, and the broker gives %lld: %s",
                     wanted, given,
                     refuse ? "each of its steps fails (plugin_limit = refuse)"
                            : "tasks are told the larger number, and what is beyond is denied");
    else
        findings_add(findings, FINDING_OK, "hwcoll_addrs_per_job", NULL,
                     "a job gets the addresses that Slurm tells its tasks%s",
                     wanted == 0 ? ", or as many as the broker says" : "");
}

void plugin_judge(struct findings *findings, const char *cluster, const char *parameters,
                  const json_t *status)
{
    const json_t *clusters = json_object_get(status, "clusters"), *one, *plugin = NULL;
    char advice[VALUE_SIZE];
    size_t i;
    json_array_foreach(clusters, i, one)
    {
        const char *name = command_text(one, "name");
        if (name && strcmp(name, cluster) == 0)
            plugin = json_object_get(one, "plugin");
    }
    if (!clusters)
        return; /* not everyone may see it */
    snprintf(advice, sizeof advice,
             "mcastd.conf: [cluster \"%.32s\"] plugin_login = /etc/mcastd/plugin/%.32s; "
             "docs/facade.md",
             cluster, cluster);
    if (plugin)
        findings_add(findings, FINDING_OK, "plugin_login", NULL,
                     "the broker has a login for the Slurm of %s", cluster);
    else
        findings_add(findings, FINDING_WARNING, "plugin_login", advice,
                     "the broker has no login for the Slurm of %s; without a client certificate it "
                     "is refused",
                     cluster);
    judge_url(findings, parameters, status);
    judge_sizes(findings, parameters, plugin, status);
    judge_vnis(findings, parameters, status);
}

/* ---- for doctor ---- */

/* Of what `scontrol show config` prints, "Key = value"; the caller's, or NULL. */
static char *shown(const char *config, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = config; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncasecmp(line, key, length) != 0 || line[length] != ' ')
            continue;
        line += length + strspn(line + length, " =");
        return memory_must(strndup(line, strcspn(line, " \r\n")));
    }
    return NULL;
}

void plugin_judge_shown(struct findings *findings, const char *config, const json_t *status)
{
    char value[VALUE_SIZE];
    char *type = shown(config, "SwitchType"), *parameters = shown(config, "SwitchParameters");
    char *cluster = shown(config, "ClusterName");
    if (type && parameters && cluster && strcasecmp(type, "switch/hpe_slingshot") == 0 &&
        parameter(parameters, "fm_url", value))
        plugin_judge(findings, cluster, parameters, status);
    free(type);
    free(parameters);
    free(cluster);
}
