/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"

#include "core/emit.h"

#include <assert.h>

static const struct interconnect *const table[INTERCONNECT_COUNT] = {
    [INTERCONNECT_SLINGSHOT] = &interconnect_slingshot,
    [INTERCONNECT_OMNIPATH] = &interconnect_omnipath,
    [INTERCONNECT_NONE] = &interconnect_none,
};

const struct interconnect *interconnect_of(int kind)
{
    assert(kind >= 0 && kind < INTERCONNECT_COUNT);
    return table[kind];
}

void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *r, const char *step, variable_fn *each, void *arg)
{
    assert(config && each);
    interconnect_of(r->interconnect)->environment(config, fm_url, r, step, each, arg);
}

enum answer_kind interconnect_draw_nothing(struct core *core, struct drawing *drawing)
{
    const struct reserve_request *q = drawing->request;
    struct reservation_record *rec = drawing->record;
    const char *word = interconnect_word(rec->interconnect);
    assert(rec->vni_count == 0 && rec->pkey == 0 && rec->fm_side == FM_SIDE_NOTHING);
    drawing->field = q->vni_count > 0          ? "vni_count"
                     : q->shared_count > 0     ? "shared_vnis"
                     : q->traffic_classes != 0 ? "traffic_classes"
                                               : NULL;
    if (drawing->field) {
        drawing->detail =
            core_text(core,
                      "the job's interconnect is %s, which has no %s: leave %s out, "
                      "or ask for another interconnect",
                      word, q->vni_count > 0 || q->shared_count > 0 ? "VNIs" : "traffic classes",
                      drawing->field);
        return ANSWER_INVALID;
    }
    rec->hwcoll = rec->wish == WISH_OFF ? HWCOLL_OFF : HWCOLL_INELIGIBLE;
    if (rec->hwcoll == HWCOLL_INELIGIBLE)
        rec->reason =
            core_text(core, "the job's interconnect is %s, without hardware collectives", word);
    return ANSWER_CREATED;
}
