"""What stands in the blocks above the solid one: shown to people, never credited.

A block's contents never change, so each is read once and remembered until the chain is solid there or went another way.
"""

from dataclasses import dataclass, field

from .base import Block, Transfer


@dataclass(slots=True)
class Unsolid:
    """The blocks above the solid one, without a gap, each with what it pays to anybody. `sightings`: transactions of
    ours → the height at which they were seen."""

    blocks: list[tuple[Block, list[Transfer]]] = field(default_factory=list)
    sightings: dict[str, int] = field(default_factory=dict)

    def prepare(self, solid: Block, head: Block) -> None:
        """Forget what is solid by now, and everything if the head shows that the chain went another way."""
        self.blocks = [one for one in self.blocks if one[0].height > solid.height]
        self.sightings = {txid: height for txid, height in self.sightings.items() if height > solid.height}
        same_height = [block for block, _ in self.blocks if block.height == head.height]
        if same_height and same_height[0].hash != head.hash:
            self.blocks.clear()

    def add(self, block: Block, parent: str, payments: list[Transfer]) -> bool:
        """Put a block on top; False, and nothing is left, if it does not stand on the one below."""
        if self.blocks and parent != self.blocks[-1][0].hash:
            self.blocks.clear()
            return False
        self.blocks.append((block, payments))
        return True

    def next_height(self, solid: Block) -> int:
        return self.blocks[-1][0].height + 1 if self.blocks else solid.height + 1

    def undecided(self, txid: str, solid_height: int) -> bool:
        """Tell whether a transaction that no node knows now was seen at a height that is not solid yet."""
        return self.sightings.get(txid, -1) > solid_height
