// SPDX-License-Identifier: Apache-2.0
// list and show: what the store holds.
#include "engine/app/commands.h"
#include "engine/app/result_text.h"
#include "engine/app/run_recorder.h"
#include "engine/app/terminal.h"
#include "storage/store/run_store.h"

#include <filesystem>
#include <utility>

namespace gradstorm::app {

namespace {

Result<std::filesystem::path> store_path(const std::optional<std::string>& option) {
    if (option) return std::filesystem::path(*option);
    return default_store();
}

/// A look into the store also recovers runs whose process died, if the store may be written. One that may only be read
/// (a file that another account exported, a disk mounted read-only) is looked at as it is.
Result<store::RunStore> open_store(const std::optional<std::string>& option) {
    const auto path = store_path(option);
    if (!path) return tl::unexpected(path.error());
    std::error_code ignored;
    if (!std::filesystem::exists(*path, ignored)) {
        return failure(ErrorCode::store, path->string() + ": there is no run store yet; 'gradstorm run' makes it");
    }
    auto store = store::RunStore::open(*path);
    if (store) return store;
    auto as_it_is = store::RunStore::open_read_only(*path);
    return as_it_is ? std::move(as_it_is) : std::move(store);
}

}  // namespace

int execute(const ListCommand& command) {
    const auto store = open_store(command.store);
    if (!store) return fail(store.error());
    complain(store->notice());
    const auto runs = store->list();
    if (!runs) return fail(runs.error());
    return write_output(run_list_text(*runs, command.json));
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
