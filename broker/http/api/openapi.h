/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_API_OPENAPI_H
#define MCAST_BROKER_HTTP_API_OPENAPI_H

#include <stddef.h>

/* openapi.json, made part of the program by the build (embed.cmake). */
extern const char openapi_document[];
extern const size_t openapi_length;

#endif
