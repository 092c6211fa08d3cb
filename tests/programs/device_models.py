"""Small models for the pipelines of devices: dense, convolutional, dynamic, on two devices."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent
from typing import Any

import tvm

from tests.programs.transformer import exported


def dense() -> Any:
    """Two layers on a dynamic batch."""
    return _module(
        """
        @R.function
        def main(
            x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32"), b: R.Tensor((64,), "float32")
        ) -> R.Tensor(("n", 64), "float32"):
            with R.dataflow():
                h = R.nn.relu(R.add(R.matmul(x, w), b))
                y = R.nn.softmax(R.matmul(h, w))
                R.output(y)
            return y
        """
    )


def convolution() -> Any:
    """A convolution and a pooling."""
    return _module(
        """
        @R.function
        def main(x: R.Tensor((1, 8, 16, 16), "float32"), w: R.Tensor((8, 8, 3, 3), "float32")) -> R.Tensor(
            (1, 8, 8, 8), "float32"
        ):
            with R.dataflow():
                c = R.nn.relu(R.nn.conv2d(x, w, padding=1))
                y = R.nn.max_pool2d(c, pool_size=(2, 2), strides=(2, 2))
                R.output(y)
            return y
        """
    )


def two_devices() -> Any:
    """A value that is handed from one device to another."""
    return _module(
        """
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})

        @R.function
        def main(x: R.Tensor((4, 4), "float32", "cuda:0")) -> R.Tensor((4, 4), "float32", "llvm:0"):
            with R.dataflow():
                y = R.add(x, x)
                z = R.to_vdevice(y, "llvm:0")
                R.output(z)
            return z
        """
    )


def _module(body: str) -> Any:
    return tvm.script.from_source("@I.ir_module\nclass Module:\n" + indent(dedent(body), "    "))


def transformer() -> Any:
    """One layer of a transformer with a bounded length."""
    return exported(1, bounded=True)


MODELS: dict[str, Callable[[], Any]] = {
    "dense": dense,
    "convolution": convolution,
    "transformer": transformer,
    "two devices": two_devices,
}
