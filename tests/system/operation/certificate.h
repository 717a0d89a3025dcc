/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A self-signed certificate for localhost with a new key, as two files of PEM; the key of mode
 * 0600. It ends in so many days, or ended as many ago. Failures are asserts. */
void certificate_write(const char *cert, const char *key, int days);
