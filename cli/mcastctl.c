/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl: ask mcastd from the command line. */

#include "cli/command.h"

#include <locale.h>

int main(int argc, char **argv)
{
    /* clang-format off */
    static const struct command *const commands[] = {
        &command_reserve, &command_launch, &command_nodes_clean, &command_release,
        &command_show, &command_list, &command_env, &command_sync,
        &command_fence, &command_events, &command_status, &command_doctor,
        &command_token, &command_cleanup, &command_check, &command_accept_loss,
        &command_claim, &command_step_down, &command_options, &command_self,
        &command_traffic, &command_vni, &command_nodes, &command_topology, NULL,
    };
    /* clang-format on */
    setlocale(LC_CTYPE, ""); /* so that tables count characters, not bytes */
    return command_main(commands, argc, argv);
}
