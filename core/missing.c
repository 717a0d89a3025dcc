#include "core/inside.h"

/* An administrator says that what is missing at the fabric manager is lost (F22, B11). */

void core_accept_loss(struct core *core, uint64_t ticket)
{
    core_answer(core, ticket, ANSWER_LOSS_ACCEPTED, NULL, NULL);
}
