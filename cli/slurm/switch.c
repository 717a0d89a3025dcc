#include "cli/slurm/switch.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

#define PLUGIN "switch_hpe_slingshot.so"

/* As Slurm's packages and its own `make install` put it. */
static const char *const usual_places[] = {
    "/usr/lib/*/slurm*/" PLUGIN,     "/usr/lib64/slurm/" PLUGIN,   "/usr/lib/slurm*/" PLUGIN,
    "/usr/local/lib*/slurm/" PLUGIN, "/opt/slurm/*/slurm/" PLUGIN,
};

static bool is_in_usual_place(void)
{
    for (size_t i = 0; i < sizeof(usual_places) / sizeof(usual_places[0]); i++) {
        glob_t found;
        const int rc = glob(usual_places[i], GLOB_NOSORT, NULL, &found);
        globfree(&found);
        if (rc == 0)
            return true;
    }
    return false;
}

bool slurmswitch_installed(const struct slurmconf *conf)
{
    char path[PATH_SIZE];
    const char *folders = conf ? slurmconf_get(conf, "PluginDir", 0) : NULL;
    if (!folders)
        return is_in_usual_place();
    while (*folders) {
        const size_t length = strcspn(folders, ":");
        snprintf(path, sizeof(path), "%.*s/" PLUGIN, (int)(length < 900 ? length : 900), folders);
        if (access(path, F_OK) == 0)
            return true;
        folders += length + (folders[length] ? 1 : 0);
    }
    return false;
}

/* Whether one of the comma-separated values of SwitchParameters is that of key. */
static bool has_parameter(const struct slurmconf *conf, const char *key)
{
    const size_t length = strlen(key);
    const char *value;
    for (size_t n = 0; (value = slurmconf_get(conf, "SwitchParameters", n)); n++) {
        for (; *value; value += strcspn(value, ",") + (value[strcspn(value, ",")] == ',')) {
            if (strncasecmp(value, key, length) == 0 && value[length] == '=')
                return true;
        }
    }
    return false;
}

/* As run with 24.11 and later: at each job's end, and every 30 s, such a Slurm deletes what is
 * named after its cluster and a number (docs/fabric-manager.md). */
static void judge_fm_url(struct findings *findings, const char *slurms, const char *cluster)
{
    static const char advice[] =
        "slurm.conf: SwitchType=switch/none, no fm_url in SwitchParameters; restart slurmctld and "
        "all slurmds before mcastd serves this cluster";
    const bool same = strcmp(slurms, cluster) == 0;
    if (same)
        findings_addf(findings, FINDING_PROBLEM, "SwitchParameters", advice,
                      "with fm_url this Slurm asks the fabric manager itself, under the name %s, "
                      "which is mcastd's cluster, too: each takes the other's reservations for its "
                      "own, and Slurm deletes those of running jobs",
                      slurms);
    else if (strncmp(slurms, cluster, strlen(slurms)) == 0)
        findings_addf(findings, FINDING_PROBLEM, "SwitchParameters", advice,
                      "with fm_url this Slurm takes what begins with its name %s at the fabric "
                      "manager for its own, and so that of mcastd's cluster %s",
                      slurms, cluster);
    else
        findings_add(findings, FINDING_PROBLEM, "SwitchParameters",
                     "with fm_url this Slurm reserves multicast addresses for the same jobs once "
                     "more",
                     advice);
}

void slurmswitch_judge(struct findings *findings, const struct slurmconf *conf, const char *cluster)
{
    const char *type = slurmconf_get(conf, "SwitchType", 0);
    const char *name = slurmconf_get(conf, "ClusterName", 0);
    const bool slingshot = type && strcasecmp(type, "switch/hpe_slingshot") == 0;
    if (slingshot)
        findings_add(
            findings, FINDING_PROBLEM, "SwitchType",
            "switch/hpe_slingshot gives out VNIs as well, and neither knows of the other's",
            "slurm.conf: SwitchType=switch/none; restart slurmctld and all slurmds");
    else
        findings_add(findings, FINDING_OK, "SwitchType", "nobody but mcastd gives out VNIs", NULL);
    if (slingshot && has_parameter(conf, "fm_url"))
        judge_fm_url(findings, name ? name : "", cluster);
    else if (has_parameter(conf, "fm_url"))
        findings_add(findings, FINDING_WARNING, "SwitchParameters",
                     "fm_url is ignored without switch/hpe_slingshot, but whoever turns that on "
                     "again has Slurm delete the reservations of mcastd's running jobs",
                     "slurm.conf: no fm_url in SwitchParameters");
}
