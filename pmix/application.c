/* SPDX-License-Identifier: Apache-2.0 */
/* Where the job is launched: what its nodes' daemons need. */

#include "pmix/environment.h"
#include "pmix/facts.h"
#include "client/text.h"

static int add_variables(struct infos *infos, const struct mcast_reservation *reservation,
                         const char *step, struct mcast_error *error)
{
    struct infos variables;
    bool fits = infos_create(&variables, reservation->env_count + ENVIRONMENT_NAMES_MAX);
    for (size_t i = 0; fits && i < reservation->env_count; i++)
        fits = infos_set_variable(&variables, reservation->env[i].name, reservation->env[i].value);
    int rc = fits ? environment_settle(&variables, step, error) : fault_nomem(error);
    for (size_t i = 0; rc == 0 && i < variables.count; i++)
        rc = infos_add_copy(infos, &variables.at[i]) ? 0 : fault_nomem(error);
    infos_release(&variables);
    return rc;
}

static int fill(struct infos *infos, const struct mcast_pmix_application *application,
                struct mcast_error *error)
{
    const struct mcast_reservation *reservation = application->reservation;
    const char *launch = application->launch;
    int rc = 0;
    if (!launch && reservation)
        launch = reservation->launch;
    if ((launch && !infos_add(infos, MCAST_PMIX_LAUNCH, launch, PMIX_STRING)) ||
        (application->step && !infos_add(infos, MCAST_PMIX_STEP, application->step, PMIX_STRING)) ||
        (reservation && !facts_add(infos, reservation)))
        rc = fault_nomem(error);
    if (rc == 0 && reservation && reservation->env_count > 0)
        rc = add_variables(infos, reservation, application->step, error);
    return rc;
}

int mcast_pmix_setup_application(const struct mcast_pmix_application *application,
                                 pmix_info_t **info, size_t *ninfo, struct mcast_error *error)
{
    struct mcast_pmix_application mine = MCAST_PMIX_APPLICATION_INIT;
    struct infos infos;
    *info = NULL;
    *ninfo = 0;
    int rc = struct_adopt(&mine, application, "MCAST_PMIX_APPLICATION_INIT", error);
    if (rc < 0)
        return rc;
    if (!mine.reservation && !mine.launch)
        return fault_set(error, MCAST_USAGE,
                         "there is neither a reservation nor a launch document");
    const size_t variables = mine.reservation ? mine.reservation->env_count : 0;
    if (!infos_create(&infos, FACTS_MAX + 2 + variables + ENVIRONMENT_NAMES_MAX))
        return fault_nomem(error);
    rc = fill(&infos, &mine, error);
    if (rc < 0) {
        infos_release(&infos);
        return rc;
    }
    *info = infos.at;
    *ninfo = infos.count;
    return 0;
}
