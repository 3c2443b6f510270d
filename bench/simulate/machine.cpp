// Machine: read from the JSON that `penstock simulate` makes of a TOML file.
#include "bench/simulate/machine.hpp"

#include <fmt/format.h>
#include <set>
#include <type_traits>

namespace penstock::bench {

namespace {

// Takes numbers from the tables of a file, and remembers the first fault.
class Reader {
 public:
  explicit Reader(const nlohmann::json& json) : json_(json) {}

  template <typename Number>
  void take(const std::string& table, const std::string& key, double least, double most, Number& value) {
    known_.insert(table + '.' + key);
    const auto found = json_.find(table);
    if (found == json_.end() || !found->is_object() || !found->contains(key))
      return fail(fmt::format("[{}] has no {}", table, key));
    const nlohmann::json& given = (*found)[key];
    constexpr bool whole = std::is_integral_v<Number>;
    if (!(whole ? given.is_number_integer() : given.is_number()) || given.get<double>() < least ||
        given.get<double>() > most)
      return fail(fmt::format("[{}] {} is {} from {} to {}, not {}", table, key, whole ? "a whole number" : "a number",
                              least, most, given.dump()));
    value = given.get<Number>();
  }

  // After everything was taken: what nobody asked for is a mistake.
  Status finish() {
    for (const auto& [table, values] : json_.items())
      if (values.is_object())
        for (const auto& [key, value] : values.items())
          if (!known_.contains(table + '.' + key)) fail(fmt::format("[{}] has an unknown key {}", table, key));
    return status_;
  }

 private:
  void fail(std::string message) {
    if (status_.ok()) status_ = {Code::invalid, std::move(message)};
  }

  const nlohmann::json& json_;
  std::set<std::string> known_{"file_system.kind", "mpi_io.cb", "mpi_io.domains"};  // words
  Status status_;
};

}  // namespace

Result<Machine> read_machine(const nlohmann::json& json) {
  if (!json.is_object()) return Status(Code::invalid, "a machine is a table with [nodes], [servers], [targets], ...");
  constexpr double count = 1e7, size = 1e15, rate = 1e18, seconds = 1e6, some = 1e-9;
  Machine m;
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) m.name = name->get<std::string>();
  Reader reader(json);
  reader.take("nodes", "count", 1, count, m.nodes);
  reader.take("nodes", "cores", 1, count, m.cores);
  reader.take("nodes", "memory_rate", 1, rate, m.memory_rate);
  const auto has = [&](const char* table, const char* key) {
    return json.contains(table) && json[table].is_object() && json[table].contains(key);
  };
  if (has("nodes", "memory_threads")) reader.take("nodes", "memory_threads", 1, count, m.memory_threads);
  reader.take("nodes", "link_rate", 1, rate, m.link_rate);
  reader.take("nodes", "message_seconds", some, seconds, m.message_seconds);
  if (json.contains("forwarders")) {
    reader.take("forwarders", "nodes", 1, count, m.forwarded_nodes);
    reader.take("forwarders", "rate", 1, rate, m.forwarder_rate);
  }
  reader.take("servers", "count", 1, count, m.servers);
  reader.take("servers", "rate", 1, rate, m.server_rate);
  reader.take("targets", "count", 1, count, m.targets);
  reader.take("targets", "write_rate", 1, rate, m.write_rate);
  reader.take("targets", "read_rate", 1, rate, m.read_rate);
  reader.take("targets", "call_seconds", 0, seconds, m.target_call_seconds);
  if (has("targets", "spread")) reader.take("targets", "spread", 0, 1, m.spread);
  if (json.contains("file_system") && json["file_system"].is_object()) {
    const nlohmann::json& kind = json["file_system"].value("kind", nlohmann::json(""));
    if (!kind.is_string()) return Status(Code::invalid, "[file_system] kind is a word, as \"lustre\"");
    m.kind = kind.get<std::string>();
  }
  reader.take("file_system", "block", 1, size, m.block);
  reader.take("file_system", "smallest", 1, size, m.smallest);
  reader.take("file_system", "stripe_count", 0, count, m.stripe_count);
  reader.take("file_system", "call_seconds", some, seconds, m.call_seconds);
  reader.take("file_system", "lock_servers", 0, count, m.lock_servers);
  reader.take("file_system", "grant_seconds", 0, seconds, m.grant_seconds);
  reader.take("file_system", "lock_seconds", 0, seconds, m.lock_seconds);
  if (json.contains("mpi_io")) {
    const nlohmann::json given = json["mpi_io"].is_object() ? json["mpi_io"] : nlohmann::json::object();
    const nlohmann::json cb = given.value("cb", nlohmann::json("automatic")),
                         domains = given.value("domains", nlohmann::json("bytes"));
    if (cb != "enable" && cb != "automatic") return Status(Code::invalid, "[mpi_io] cb is \"enable\" or \"automatic\"");
    if (domains != "blocks" && domains != "bytes")
      return Status(Code::invalid, "[mpi_io] domains is \"blocks\" or \"bytes\"");
    m.buffers_always = cb == "enable";
    m.whole_blocks = domains == "blocks";
    if (given.contains("aggregators")) reader.take("mpi_io", "aggregators", 1, count, m.aggregators);
    if (m.aggregators > 0 && m.forwarded_nodes == 0)
      return Status(Code::invalid, "[mpi_io] aggregators are those of one of the [forwarders], which are missing");
    if (given.contains("romio_year")) reader.take("mpi_io", "romio_year", 1998, 9999, m.romio_year);
  }
  reader.take("metadata", "create_seconds", 0, seconds, m.create_seconds);
  reader.take("metadata", "open_seconds", 0, seconds, m.open_seconds);
  reader.take("metadata", "entries", 1, size, m.entries);
  PENSTOCK_TRY(reader.finish());
  return m;
}

}  // namespace penstock::bench
