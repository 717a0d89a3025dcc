/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"
#include "base/memory.h"
#include "cli/program.h"

#include <glob.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 4096, CONFIG_SIZE = 65536, WORDS_MAX = 6 };

/* One way to ask for a release: runs a program and takes the first number behind `after`. */
struct way {
    const char *name;
    const char *argv[WORDS_MAX];
    const char *after;
    const char
        *pattern; /* argv[0] is each path that it names, instead of a name in PATH; or NULL */
};

/* The programs' own word comes first: it is what runs. Package managers know the rest. */
static const struct way ways[] = {
    {"libfabric", {"fi_info", "--version"}, "libfabric:", NULL},
    {"libfabric", {"", "--version"}, "libfabric:", "/opt/cray/libfabric/*/bin/fi_info"},
    {"libfabric", {"pkg-config", "--modversion", "libfabric"}, "", NULL},
    {"libfabric", {"dpkg-query", "-W", "-f=${Version}", "libfabric1"}, "", NULL},
    {"libcxi", {"pkg-config", "--modversion", "libcxi"}, "", NULL},
    {"libcxi", {"dpkg-query", "-W", "-f=${Version}", "libcxi"}, "", NULL},
    {"libcxi", {"rpm", "-q", "--qf", "%{VERSION}", "libcxi"}, "", NULL},
    {"slurm", {"scontrol", "--version"}, "slurm", NULL},
    {"slurm", {"slurmd", "-V"}, "slurm", NULL},
    {"flux-core", {"flux", "version"}, "libflux-core:", NULL},
    {"flux-coral2", {"dpkg-query", "-W", "-f=${Version}", "flux-coral2"}, "", NULL},
    {"flux-coral2", {"rpm", "-q", "--qf", "%{VERSION}", "flux-coral2"}, "", NULL},
};

#define PLUGIN "switch_hpe_slingshot.so"

/* As Slurm's packages and its own `make install` put it. */
static bool is_in_usual_folder(void)
{
    static const char *const usual[] = {
        "/usr/lib/*/slurm*/" PLUGIN,     "/usr/lib64/slurm/" PLUGIN,   "/usr/lib/slurm*/" PLUGIN,
        "/usr/local/lib*/slurm/" PLUGIN, "/opt/slurm/*/slurm/" PLUGIN,
    };
    bool any = false;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        glob_t found;
        any = glob(usual[i], GLOB_NOSORT, NULL, &found) == 0 || any;
        globfree(&found);
    }
    return any;
}

bool software_has_slingshot_plugin(const char *config)
{
    static const char key[] = "\nPluginDir";
    const char *line = config ? strstr(config, key) : NULL;
    char folders[OUTPUT_SIZE], path[OUTPUT_SIZE + sizeof(PLUGIN) + 1], *rest = folders;
    if (!line)
        return is_in_usual_folder();
    line += sizeof key - 1;
    line += strspn(line, " \t=");
    snprintf(folders, sizeof folders, "%.*s", (int)strcspn(line, " \t\r\n"), line);
    for (const char *folder; (folder = strsep(&rest, ":"));) {
        snprintf(path, sizeof path, "%s/" PLUGIN, folder);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static void judge_slurm(struct findings *findings, const struct release *release, const char *where)
{
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    char *config = memory_zeroed(CONFIG_SIZE), number[64];
    const int rc = program_run(argv, NULL, config, CONFIG_SIZE);
    snprintf(number, sizeof number, "%u.%02u.%u", release->part[0], release->part[1],
             release->part[2]);
    if (rc != 0 && rc != PROGRAM_NOT_FOUND)
        findings_add(findings, FINDING_OK, "slurm", "ask again when slurmctld answers",
                     "%s (%s); whether it has switch/hpe_slingshot is not known, as scontrol show "
                     "config fails: %.*s",
                     number, where, (int)strcspn(config, "\n"), config);
    else if (software_has_slingshot_plugin(rc == 0 ? config : NULL))
        release_judge(findings, "slurm", release, where);
    else
        findings_add(findings, FINDING_OK, "slurm", NULL,
                     "%s (%s), without switch/hpe_slingshot: it assigns no VNIs itself", number,
                     where);
    free(config);
}

/* Whether it said a release. */
static bool ask_program(struct findings *findings, const struct way *way, const char *program)
{
    char output[OUTPUT_SIZE];
    const char *argv[WORDS_MAX + 1] = {0};
    struct release release;
    memcpy(argv, way->argv, sizeof way->argv);
    argv[0] = program;
    if (program_run(argv, NULL, output, sizeof output) != 0)
        return false;
    const char *said = strstr(output, way->after);
    if (!said || !release_find(said + strlen(way->after), &release))
        return false;
    if (strcmp(way->name, "slurm") == 0)
        judge_slurm(findings, &release, program);
    else
        release_judge(findings, way->name, &release, program);
    return true;
}

static bool ask_programs(struct findings *findings, const struct way *way)
{
    glob_t found;
    bool any = false;
    if (!way->pattern)
        return ask_program(findings, way, way->argv[0]);
    if (glob(way->pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            any = ask_program(findings, way, found.gl_pathv[i]) || any;
    }
    globfree(&found);
    return any;
}

void software_judge(struct findings *findings)
{
    const char *known = "";
    bool any = false;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        /* A second way is for what the first did not find; further builds elsewhere are found too.
         */
        if (strcmp(ways[i].name, known) == 0 && !ways[i].pattern)
            continue;
        if (ask_programs(findings, &ways[i]))
            known = ways[i].name;
        any = any || known[0];
    }
    if (!any)
        findings_add(findings, FINDING_OK, "software", NULL,
                     "no libfabric, libcxi, Slurm or Flux here");
}
