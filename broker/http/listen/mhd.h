/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_MHD_H
#define MCAST_BROKER_HTTP_LISTEN_MHD_H

#include <stdbool.h>
#include <stddef.h>

/* Which libmicrohttpd the program runs with. The dynamic linker takes 0.9.75 and 1.0 for the same
 * library, so the version counts that is there when the program runs, not when it is built. */

/* Since 1.0, libmicrohttpd itself refuses heads with a bare LF or CR, a NUL, a folded line or a
 * space in the wrong place, when it is told to be strict (MHD_OPTION_STRICT_FOR_CLIENT). */
bool mhd_checks_lines(const char *version);

/* Whether the tests of the HTTP interface were not run with this version; then line says so. */
bool mhd_remark(const char *version, char *line, size_t size);

#endif
