/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The text of the file <name><ending> in the program's folder text/, which the build makes a part
 * of it (mcast_texts in base/CMakeLists.txt). NULL: there is none. */
const char *text_find(const char *name, const char *ending);
