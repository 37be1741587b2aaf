"""The Tron peer speaks as the network does: checked on published transactions, and by a client of the network."""

from typing import Any

import pytest
from chains import tron_wire as wire
from chains.tron_chain import Refused
from tronpy import Tron as Client
from tronpy.keys import PrivateKey as Key
from tronpy.providers import HTTPProvider

pytestmark = pytest.mark.chains
# Transactions of the network: id, what they are, and the signature of one.
PUBLISHED: list[tuple[str, dict[str, Any], str]] = [
    (
        "88817b9c6276e3c535e4f8f15baf546292ca6ad9d44a7d97857bd6f8909d63d4",
        {
            "contract": [
                {
                    "parameter": {
                        "value": {
                            "amount": 100000,
                            "owner_address": "415c68cc82c87446f602f019e5fd797437f5b79cc2",
                            "to_address": "4156a6076cd1537fa317c2606e4edfa4acd3e8e92e",
                        },
                        "type_url": "type.googleapis.com/protocol.TransferContract",
                    },
                    "type": "TransferContract",
                }
            ],
            "ref_block_bytes": "02a2",
            "ref_block_hash": "e216e254e43ee108",
            "expiration": 1571898861000,
            "timestamp": 1571898802704,
        },
        "",
    ),
    (
        "c70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08",
        {
            "contract": [
                {
                    "parameter": {
                        "value": {
                            "data": "a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a"
                            "0000000000000000000000000000000000000000000000000000000000000001",
                            "owner_address": "41495511a493d8c362be4267224e6d81013a6862ee",
                            "contract_address": "41eca9bc828a3005b9a3b909f2cc5c2a54794de05f",
                        },
                        "type_url": "type.googleapis.com/protocol.TriggerSmartContract",
                    },
                    "type": "TriggerSmartContract",
                }
            ],
            "ref_block_bytes": "8ad9",
            "ref_block_hash": "eaef69105495eb15",
            "expiration": 1773182914544,
            "fee_limit": 100000000,
            "timestamp": 1773182854544,
        },
        "1788bf0281f67c42f5a09322523edee9969e808a863776f21ab6543de9dd42ca"
        "0e4955577879df8074086c620eb96709ba9a95d60a166de190a081e8d69801da00",
    ),
]


@pytest.mark.parametrize(("txid", "raw", "signature"), PUBLISHED)
def test_ids_and_signers_of_published_transactions(txid: str, raw: dict[str, Any], signature: str) -> None:
    assert wire.sha256(wire.encode_raw(raw)).hex() == txid
    if signature:
        assert wire.signer(txid, signature) == raw["contract"][0]["parameter"]["value"]["owner_address"]


def test_a_client_of_the_network_reads_it(tron_peer: Any, tron_payer: Any, trc20: str) -> None:
    client = Client(HTTPProvider(tron_peer.url))
    txid = tron_payer.pay_token(trc20, wire.to_text("41" + "ab" * 20), 5)
    tron_peer.mine()
    head = client.get_block(tron_peer.chain.head)
    assert [tx["txID"] for tx in head["transactions"]] == [txid]
    assert client.get_transaction(txid)["txID"] == txid
    assert client.get_transaction_info(txid)["receipt"]["result"] == "SUCCESS"
    answer = client.trigger_const_smart_contract_function(trc20, trc20, "decimals()", "")
    assert int(answer, 16) == 6
    assert Key(tron_payer.key.secret).public_key.to_base58check_address() == tron_payer.address


def test_it_takes_no_transaction_that_the_network_would_refuse(tron_peer: Any, tron_payer: Any) -> None:
    payee = wire.to_text("41" + "ab" * 20)
    good = tron_payer.sign("TransferContract", {"to_address": wire.to_hex(payee), "amount": 5})
    other = type(tron_payer)(tron_peer)
    stolen = wire.sign(good["raw_data"], other.key)
    changed = good | {"raw_data": good["raw_data"] | {"expiration": good["raw_data"]["expiration"] + 1}}
    for wrong, said in ((stolen, "SIGERROR"), (changed, "the id is not the hash")):
        with pytest.raises(Refused, match=said):
            tron_payer.submit(wrong)
    with pytest.raises(Refused, match="balance is not sufficient"):
        tron_payer.pay(payee, 10**18)
    with pytest.raises(Refused, match="greater than 0"):
        tron_payer.pay(payee, 0)
    tron_payer.submit(good)
    with pytest.raises(Refused, match="DUP_TRANSACTION"):
        tron_payer.submit(good)
