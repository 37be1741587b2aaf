"""Fixtures of the Solana peer: `solana_chain` (a cluster), `solana_peer` (its node), `sol_payer` (a funded wallet that
signs with a key of its own) and `solana` (our adapter on that node)."""

import struct
from collections.abc import Iterator, Sequence

import pytest
from chains.solana_chain import TOKEN_PROGRAM, SolanaChain, keypair
from chains.solana_rpc import SolanaPeer
from solders.address_lookup_table_account import ID as TABLE_PROGRAM
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message, MessageV0
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction

from payments.networks.solana import Solana
from payments.networks.solana_node import SolanaNode

ASSOCIATED_PROGRAM = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
OPERATOR = keypair("operator")


class SolanaPayer:
    """A wallet that signs with a key of its own. What it submits lands in a block of its own at once."""

    def __init__(self, chain: SolanaChain, name: str = "payer") -> None:
        self.chain = chain
        self.keypair = keypair(name)
        self.address = self.keypair.pubkey()
        chain.give(self.address, 10**15)

    def pay(self, address: str, lamports: int) -> str:
        """Send SOL."""
        return self.submit([self.transfer(address, lamports)])

    def transfer(self, address: str, lamports: int) -> Instruction:
        to = Pubkey.from_string(address)
        return transfer(TransferParams(from_pubkey=self.address, to_pubkey=to, lamports=lamports))

    def submit(
        self,
        instructions: Sequence[Instruction],
        tables: Sequence[AddressLookupTableAccount] = (),
        signers: Sequence[Keypair] = (),
    ) -> str:
        """Sign and send a version 0 transaction."""
        blockhash = Hash.from_string(self.chain.advance().blockhash)
        message = MessageV0.try_compile(self.address, list(instructions), list(tables), blockhash)
        return self.chain.submit(VersionedTransaction(message, [self.keypair, *signers]))

    def submit_legacy(self, instructions: Sequence[Instruction]) -> str:
        """Sign and send a transaction of the old form."""
        blockhash = Hash.from_string(self.chain.advance().blockhash)
        message = Message.new_with_blockhash(list(instructions), self.address, blockhash)
        return self.chain.submit(VersionedTransaction(message, [self.keypair]))

    def table(self, *addresses: str) -> AddressLookupTableAccount:
        """Put an address lookup table on the chain."""
        key, found = keypair("table").pubkey(), [Pubkey.from_string(one) for one in addresses]
        head = struct.pack("<IQQBB", 1, 2**64 - 1, 0, 0, 0)  # a table, never deactivated, last extended in slot 0
        self.chain.put(key, head.ljust(56, b"\0") + b"".join(bytes(one) for one in found), TABLE_PROGRAM)
        return AddressLookupTableAccount(key, found)


class SplToken:
    """A token of the real token program; all of it is the payer's."""

    def __init__(self, payer: SolanaPayer, supply: int = 10**15) -> None:
        self.payer = payer
        self.mint = keypair("mint").pubkey()
        authority = struct.pack("<I", 1) + bytes(payer.address)
        payer.chain.put(self.mint, authority + struct.pack("<QBB", supply, 6, 1) + bytes(36), TOKEN_PROGRAM)
        holding = bytes(self.mint) + bytes(payer.address) + struct.pack("<Q", supply)
        payer.chain.put(self.account(payer.address), holding + bytes(36) + b"\1" + bytes(56), TOKEN_PROGRAM)

    def account(self, owner: Pubkey) -> Pubkey:
        """Return the token account that wallets use for an owner."""
        seeds = [bytes(owner), bytes(TOKEN_PROGRAM), bytes(self.mint)]
        return Pubkey.find_program_address(seeds, ASSOCIATED_PROGRAM)[0]

    def pay(self, address: str, units: int) -> str:
        """Send tokens as wallets do: the receiver's token account is made in the same transaction."""
        return self.payer.submit([self.open(address), self.transfer(address, units)])

    def open(self, address: str) -> Instruction:
        owner = Pubkey.from_string(address)
        accounts = [
            AccountMeta(self.payer.address, True, True),
            AccountMeta(self.account(owner), False, True),
            *(AccountMeta(key, False, False) for key in (owner, self.mint, SYSTEM, TOKEN_PROGRAM)),
        ]
        return Instruction(ASSOCIATED_PROGRAM, b"\x01", accounts)

    def transfer(self, address: str, units: int) -> Instruction:
        accounts = [
            AccountMeta(self.account(self.payer.address), False, True),
            AccountMeta(self.mint, False, False),
            AccountMeta(self.account(Pubkey.from_string(address)), False, True),
            AccountMeta(self.payer.address, True, False),
        ]
        return Instruction(TOKEN_PROGRAM, b"\x0c" + struct.pack("<QB", units, 6), accounts)


@pytest.fixture
def solana_chain() -> SolanaChain:
    """What is finalized is one slot old, so that one call of `advance` finalizes."""
    return SolanaChain()


@pytest.fixture
def solana_peer(solana_chain: SolanaChain) -> Iterator[SolanaPeer]:
    peer = SolanaPeer(solana_chain)
    yield peer
    peer.stop()


@pytest.fixture
def other_solana() -> Iterator[SolanaPeer]:
    """A node of another cluster."""
    peer = SolanaPeer(SolanaChain("another"))
    yield peer
    peer.stop()


@pytest.fixture
def sol_payer(solana_chain: SolanaChain) -> SolanaPayer:
    return SolanaPayer(solana_chain)


@pytest.fixture
def spl_token(sol_payer: SolanaPayer) -> SplToken:
    return SplToken(sol_payer)


@pytest.fixture
def solana(solana_peer: SolanaPeer) -> SolanaNode:
    """Our adapter on `solana_peer`, with addresses of the operator's public key."""
    return SolanaNode(Solana(cluster="local"), solana_peer.url, str(OPERATOR.pubkey()))
