#include "core/inside.h"

/* An administrator says that no other broker uses a cluster's name (B4, B11). */

void core_claim(struct core *core, uint64_t ticket, const char *cluster)
{
    if (core_cluster_config(core, cluster) == NULL)
        core_answer(core, ticket, ANSWER_NO_CLUSTER, NULL,
                    core_text(core, "no cluster \"%.40s\" is configured", cluster));
    else
        core_answer(core, ticket, ANSWER_CLAIMED, NULL, NULL);
}
