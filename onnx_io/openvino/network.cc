#include "onnx_io/openvino/network.h"

#include <algorithm>
#include <functional>
#include <pugixml.hpp>
#include <queue>
#include <set>
#include <unordered_map>

#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::onnx_io::openvino {

namespace {

using pugi::xml_node;

// The parser takes some twenty bytes for every byte of a text of short elements.
constexpr std::size_t max_text = std::size_t{64} << 20;
// A layer's dimensions lie six deep; what rt_info holds may be deeper.
constexpr int max_depth = 32;

class DepthLimit : public pugi::xml_tree_walker {
 public:
  bool for_each(xml_node& node) override {
    if (node.type() == pugi::node_doctype) {
      fail_invalid("it has a document type (DOCTYPE); an IR has none, and its entities are not expanded");
    }
    if (depth() > max_depth) fail_invalid("its elements are nested more than {} deep", max_depth);
    return true;
  }
};

std::string_view attribute_of(xml_node node, const char* name) {
  const pugi::xml_attribute found = node.attribute(name);
  if (!found) fail_invalid("<{}> has no attribute {}", node.name(), name);
  return found.value();
}

std::int64_t integer_of(xml_node node, const char* name) {
  return parse_integer(attribute_of(node, name), name);
}

void require_children(xml_node node, std::initializer_list<std::string_view> known) {
  for (const xml_node child : node.children()) {
    if (child.type() != pugi::node_element || std::ranges::find(known, child.name()) != known.end()) continue;
    fail_unsupported("<{}> holds <{}>, which is not read", node.name(), child.name());
  }
}

/// The elements and attributes of a node, each of which must be known, and of which these may be there once.
struct Known {
  std::initializer_list<std::string_view> children, attributes;
  std::initializer_list<const char*> once = {};
};

void require_known(xml_node node, const Known& known) {
  require_children(node, known.children);
  for (const pugi::xml_attribute attribute : node.attributes()) {
    if (std::ranges::find(known.attributes, attribute.name()) != known.attributes.end()) continue;
    fail_unsupported("<{}> has the attribute {}, which is not read", node.name(), attribute.name());
  }
  for (const char* const child : known.once) {
    if (node.child(child).next_sibling(child)) fail_invalid("<{}> holds <{}> twice", node.name(), child);
  }
}

// "a,b\,c": commas of a name itself are escaped.
std::vector<std::string> tensor_names(std::string_view text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  names.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      names.back() += text[++i];
    } else if (text[i] == ',') {
      names.emplace_back();
    } else {
      names.back() += text[i];
    }
  }
  return names;
}

Port read_port(xml_node node) {
  require_known(node, {.children = {"dim", "rt_info"}, .attributes = {"id", "precision", "names"}});
  Port port;
  port.id = integer_of(node, "id");
  port.precision = node.attribute("precision").value();
  port.names = tensor_names(node.attribute("names").value());
  for (const xml_node dim : node.children("dim")) {
    const std::int64_t size = parse_integer(dim.child_value(), "<dim>");
    if (size < unknown_size) fail_invalid("port {} has the dimension {}", port.id, size);
    if (!port.dims) port.dims.emplace();
    port.dims->push_back(size);
  }
  return port;
}

std::vector<Port> read_ports(xml_node layer, const char* side) {
  std::vector<Port> ports;
  require_known(layer.child(side), {.children = {"port", "rt_info"}, .attributes = {}});
  for (const xml_node port : layer.child(side).children("port")) ports.push_back(read_port(port));
  return ports;
}

Layer read_layer(xml_node node) {
  Layer layer;
  layer.id = integer_of(node, "id");
  layer.name = attribute_of(node, "name");
  layer.type = attribute_of(node, "type");
  layer.version = node.attribute("version").value();
  layer.output_names = tensor_names(node.attribute("output_names").value());
  with_context([&] { return layer.label(); },
               [&] {
                 require_known(node, {.children = {"data", "input", "output", "rt_info"},
                                      .attributes = {"id", "name", "type", "version", "output_names"},
                                      .once = {"data", "input", "output"}});
                 for (const pugi::xml_attribute attribute : node.child("data").attributes()) {
                   const bool added = layer.attributes.emplace(attribute.name(), attribute.value()).second;
                   if (!added) fail_invalid("attribute {} is given twice", attribute.name());
                 }
                 layer.inputs = read_ports(node, "input");
                 layer.outputs = read_ports(node, "output");
               });
  return layer;
}

using Positions = std::unordered_map<std::int64_t, std::size_t>;

std::size_t position_of(const std::vector<Port>& ports, std::int64_t id, const Layer& layer,
                        const char* side) {
  // Ids mostly count on from the first; a search for each would be quadratic for a layer of many ports.
  if (!ports.empty() && id >= ports.front().id) {
    const auto guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ports.front().id);
    if (guess < ports.size() && ports[guess].id == id) return guess;
  }
  const auto found = std::ranges::find(ports, id, &Port::id);
  if (found == ports.end())
    fail_invalid("an edge names {} port {} of {}, which has none", side, id, layer.label());
  return static_cast<std::size_t>(found - ports.begin());
}

std::size_t layer_at(const Positions& positions, xml_node edge, const char* end) {
  const std::int64_t id = integer_of(edge, end);
  const auto found = positions.find(id);
  if (found == positions.end()) fail_invalid("an edge names layer {}, which is not there", id);
  return found->second;
}

void connect(Network& network, xml_node edges) {
  Positions positions;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!positions.emplace(layer.id, i).second) fail_invalid("two layers have the id {}", layer.id);
  }
  constexpr std::size_t none = SIZE_MAX;
  for (Layer& layer : network.layers) layer.sources.assign(layer.inputs.size(), {none, 0});
  require_known(edges, {.children = {"edge"}, .attributes = {}});
  for (const xml_node edge : edges.children("edge")) {
    require_known(edge, {.children = {}, .attributes = {"from-layer", "from-port", "to-layer", "to-port"}});
    const std::size_t from = layer_at(positions, edge, "from-layer");
    Layer& user = network.layers[layer_at(positions, edge, "to-layer")];
    const Layer& maker = network.layers[from];
    const std::size_t input = position_of(user.inputs, integer_of(edge, "to-port"), user, "input");
    const std::size_t output = position_of(maker.outputs, integer_of(edge, "from-port"), maker, "output");
    if (user.sources[input].layer != none) {
      fail_invalid("two edges lead to input port {} of {}", user.inputs[input].id, user.label());
    }
    user.sources[input] = {from, output};
  }
  for (const Layer& layer : network.layers) {
    for (std::size_t i = 0; i < layer.sources.size(); ++i) {
      if (layer.sources[i].layer == none) {
        fail_invalid("no edge leads to input port {} of {}", layer.inputs[i].id, layer.label());
      }
    }
  }
}

// Layers that are listed in an order that will do keep it.
void sort(Network& network) {
  const std::size_t count = network.layers.size();
  std::vector<std::vector<std::size_t>> users(count);
  std::vector<std::size_t> missing(count);
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = network.layers[i].sources.size();
    for (const Source& source : network.layers[i].sources) users[source.layer].push_back(i);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    network.order.push_back(next);
    for (const std::size_t user : users[next]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (network.order.size() == count) return;
  const auto stuck = std::ranges::find_if(missing, [](std::size_t left) { return left > 0; });
  fail_invalid("{} depends on itself",
               network.layers[static_cast<std::size_t>(stuck - missing.begin())].label());
}

}  // namespace

std::string Layer::label() const {
  return fmt::format("layer '{}' ({}{})", name, type, version.empty() ? "" : " of " + version);
}

Network read_network(std::string_view text) {
  if (text.size() > max_text) {
    fail(ErrorKind::limit, "{} bytes of XML; an IR of up to {} is read", text.size(), max_text);
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed) {
    fail_invalid("no OpenVINO IR: at byte {} it is not well-formed XML ({})", parsed.offset,
                 parsed.description());
  }
  DepthLimit limit;
  document.traverse(limit);
  const xml_node net = document.document_element();
  if (net.next_sibling()) fail_invalid("it has something behind <{}>", net.name());
  if (std::string_view(net.name()) != "net") {
    fail_invalid("XML with the root <{}>; an OpenVINO IR has <net>", net.name());
  }
  Network network;
  const std::int64_t version = integer_of(net, "version");
  if (version != 10 && version != 11) {
    fail_unsupported("OpenVINO IR version {}; versions 10 and 11 are read", version);
  }
  network.version = static_cast<int>(version);
  network.name = net.attribute("name").value();
  network.runtime_version = net.child("rt_info").child("Runtime_version").attribute("value").value();
  require_known(net, {.children = {"layers", "edges", "rt_info", "meta_data", "quantization_parameters"},
                      .attributes = {"name", "version"},
                      .once = {"layers", "edges"}});
  require_known(net.child("layers"), {.children = {"layer"}, .attributes = {}});
  for (const xml_node layer : net.child("layers").children("layer")) {
    look_for_interruption();
    network.layers.push_back(read_layer(layer));
  }
  if (network.layers.empty()) fail_invalid("no OpenVINO IR: it has no layers");
  connect(network, net.child("edges"));
  sort(network);
  return network;
}

}  // namespace grurun::onnx_io::openvino
