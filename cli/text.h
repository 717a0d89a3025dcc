/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_TEXT_H
#define MCAST_CLI_TEXT_H

/* The text of the file cli/text/<name><ending>, which is a part of the program. NULL: there is
 * none. */
const char *text_find(const char *name, const char *ending);

#endif
