/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/mhd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mhd_checks_lines(const char *version)
{
    return strtoul(version, NULL, 10) >= 1;
}

bool mhd_remark(const char *version, char *line, size_t size)
{
    if (strcmp(version, "0.9.75") == 0 || strcmp(version, "1.0.1") == 0)
        return false;
    snprintf(line, size,
             "libmicrohttpd %s was not tried with mcastd (0.9.75 and 1.0.1 were): try it on a test "
             "system first",
             version);
    return true;
}
