/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl: ask mcastd from the command line. */

#include "cli/command.h"

#include <locale.h>

int main(int argc, char **argv)
{
    static const struct command_group groups[] = {
        {"A job's start and end, for resource managers",
         {&command_reserve, &command_env, &command_launch, &command_release, &command_nodes_clean,
          &command_sync}},
        {"Within a job", {&command_self, &command_options, &command_cleanup, &command_token}},
        {"Jobs and the fabric",
         {&command_list, &command_show, &command_traffic, &command_events, &command_nodes,
          &command_topology}},
        {"The broker and its faults",
         {&command_status, &command_top, &command_ui, &command_doctor, &command_check}},
        {"For administrators",
         {&command_vni, &command_fence, &command_accept_loss, &command_claim, &command_step_down,
          &command_plan}},
        {NULL, {NULL}},
    };
    setlocale(LC_CTYPE, ""); /* so that tables count characters, not bytes */
    return command_main(groups, argc, argv);
}
