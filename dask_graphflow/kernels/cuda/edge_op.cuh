// Functions that edge programs use. Each function has a twin in programs/host_operations.py that gives the same bits.
// Overflow wraps, division of integers by zero gives 0, and no operation has undefined behavior.
#pragma once

namespace edge {

using u64 = unsigned long long;

enum class Slot { MIN, MAX, ADD, OR };

template <typename T> struct Unsigned;
template <> struct Unsigned<int> { using type = unsigned int; };
template <> struct Unsigned<long long> { using type = u64; };
template <> struct Unsigned<u64> { using type = u64; };

template <typename T>
__device__ __forceinline__ T add(T a, T b)
{
    using U = typename Unsigned<T>::type;
    return T(U(a) + U(b));
}
template <typename T>
__device__ __forceinline__ T subtract(T a, T b)
{
    using U = typename Unsigned<T>::type;
    return T(U(a) - U(b));
}
template <typename T>
__device__ __forceinline__ T multiply(T a, T b)
{
    using U = typename Unsigned<T>::type;
    return T(U(a) * U(b));
}

// Intrinsics, because the compiler would contract operators to fused multiply-adds, which round only once.
__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float subtract(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double subtract(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float divide(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ double divide(double a, double b) { return __ddiv_rn(a, b); }

__device__ __forceinline__ float negative(float a) { return -a; }
__device__ __forceinline__ double negative(double a) { return -a; }
template <typename T>
__device__ __forceinline__ T negative(T a)
{
    return subtract(T(0), a);
}

__device__ __forceinline__ float absolute(float a) { return fabsf(a); }
__device__ __forceinline__ double absolute(double a) { return fabs(a); }
template <typename T>
__device__ __forceinline__ T absolute(T a)
{
    return a < 0 ? negative(a) : a;
}
__device__ __forceinline__ u64 absolute(u64 a) { return a; }

// Shifts as in NumPy: a shift by a negative count, or by the width of the type or more, shifts all bits out.
template <typename T>
__device__ __forceinline__ T shifted_left(T a, T b)
{
    using U = typename Unsigned<T>::type;
    return U(b) < 8 * sizeof(T) ? T(U(a) << U(b)) : T(0);
}
template <typename T>
__device__ __forceinline__ T shifted_right(T a, T b)
{
    using U = typename Unsigned<T>::type;
    constexpr U BITS = 8 * sizeof(T);
    return a >> (U(b) < BITS ? U(b) : BITS - 1) >> int(U(b) >= BITS);
}

// Return a number unchanged, but hide its value from the compiler. The compiler would recognize a comparison followed
// by a choice between the same two numbers as a minimum. It would fold min(a, min(b, a)) to min(b, a), and use an
// instruction that orders -0.0 before 0.0. With NaN or -0.0, both give a different number.
template <typename T>
__device__ __forceinline__ T fenced(T x)
{
    return x;
}
__device__ __forceinline__ float fenced(float x)
{
#ifdef __CUDA_ARCH__
    asm("" : "+f"(x));
#endif
    return x;
}
__device__ __forceinline__ double fenced(double x)
{
#ifdef __CUDA_ARCH__
    asm("" : "+d"(x));
#endif
    return x;
}

// min and max as in Python: if two values are equal or cannot be compared, return the first.
template <typename T>
__device__ __forceinline__ T smaller(T a, T b)
{
    return fenced(b) < a ? b : a;
}
template <typename T>
__device__ __forceinline__ T larger(T a, T b)
{
    return fenced(b) > a ? b : a;
}

template <typename T>
__device__ __forceinline__ T quotient(T a, T b)
{
    if (b == 0) return 0;
    if (b == -1) return negative(a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
template <typename T>
__device__ __forceinline__ T rest(T a, T b)
{
    if (b == 0 || b == -1) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
__device__ __forceinline__ u64 quotient(u64 a, u64 b) { return b == 0 ? 0 : a / b; }
__device__ __forceinline__ u64 rest(u64 a, u64 b) { return b == 0 ? 0 : a % b; }

__device__ __forceinline__ float exact_rest(float a, float b) { return fmodf(a, b); }
__device__ __forceinline__ double exact_rest(double a, double b) { return fmod(a, b); }
__device__ __forceinline__ float with_sign(float a, float b) { return copysignf(a, b); }
__device__ __forceinline__ double with_sign(double a, double b) { return copysign(a, b); }
__device__ __forceinline__ float whole(float a) { return floorf(a); }
__device__ __forceinline__ double whole(double a) { return floor(a); }

template <typename T>
__device__ __forceinline__ T float_quotient(T a, T b)
{
    if (b == 0) return divide(a, b);
    const T rest = exact_rest(a, b);
    T quotient = divide(subtract(a, rest), b);
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return with_sign(quotient, divide(a, b));
    const T floor = whole(quotient);
    return quotient - floor > T(0.5) ? floor + 1 : floor;
}
template <typename T>
__device__ __forceinline__ T float_rest(T a, T b)
{
    const T rest = exact_rest(a, b);
    if (b == 0) return rest;
    if (rest == 0) return with_sign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
__device__ __forceinline__ float quotient(float a, float b) { return float_quotient(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return float_quotient(a, b); }
__device__ __forceinline__ float rest(float a, float b) { return float_rest(a, b); }
__device__ __forceinline__ double rest(double a, double b) { return float_rest(a, b); }

template <typename F>
__device__ __forceinline__ int to_int32(F x)
{
    if (absolute(x) < F(2147483648.0)) return int(x);
    if (x != x) return 0;
    return x > 0 ? 2147483647 : -2147483647 - 1;
}
template <typename F>
__device__ __forceinline__ long long to_int64(F x)
{
    if (absolute(x) < F(9223372036854775808.0)) return (long long)(x);
    if (x != x) return 0;
    return x > 0 ? 9223372036854775807ll : -9223372036854775807ll - 1;
}

template <typename F>
__device__ __forceinline__ u64 to_uint64(F x)
{
    if (0 < x && x < F(18446744073709551616.0)) return u64(x);
    return x > 0 ? ~0ull : 0;
}

__device__ __forceinline__ long long count_ones(u64 x) { return __popcll(x); }
__device__ __forceinline__ double power_of_two(long long k) { return ldexp(1.0, int(k)); }
__device__ __forceinline__ long long exponent(double x)
{
    int exponent;
    frexp(x, &exponent);
    return exponent;
}

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

}  // namespace edge
