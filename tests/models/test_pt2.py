"""`.pt2` files of `torch.export` as input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from relax_lint.results.memory_figures import Amount
from relax_lint.settings.config import Config
from tests.models.conftest import Run, complaint, judged

TRUSTED = Config(lower=True, trust_models=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution with batch normalisation and a mean, for up to 64 images of 3 * 16 * 16."""
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.normalisation = torch.nn.BatchNorm2d(8)

        def forward(self, x: Any) -> Any:
            return torch.relu(self.normalisation(self.convolution(x))).mean((2, 3))

    path = tmp_path_factory.mktemp("models") / "model.pt2"
    dynamic = ({0: torch.export.Dim("batch", min=2, max=64)},)
    example = (torch.zeros(2, 3, 16, 16),)
    torch.export.save(torch.export.export(Model().eval(), example, dynamic_shapes=dynamic), path)
    return path


def test_without_trust_it_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(b"anything")
    assert complaint(path, Config()) == (
        "RLX903 loading a `.pt2` file can execute code that it contains: `--trust-models` loads files that you trust"
    )


def test_trust_comes_from_the_command_line_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "model.pt2").write_bytes(b"anything")
    (tmp_path / "pyproject.toml").write_text("[tool.relax-lint]\ntrust-models = true\n", encoding="utf-8")
    found = run("memory", "model.pt2")
    assert (found.code, found.out) == (2, "")
    assert "unknown key `trust-models`" in found.err


@pytest.mark.models
def test_the_batch_stays_symbolic_within_its_bounds(saved: Path) -> None:
    (total,) = judged(saved, TRUSTED).memory
    (batch,) = total.symbols
    assert (batch.low, batch.high) == (2, 64)
    # Weights and biases of 8 kernels of 3 * 3 * 3 and of the normalisation, and the images.
    weights = 4 * (8 * 27 + 8 + 8 + 8)
    assert total.parameter_bytes == Amount(f"{4 * 3 * 16 * 16}*{batch.name} + {weights}", None)
    # The mean of each of 8 channels.
    assert total.io_used_memory == Amount(f"{4 * 3 * 16 * 16 + 4 * 8}*{batch.name} + {weights}", None)


@pytest.mark.models
def test_the_command_with_trust(run: Run, saved: Path) -> None:
    found = run("memory", str(saved), "--lower", "--trust-models")
    assert (found.code, found.err) == (0, "")
    assert "imported by TVM's PyTorch frontend, weights as parameters" in found.out


@pytest.mark.models
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_exported_program(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(content)
    assert complaint(path, TRUSTED).startswith("RLX901 torch ")
