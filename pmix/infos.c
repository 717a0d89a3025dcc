/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix/infos.h"

#include <string.h>

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
}

static void wipe_value(pmix_info_t *info)
{
    if (info->value.type == PMIX_STRING)
        wipe(info->value.data.string);
    else if (info->value.type == PMIX_ENVAR)
        wipe(info->value.data.envar.value);
}

void mcast_pmix_free(pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; info && i < ninfo; i++)
        wipe_value(&info[i]);
    PMIX_INFO_FREE(info, ninfo);
}

bool infos_create(struct infos *infos, size_t room)
{
    *infos = (struct infos){.room = room > 0 ? room : 1};
    PMIX_INFO_CREATE(infos->at, infos->room);
    return infos->at;
}

void infos_release(struct infos *infos)
{
    mcast_pmix_free(infos->at, infos->count);
    *infos = (struct infos){0};
}

bool infos_add(struct infos *infos, const char *key, const void *value, pmix_data_type_t type)
{
    if (infos->count == infos->room ||
        PMIx_Info_load(&infos->at[infos->count], key, value, type) != PMIX_SUCCESS)
        return false;
    infos->count++;
    return true;
}

bool infos_add_copy(struct infos *infos, const pmix_info_t *info)
{
    if (infos->count == infos->room ||
        PMIx_Info_xfer(&infos->at[infos->count], info) != PMIX_SUCCESS)
        return false;
    infos->count++;
    return true;
}

const char *infos_string(const struct infos *infos, const char *key)
{
    for (size_t i = 0; i < infos->count; i++) {
        if (PMIX_CHECK_KEY(&infos->at[i], key) && infos->at[i].value.type == PMIX_STRING)
            return infos->at[i].value.data.string;
    }
    return NULL;
}

bool infos_variable(const pmix_info_t *info, const char **name, const char **value)
{
    *name = *value = NULL;
    if (PMIX_CHECK_KEY(info, PMIX_SET_ENVAR) && info->value.type == PMIX_ENVAR) {
        *name = info->value.data.envar.envar;
        *value = info->value.data.envar.value;
        return *name && *value;
    }
    if (PMIX_CHECK_KEY(info, PMIX_UNSET_ENVAR) && info->value.type == PMIX_STRING)
        *name = info->value.data.string;
    return *name;
}

bool infos_set_variable(struct infos *infos, const char *name, const char *value)
{
    pmix_envar_t envar = PMIX_ENVAR_STATIC_INIT;
    const char *other, *ignored;
    for (size_t i = 0; i < infos->count; i++) {
        if (!infos_variable(&infos->at[i], &other, &ignored) || strcmp(other, name) != 0)
            continue;
        wipe_value(&infos->at[i]);
        PMIX_INFO_DESTRUCT(&infos->at[i]);
        infos->at[i] = infos->at[--infos->count];
        break;
    }
    envar.envar = (char *)(uintptr_t)name; /* it is copied */
    envar.value = (char *)(uintptr_t)value;
    return value ? infos_add(infos, PMIX_SET_ENVAR, &envar, PMIX_ENVAR)
                 : infos_add(infos, PMIX_UNSET_ENVAR, name, PMIX_STRING);
}
