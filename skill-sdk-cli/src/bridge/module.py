# @HEADER@
"""Rust skills, for an executor that imports Python modules."""

from @PACKAGE@._skill_sdk import skills as _skills

__all__ = @NAMES@
globals().update(_skills(__name__))
del _skills
