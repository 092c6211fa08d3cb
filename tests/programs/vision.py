"""Five well-known image classifiers for images of 3 * 224 * 224, as torch modules with random weights.

The layers are those of the published architectures, so that parameters and buffers have their published sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

IMAGE = (3, 224, 224)
CLASSES = 1000


def alexnet() -> nn.Module:
    """Five convolutions, three linear layers."""
    return nn.Sequential(
        *_convolution(3, 64, 11, stride=4, padding=2),
        nn.MaxPool2d(3, 2),
        *_convolution(64, 192, 5, padding=2),
        nn.MaxPool2d(3, 2),
        *_convolution(192, 384, 3, padding=1),
        *_convolution(384, 256, 3, padding=1),
        *_convolution(256, 256, 3, padding=1),
        nn.MaxPool2d(3, 2),
        nn.Flatten(),
        *_classifier((256 * 6 * 6, 4096, 4096, CLASSES)),
    )


def vgg16() -> nn.Module:
    """Thirteen convolutions in five stages, three linear layers."""
    layers: list[nn.Module] = []
    channels = 3
    for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            layers += _convolution(channels, width, 3, padding=1)
            channels = width
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*layers, nn.Flatten(), *_classifier((512 * 7 * 7, 4096, 4096, CLASSES)))


def resnet50() -> nn.Module:
    """Bottleneck blocks, 3 + 4 + 6 + 3."""
    return _resnet((3, 4, 6, 3))


def resnet101() -> nn.Module:
    """Bottleneck blocks, 3 + 4 + 23 + 3."""
    return _resnet((3, 4, 23, 3))


def mobilenet_v3_small() -> nn.Module:
    """Eleven inverted residual blocks, nine of them with squeeze and excitation."""
    # Kernel, expanded channels, channels, squeeze, hard swish, stride.
    blocks = (
        (3, 16, 16, True, False, 2),
        (3, 72, 24, False, False, 2),
        (3, 88, 24, False, False, 1),
        (5, 96, 40, True, True, 2),
        (5, 240, 40, True, True, 1),
        (5, 240, 40, True, True, 1),
        (5, 120, 48, True, True, 1),
        (5, 144, 48, True, True, 1),
        (5, 288, 96, True, True, 2),
        (5, 576, 96, True, True, 1),
        (5, 576, 96, True, True, 1),
    )
    layers: list[nn.Module] = [*_normalised(3, 16, 3, stride=2, activation=nn.Hardswish)]
    channels = 16
    for kernel, expanded, width, squeezed, swish, stride in blocks:
        layers.append(_InvertedResidual(channels, kernel, expanded, width, squeezed, swish, stride))
        channels = width
    layers += _normalised(96, 576, 1, activation=nn.Hardswish)
    head = [nn.Linear(576, 1024), nn.Hardswish(), nn.Linear(1024, CLASSES)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), *head)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "alexnet": alexnet,
    "mobilenet_v3_small": mobilenet_v3_small,
    "resnet50": resnet50,
    "resnet101": resnet101,
    "vgg16": vgg16,
}

PUBLISHED_MIB = {
    "alexnet": 233.081207,
    "mobilenet_v3_small": 9.746689,
    "resnet50": 97.695381,
    "resnet101": 170.344208,
    "vgg16": 527.792145,
}
"""Bytes of parameters and buffers, in MiB."""


def parameter_bytes(model: nn.Module) -> int:
    """Bytes of parameters and buffers."""
    return sum(t.numel() * t.element_size() for t in (*model.parameters(), *model.buffers()))


def exported(name: str, *, batch: int | None = 1) -> Any:
    """The model as `torch.export` gives it; with `batch` None the number of images is symbolic."""
    images = torch.zeros(2 if batch is None else batch, *IMAGE)
    dynamic = ({0: torch.export.Dim("batch", min=1, max=64)},) if batch is None else None
    return torch.export.export(MODELS[name]().eval(), (images,), dynamic_shapes=dynamic)


def _convolution(channels: int, width: int, kernel: int, **options: Any) -> list[nn.Module]:
    return [nn.Conv2d(channels, width, kernel, **options), nn.ReLU()]


def _classifier(widths: Sequence[int]) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers[:-1]


def _normalised(
    channels: int,
    width: int,
    kernel: int,
    *,
    stride: int = 1,
    groups: int = 1,
    activation: type[nn.Module] | None = nn.ReLU,
) -> list[nn.Module]:
    convolution = nn.Conv2d(channels, width, kernel, stride, kernel // 2, groups=groups, bias=False)
    layers = [convolution, nn.BatchNorm2d(width)]
    return layers if activation is None else [*layers, activation()]


class _Bottleneck(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *_normalised(channels, width, 1),
            *_normalised(width, width, 3, stride=stride),
            *_normalised(width, 4 * width, 1, activation=None),
        )
        fits = stride == 1 and channels == 4 * width
        projection = [] if fits else _normalised(channels, 4 * width, 1, stride=stride, activation=None)
        self.shortcut = nn.Sequential(*projection)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def _resnet(depths: Sequence[int]) -> nn.Module:
    layers: list[nn.Module] = [*_normalised(3, 64, 7, stride=2), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, depth in enumerate(depths):
        width = 64 << stage
        for block in range(depth):
            layers.append(_Bottleneck(channels, width, 2 if block == 0 and stage > 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


class _SqueezeExcitation(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = _multiple_of_eight(channels // 4)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, squeezed, 1),
            nn.ReLU(),
            nn.Conv2d(squeezed, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gate(x)


class _InvertedResidual(nn.Module):
    def __init__(
        self, channels: int, kernel: int, expanded: int, width: int, squeezed: bool, swish: bool, stride: int
    ) -> None:
        super().__init__()
        activation = nn.Hardswish if swish else nn.ReLU
        layers: list[nn.Module] = []
        if expanded != channels:
            layers += _normalised(channels, expanded, 1, activation=activation)
        layers += _normalised(
            expanded, expanded, kernel, stride=stride, groups=expanded, activation=activation
        )
        if squeezed:
            layers.append(_SqueezeExcitation(expanded))
        layers += _normalised(expanded, width, 1, activation=None)
        self.body = nn.Sequential(*layers)
        self.adds = stride == 1 and channels == width

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.adds else self.body(x)


def _multiple_of_eight(value: int) -> int:
    rounded = max(8, (value + 4) // 8 * 8)
    return rounded + 8 if rounded * 10 < value * 9 else rounded
