/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"
#include "cli/program.h"

#include <string.h>
#include <unistd.h>

/* A member that does not answer takes the script three seconds. */
enum { CHECK_TIMEOUT_MS = 60000, OUTPUT_SIZE = 16384 };

void etcdmembers_judge(struct findings *findings, const char *path)
{
    char output[OUTPUT_SIZE], script[PROGRAM_PATH_SIZE], *rest = output;
    const char *argv[] = {script, "--config", path ? path : LOCALFILES_CONFIG, NULL};
    if ((!path && geteuid() != 0) || !program_locate(MCAST_TO_LIBEXEC "/mcastd/etcd/check", script))
        return;
    if (program_run_for(CHECK_TIMEOUT_MS, argv, NULL, output, sizeof output) != 0)
        findings_add(findings, FINDING_WARNING, "etcd", "run it by hand", "%s failed", script);
    for (char *line; (line = strsep(&rest, "\n"));)
        (void)findings_add_line(findings, line);
}
