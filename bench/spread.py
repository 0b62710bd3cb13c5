# SPDX-License-Identifier: Apache-2.0
"""How measured times are printed: the median with the 10th and 90th percentile, in milliseconds."""

import statistics


def spread(values):
    values = sorted(values)
    last = len(values) - 1
    return (f"median {statistics.median(values):7.1f} ms   p10 {values[round(last * 0.1)]:7.1f}   "
            f"p90 {values[round(last * 0.9)]:7.1f}   n={len(values)}")
