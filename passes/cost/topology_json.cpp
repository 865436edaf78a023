// Reading a topology from JSON. Every field is checked: the file is written by hand.
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/cost/extended_topology.h"
#include "runtime/json/json_text.h"
#include "runtime/text/nearest_name.h"

#include <cmath>
#include <filesystem>
#include <optional>

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using ::sgd::json::ShowJson;
using Json = nlohmann::json;

/// Products and quotients of a few numbers of this range are finite.
static constexpr double kSmallest = 1e-30, kLargest = 1e30;

namespace {
/// One JSON object with the path that names it in errors; keys that nobody read are errors too. Where it `extends`
/// another, required fields may be missing and leave their values as they are.
class Fields {
 public:
  Fields(const Json::object_t& object, std::string path, bool extends = false)
      : object(object), path(std::move(path)), isExtension(extends) {}

  bool extends() const { return isExtension; }

  /// Null where it is missing; the key is known then.
  const Json* find(StringRef key) {
    if (!llvm::is_contained(known, key)) known.push_back(key);
    auto field = object.find(std::string_view(key));
    return field == object.end() ? nullptr : &field->second;
  }

  Error getNumber(StringRef key, double& value, bool mayBeZero = false) {
    const Json* field = find(key);
    if (!field && isExtension) return Error::success();
    if (!field) return fail("field '" + key + "' is missing; expected a number; add it");
    if (!field->is_number())
      return fail("field '" + key + "' is " + ShowJson(*field) +
                  "; expected a number in SI units, such as 1.5e9; correct it");
    const double number = field->get<double>();
    if (number > kLargest || number < (mayBeZero ? 0 : kSmallest))
      return fail("field '" + key + "' is " + ShowJson(*field) + "; expected a number from " +
                  (mayBeZero ? "0" : "1e-30") + " to 1e30; correct it");
    value = number;
    return Error::success();
  }

  /// `value` stays where the field is missing.
  Error getOptional(StringRef key, double& value, bool mayBeZero = false) {
    return find(key) ? getNumber(key, value, mayBeZero) : Error::success();
  }
  Error getOptional(StringRef key, int64_t& value) { return find(key) ? getInteger(key, value) : Error::success(); }

  Error getInteger(StringRef key, int64_t& value, bool mayBeZero = false) {
    if (!find(key) && isExtension) return Error::success();
    double number = 0;
    if (Error error = getNumber(key, number, mayBeZero)) return error;
    if (number != std::floor(number) || number > 9e15)
      return fail("field '" + key + "' is " + ShowJson(*find(key)) +
                  "; expected a whole number below 9e15; correct it");
    value = static_cast<int64_t>(number);
    return Error::success();
  }

  Error getString(StringRef key, std::string& value) {
    const auto* text = get<std::string>(key);
    if (!text || text->empty())
      return fail("field '" + key + "' is missing, or no text; expected a string of one character or more; add it");
    value = *text;
    return Error::success();
  }

  Error getOptional(StringRef key, std::string& value) { return find(key) ? getString(key, value) : Error::success(); }

  /// `value` stays where the field is missing.
  Error getOptional(StringRef key, bool& value) {
    const Json* field = find(key);
    if (!field) return Error::success();
    if (!field->is_boolean())
      return fail("field '" + key + "' is " + ShowJson(*field) + "; expected true or false; correct it");
    value = field->get<bool>();
    return Error::success();
  }

  Error getArray(StringRef key, const Json::array_t*& value) {
    value = get<Json::array_t>(key);
    if (!value || value->empty())
      return fail("field '" + key + "' is missing, or no list; expected a list of one entry or more; add it");
    return Error::success();
  }

  Error getObject(StringRef key, const Json::object_t*& value) {
    value = get<Json::object_t>(key);
    return value ? Error::success() : fail("field '" + key + "' is missing, or no object; expected {...}; add it");
  }

  Error checkAllKnown() {
    for (const auto& [name, value] : object) {
      if (llvm::is_contained(known, StringRef(name))) continue;
      const std::string nearest(
          ::sgd::text::NearestName(name, std::vector<std::string_view>(known.begin(), known.end())));
      return fail("field '" + name + "' is unknown; " +
                  (nearest.empty() ? "expected one of " + llvm::join(known, ", ") + "; correct its name, or drop it"
                                   : "did you mean '" + nearest + "'?"));
    }
    return Error::success();
  }

  Error fail(const Twine& what) const {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), Twine("topology ") + path + ": " + what);
  }

 private:
  /// Null where it is missing, or of another type.
  template <typename T>
  const T* get(StringRef key) {
    const Json* field = find(key);
    return field ? field->get_ptr<const T*>() : nullptr;
  }

  const Json::object_t& object;
  std::string path;
  bool isExtension;
  llvm::SmallVector<StringRef, 8> known;
};

/// The first error of several reads.
Error firstOf(std::initializer_list<llvm::function_ref<Error()>> reads) {
  for (llvm::function_ref<Error()> read : reads)
    if (Error error = read()) return error;
  return Error::success();
}

Error readDevice(const Json::object_t& object, const std::string& path, bool extends, DeviceModel& device) {
  Fields fields(object, path, extends);
  auto setDefault = [&](double& value, double other) { value = extends ? value : other; };
  return firstOf({[&] { return fields.getNumber("flops", device.flops); },
                  [&] { return fields.getNumber("half_flops", device.halfFlops); },
                  [&] { return fields.getNumber("memory_bandwidth", device.memoryBandwidth); },
                  [&] {
                    setDefault(device.cacheBandwidth, device.memoryBandwidth);
                    return fields.getOptional("cache_bandwidth", device.cacheBandwidth);
                  },
                  [&] { return fields.getOptional("cache_bytes", device.cacheBytes); },
                  [&] { return fields.getNumber("launch_latency", device.launchLatency, /*mayBeZero=*/true); },
                  [&] { return fields.getInteger("memory_bytes", device.memoryBytes); },
                  [&] {
                    setDefault(device.attentionFlops, device.halfFlops);
                    return fields.getOptional("attention_flops", device.attentionFlops);
                  },
                  [&] {
                    setDefault(device.vectorFlops, device.flops);
                    return fields.getOptional("vector_flops", device.vectorFlops);
                  },
                  [&] {
                    setDefault(device.divisions, device.vectorFlops);
                    return fields.getOptional("divisions", device.divisions);
                  },
                  [&] {
                    setDefault(device.transcendentals, device.vectorFlops / 10);
                    return fields.getOptional("transcendentals", device.transcendentals);
                  },
                  [&] { return fields.getOptional("packed_elements", device.packedElements); },
                  [&] {
                    setDefault(device.peakFlops, device.flops);
                    return fields.getOptional("peak_flops", device.peakFlops);
                  },
                  [&] {
                    setDefault(device.peakHalfFlops, device.halfFlops);
                    return fields.getOptional("peak_half_flops", device.peakHalfFlops);
                  },
                  [&] { return fields.getOptional("architecture", device.architecture); },
                  [&] { return fields.getOptional("storage_bandwidth", device.storageBandwidth); },
                  [&] { return fields.getOptional("price_per_hour", device.pricePerHour, /*mayBeZero=*/true); },
                  [&] { return fields.getOptional("host_bandwidth", device.hostBandwidth, /*mayBeZero=*/true); },
                  [&] { return fields.checkAllKnown(); }});
}

Error readAlgorithms(Fields& fields, LinkClass& link) {
  const Json::array_t* names = nullptr;
  if (!fields.find("algorithms") && fields.extends()) return Error::success();
  if (Error error = fields.getArray("algorithms", names)) return error;
  link.algorithms.clear();
  for (const Json& value : *names) {
    auto algorithm =
        llvm::StringSwitch<std::optional<Algorithm>>(value.is_string() ? value.get_ref<const std::string&>() : "")
            .Case("ring", Algorithm::Ring)
            .Case("tree", Algorithm::Tree)
            .Case("direct", Algorithm::Direct)
            .Case("switch", Algorithm::Switch)
            .Default(std::nullopt);
    if (!algorithm)
      return fields.fail(
          "field 'algorithms' holds an unknown entry; expected \"ring\", \"tree\", \"direct\" or \"switch\"; correct "
          "it");
    link.algorithms.push_back(*algorithm);
  }
  // Trees and switches alone cannot gather or permute.
  if (!llvm::is_contained(link.algorithms, Algorithm::Ring) && !llvm::is_contained(link.algorithms, Algorithm::Direct))
    return fields.fail(
        "field 'algorithms' holds neither \"ring\" nor \"direct\", and others cannot gather; expected one of them; add "
        "it");
  return Error::success();
}

Error readOversubscription(Fields& fields, LinkClass& link) {
  if (Error error = fields.getOptional("oversubscription", link.oversubscription)) return error;
  if (link.oversubscription >= 1) return Error::success();
  return fields.fail(
      "field 'oversubscription' is below 1; expected the ports' bandwidth as a multiple of what the "
      "links behind them carry; correct it");
}

/// Latencies by the name of the protocol.
Error readProtocols(Fields& fields, const std::string& path, LinkClass& link) {
  const Json::object_t* object = nullptr;
  if (!fields.find("protocols")) return Error::success();
  if (Error error = fields.getObject("protocols", object)) return error;
  Fields latencies(*object, path + ": protocols");
  return firstOf({[&] { return latencies.getOptional("ll128", link.ll128Latency); },
                  [&] { return latencies.getOptional("ll", link.llLatency); },
                  [&] { return latencies.checkAllKnown(); }});
}

/// Adapters of a domain of `inner` ranks: what shares a port, or ports of a rank that add up.
Error readAdapters(Fields& fields, const Json::object_t& object, int64_t inner, LinkClass& link) {
  int64_t adapters = 0;
  if (!fields.find("nics")) return fields.getOptional("shared_by", link.sharedBy);
  if (object.contains("shared_by"))
    return fields.fail(
        "fields 'nics' and 'shared_by' both say how many ranks share a port; expected one; leave one out");
  if (Error error = fields.getOptional("nics", adapters)) return error;
  if (inner % adapters != 0 && adapters % inner != 0)
    return fields.fail("field 'nics' is " + std::to_string(adapters) + " for the " + std::to_string(inner) +
                       " ranks that the link before joins; expected a divisor or a multiple; correct it");
  link.sharedBy = std::max<int64_t>(1, inner / adapters);
  link.bandwidth *= static_cast<double>(std::max<int64_t>(1, adapters / inner));
  return Error::success();
}

Error readLink(const Json::object_t& object, const std::string& path, bool extends, int64_t inner, LinkClass& link) {
  Fields fields(object, path, extends);
  return firstOf(
      {[&] { return fields.getString("name", link.name); },
       [&] { return fields.getInteger("ranks", link.ranks, /*mayBeZero=*/true); },
       [&] { return fields.getNumber("latency", link.latency, /*mayBeZero=*/true); },
       [&] { return fields.getNumber("bandwidth", link.bandwidth); }, [&] { return readAlgorithms(fields, link); },
       [&] { return readAdapters(fields, object, inner, link); }, [&] { return readOversubscription(fields, link); },
       [&] { return fields.getOptional("rails", link.rails); },
       [&] { return fields.getOptional("startup", link.startup, /*mayBeZero=*/true); },
       [&] { return readProtocols(fields, path, link); }, [&] { return fields.checkAllKnown(); }});
}

/// Domains grow from link to link, and the last one joins all ranks.
Error checkDomains(llvm::ArrayRef<LinkClass> links, const std::string& path) {
  for (auto [index, link] : llvm::enumerate(links)) {
    std::string here = path + ": link " + std::to_string(index);
    int64_t inner = index == 0 ? 1 : links[index - 1].ranks;
    bool isLast = index + 1 == links.size();
    if (isLast != (link.ranks == 0))
      return llvm::createStringError(
          "topology " + here + ": field 'ranks' is " + std::to_string(link.ranks) +
          "; expected 0 in the last link, which joins all ranks, and only there; correct it");
    if (!isLast && (link.ranks <= inner || link.ranks % inner != 0))
      return llvm::createStringError("topology " + here + ": field 'ranks' is " + std::to_string(link.ranks) +
                                     "; expected a larger multiple of the " + std::to_string(inner) +
                                     " ranks that the link before joins; correct it");
  }
  return Error::success();
}

/// The link of the extended topology that the object names.
llvm::Expected<LinkClass*> findLink(const Json::object_t& object, const std::string& path, Topology& topology) {
  Fields fields(object, path, /*extends=*/true);
  std::string name;
  if (Error error = fields.getString("name", name)) return std::move(error);
  auto link = llvm::find_if(topology.links, [&](const LinkClass& one) { return one.name == name; });
  if (link != topology.links.end()) return link;
  auto names = llvm::map_range(topology.links, [](const LinkClass& one) { return one.name; });
  return fields.fail("field 'name' is \"" + name + "\", and what is extended has no such link; expected one of " +
                     llvm::join(names, ", ") + "; correct it, or describe all links in a file that extends nothing");
}

Error readLinks(const Json::array_t& array, const std::string& path, bool extends, Topology& topology) {
  for (auto [index, value] : llvm::enumerate(array)) {
    std::string here = path + ": link " + std::to_string(index);
    const auto* object = value.get_ptr<const Json::object_t*>();
    if (!object)
      return llvm::createStringError("topology " + here +
                                     " is no object; expected {...} with the fields of a link; correct it");
    LinkClass* link = nullptr;
    if (extends) {
      llvm::Expected<LinkClass*> found = findLink(*object, here, topology);
      if (!found) return found.takeError();
      link = *found;
    } else {
      link = &topology.links.emplace_back();
    }
    int64_t inner = link == topology.links.begin() ? 1 : (link - 1)->ranks;
    // Of a link that joins all ranks, which is not the last one, checkDomains says what is wrong.
    if (Error error = readLink(*object, here, extends, std::max<int64_t>(inner, 1), *link)) return error;
  }
  return checkDomains(topology.links, path);
}

/// The topology that field `extends` names: a built-in one, or a file beside the one that names it.
llvm::Expected<Topology> loadBase(Fields& fields, StringRef name, llvm::ArrayRef<std::string> chain) {
  constexpr size_t kDeepest = 16;
  namespace fs = std::filesystem;
  std::string base;
  if (Error error = fields.getString("extends", base)) return std::move(error);
  std::string path = base;
  if (!isBuiltInTopology(base)) path = (fs::path(name.str()).parent_path() / base).lexically_normal().string();
  llvm::SmallVector<std::string> files(chain);
  files.push_back(fs::path(name.str()).lexically_normal().string());
  if (llvm::is_contained(files, path) || files.size() > kDeepest)
    return fields.fail("field 'extends' is \"" + base +
                       "\", which extends this file in turn; expected a built-in topology, or a file that does not; "
                       "correct it");
  llvm::Expected<Topology> topology = loadTopology(path, files);
  if (!topology) return fields.fail("field 'extends': " + llvm::toString(topology.takeError()));
  return topology;
}
}  // namespace

llvm::Expected<Topology> mlir::sgd::parseTopology(StringRef json, StringRef name) {
  return parseTopology(json, name, {});
}

llvm::Expected<Topology> mlir::sgd::parseTopology(StringRef json, StringRef name, llvm::ArrayRef<std::string> chain) {
  std::string path = "'" + name.str() + "'";
  if (auto fault = ::sgd::json::FindJsonFault(json))
    return llvm::createStringError("topology " + path + " is " + fault->text +
                                   (fault->is_syntax ? "; expected one JSON object" : "") + "; correct the file");
  const Json value = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  const auto* object = value.get_ptr<const Json::object_t*>();
  if (!object)
    return llvm::createStringError("topology " + path +
                                   " is no object; expected {...} with name, device and links; correct the file");
  Topology topology;
  Fields fields(*object, path);
  if (object->contains("batch") || object->contains("mesh") || object->contains("train"))
    return fields.fail("is a recipe; expected an object with name, device and links; give the file to --recipe");
  const bool extends = fields.find("extends") != nullptr;
  if (extends) {
    llvm::Expected<Topology> base = loadBase(fields, name, chain);
    if (!base) return base.takeError();
    topology = std::move(*base);
  }
  // A file that extends another may leave both out.
  const Json::object_t noFields;
  const Json::array_t noLinks;
  const Json::object_t* device = extends && !fields.find("device") ? &noFields : nullptr;
  const Json::array_t* links = extends && !fields.find("links") ? &noLinks : nullptr;
  std::string schema;  // for editors, docs/schemas/topology.schema.json
  Error error = firstOf({[&] { return fields.getString("name", topology.name); },
                         [&] { return device ? Error::success() : fields.getObject("device", device); },
                         [&] { return links ? Error::success() : fields.getArray("links", links); },
                         [&] { return fields.getOptional("$schema", schema); }, [&] { return fields.checkAllKnown(); },
                         [&] { return readDevice(*device, path + ": device", extends, topology.device); },
                         [&] { return readLinks(*links, path, extends, topology); }});
  if (error) return std::move(error);
  return topology;
}
