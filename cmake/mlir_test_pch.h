// What tests of the compiler half need on top of the compiler's own headers.
#pragma once

#include "cmake/mlir_pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
