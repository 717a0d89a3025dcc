/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* openapi.json, made part of the program by the build (embed.cmake). */
extern const char openapi_document[];
extern const size_t openapi_length;
