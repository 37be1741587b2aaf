"""A row with a life: its states, the allowed moves, and one way to make a move."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models

from .actions import record
from .statements import change_row

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


class IllegalMove(Exception):
    """The move is not in the table, or another process has moved the row since it was read."""


class Stateful(models.Model):
    """Adds `move_to`. A subclass has a `state` column and says in TRANSITIONS where each state may go."""

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]]
    state: Any

    class Meta:
        abstract = True

    def story(self) -> models.Model:
        """Return the row whose timeline shows the moves of this one."""
        return self

    def may_move_to(self, state: str) -> bool:
        return state in self.TRANSITIONS[self.state]

    def move_to(
        self, state: str, *, actor: "AbstractBaseUser | None", columns: Sequence[str] = (), **facts: Any
    ) -> None:
        """Move the locked row along an allowed move and record "<model>.<state>"; IllegalMove refuses.

        `columns` were changed on the row and belong to the move: they are written by the same UPDATE. It names the old
        state, so that a row read without a lock can't be moved twice.
        """
        noun = self._meta.model_name
        if not self.may_move_to(state):
            raise IllegalMove(f"{noun} {self.pk}: {self.state} → {state} is not allowed")
        values = {column: getattr(self, column) for column in columns}
        if change_row(self, {"state": state, **values}, state=self.state) != 1:
            raise IllegalMove(f"{noun} {self.pk} is no longer {self.state}")
        before, self.state = self.state, state
        record(f"{noun}.{state}", subject=self, thread=self.story(), actor=actor, before=str(before), **facts)
