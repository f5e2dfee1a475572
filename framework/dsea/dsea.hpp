// Everything a worker needs. See kernels/README.md for a walk through a worker, ring/program.hpp for what a program
// says about itself, ring/stage.hpp for what a worker sees.
#pragma once

#include "dsea/app/run_app.hpp"
#include "dsea/app/run_local.hpp"
#include "dsea/base/config.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/base/macros.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/for_each.hpp"
#include "dsea/device/for_each_row.hpp"
#include "dsea/device/for_each_team.hpp"
#include "dsea/device/reduce.hpp"
#include "dsea/device/scan.hpp"
#include "dsea/device/table.hpp"
#include "dsea/io/snapshot.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/ring/scratch_size.hpp"
#include "dsea/ring/stage.hpp"
#include "dsea/slice/layout.hpp"
#include "dsea/slice/view.hpp"
