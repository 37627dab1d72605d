// SPDX-License-Identifier: MIT
#ifndef ROPE2D_ELEMENTARY_H
#define ROPE2D_ELEMENTARY_H

/*
 * Elementary functions whose results are the same bits on every machine. They are made of +, -, *, / on
 * doubles, of integer and of bit operations alone: no libm, no FMA, no contraction, no excess precision.
 * Tables of cosines and sines and the frequencies of presets come from here and from nowhere else.
 *
 * All of them assume rounding to nearest even and subnormals that are not flushed; whoever calls them sets
 * the mode. They keep no state: any number of threads may call them at once. Floating-point exception flags
 * are not specified.
 *
 * Method: the argument is reduced exactly, or to about 100 bits, and a Taylor series is summed with its
 * leading terms in double-double arithmetic (T. J. Dekker, "A floating-point technique for extending the
 * available precision", 1971). What is left before the last rounding is an error below 2^-68 of the result,
 * so that every function is within 0.5001 ulp wherever it is defined, subnormal results included.
 *
 * The name of this file is not math.h: in a folder on the include path that would take the place of <math.h>.
 */

/*
 * Sine and cosine of x radians, any finite x: reduced by M. H. Payne and R. N. Hanek's method (1983), with
 * the bits of 2/pi that x needs. sin(-0) is -0. Infinity and NaN give NaN twice. Both pointers must be valid
 * and differ.
 */
void rope2d_sincos(double x, double *sine, double *cosine);

/* 2 to the power x, exact for integers. Infinity above the range, gradual underflow below; NaN gives NaN. */
double rope2d_exp2(double x);

/* e to the power x; exp(0) is 1. Infinity above the range, gradual underflow below; NaN gives NaN. */
double rope2d_exp(double x);

/* Natural logarithm. log(1) is +0, of either zero -infinity, of +infinity +infinity, of negative numbers and
 * of NaN NaN. */
double rope2d_ln(double x);

/*
 * base to the power exponent, for a base above zero. The first rule that applies decides:
 *   NaN in either place, or a base that is zero or negative: NaN, whatever the exponent;
 *   exponent zero, or base one: 1;
 *   otherwise the power, infinite arguments as limits: infinity above the range, gradual underflow to zero
 * below it.
 */
double rope2d_pow(double base, double exponent);

#endif
