// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/fabric/impairment.h"
#include "profiles/profile.h"

namespace gradstorm::app {

/// A [[fault]] of a profile in the words of the fabric.
[[nodiscard]] inline fabric::Impairment impairment_of(const profiles::FaultSettings& fault) {
    fabric::Impairment impairment;
    impairment.drop = fault.drop;
    impairment.duplicate = fault.duplicate;
    impairment.reorder = fault.reorder;
    impairment.corrupt = fault.corrupt;
    impairment.mark = fault.ce_mark;
    impairment.delay = fault.delay;
    impairment.rate = fault.rate;
    return impairment;
}

}  // namespace gradstorm::app
