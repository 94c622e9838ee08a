"""The programs are modules of `seeds`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "seeds"))
