// SPDX-License-Identifier: Apache-2.0
#include "profiles/schema.h"

#include <nlohmann/json.hpp>

namespace gradstorm::profiles::schema {
namespace {

using Json = nlohmann::ordered_json;

Json key_as_json(const Key& key) {
    Json json{{"name", key.name}, {"type", to_string(key.type)}, {"required", key.required}};
    const auto dimension = dimension_of(key.type);
    const bool bounded = !range_text(key).empty();
    if (dimension) {
        json["units"] = unit_list(*dimension);
    }
    if (bounded && dimension) {
        json["min"] = format_quantity(key.min, *dimension);
        if (key.max != kNoLimit) {
            json["max"] = format_quantity(key.max, *dimension);
        }
    } else if (bounded) {
        json["min"] = key.min;
        json["max"] = key.max;
    }
    if (!key.choices.empty()) {
        json["choices"] = choices_of(key);
    }
    json["default"] = key.fallback.empty() ? Json(nullptr) : Json(key.fallback);
    json["help"] = key.help;
    json["since"] = key.since;
    return json;
}

}  // namespace

std::string schema_json() {
    Json tables = Json::array();
    for (const Key& key : keys()) {
        if (tables.empty() || tables.back()["table"] != key.table) {
            tables.push_back({{"table", key.table}, {"heading", heading_of(key.table)}, {"keys", Json::array()}});
        }
        tables.back()["keys"].push_back(key_as_json(key));
    }
    const Json document{{"format", kFormat}, {"tables", tables}};
    return document.dump(2) + "\n";
}

}  // namespace gradstorm::profiles::schema
