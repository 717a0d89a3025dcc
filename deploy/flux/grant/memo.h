/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_MEMO_H
#define MCAST_FLUX_MEMO_H

/* What everybody may know of a reservation: the job's memo, which every user of the machine can
 * read. */

#include <jansson.h>

/* {"number","vnis","hwcoll","reason","addresses","warning"}, as far as they are there, of a
 * reservation as mcast_reservation_json writes it: never its environment, where the token is. The
 * caller's to json_decref; NULL: memory is exhausted. */
json_t *memo_of(const json_t *reservation);

#endif
