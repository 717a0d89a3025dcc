/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The text of the file cli/text/<name><ending>, which is a part of the program. NULL: there is
 * none. */
const char *text_find(const char *name, const char *ending);
