// Arrays: put, get and attributes for spans, containers and mdspans. The compiler supplies element types, extents and
// strides. Header only, on top of File.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/file.hpp>

namespace penstock {

namespace detail {

template <typename T>
inline constexpr bool is_complex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// For the language bool and characters are integers; here they are not numbers.
template <typename T>
inline constexpr bool is_number =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && sizeof(T) <= 8;

}  // namespace detail

// The element types of datasets and numeric attributes. Integers are mapped by size: long and long long are i64 here.
template <typename T>
concept Element = detail::is_number<T> || std::same_as<T, float> || std::same_as<T, double> || detail::is_complex<T>;

template <Element T>
ElementType element_type() {
  if constexpr (detail::is_number<T>) {
    constexpr Kind kinds[2][4] = {{Kind::u8, Kind::u16, Kind::u32, Kind::u64},
                                  {Kind::i8, Kind::i16, Kind::i32, Kind::i64}};
    return {kinds[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3]};
  } else {
    return type_of<T>();
  }
}

// Contiguous ranges of elements: std::vector, std::array, std::span, ...
template <typename R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                       Element<std::remove_cvref_t<std::ranges::range_reference_t<R>>>;

// std::mdspan and any type with the same members: rank(), extent(), stride(), and a data_handle() that points to
// elements. Any strided layout works: row-major, column-major, padded, subspans.
template <typename V>
concept StridedView = requires(const V& view, typename V::rank_type r) {
  requires Element<std::remove_cv_t<typename V::element_type>>;
  { view.data_handle() } -> std::convertible_to<const typename V::element_type*>;
  { V::rank() } -> std::convertible_to<int>;
  { view.extent(r) } -> std::convertible_to<int64_t>;
  { view.stride(r) } -> std::convertible_to<int64_t>;
} && V::rank() <= static_cast<unsigned>(max_rank);

// The place of a view in its dataset: SHAPE of the dataset and START, the index of the view's first element. DIMS names
// the dimensions of a dataset that is put or lent: {.shape = {ny, nx}, .start = {y, x}, .dims = {"y", "x"}}.
struct Place {
  Dims shape;
  Dims start;
  std::vector<std::string> dims = {};
};

namespace detail {

template <typename R>
using element_of = std::remove_cvref_t<std::ranges::range_reference_t<R>>;

inline Status refuse(File& file, Status why) {
  file.remember_failure(why);
  return why;
}

inline Status check_size(File& file, std::string_view name, const Decomposition& part, uint64_t size) {
  if (size == static_cast<uint64_t>(part.elements())) return {};
  return refuse(file, {Code::invalid, "'" + std::string(name) + "': " + std::to_string(size) +
                                          " elements are given, the decomposition has " +
                                          std::to_string(part.elements()) + " on this rank"});
}

template <StridedView V>
Dims extents_of(const V& view) {
  Dims dims;
  for (size_t i = 0; i < V::rank(); ++i) dims.push_back(static_cast<int64_t>(view.extent(i)));
  return dims;
}

template <StridedView V>
Memory memory_of(const V& view) {
  Memory memory;
  for (size_t i = 0; i < V::rank(); ++i) memory.stride.push_back(static_cast<int64_t>(view.stride(i)));
  return memory;
}

inline Status name_dimensions(File& file, std::string_view name, const Place& place) {
  return place.dims.empty() ? Status() : file.set_dimensions(name, place.dims);
}

// Calls MOVE with the decomposition for VIEW at PLACE.
template <StridedView V, typename Move>
Status placed(File& file, const V& view, const Place& place, Move move) {
  const auto part = Decomposition::block(place.shape, place.start, extents_of(view));
  return part.ok() ? move(*part) : refuse(file, part.status());
}

template <StridedView V, typename Move>
Status replicated(File& file, const V& view, Move move) {
  const auto part = Decomposition::replicated(extents_of(view));
  return part.ok() ? move(*part) : refuse(file, part.status());
}

}  // namespace detail

// --- ranges, by a decomposition --------------------------------------------------------------------------------------
// Local, like the functions of File: put copies the data; lend and get borrow it until commit. Code::invalid, here and
// at the next commit, if the range and the decomposition differ in size.

template <ElementRange R>
Status put(File& file, std::string_view name, const Decomposition& part, const R& values) {
  PENSTOCK_TRY(detail::check_size(file, name, part, std::ranges::size(values)));
  return file.put(name, element_type<detail::element_of<R>>(), part, std::ranges::data(values));
}

// VALUES must outlive the commit; a temporary is rejected at compile time.
template <ElementRange R>
Status lend(File& file, std::string_view name, const Decomposition& part, const R& values) {
  PENSTOCK_TRY(detail::check_size(file, name, part, std::ranges::size(values)));
  return file.lend(name, element_type<detail::element_of<R>>(), part, std::ranges::data(values));
}
template <ElementRange R>
  requires(!std::ranges::borrowed_range<R>)
Status lend(File& file, std::string_view name, const Decomposition& part, const R&& values) = delete;

template <ElementRange R>
Status get(File& file, std::string_view name, const Decomposition& part, R&& values) {
  static_assert(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>, "it must outlive the commit");
  PENSTOCK_TRY(detail::check_size(file, name, part, std::ranges::size(values)));
  return file.get(name, element_type<detail::element_of<R>>(), part, std::ranges::data(values));
}

// Collective. A get and a commit: returns this rank's part of NAME.
template <Element T>
Result<std::vector<T>> read(File& file, std::string_view name, const Decomposition& part) {
  std::vector<T> values(static_cast<size_t>(part.elements()));
  (void)file.get(name, element_type<T>(), part, values.data());  // commit says it
  PENSTOCK_TRY(file.commit());
  return values;
}

// Collective. Returns all of NAME, on every rank.
template <Element T>
Result<std::vector<T>> read(File& file, std::string_view name) {
  PENSTOCK_ASSIGN(const DatasetInfo info, file.dataset(name));
  PENSTOCK_ASSIGN(const Decomposition part, Decomposition::replicated(info.shape));
  return read<T>(file, name, part);
}

// --- views, by their place -------------------------------------------------------------------------------------------
// Local. Without a place the view is the whole dataset, identical on every rank.

template <StridedView V>
Status put(File& file, std::string_view name, const V& view, const Place& place) {
  PENSTOCK_TRY(detail::name_dimensions(file, name, place));
  return detail::placed(file, view, place, [&](const Decomposition& part) {
    return file.put(name, element_type<std::remove_cv_t<typename V::element_type>>(), part, view.data_handle(),
                    detail::memory_of(view));
  });
}
template <StridedView V>
Status put(File& file, std::string_view name, const V& view) {
  return detail::replicated(file, view, [&](const Decomposition& part) {
    return file.put(name, element_type<std::remove_cv_t<typename V::element_type>>(), part, view.data_handle(),
                    detail::memory_of(view));
  });
}

// The data behind VIEW must stay alive and unchanged until commit returns.
template <StridedView V>
Status lend(File& file, std::string_view name, const V& view, const Place& place) {
  PENSTOCK_TRY(detail::name_dimensions(file, name, place));
  return detail::placed(file, view, place, [&](const Decomposition& part) {
    return file.lend(name, element_type<std::remove_cv_t<typename V::element_type>>(), part, view.data_handle(),
                     detail::memory_of(view));
  });
}

template <StridedView V>
  requires(!std::is_const_v<typename V::element_type>)
Status get(File& file, std::string_view name, const V& view, const Place& place) {
  return detail::placed(file, view, place, [&](const Decomposition& part) {
    return file.get(name, element_type<std::remove_cv_t<typename V::element_type>>(), part, view.data_handle(),
                    detail::memory_of(view));
  });
}
template <StridedView V>
  requires(!std::is_const_v<typename V::element_type>)
Status get(File& file, std::string_view name, const V& view) {
  return detail::replicated(file, view, [&](const Decomposition& part) {
    return file.get(name, element_type<std::remove_cv_t<typename V::element_type>>(), part, view.data_handle(),
                    detail::memory_of(view));
  });
}

// Local. Names the dimensions of dataset NAME, slowest first.
inline Status set_dimensions(File& file, std::string_view name, std::initializer_list<std::string> dims) {
  return file.set_dimensions(name, std::vector<std::string>(dims));
}

// Collective. Returns all of NAME, on every rank, converted to T, which must hold all values of the dataset's type.
template <Element T>
Result<std::vector<T>> read_widened(File& file, std::string_view name) {
  PENSTOCK_ASSIGN(const DatasetInfo info, file.dataset(name));
  PENSTOCK_ASSIGN(const Decomposition part, Decomposition::replicated(info.shape));
  std::vector<T> values(static_cast<size_t>(part.elements()));
  (void)file.get_widened(name, element_type<T>(), part, values.data());  // commit says it
  PENSTOCK_TRY(file.commit());
  return values;
}

// --- attributes ------------------------------------------------------------------------------------------------------
// Local. OBJECT is "/" for the file. Values are copied.

template <Element T>
Status set_attribute(File& file, std::string_view object, std::string name, T value) {
  return file.set_attribute(object, make_attribute(std::move(name), element_type<T>(), &value, -1));
}
inline Status set_attribute(File& file, std::string_view object, std::string name, std::string_view value) {
  return file.set_attribute(object, text_attribute(std::move(name), value));
}
template <ElementRange R>
Status set_attribute(File& file, std::string_view object, std::string name, const R& values) {
  return file.set_attribute(
      object, make_attribute(std::move(name), element_type<detail::element_of<R>>(), std::ranges::data(values),
                             static_cast<int64_t>(std::ranges::size(values))));
}

// Local. Returns all values of an attribute; Code::mismatch if its type is not T.
template <Element T>
Result<std::vector<T>> attribute_values(const File& file, std::string_view object, std::string_view name_of) {
  PENSTOCK_ASSIGN(const Attribute found, file.attribute(object, name_of));
  if (found.type != element_type<T>())
    return Status(Code::mismatch, "attribute '" + std::string(name_of) + "' of '" + std::string(object) + "' is " +
                                      name(found.type) + ", not " + name(element_type<T>()));
  std::vector<T> values(found.value.size() / sizeof(T));
  std::ranges::copy(found.value, reinterpret_cast<std::byte*>(values.data()));
  return values;
}
// Local. Returns the value of an attribute; Code::mismatch if it does not have exactly one.
template <Element T>
Result<T> attribute(const File& file, std::string_view object, std::string_view name_of) {
  PENSTOCK_ASSIGN(const std::vector<T> values, attribute_values<T>(file, object, name_of));
  if (values.size() == 1) return values[0];
  return Status(Code::mismatch, "attribute '" + std::string(name_of) + "' of '" + std::string(object) + "' has " +
                                    std::to_string(values.size()) + " values, not one");
}
inline Result<std::string> attribute_text(const File& file, std::string_view object, std::string_view name_of) {
  PENSTOCK_ASSIGN(const Attribute found, file.attribute(object, name_of));
  if (found.type.kind == Kind::text && found.shape.rank() == 0) return text(found);
  return Status(Code::mismatch,
                "attribute '" + std::string(name_of) + "' of '" + std::string(object) + "' is no single text");
}

}  // namespace penstock
