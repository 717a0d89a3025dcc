/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"

/* --export and --import: the configured ledger, with the root keys, as a file that is made of it or
 * that it is made from (state/dump.h; docs/state.md, "Moving a ledger"). file "-": standard output,
 * or input. Each says on stderr what it did. 0, or a code with a sentence and nothing done. */

/* Makes a new file of mode 0600; one that is there stays. Works beside a running broker, too. */
int dump_export(const struct config *config, const char *file, struct error *err);

/* --accept-ledger: the ledger in etcd becomes the one that all brokers take, though it is another
 * or an older one than was seen, or of another fabric manager. file is not used. */
int dump_accept(const struct config *config, const char *file, struct error *err);

/* All of it or nothing, into a ledger in which nothing is yet, that a broker would start with. */
int dump_import(const struct config *config, const char *file, struct error *err);
