/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_MATCH_H
#define MCAST_NODE_SERVICES_MATCH_H

/* Which services of a NIC are a job's, and which must not be changed (F11). Pure. */

#include "cxi/abi.h"
#include "node/services/claim.h"

/* The default service, and what the system made for itself. */
bool match_is_system(const struct cxi_svc_desc *service);

/* Exactly: only this uid, no VNIs but these (in any order), traffic classes restricted, not
 * the system's. Ids are used again by the driver, so that they prove nothing. */
bool match_is_of(const struct cxi_svc_desc *service, uint32_t uid, const uint16_t *vnis,
                 unsigned int vni_count);

/* Whether it looks as those that are made here: one uid, VNIs and traffic classes restricted, not
 * the system's. */
bool match_looks_ours(const struct cxi_svc_desc *service);

const struct cxi_svc_desc *match_by_id(const struct cxil_svc_list *services, unsigned int id);

/* Whether the service may use the VNI. */
bool match_has_vni(const struct cxi_svc_desc *service, uint16_t vni);

/* The traffic classes that the service allows, as bits of enum traffic_class: SLINGSHOT_TCS. */
unsigned int match_traffic_classes(const struct cxi_svc_desc *service);

enum { MATCH_TEXT_SIZE = 96 };

/* Who may use it, for people: "uid 5588, VNI 1024", "system, VNIs 1,10". Returns out. */
const char *match_describe(const struct cxi_svc_desc *service, char out[MATCH_TEXT_SIZE]);

#endif
