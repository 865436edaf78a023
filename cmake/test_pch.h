// What tests of the runtime half need on top of the runtime's own headers.
#pragma once

#include "cmake/artifact_pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
