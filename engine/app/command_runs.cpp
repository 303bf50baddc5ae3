// SPDX-License-Identifier: Apache-2.0
// list and show: what the store holds.
#include "engine/app/commands.h"
#include "engine/app/result_text.h"
#include "engine/app/run_recorder.h"
#include "engine/app/terminal.h"
#include "storage/store/run_store.h"

#include <filesystem>

namespace gradstorm::app {

namespace {

Result<std::filesystem::path> store_path(const std::optional<std::string>& option) {
    if (option) return std::filesystem::path(*option);
    return default_store();
}

/// A look into the store also recovers runs whose process died, if the store may be written.
Result<store::RunStore> open_store(const std::optional<std::string>& option) {
    const auto path = store_path(option);
    if (!path) return tl::unexpected(path.error());
    std::error_code ignored;
    if (!std::filesystem::exists(*path, ignored)) {
        return failure(ErrorCode::store, path->string() + ": there is no run store yet; 'gradstorm run' makes it");
    }
    return store::RunStore::open(*path);
}

}  // namespace

int execute(const ListCommand& command) {
    const auto store = open_store(command.store);
    if (!store) return fail(store.error());
    complain(store->notice());
    const auto runs = store->list();
    if (!runs) return fail(runs.error());
    return write_output(command.json ? run_list_json(*runs) : run_list_text(*runs));
}

int execute(const ShowCommand& command) {
    const auto store = open_store(command.store);
    if (!store) return fail(store.error());
    complain(store->notice());
    const auto run = store->find(command.run);
    if (!run) return fail(run.error());
    const auto result = store->load(*run);
    if (!result) return fail(result.error());
    return write_output(result_text(*result, command.format));
}

}  // namespace gradstorm::app
