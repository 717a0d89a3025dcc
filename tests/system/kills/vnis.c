/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/vnis.h"

#include <stdlib.h>

struct vnis *vnis_create(struct verdict *verdict, int64_t hold_ns)
{
    struct vnis *vnis = calloc(1, sizeof *vnis);

    if (vnis) {
        vnis->verdict = verdict;
        vnis->hold_ns = hold_ns;
    }
    return vnis;
}

void vnis_destroy(struct vnis *vnis)
{
    free(vnis);
}

void vnis_given(struct vnis *vnis, uint32_t job, uint16_t vni, int64_t heard_ns)
{
    const uint32_t owner = vnis->of[vni].owner;
    const int64_t let_go_ns = vnis->of[vni].let_go_ns;

    if (owner == job + 1)
        return;
    if (owner)
        verdict_fault(vnis->verdict, "I1: VNI %u is in two live jobs, %u and %u", vni, owner - 1,
                      job);
    /* It was heard after it was given, so this errs on the broker's side only; which counts in
     * whole milliseconds. */
    if (let_go_ns && heard_ns < let_go_ns + vnis->hold_ns - 1000000)
        verdict_fault(vnis->verdict, "I1: VNI %u was given to job %u %lld ms after its release",
                      vni, job, (long long)(heard_ns - let_go_ns) / 1000000);
    vnis->given_again += let_go_ns != 0;
    vnis->of[vni].owner = job + 1;
}

void vnis_let_go(struct vnis *vnis, uint32_t job, uint16_t vni, int64_t now_ns)
{
    if (vnis->of[vni].owner != job + 1)
        return;
    vnis->of[vni].owner = 0;
    vnis->of[vni].let_go_ns = now_ns;
}
