// SPDX-License-Identifier: Apache-2.0
#include "engine/app/meeting.h"

namespace gradstorm::app {

Result<std::unique_ptr<cluster::Rendezvous>> meet(const std::string& address, std::uint32_t /*node*/,
                                                  std::uint32_t /*nodes*/) {
    return failure(ErrorCode::unsupported,
                   "--rendezvous " + address + ": runs of several processes are not in this build");
}

}  // namespace gradstorm::app
