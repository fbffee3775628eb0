"""The dimensions in which an input may be large: what makes an input of a size, and what is done with it."""

from __future__ import annotations

from tests.benchmarks.dimensions.blocks import BLOCKS
from tests.benchmarks.dimensions.files import FILES
from tests.benchmarks.dimensions.filters import FILTERS
from tests.benchmarks.dimensions.parts import Dimension
from tests.benchmarks.dimensions.programs import PROGRAMS
from tests.benchmarks.dimensions.publications import PUBLICATIONS
from tests.benchmarks.dimensions.tables import TABLES
from tests.benchmarks.shapes import SHAPES

DIMENSIONS: tuple[Dimension, ...] = (
    *(Dimension(shape.__name__.replace("_", " "), shape) for shape in SHAPES),
    *BLOCKS,
    *FILTERS,
    *TABLES,
    *PUBLICATIONS,
    *PROGRAMS,
    *FILES,
)
