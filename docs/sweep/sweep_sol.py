"""Sweep: move the SOL of your shop's receiving addresses to an address of yours. Run it on your own machine.

    pip install "solana>=0.40.1,<0.41"
    python sweep_sol.py --keypair operator.json --to ADDRESS --rpc https://your.node --count 500

Without --send it only says what it would move. The keypair is the file of `solana-keygen` whose public key is the
shop's SOLANA_KEY; it pays the fees (0.000005 SOL for each eight addresses) and must hold a little SOL itself. Running
it again is harmless: what was moved is not there any more.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from solana.rpc.async_api import AsyncClient
from solana.rpc.commitment import Confirmed, Finalized
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM
from solders.system_program import TransferWithSeedParams, transfer_with_seed
from solders.transaction import VersionedTransaction
from solders.transaction_status import TransactionConfirmationStatus

LAMPORTS = 10**9
ACCOUNTS = 100  # in one call
TOGETHER = 8  # transfers that fit into one transaction
# The shop must have seen a payment before it is moved on: what comes and goes between two looks it can't notice.
MINUTES = 60
WAIT_SECONDS = 90
DONE = (TransactionConfirmationStatus.Confirmed, TransactionConfirmationStatus.Finalized)


@dataclass(frozen=True, slots=True)
class Source:
    """One receiving address: its place in the shop's reserve and the seed that moves its money."""

    index: int
    seed: str
    address: Pubkey


def source(operator: Pubkey, index: int) -> Source:
    """Return the address with this index, as the shop derives it."""
    for attempt in range(256):
        seed = f"gridlot:{index}:{attempt}"
        address = Pubkey.create_with_seed(operator, seed, SYSTEM)
        if address.is_on_curve():
            return Source(index, seed, address)
    raise ValueError(f"No seed gives an address with the index {index}.")


async def balances(client: AsyncClient, sources: Sequence[Source]) -> dict[Source, int]:
    """Return what each address holds, in lamports; empty ones are left out."""
    held: dict[Source, int] = {}
    for some in batched(sources, ACCOUNTS):
        answer = await client.get_multiple_accounts([one.address for one in some], Finalized)
        held |= {one: account.lamports for one, account in zip(some, answer.value, strict=True) if account}
    return {one: lamports for one, lamports in held.items() if lamports}


async def is_settled(client: AsyncClient, address: Pubkey, minutes: int) -> bool:
    """Tell whether nothing happened on an address for this long."""
    newest = (await client.get_signatures_for_address(address, limit=1, commitment=Confirmed)).value
    return not newest or bool(newest[0].block_time and newest[0].block_time < time.time() - minutes * 60)


async def move(client: AsyncClient, operator: Keypair, to: Pubkey, group: Iterable[tuple[Source, int]]) -> str:
    """Move everything of some addresses in one transaction and wait until the network has confirmed it."""
    instructions = [
        transfer_with_seed(
            TransferWithSeedParams(
                from_pubkey=one.address,
                from_base=operator.pubkey(),
                from_seed=one.seed,
                from_owner=SYSTEM,
                to_pubkey=to,
                lamports=lamports,
            )
        )
        for one, lamports in group
    ]
    blockhash = (await client.get_latest_blockhash(Finalized)).value.blockhash
    message = MessageV0.try_compile(operator.pubkey(), instructions, [], blockhash)
    signature = (await client.send_raw_transaction(bytes(VersionedTransaction(message, [operator])))).value
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        status = (await client.get_signature_statuses([signature])).value[0]
        if status and status.err:
            raise RuntimeError(f"The network refused {signature}: {status.err}")
        if status and status.confirmation_status in DONE:
            return str(signature)
        await asyncio.sleep(0.5)
    raise TimeoutError(
        f"{signature} was not confirmed in {WAIT_SECONDS} seconds. Look it up, then run the sweep again."
    )


async def sweep(
    url: str, operator: Keypair, to: Pubkey, indexes: range, *, send: bool, minutes: int = MINUTES
) -> tuple[int, list[str]]:
    """Move what lies on the addresses with these indexes; return the lamports and the transactions."""
    async with AsyncClient(url, http2=False) as client:
        held = await balances(client, [source(operator.pubkey(), index) for index in indexes])
        settled = {one: lamports for one, lamports in held.items() if await is_settled(client, one.address, minutes)}
        for one, lamports in held.items():
            note = "" if one in settled else f"  left alone: paid less than {minutes} minutes ago"
            print(f"{one.index:>8} {one.address} {lamports / LAMPORTS:.9f} SOL{note}")
        done = []
        for group in batched(settled.items(), TOGETHER) if send else ():
            done.append(await move(client, operator, to, group))
            print(f"moved by {done[-1]}")
        return sum(settled.values()), done


def main() -> None:
    parser = argparse.ArgumentParser(description="Move the SOL of a shop's receiving addresses to one address.")
    parser.add_argument("--keypair", type=Path, required=True, help="the operator's keypair file, never on the server")
    parser.add_argument("--to", required=True, help="where the money goes")
    parser.add_argument("--rpc", required=True, help="JSON-RPC address of a Solana node")
    parser.add_argument("--first", type=int, default=0, help="first index")
    parser.add_argument("--count", type=int, default=200, help="how many addresses to look at")
    parser.add_argument("--minutes", type=int, default=MINUTES, help="leave addresses alone that were paid lately")
    parser.add_argument("--send", action="store_true", help="really move the money")
    given = parser.parse_args()
    operator = Keypair.from_bytes(bytes(json.loads(given.keypair.read_text())))
    indexes = range(given.first, given.first + given.count)
    to = Pubkey.from_string(given.to)
    lamports, _ = asyncio.run(sweep(given.rpc, operator, to, indexes, send=given.send, minutes=given.minutes))
    print(f"{lamports / LAMPORTS:.9f} SOL {'moved' if given.send else 'could be moved; add --send to move it'}")


if __name__ == "__main__":
    main()
