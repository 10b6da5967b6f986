// Tensors in C++17 that know who owns their elements, and errors as exceptions: what leat.hpp is
// made of.
#ifndef LEAT_TENSOR_HPP
#define LEAT_TENSOR_HPP

#include "leat/dtype.h"
#include "leat/status.h"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat {

// -- Errors --------------------------------------------------------------------------------------

// leat_problem: an error, a warning or a note, and its place in a text.
struct problem {
  leat_severity severity;
  std::string file; // "": of no place in a text
  int line, column;
  std::string message;
};

// what(): what leat_session_message or leat_model_message says, with the place in the text; a
// session's says what it consists of, too.
class error : public std::runtime_error {
public:
  error(leat_status status, const std::string &message, std::vector<problem> problems = {})
      : std::runtime_error(message), status_(status),
        problems_(std::make_shared<std::vector<problem>>(std::move(problems))) {}
  leat_status status() const noexcept { return status_; }
  const std::vector<problem> &problems() const noexcept { return *problems_; }

private:
  leat_status status_;
  std::shared_ptr<const std::vector<problem>> problems_; // copying an error throws nothing
};

// -- Tensors -------------------------------------------------------------------------------------

// `size` elements from `data` on, which somebody else owns.
template <class T> class span {
public:
  constexpr span() = default;
  constexpr span(T *data, std::size_t size) : data_(data), size_(size) {}
  constexpr T *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T *begin() const { return data_; }
  constexpr T *end() const { return data_ + size_; }
  constexpr T &operator[](std::size_t i) const { return data_[i]; }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

// The bits of an f16 and of a bf16.
struct half {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

// The dtype whose elements are T.
template <class T> struct dtype_of;
template <class T> struct dtype_of<const T> : dtype_of<T> {};
#define LEAT_CPP_DTYPE(type, id)                                                                   \
  template <> struct dtype_of<type> : std::integral_constant<leat_dtype, LEAT_##id> {};
LEAT_CPP_DTYPE(bool, bool)
LEAT_CPP_DTYPE(std::int8_t, i8)
LEAT_CPP_DTYPE(std::int16_t, i16)
LEAT_CPP_DTYPE(std::int32_t, i32)
LEAT_CPP_DTYPE(std::int64_t, i64)
LEAT_CPP_DTYPE(std::uint8_t, u8)
LEAT_CPP_DTYPE(std::uint16_t, u16)
LEAT_CPP_DTYPE(std::uint32_t, u32)
LEAT_CPP_DTYPE(std::uint64_t, u64)
LEAT_CPP_DTYPE(half, f16)
LEAT_CPP_DTYPE(bfloat16, bf16)
LEAT_CPP_DTYPE(float, f32)
LEAT_CPP_DTYPE(double, f64)
LEAT_CPP_DTYPE(std::complex<float>, c64)
LEAT_CPP_DTYPE(std::complex<double>, c128)
LEAT_CPP_DTYPE(leat_str, str)
#undef LEAT_CPP_DTYPE

using shape = std::vector<std::int64_t>;

// A dense row-major tensor. Copies share the elements. What `view` makes, and what a run gives, is
// somebody else's memory; `copy` makes one that owns it.
class tensor {
public:
  tensor() = default; // no elements, and as a feed: the feed's default
  tensor(const leat_tensor &raw) : raw_(raw) {}

  // Scalars: true is a bool, 1 an i32, 2.5 an f64, 2.5f an f32.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> tensor(T value) {
    own_scalar(static_cast<element<T>>(value));
  }
  template <class T> tensor(std::complex<T> value) { own_scalar(value); }
  tensor(std::string_view value) { own({}, {std::string(value)}); }
  tensor(const std::string &value) : tensor(std::string_view(value)) {}
  tensor(const char *value) : tensor(std::string_view(value)) {}

  // Elements, which are copied (vectors are taken over where they are given away).
  template <class T> tensor(std::vector<T> values) {
    leat::shape extents{static_cast<std::int64_t>(values.size())};
    *this = tensor(extents, std::move(values));
  }
  template <class T>
  tensor(const leat::shape &extents, std::initializer_list<T> values)
      : tensor(extents, std::vector<element<T>>(values.begin(), values.end())) {}
  template <class T> tensor(const leat::shape &extents, std::vector<T> values) {
    if constexpr (std::is_same_v<T, std::string>) {
      own(extents, values);
    } else {
      static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements: use an array");
      auto kept = std::make_shared<std::vector<T>>(std::move(values));
      raw_ = describe(dtype_of<T>::value, extents, kept->data(), kept->size());
      if (!raw_.data) raw_.data = kept.get(); // of no elements, but not nothing
      owner_ = std::move(kept);
    }
  }

  // The caller's memory: it is read, or written to, where it lies.
  template <class T> static tensor view(T *data, const leat::shape &extents) {
    using plain = std::remove_const_t<T>;
    tensor made(describe(dtype_of<T>::value, extents, const_cast<plain *>(data)));
    made.read_only_ = std::is_const_v<T>;
    return made;
  }
  // Takes over what C's malloc gave.
  static tensor take(const leat_tensor &raw) {
    tensor made(raw);
    made.owner_ = std::shared_ptr<void>(raw.data, std::free);
    return made;
  }

  leat_dtype dtype() const { return raw_.dtype; }
  int rank() const { return raw_.rank; }
  leat::shape shape() const { return {raw_.shape, raw_.shape + raw_.rank}; }
  std::size_t size() const { // elements
    return raw_.data ? static_cast<std::size_t>(leat_shape_elements(raw_.rank, raw_.shape)) : 0;
  }
  const leat_tensor &raw() const { return raw_; }
  bool owns() const { return owner_ != nullptr; }
  bool read_only() const { return read_only_; } // a view of what is const
  // Another that lies in the elements of this one, and shares them.
  tensor with(const leat_tensor &raw) const {
    tensor made(raw);
    made.owner_ = owner_;
    return made;
  }

  // The elements, which must be T's. Not of a tensor that ends here, for they may end with it.
  template <class T> span<T> data() const && = delete;
  template <class T> span<T> data() const & {
    if (raw_.dtype != dtype_of<T>::value)
      throw error(LEAT_INVALID, std::string("the elements are ") + leat_dtype_name(raw_.dtype) +
                                    ", not " + leat_dtype_name(dtype_of<T>::value));
    return {static_cast<T *>(raw_.data), size()};
  }
  template <class T> std::vector<T> values() const {
    if constexpr (std::is_same_v<T, std::string>) {
      std::vector<std::string> out;
      for (const leat_str &one : data<leat_str>()) out.emplace_back(one.data, one.size);
      return out;
    } else {
      span<T> all = data<T>();
      return {all.begin(), all.end()};
    }
  }
  template <class T> T item() const { // of a tensor with one element
    if (size() != 1)
      throw error(LEAT_INVALID, "it has " + std::to_string(size()) + " elements, not one");
    if constexpr (std::is_same_v<T, std::string>)
      return std::string(data<leat_str>()[0].data, data<leat_str>()[0].size);
    else
      return data<T>()[0];
  }
  tensor copy() const {
    tensor made(raw_);
    if (!raw_.data) return made;
    if (raw_.dtype == LEAT_str) {
      made.own(shape(), values<std::string>());
      return made;
    }
    auto bytes = static_cast<std::size_t>(leat_tensor_bytes(&raw_));
    made.owner_ = std::shared_ptr<void>(std::malloc(bytes ? bytes : 1), std::free);
    if (!(made.raw_.data = made.owner_.get())) throw std::bad_alloc();
    std::memcpy(made.raw_.data, raw_.data, bytes);
    return made;
  }

private:
  struct strings {
    std::vector<std::string> bytes;
    std::vector<leat_str> elements;
  };
  // The element type that holds a T: of C++'s many integers the one of that size.
  template <class T> static auto element_for() {
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
      return T{};
    else if constexpr (std::is_signed_v<T>)
      return integer<sizeof(T), std::int8_t, std::int16_t, std::int32_t, std::int64_t>();
    else
      return integer<sizeof(T), std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>();
  }
  template <std::size_t size, class A, class B, class C, class D> static auto integer() {
    if constexpr (size == 1)
      return A{};
    else if constexpr (size == 2)
      return B{};
    else if constexpr (size == 4)
      return C{};
    else
      return D{};
  }
  template <class T> using element = decltype(element_for<T>());

  static leat_tensor describe(leat_dtype dtype, const leat::shape &extents, void *data) {
    leat_tensor raw{};
    if (extents.size() > LEAT_MAX_RANK)
      throw error(LEAT_INVALID, "a tensor has at most " + std::to_string(+LEAT_MAX_RANK) + " axes");
    raw.dtype = dtype;
    raw.rank = static_cast<std::int32_t>(extents.size());
    for (std::size_t i = 0; i < extents.size(); i++) raw.shape[i] = extents[i];
    raw.data = data;
    if (leat_shape_elements(raw.rank, raw.shape) < 0)
      throw error(LEAT_INVALID, "no tensor has such extents");
    return raw;
  }
  static leat_tensor describe(leat_dtype dtype, const leat::shape &extents, void *data,
                              std::size_t size) {
    leat_tensor raw = describe(dtype, extents, data);
    if (leat_shape_elements(raw.rank, raw.shape) != static_cast<std::int64_t>(size))
      throw error(LEAT_INVALID, std::to_string(size) + " elements do not fill the shape");
    return raw;
  }
  template <class T> void own_scalar(T value) {
    auto kept = std::make_shared<T>(value);
    raw_ = describe(dtype_of<T>::value, {}, kept.get());
    owner_ = std::move(kept);
  }
  void own(const leat::shape &extents, std::vector<std::string> values) {
    auto kept = std::make_shared<strings>();
    kept->bytes = std::move(values);
    for (const std::string &one : kept->bytes) kept->elements.push_back({one.data(), one.size()});
    raw_ = describe(LEAT_str, extents, kept->elements.data(), kept->elements.size());
    if (!raw_.data) raw_.data = kept.get();
    owner_ = std::move(kept);
  }

  leat_tensor raw_{};
  std::shared_ptr<void> owner_;
  bool read_only_ = false;
};

} // namespace leat

#endif
